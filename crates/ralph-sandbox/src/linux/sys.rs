//! The system calls that no crate of ours wraps. All of this crate's `unsafe` is here.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// What a copy of a mount may be told by `mount_setattr`.
pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEV: u64 = libc::MOUNT_ATTR_NODEV;

/// Signals with which a user or a service manager ends everyone.
const END_SIGNALS: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Splits this process in two; `None` in the child. Only for a process with a single thread: another one could hold a
/// lock that the child then waits for.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the process has a single thread, so the child may do what the parent may.
    let pid = check(unsafe { libc::fork() }.into())?;
    Ok(i32::try_from(pid).ok().and_then(Pid::from_raw))
}

/// Ends this process without running anything at exit.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: has no precondition.
    unsafe { libc::_exit(code) }
}

/// Enters namespaces of its own.
pub(super) fn unshare(what: UnshareFlags) -> io::Result<()> {
    // SAFETY: unsafe because of FILES, with which a thread could keep descriptors that another closes; it is not used
    // here, and the process has a single thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(what) }?)
}

/// Changes a mount's attributes; with `recursive` also those of every mount below it.
pub(super) fn mount_setattr(mount: BorrowedFd<'_>, recursive: bool, set: u64, clear: u64) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string, `attr` has the given size, and both outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// Takes over a descriptor that this process inherited, and keeps it from its children.
pub(super) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_SETFD touches no memory; a number that is not open is refused.
    check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) }.into())?;
    // SAFETY: it is open, as the call above found; its number came from this process's arguments, which name each
    // descriptor once, and nothing else in this process has opened or owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Closes every descriptor but the standard ones and `keep`.
pub(super) fn close_others(keep: &[RawFd]) -> io::Result<()> {
    let mut keep: Vec<libc::c_uint> = keep.iter().filter_map(|fd| (*fd).try_into().ok()).collect();
    keep.sort_unstable();
    keep.dedup();
    let mut from: libc::c_uint = 3;
    for fd in keep.into_iter().chain([libc::c_uint::MAX]) {
        if fd > from {
            let last = if fd == libc::c_uint::MAX { fd } else { fd - 1 };
            // SAFETY: nothing in this process owns a descriptor yet but the ones in `keep`: it is called first.
            check(unsafe { libc::syscall(libc::SYS_close_range, from, last, 0) })?;
        }
        from = from.max(fd.saturating_add(1));
    }
    Ok(())
}

/// Gives every signal its default, blocks none, and then catches those that end everyone: what is caught does not end
/// this process, and what it starts gets the default again.
pub(super) fn take_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the structures are valid when zeroed (no handler, no flags, an empty set) and outlive the calls. The
    // handler does nothing, so it can interrupt anything. Signals that cannot be set are refused, which changes nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        for signal in 1..=libc::SIGRTMAX() {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        for signal in END_SIGNALS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        // Written to a report or a program's pipe that nobody reads any more: an error is enough.
        action.sa_sigaction = libc::SIG_IGN;
        libc::sigaction(libc::SIGPIPE, &raw const action, std::ptr::null_mut());
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Ignores the signals that end everyone, and has the next program that is executed ignore them too.
pub(super) fn ignore_end_signals() {
    for signal in END_SIGNALS {
        // SAFETY: ignoring a signal needs no handler and touches no memory.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Sends SIGKILL to every process that this one may signal: as the first process of a pid namespace, to all others in it.
pub(super) fn kill_everyone() {
    // SAFETY: touches no memory.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// Brings the loopback interface of a new network namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    // SAFETY: an `ifreq` is valid when zeroed; the name is shorter than its field.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let up = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = up.try_into().unwrap_or_default();
    // SAFETY: SIOCSIFFLAGS reads an `ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into()).map(drop)
}
