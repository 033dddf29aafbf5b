//! What every Unix offers: the fallbacks. Compiled everywhere, so that Linux keeps them building and can test them.

mod files;
mod names;
mod overlay;
mod processes;
mod ps;
mod room;

pub use files::{
    HELD, born_at, bound_sockets, chmod_held, doubtful_file_system, identity, make_empty, open_beneath,
    path_in, path_of, probe_writable, share_blocks, stat_at, stat_open, sync_batch, sync_file_system,
};
pub use names::each_name;
pub use overlay::{make_whiteout, mount_overlay};
pub use processes::{
    ADOPTS, SHOWS_IGNORED_SIGNALS, adopt_orphans, boot, children, continue_when_parent_dies, descendants,
    each_descendant, everyone, hang_up_is_ignored, has_in_environment, has_own_processes, kernel_setting,
    kill_if, own_program, program_name, read_process, tree_cpu, widen, with_ancestors, works_below,
};
pub use room::{mount_room, pass_on_capabilities};

use crate::Missing;
use rustix::fs::OFlags;
use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, socket};
use std::os::fd::OwnedFd;

/// How bytes are sent. A closed end is an error because Rust programs ignore SIGPIPE.
pub const SEND: SendFlags = SendFlags::empty();

/// How a descriptor is received. It is inheritable for a moment; whoever receives one starts no program meanwhile.
pub const RECEIVE: RecvFlags = RecvFlags::empty();

/// A TCP socket that does not block and that no program inherits, but for the moment until it is told so.
///
/// # Errors
/// When there are too many descriptors, or the system lacks the family.
pub fn tcp_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    let socket = socket(family, SocketType::STREAM, Some(ipproto::TCP))?;
    rustix::io::fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&socket, rustix::fs::fcntl_getfl(&socket)? | OFlags::NONBLOCK)?;
    Ok(socket)
}

/// What the fallbacks cannot do.
#[must_use]
pub const fn missing() -> &'static [Missing] {
    &[
        Missing {
            what: "orphans are not adopted",
            so: "a process that left its group and lost its parent outlives the agent's end",
        },
        Missing {
            what: "environments of other processes are not read",
            so: "leftovers of a ralph that was killed are not found; look for them with ps",
        },
        Missing {
            what: "process ids are not held",
            so: "a signal can reach another process that reused the process id",
        },
        Missing {
            what: "the work of finished processes is not counted",
            so: "a silent agent whose work is done by short-lived tools may look idle",
        },
        Missing {
            what: "paths are opened a directory at a time",
            so: "contents in directories without read permission cannot be kept or put back",
        },
        Missing {
            what: "no private view of a directory",
            so: "completion is tried with the baseline's tests in a copy, at another path",
        },
        Missing { what: "copies share no blocks", so: "kept contents take their full size on disk" },
        Missing {
            what: "network file systems are not told from local ones",
            so: "the database directory is tested at every start of a run",
        },
    ]
}
