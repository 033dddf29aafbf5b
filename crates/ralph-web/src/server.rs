//! The server: bound to an address, then running on one thread until it is stopped.

use crate::access::{Names, has_port, wrong_name};
use crate::connections;
use crate::feed::Feed;
use crate::reader::Reader;
use crate::routes::{App, STREAMS, router};
use crate::token::Token;
use ralph_engine::home::Home;
use ralph_engine::redact::Redactor;
use ralph_view::board::BoardSettings;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Notify, Semaphore};

/// Threads that read stores and files at most.
const BLOCKING: usize = 8;

/// Knows the secrets of a workspace.
pub type RedactorOf = Arc<dyn Fn(&Path) -> Redactor + Send + Sync>;

/// What a server needs to know.
#[derive(Clone)]
pub struct ServerSettings {
    /// The state directory.
    pub home: Home,
    /// What screens need to know besides.
    pub board: BoardSettings,
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Further names that it answers to, with or without a port.
    pub hosts: Vec<String>,
    /// Runs may be paused, stopped and given hints.
    pub allow_control: bool,
    /// What readers must send.
    pub token: Token,
    /// Knows the secrets of a workspace.
    pub redactor: RedactorOf,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody else listens there.
    #[error(
        "{0} is taken: another program listens there, perhaps another `ralph serve`. Open that one, end it, or let the system \
         pick a free port with --listen {1}"
    )]
    Taken(SocketAddr, SocketAddr),
    /// The address is another machine's.
    #[error("{0} is not an address of this machine. Use one of its own, such as --listen 127.0.0.1:{1}")]
    NotLocal(std::net::IpAddr, u16),
    /// The port is for the system.
    #[error("no permission to listen on {0}: its port is reserved. Use one above 1023, such as --listen {1}")]
    Reserved(SocketAddr, SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}. Use another address, such as --listen 127.0.0.1:0")]
    Address(SocketAddr, io::Error),
    /// No browser would send this name.
    #[error("`{0}` is not a valid --host: {1}")]
    WrongHost(String, &'static str),
    /// Others can reach the address.
    #[error(
        "{0} is not a loopback address: others on the network could reach it, and nothing is encrypted. Reach it through `ssh \
         -L` instead, or name what you will type into the browser with --host NAME"
    )]
    NeedsHost(SocketAddr),
    /// A thread or the runtime could not be started.
    #[error("the server cannot be started: {0}")]
    Start(#[from] io::Error),
}

/// A server that is bound to its address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    settings: ServerSettings,
    stop: Arc<Notify>,
}

/// Ends a server.
#[derive(Clone, Debug)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Ends it: streams end, and [`Server::run`] returns.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Binds to the address.
    pub fn bind(settings: ServerSettings) -> Result<Server, ServeError> {
        let wanted = settings.listen;
        for name in &settings.hosts {
            if let Some(why) = wrong_name(name) {
                return Err(ServeError::WrongHost(name.escape_debug().to_string(), why));
            }
        }
        if !wanted.ip().is_loopback() && settings.hosts.is_empty() {
            return Err(ServeError::NeedsHost(wanted));
        }
        let listener = TcpListener::bind(wanted).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ServeError::Taken(wanted, SocketAddr::new(wanted.ip(), 0)),
            io::ErrorKind::AddrNotAvailable => ServeError::NotLocal(wanted.ip(), wanted.port()),
            io::ErrorKind::PermissionDenied => {
                ServeError::Reserved(wanted, SocketAddr::new(wanted.ip(), 7257))
            }
            _ => ServeError::Address(wanted, error),
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, settings, stop: Arc::default() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether others on the network can reach it.
    pub fn is_open_to_others(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// What to open in a browser. The token is in the fragment, which browsers send to nobody.
    pub fn url(&self) -> String {
        let host = match self.settings.hosts.first().filter(|_| self.is_open_to_others()) {
            Some(name) if has_port(name) => name.clone(),
            Some(name) => format!("{name}:{}", self.address.port()),
            None => self.address.to_string(),
        };
        format!("http://{host}/#token={}", self.settings.token.text())
    }

    /// Ends it from another thread.
    pub fn stopper(&self) -> Stop {
        Stop(Arc::clone(&self.stop))
    }

    /// Serves on this thread until it is stopped.
    pub fn run(self) -> Result<(), ServeError> {
        let Server { listener, address, settings, stop } = self;
        let ServerSettings { home, board, hosts, allow_control, token, redactor, .. } = settings;
        let app = App {
            names: Names::of(address, &hosts),
            token,
            reader: Reader::start(&home, board.clone())?,
            feed: Feed::start(&home, board)?,
            streams: Arc::new(Semaphore::new(STREAMS)),
            allow_control,
            redactor,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING)
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::select! {
                () = connections::serve(listener, router(app)) => {}
                () = stop.notified() => {}
            }
            Ok::<(), io::Error>(())
        })?;
        // Not waiting for a thread that reads a database which does not answer.
        runtime.shutdown_background();
        Ok(())
    }
}
