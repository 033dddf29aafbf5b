//! Why the store failed: each message says what happened, why, and what to do next. Callers see what an error means,
//! never which database produced it.

use crate::disk::NoRoom;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why the store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A record does not agree with its checksum, or one is missing.
    #[error(
        "record {seq} of {stream} is damaged: {why}. Something other than ralph changed the database, or the disk is failing. \
         Restore the newest copy with `ralph doctor --restore`"
    )]
    Corrupt {
        /// The stream.
        stream: String,
        /// The first record that cannot be trusted.
        seq: u64,
        /// What did not agree.
        why: String,
    },
    /// The database file itself cannot be understood.
    #[error("{} is damaged: {why}.{} Restore the newest copy with `ralph doctor --restore`", path.display(), kept_words(kept))]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What did not agree.
        why: String,
        /// Where a copy of it was kept, if one was made.
        kept: Option<PathBuf>,
    },
    /// There is no database, but there are runs that were in one.
    #[error(
        "{} is missing or empty, but {} holds {known} run{}: what they did and spent would be forgotten. {}. To start anew \
         on purpose, move {} away", path.display(), runs.display(), if *known == 1 { "" } else { "s" }, copy_words(newest), runs.display()
    )]
    Lost {
        /// Where the database should be.
        path: PathBuf,
        /// The folder of runs.
        runs: PathBuf,
        /// How many there are.
        known: usize,
        /// The newest copy of the database.
        newest: Option<PathBuf>,
    },
    /// The file was written by a newer ralph: it can be read, not written.
    #[error(
        "the database has schema {found}, this ralph knows up to {known}: it can be read but not written. Update ralph to continue"
    )]
    Newer {
        /// Schema of the file.
        found: i64,
        /// Newest schema this program knows.
        known: i64,
    },
    /// The file is some other program's database.
    #[error("{} is not ralph's database ({why}); it was left as it is. Move it away, or set XDG_STATE_HOME to another directory", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// How it was told.
        why: String,
    },
    /// The place cannot be written.
    #[error("{} cannot be written ({why}). Make it writable, or set XDG_STATE_HOME to a directory that is", path.display())]
    ReadOnly {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A network file system whose locks cannot be trusted.
    #[error("{} is on a network file system ({kind}) that cannot hold the database safely: {why}. Set XDG_STATE_HOME to a directory on a local disk", path.display())]
    Network {
        /// The directory.
        path: PathBuf,
        /// Kind of file system.
        kind: &'static str,
        /// What the probe met.
        why: String,
    },
    /// The file at the database's path is no longer the one that is open.
    #[error("{} was removed or replaced while ralph had it open; what is written now would be lost. Put it back, or start ralph again", path.display())]
    Gone {
        /// The path.
        path: PathBuf,
    },
    /// No room left, not even after the ballast was released.
    #[error("cannot write {}: {why}; the last change was not saved", path.display())]
    Full {
        /// The database file.
        path: PathBuf,
        /// Why.
        why: NoRoom,
    },
    /// Somebody else holds the database, for longer than it is waited for.
    #[error(
        "the database is locked by another process{}. Find it (for example a suspended ralph or an open sqlite3 shell) and end it",
        waited_words(*waited)
    )]
    Busy {
        /// How long was waited.
        waited: Duration,
    },
    /// A name that may not become a file name.
    #[error("{name:?} is not a valid backup date; use digits and dashes only")]
    BadDate {
        /// What was given.
        name: String,
    },
    /// A file operation failed.
    #[error("could not {doing} {}: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Any other error of the database underneath.
    #[error("database error: {0}")]
    Backend(#[from] BackendError),
}

/// An error of the database underneath, with its meaning. Its own type stays hidden.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct BackendError {
    /// What it means.
    pub kind: BackendErrorKind,
    source: Box<dyn Error + Send + Sync>,
}

/// What an error of the database underneath means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendErrorKind {
    /// Another connection holds a lock.
    Busy,
    /// The disk is full.
    Full,
    /// Reading or writing the file failed.
    Io,
    /// The file does not hold what was written to it.
    Corrupt,
    /// The file may not be written.
    ReadOnly,
    /// The file could not be opened, for whatever reason.
    CannotOpen,
    /// Anything else.
    Other,
}

impl BackendError {
    pub(crate) fn new(
        kind: BackendErrorKind,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> BackendError {
        BackendError { kind, source: source.into() }
    }
}

impl StoreError {
    /// A file operation that failed; a read-only place gets its own words.
    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> StoreError {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                StoreError::ReadOnly { path, why: source.to_string() }
            }
            _ if NoRoom::is(&source) => {
                let why = NoRoom::at(&path, source.kind() == io::ErrorKind::FileTooLarge);
                StoreError::Full { path, why }
            }
            _ => StoreError::File { doing, path, source },
        }
    }
}

fn copy_words(newest: &Option<PathBuf>) -> String {
    match newest {
        Some(path) => format!("Restore {} with `ralph doctor --restore`", path.display()),
        None => "There is no copy of it in copies/ beside it".to_owned(),
    }
}

/// A screen that tries again every second has waited for nothing worth saying.
fn waited_words(waited: Duration) -> String {
    let seconds = waited.as_secs();
    if seconds > 0 { format!(", for {seconds} s by now") } else { String::new() }
}

fn kept_words(kept: &Option<PathBuf>) -> String {
    match kept {
        Some(path) => format!(" A copy was kept as {}.", path.display()),
        None => String::new(),
    }
}

/// Why a batch was not committed; nothing of it was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Somebody else appended to the stream first.
    #[error(
        "{stream} is at record {head}, expected {expected}: another process is writing to this run. Let it finish, or stop it first"
    )]
    Conflict {
        /// The stream.
        stream: String,
        /// Its real head.
        head: u64,
        /// The head the caller believed in.
        expected: u64,
    },
    /// A limit refused the reservation.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Which limit refused a reservation, and when it may be asked again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{total} of {cap} of {meter} used; {wanted} more would exceed it. Raise the limit, or wait until some is free"
)]
pub struct Refusal {
    /// The meter that is full.
    pub meter: String,
    /// What it holds now.
    pub total: i64,
    /// What was to be added.
    pub wanted: i64,
    /// What it may hold.
    pub cap: i64,
    /// When enough leaves a sliding window, UTC milliseconds; `None`: waiting does not help.
    pub free_at: Option<i64>,
}
