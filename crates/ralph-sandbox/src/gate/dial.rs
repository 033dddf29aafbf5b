//! Connecting to addresses, so that the end of the gate interrupts it.

use super::wait::wait;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, connect, sockopt::socket_error};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// Connects to the first address that answers. An address that does not answer leaves the others their share of the time.
/// The connection does not block.
pub(super) fn dial(addresses: &[SocketAddr], control: &UnixStream, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "it has no address");
    for (tried, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let now = Instant::now();
        let share = until.saturating_duration_since(now) / left;
        match dial_one(*address, control, now + share) {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => return Err(error),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn dial_one(address: SocketAddr, control: &UnixStream, until: Instant) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = ralph_os::tcp_socket(family)?;
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => {
            wait(control, &socket, PollFlags::OUT, until)?;
            socket_error(&socket)??;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(TcpStream::from(socket))
}
