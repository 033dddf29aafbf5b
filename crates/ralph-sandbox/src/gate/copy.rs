//! Copying between two sockets, both ways, in one thread. The end of one way is passed on as it is: a client that has sent
//! everything still gets its answer, and an aborted connection is not shown as a finished one.

use super::wait::{end_of, ended, has_ended, wait_any};
use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt::set_socket_linger;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The room of one way. No size from 32 to 256 KiB is measurably faster.
const BUFFER: usize = 64 * 1024;

/// So many times one way is served before the other is looked at.
const TURNS: usize = 16;

/// One way.
struct Flow<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    buffer: Vec<u8>,
    /// What of the buffer is still to be written.
    pending: std::ops::Range<usize>,
    /// Nothing more will be read or written.
    done: bool,
}

impl<'a> Flow<'a> {
    /// `first` is written before anything that is read.
    fn new(from: &'a TcpStream, to: &'a TcpStream, first: Vec<u8>) -> Self {
        let pending = 0..first.len();
        let mut buffer = first;
        buffer.resize(BUFFER.max(pending.end), 0);
        Self { from, to, buffer, pending, done: false }
    }

    fn wants_to_read(&self) -> bool {
        self.pending.is_empty() && !self.done
    }

    fn wants_to_write(&self) -> bool {
        !self.pending.is_empty() && !self.done
    }

    /// Moves what can be moved without waiting. Fails when the source was aborted.
    fn advance(&mut self) -> io::Result<()> {
        for _ in 0..TURNS {
            let moved = match () {
                () if self.done => return Ok(()),
                () if self.wants_to_write() => self.write(),
                () => self.read(),
            };
            match moved {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let read = self.from.read(&mut self.buffer)?;
        self.pending = 0..read;
        if read == 0 {
            self.done = true;
            // Fails when the socket is gone already.
            let _ = self.to.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let pending = self.buffer.get(self.pending.clone()).unwrap_or_default();
        match self.to.write(pending) {
            Ok(written) => self.pending.start += written,
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {
                return Err(error);
            }
            // Nobody reads any more. What the other side has still to say is delivered all the same.
            Err(_) => self.done = true,
        }
        Ok(())
    }
}

/// Copies both ways until both have ended. Both sockets must not block. `to_client` and `to_server` come first.
pub(super) fn copy_both(
    control: &UnixStream,
    client: &TcpStream,
    server: &TcpStream,
    to_client: Vec<u8>,
    to_server: Vec<u8>,
) -> io::Result<()> {
    let mut up = Flow::new(client, server, to_server);
    let mut down = Flow::new(server, client, to_client);
    let copied = copy(control, &mut up, &mut down);
    let aborted = copied.as_ref().err().is_some_and(|error| error.kind() != ErrorKind::ConnectionAborted);
    if aborted {
        // Closed like this, both sides see an aborted connection too.
        for socket in [client, server] {
            let _ = set_socket_linger(socket, Some(Duration::ZERO));
        }
    }
    copied
}

fn copy(control: &UnixStream, up: &mut Flow<'_>, down: &mut Flow<'_>) -> io::Result<()> {
    // Sockets that hung up while nothing was wanted of them: they would wake the thread again and again.
    let (mut client_quiet, mut server_quiet) = (false, false);
    loop {
        up.advance()?;
        down.advance()?;
        if up.done && down.done {
            return Ok(());
        }
        let client_wants = wanted(up.wants_to_read(), down.wants_to_write());
        let server_wants = wanted(down.wants_to_read(), up.wants_to_write());
        let mut fds = [
            end_of(control),
            entry(control, up.from, client_wants, client_quiet),
            entry(control, up.to, server_wants, server_quiet),
        ];
        wait_any(&mut fds, None)?;
        let [end, client, server] = fds.map(|fd| fd.revents());
        if has_ended(end) {
            return Err(ended());
        }
        client_quiet |= note_hangup(client, client_wants, down);
        server_quiet |= note_hangup(server, server_wants, up);
    }
}

fn wanted(read: bool, write: bool) -> PollFlags {
    let mut events = PollFlags::empty();
    events.set(PollFlags::IN, read);
    events.set(PollFlags::OUT, write);
    events
}

fn entry<'a>(control: &'a UnixStream, socket: &'a TcpStream, events: PollFlags, quiet: bool) -> PollFd<'a> {
    if quiet && events.is_empty() { end_of(control) } else { PollFd::new(socket, events) }
}

/// Whether a socket hung up of which nothing is wanted. If it was aborted, nothing can be written to it either.
fn note_hangup(seen: PollFlags, wanted: PollFlags, into: &mut Flow<'_>) -> bool {
    let hung_up = wanted.is_empty() && seen.intersects(PollFlags::HUP | PollFlags::ERR);
    into.done |= hung_up && seen.contains(PollFlags::ERR);
    hung_up
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Two connected sockets.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    #[test]
    fn the_end_is_passed_on_wherever_in_its_turns_a_flow_meets_it() {
        for length in 0..3 * TURNS {
            for first in [&b""[..], b"f"] {
                let ((mut source, from), (to, mut sink)) = (pair(), pair());
                source.write_all(&vec![b'x'; length]).unwrap();
                drop(source);
                let mut flow = Flow::new(&from, &to, first.to_vec());
                flow.buffer.truncate(1);
                while flow.wants_to_read() || flow.wants_to_write() {
                    flow.advance().unwrap();
                }
                assert!(flow.done, "{length} bytes after {first:?}");
                let mut all = Vec::new();
                sink.read_to_end(&mut all).unwrap();
                assert_eq!(all.len(), length + first.len());
            }
        }
    }
}
