//! What Linux offers.

mod files;
mod overlay;
mod processes;
mod room;

pub use files::{
    HELD, born_at, chmod_held, doubtful_file_system, each_name, identity, make_empty, open_beneath, path_in,
    path_of, probe_writable, share_blocks, stat_at, stat_open, sync_batch, sync_file_system,
};
pub use overlay::{make_whiteout, mount_overlay};
pub use processes::{
    ADOPTS, SHOWS_IGNORED_SIGNALS, adopt_orphans, boot, children, continue_when_parent_dies, descendants,
    each_descendant, everyone, hang_up_is_ignored, has_in_environment, kill_if, program_name, read_process,
    tree_cpu, widen, with_ancestors, works_below,
};
pub use room::mount_room;

use crate::Missing;
use rustix::net::{RecvFlags, SendFlags};

/// How bytes are sent so that a closed end is an error and no signal.
pub const SEND: SendFlags = SendFlags::NOSIGNAL;

/// How a descriptor is received so that no program inherits it.
pub const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;

/// What this system cannot do: nothing that ralph asks for.
#[must_use]
pub const fn missing() -> &'static [Missing] {
    &[]
}
