//! The gate's threads in ralph's process: one accepts, and one serves each connection.

use super::connection::{forward, serve};
use super::listeners::receive_listener;
use super::lookup::{Lookups, Resolver};
use super::refusals::Refusals;
use super::rules::HostRule;
use super::wait::{has_ended, wait, wait_any};
use rustix::event::{PollFd, PollFlags};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Scope};
use std::time::{Duration, Instant};

/// So many connections are served at a time; further ones wait until one ends. Each takes two of ralph's descriptors.
pub const MAX_CONNECTIONS: usize = 256;

/// How long to wait when no connection can be accepted, because descriptors or threads have run out.
const RETRY: Duration = Duration::from_millis(100);

/// Answers a box's connections. It ends when it is dropped, or when the last copy of the box's descriptor is closed; then
/// every connection is closed and every thread ends, but for a lookup that the system has not answered yet.
pub struct Gate {
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What the threads share.
pub(super) struct Shared {
    /// The other end is the box's. Hangs up at the end of the gate, which all threads see.
    pub(super) control: UnixStream,
    pub(super) rules: Vec<HostRule>,
    pub(super) lookups: Lookups,
    forward: Vec<u16>,
    refusals: Mutex<Refusals>,
    open: AtomicUsize,
    /// A byte for each connection that ended.
    ended: (UnixStream, UnixStream),
}

impl Shared {
    pub(super) fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate {
    /// A gate that dials what `rules` allow and leads the ports `forward` to the same ports of the loopback outside; and the
    /// descriptor for the box, for [`hand_out`]. Pass that on to the box and close it here.
    ///
    /// # Errors
    /// When sockets or threads have run out.
    ///
    /// [`hand_out`]: super::hand_out
    pub fn start(
        rules: Vec<HostRule>,
        forward: Vec<u16>,
        resolver: impl Resolver + 'static,
    ) -> io::Result<(Self, OwnedFd)> {
        let (control, for_box) = UnixStream::pair()?;
        let ended = UnixStream::pair()?;
        ended.0.set_nonblocking(true)?;
        ended.1.set_nonblocking(true)?;
        let lookups = Lookups::new(resolver);
        let (refusals, open) = (Mutex::default(), AtomicUsize::new(0));
        let shared = Arc::new(Shared { control, rules, lookups, forward, refusals, open, ended });
        let for_acceptor = Arc::clone(&shared);
        let acceptor = thread::Builder::new().name("gate".to_owned()).spawn(move || accept(&for_acceptor))?;
        Ok((Self { shared, acceptor: Some(acceptor) }, for_box.into()))
    }

    /// What was refused so far.
    #[must_use]
    pub fn refused(&self) -> Refusals {
        self.shared.refusals().clone()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.shared.control.shutdown(Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// Takes listeners from the box and connections from the listeners, until the end.
fn accept(shared: &Shared) {
    thread::scope(|scope| {
        let mut listeners = Vec::new();
        while accept_once(shared, &mut listeners, scope).is_ok() {}
        let _ = shared.control.shutdown(Shutdown::Both);
    });
}

fn accept_once<'scope>(
    shared: &'scope Shared,
    listeners: &mut Vec<TcpListener>,
    scope: &'scope Scope<'scope, '_>,
) -> io::Result<()> {
    let free = MAX_CONNECTIONS.saturating_sub(shared.open.load(Ordering::Acquire));
    let from = if free == 0 { &[] } else { listeners.as_slice() };
    let mut fds =
        vec![PollFd::new(&shared.control, PollFlags::IN), PollFd::new(&shared.ended.0, PollFlags::IN)];
    fds.extend(from.iter().map(|listener| PollFd::new(listener, PollFlags::IN)));
    wait_any(&mut fds, None)?;
    let seen: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
    let [control, ended, ready @ ..] = seen.as_slice() else { return Ok(()) };
    if ended.contains(PollFlags::IN) {
        let _ = (&shared.ended.0).read(&mut [0; MAX_CONNECTIONS]);
    }
    let ready = from.iter().zip(ready).filter(|(_, seen)| !seen.is_empty());
    for (listener, _) in ready.take(free) {
        accept_from(shared, listener, scope)?;
    }
    if control.contains(PollFlags::IN) {
        listeners.extend(receive_listener(&shared.control)?);
    } else if has_ended(*control) {
        return Err(super::wait::ended());
    }
    Ok(())
}

fn accept_from<'scope>(
    shared: &'scope Shared,
    listener: &TcpListener,
    scope: &'scope Scope<'scope, '_>,
) -> io::Result<()> {
    let accepted = listener.accept().and_then(|(client, _)| {
        let port = listener.local_addr()?.port();
        spawn(shared, client, port, scope)
    });
    let passing = [ErrorKind::WouldBlock, ErrorKind::Interrupted, ErrorKind::ConnectionAborted];
    match accepted {
        Err(error) if !passing.contains(&error.kind()) => pause(shared),
        _ => Ok(()),
    }
}

fn spawn<'scope>(
    shared: &'scope Shared,
    client: TcpStream,
    port: u16,
    scope: &'scope Scope<'scope, '_>,
) -> io::Result<()> {
    let slot = Slot::take(shared);
    thread::Builder::new().name("gate connection".to_owned()).spawn_scoped(scope, move || {
        if shared.forward.contains(&port) {
            forward(shared, &client, port);
        } else {
            serve(shared, &client);
        }
        drop(client);
        drop(slot);
    })?;
    Ok(())
}

fn pause(shared: &Shared) -> io::Result<()> {
    match wait(&shared.control, &shared.ended.0, PollFlags::empty(), Instant::now() + RETRY) {
        Err(error) if error.kind() == ErrorKind::TimedOut => Ok(()),
        waited => waited,
    }
}

/// A connection's place among [`MAX_CONNECTIONS`].
struct Slot<'a>(&'a Shared);

impl<'a> Slot<'a> {
    fn take(shared: &'a Shared) -> Self {
        shared.open.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
        // When it is full, there is something to read already.
        let _ = (&self.0.ended.1).write(&[0]);
    }
}
