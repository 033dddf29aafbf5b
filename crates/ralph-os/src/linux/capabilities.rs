//! Capabilities that a process has in a user namespace of its own.

use std::io;

use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};

/// Lets the programs that this process starts keep its capabilities. Without it only root's do: whoever made a room as an
/// ordinary user may mount in it, but not what is started there.
pub fn pass_on_capabilities() -> io::Result<()> {
    let mut held = capabilities(None)?;
    held.inheritable = held.permitted;
    set_capabilities(None, held)?;
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if held.permitted.contains(one) {
            configure_capability_in_ambient_set(one, true)?;
        }
    }
    Ok(())
}
