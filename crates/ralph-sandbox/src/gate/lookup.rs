//! Resolving names. The system's resolver cannot be interrupted, so each lookup has a thread of its own, which holds nothing of
//! the gate: when the gate ends meanwhile, the answer is dropped with that thread.

use super::wait::{ended, is_over};
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// So many lookups run at a time, those included whose answer nobody waits for any more.
const MAX_LOOKUPS: usize = 256;

/// How often a thread that waits for an answer looks whether the gate has ended.
const GLANCE: Duration = Duration::from_millis(50);

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync {
    /// The addresses, the best first.
    ///
    /// # Errors
    /// When the name has none or nobody knows.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// The lookups of a gate.
pub(super) struct Lookups {
    resolver: Arc<dyn Resolver>,
    running: Arc<AtomicUsize>,
}

/// Counts a running lookup.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Lookups {
    pub(super) fn new(resolver: impl Resolver + 'static) -> Self {
        Self { resolver: Arc::new(resolver), running: Arc::default() }
    }

    /// Resolves a name; once, so that every check and the dialling see the same addresses.
    pub(super) fn resolve(
        &self,
        name: &str,
        control: &UnixStream,
        until: Instant,
    ) -> io::Result<Vec<IpAddr>> {
        let running = Running(Arc::clone(&self.running));
        if running.0.fetch_add(1, Ordering::AcqRel) >= MAX_LOOKUPS {
            return Err(io::Error::other("too many names are being resolved"));
        }
        let (send, answer) = mpsc::sync_channel(1);
        let (resolver, name) = (Arc::clone(&self.resolver), name.to_owned());
        std::thread::Builder::new().name("gate lookup".to_owned()).spawn(move || {
            let _running = running;
            let _ = send.send(resolver.resolve(&name));
        })?;
        loop {
            match answer.recv_timeout(GLANCE) {
                Ok(found) => return found,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the resolver failed"));
                }
                Err(mpsc::RecvTimeoutError::Timeout) if is_over(control) => return Err(ended()),
                Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "its name could not be resolved in time",
                    ));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
