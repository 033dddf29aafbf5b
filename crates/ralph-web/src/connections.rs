//! Connections, each with its limits: how many, from whom, how large a head, and how long it may take to send or to read
//! something. Whoever holds one open without asking loses it.

use crate::access::HEAD_BYTES;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep, timeout};

/// How long a request's head may take, also the first of a connection, and how long one may be idle.
const HEAD: Duration = Duration::from_secs(10);
/// How long somebody may read nothing of what is sent.
const WRITE: Duration = Duration::from_secs(20);
/// Headers of a request at most.
const HEADERS: usize = 64;
/// Connections at most.
const ALL: usize = 512;
/// Connections from one address at most. Everybody on this machine has the same one.
const ONE_PEER: usize = 384;
/// How long to wait when the system has no connection to give.
const PAUSE: Duration = Duration::from_millis(100);

const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";

/// Accepts connections until the future is dropped.
pub async fn serve(listener: TcpListener, app: Router) {
    let peers = Peers::default();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => match peers.admit(peer.ip()) {
                Some(admission) => drop(tokio::spawn(connection(stream, app.clone(), admission))),
                None => turn_away(stream).await,
            },
            // The process has no file left, or the client was gone at once.
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn turn_away(stream: TcpStream) {
    if timeout(PAUSE, stream.writable()).await.is_ok() {
        let _ = stream.try_write(TOO_MANY);
    }
}

async fn connection(stream: TcpStream, app: Router, admission: Admission) {
    // Events are small and must not wait for more.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(Patient { stream, stalled: None });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_headers(HEADERS).max_buf_size(HEAD_BYTES);
    // A connection that fails is the client's affair.
    let _ = builder.serve_connection(io, TowerToHyperService::new(app)).await;
    drop(admission);
}

/// How many connections each address has.
#[derive(Clone, Default)]
struct Peers(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One connection's place among those that are allowed.
struct Admission {
    peers: Peers,
    ip: IpAddr,
}

impl Peers {
    fn admit(&self, ip: IpAddr) -> Option<Admission> {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = peers.values().sum();
        let of_peer = peers.entry(ip).or_default();
        if all >= ALL || *of_peer >= ONE_PEER {
            return None;
        }
        *of_peer += 1;
        Some(Admission { peers: self.clone(), ip })
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut peers = self.peers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = peers.get_mut(&self.ip) {
            *count = count.saturating_sub(1);
        }
        peers.retain(|_, count| *count > 0);
    }
}

/// A connection that is given up when the other end reads nothing for too long.
struct Patient {
    stream: TcpStream,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    /// Waits for the write, and for no longer than it may take.
    fn within<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(WRITE)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.within(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.within(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_in_all_and_by_address() {
        let peers = Peers::default();
        let ip = |n: u8| IpAddr::from([192, 0, 2, n]);
        let mut admissions: Vec<Admission> = std::iter::from_fn(|| peers.admit(ip(1))).collect();
        assert_eq!(admissions.len(), ONE_PEER);
        admissions.extend(std::iter::from_fn(|| peers.admit(ip(2))));
        assert_eq!(admissions.len(), ALL);
        assert!(peers.admit(ip(3)).is_none());
        drop(admissions);
        assert!(peers.0.lock().unwrap().is_empty());
    }
}
