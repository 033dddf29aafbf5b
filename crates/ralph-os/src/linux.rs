//! What Linux offers.

mod capabilities;
mod files;
mod overlay;
mod processes;
mod room;
mod sockets;

pub use capabilities::pass_on_capabilities;
pub use files::{
    HELD, born_at, chmod_held, doubtful_file_system, each_name, identity, make_empty, open_beneath, path_in,
    path_of, probe_writable, share_blocks, stat_at, stat_open, sync_batch, sync_file_system,
};
pub use overlay::{make_whiteout, mount_overlay};
pub use processes::{
    ADOPTS, SHOWS_IGNORED_SIGNALS, adopt_orphans, boot, children, continue_when_parent_dies, descendants,
    each_descendant, everyone, hang_up_is_ignored, has_in_environment, has_own_processes, kernel_setting,
    kill_if, own_program, program_name, read_process, tree_cpu, widen, with_ancestors, works_below,
};
pub use room::mount_room;
pub use sockets::bound_sockets;

use crate::Missing;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, socket_with};
use std::os::fd::OwnedFd;

/// How bytes are sent so that a closed end is an error and no signal.
pub const SEND: SendFlags = SendFlags::NOSIGNAL;

/// How a descriptor is received so that no program inherits it.
pub const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;

/// A TCP socket that does not block and that no program inherits.
///
/// # Errors
/// When there are too many descriptors, or the system lacks the family.
pub fn tcp_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
}

/// What this system cannot do: nothing that ralph asks for.
#[must_use]
pub const fn missing() -> &'static [Missing] {
    &[]
}
