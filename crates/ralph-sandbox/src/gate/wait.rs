//! Waiting for sockets. Every thread of the gate waits here and nowhere else, always for the end of the gate too, so that none
//! outlives it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// The error of whoever was interrupted by the end of the gate.
pub(super) fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the gate has ended")
}

/// Waits until one of the sockets is ready; false when the time is over.
pub(super) fn wait_any(fds: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<bool> {
    loop {
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
        match poll(fds, rest.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The entry that notices the end of the gate: the control socket hangs up when the box is gone or the gate was dropped.
pub(super) fn end_of(control: &UnixStream) -> PollFd<'_> {
    PollFd::new(control, PollFlags::empty())
}

/// Whether that entry noticed it, by what was seen there.
pub(super) fn has_ended(seen: PollFlags) -> bool {
    seen.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Waits for one socket.
///
/// # Errors
/// `TimedOut` when the time is over, `ConnectionAborted` when the gate ended.
pub(super) fn wait(
    control: &UnixStream,
    socket: impl AsFd,
    events: PollFlags,
    until: Instant,
) -> io::Result<()> {
    let mut fds = [end_of(control), PollFd::from_borrowed_fd(socket.as_fd(), events)];
    let ready = wait_any(&mut fds, Some(until))?;
    let [end, _] = fds;
    match ready {
        _ if has_ended(end.revents()) => Err(ended()),
        true => Ok(()),
        false => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Whether the gate has ended.
pub(super) fn is_over(control: &UnixStream) -> bool {
    let mut fds = [end_of(control)];
    let seen = wait_any(&mut fds, Some(Instant::now()));
    let [end] = fds;
    seen.is_err() || has_ended(end.revents())
}
