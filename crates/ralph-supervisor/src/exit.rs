//! How a supervised program ended.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use ralph_os::in_words;
use rustix::io::Errno;
use thiserror::Error;

/// How a program ended, known after its last byte is read and its last process is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The program's exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Why it never ran, if it did not.
    pub not_started: Option<NotStarted>,
    /// Processes besides the program that were still there and had to be killed.
    pub outlived: u32,
    /// Processes that survived SIGKILL (another user's, or stuck in the kernel). Their supervisor keeps trying.
    pub left: u32,
    /// Why it ended.
    pub how: How,
    /// Its supervisor was killed or did not answer, whatever else ended it. What was found of its tree was killed; what
    /// was not can only be found by its tag.
    pub supervisor_lost: bool,
    /// Both streams were read to their end; false if an unrelated process held a pipe open.
    pub drained: bool,
    /// What of its sandbox's plan could not be done, although it ran.
    pub notes: Vec<String>,
    /// Milliseconds from start to end, without the pauses.
    pub ms: u64,
}

/// Why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It ended by itself.
    Ended,
    /// `end` or `kill` was ordered.
    Told,
    /// Its final result was seen, it did not exit within the grace, and was ended.
    Lingered,
    /// It was never started.
    NotStarted,
    /// Its supervisor died, and nobody had ordered an end.
    SupervisorLost,
    /// Its sandbox ended without telling how the program did, and nobody had ordered an end. All processes in it are dead.
    SandboxLost,
}

/// Why a program never ran.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotStarted {
    /// The program itself: not found, not executable, arguments too long.
    #[error("cannot run `{}`: {}. {}", program.display(), reason(*errno), program_advice(*errno))]
    Program {
        /// As it was named.
        program: OsString,
        /// The system's error number.
        errno: i32,
    },
    /// The directory it should have run in.
    #[error("cannot enter `{}`: {}. Check that the directory exists and may be entered.", cwd.display(), reason(*errno))]
    Cwd {
        /// As it was named.
        cwd: PathBuf,
        /// The system's error number.
        errno: i32,
    },
    /// The system does not let this user mount an overlay.
    #[error("the overlay over the workspace was refused: {}", reason(*errno))]
    Overlay {
        /// The system's error number.
        errno: i32,
    },
    /// The system does not let this user mount a room.
    #[error("the room at the workspace's path was refused: {}", reason(*errno))]
    Room {
        /// The system's error number.
        errno: i32,
    },
    /// Its sandbox could not be built.
    #[error("the sandbox could not be built: {}. `ralph doctor` shows what works here; `--sandbox off` runs without one.", sandbox_reason(*errno, text))]
    Sandbox {
        /// The system's error number; 0 if there is none.
        errno: i32,
        /// What was tried.
        text: String,
    },
    /// The supervisor ended without a report; its error, if any, is on stderr.
    #[error("the supervisor `{}` ended before it started the program. Its stderr says why; check that ralph's own binary is intact.", supervisor.display())]
    Supervisor {
        /// The supervisor's binary.
        supervisor: PathBuf,
    },
}

impl NotStarted {
    /// The code a shell would give: 127 when the program was not found, else 126.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::Program { errno, .. } if *errno == Errno::NOENT.raw_os_error() => 127,
            _ => 126,
        }
    }
}

fn reason(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

fn sandbox_reason(errno: i32, text: &str) -> String {
    match (errno, text) {
        (0, text) => text.to_owned(),
        (errno, "") => in_words(&reason(errno)),
        (errno, text) => format!("{text}: {}", in_words(&reason(errno))),
    }
}

fn program_advice(errno: i32) -> &'static str {
    match Errno::from_raw_os_error(errno) {
        Errno::NOENT => {
            "Install it, or give its full path; a script also needs the interpreter in its first line."
        }
        Errno::ACCESS => "Make it executable (chmod +x) and check that its directory may be entered.",
        Errno::TOOBIG => "Its arguments and environment are too long; pass the text on stdin.",
        Errno::NOEXEC => "It is not a program for this machine, or it is a script without a `#!` line.",
        _ => "Try to run it by hand.",
    }
}
