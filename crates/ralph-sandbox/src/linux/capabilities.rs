//! Capabilities of the program.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::Ids;

/// What root needs to work in somebody else's files, and nothing that reaches beyond files.
pub(super) const FOR_FILES: CapabilitySet = CapabilitySet::DAC_OVERRIDE
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Whether this process can mount without a user namespace of its own.
pub(super) fn can_mount() -> bool {
    capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Keeps the programs that this process starts from having its capabilities, unless they are root's.
pub(super) fn pass_on_none() -> io::Result<()> {
    Ok(clear_ambient_capability_set()?)
}

/// Gives up all capabilities but those for files, and these too unless all ids exist inside. Nothing that is executed
/// later can have more.
pub(super) fn drop_all_but(ids: Ids) -> io::Result<()> {
    let kept = match ids {
        Ids::Own => CapabilitySet::empty(),
        Ids::All => FOR_FILES,
    };
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        // The first one that the system does not know ends the list.
        if !kept.contains(one) && remove_capability_from_bounding_set(one).is_err() {
            break;
        }
    }
    clear_ambient_capability_set()?;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}
