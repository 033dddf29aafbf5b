//! The gate's sockets: made inside the box's network, answered outside. Each travels as one descriptor with one byte to carry
//! it; its own address tells what it is for.

use super::wait::ended;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use thiserror::Error;

/// The gate's usual port on the box's loopback.
const USUAL_PORT: u16 = 7257;

/// The gate's port on the box's loopback, where these are forwarded. Known before the box is made, because the program's
/// environment is made before it.
#[must_use]
pub fn gate_port(forward: &[u16]) -> u16 {
    (USUAL_PORT..=u16::MAX).find(|port| !forward.contains(port)).unwrap_or(USUAL_PORT)
}

/// Why the box has no gate.
#[derive(Debug, Error)]
pub enum HandOutError {
    /// A port could not be taken.
    #[error("cannot listen on {address} inside the sandbox: {source}. Check that loopback is up there.")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's answer.
        source: io::Error,
    },
    /// Nobody takes the sockets.
    #[error("cannot hand the sandbox's sockets to ralph: {0}. Check that ralph is still running.")]
    Send(#[source] io::Error),
}

/// Listens inside the box, on its port and the ports to be forwarded, and sends the sockets to the gate; none stays open here.
/// Call it in the box's network once loopback is up, before the program can take the ports, and before capabilities are
/// dropped: a port below 1024 needs one. `gate` is the descriptor that came with the [`Gate`]; the gate ends when the last
/// copy of it is closed, so keep it open as long as the program runs, and out of the program's reach.
///
/// # Errors
/// When a port cannot be taken or the gate is gone. Without IPv6, only 127.0.0.1 is listened on.
///
/// [`Gate`]: super::Gate
pub fn hand_out(gate: impl AsFd, forward: &[u16]) -> Result<(), HandOutError> {
    let mut ports = forward.to_vec();
    ports.push(gate_port(forward));
    ports.sort_unstable();
    ports.dedup();
    let mut listeners = Vec::new();
    for port in ports {
        for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            let address = SocketAddr::new(ip, port);
            match TcpListener::bind(address) {
                Ok(listener) => listeners.push(listener),
                Err(error) if ip.is_ipv6() && is_missing(&error) => {}
                Err(source) => return Err(HandOutError::Listen { address, source }),
            }
        }
    }
    listeners.iter().try_for_each(|listener| send_listener(&gate, listener)).map_err(HandOutError::Send)
}

/// Whether the system has no such address.
fn is_missing(error: &io::Error) -> bool {
    let missing = [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|errno| missing.contains(&errno))
}

/// Sends one listening socket to the gate.
///
/// # Errors
/// When the gate is gone.
pub fn send_listener(gate: impl AsFd, listener: &TcpListener) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut carried = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    carried.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(gate, &[IoSlice::new(b"\n")], &mut carried, ralph_os::SEND)?;
    Ok(())
}

/// Receives what [`send_listener`] sent: a listener that does not block. `None` for a message without one.
pub(super) fn receive_listener(control: impl AsFd) -> io::Result<Option<TcpListener>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut carried = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(control, &mut [IoSliceMut::new(&mut [0])], &mut carried, ralph_os::RECEIVE)?;
    if message.bytes == 0 {
        return Err(ended());
    }
    let descriptor = carried.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let Some(descriptor) = descriptor else { return Ok(None) };
    // Not every system can do that in the same stroke.
    rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC)?;
    let listener = TcpListener::from(descriptor);
    listener.set_nonblocking(true)?;
    Ok(Some(listener))
}
