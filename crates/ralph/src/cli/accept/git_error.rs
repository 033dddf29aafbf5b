//! Why git did not do what a commit needs, and what to do about it.

use crate::problem::{Code, Problem};
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::Output;

/// Why a commit cannot be made.
#[derive(Debug)]
pub enum GitError {
    /// git does not know who commits.
    NoIdentity,
    /// This file says that another git command is writing.
    Locked(PathBuf),
    /// The branch could not be moved, and the run's files could not be unstaged again.
    Staged(Box<GitError>),
    /// Something else, in git's words.
    Said(String),
    /// git could not be run, or a file not be written.
    Io(io::Error),
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GitError::NoIdentity => f.write_str("git does not know who you are"),
            GitError::Locked(file) => write!(f, "{} exists: another git command is writing", file.display()),
            GitError::Staged(error) => error.fmt(f),
            GitError::Said(words) => write!(f, "git: {words}"),
            GitError::Io(error) => error.fmt(f),
        }
    }
}

impl Error for GitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            GitError::Staged(error) => Some(error),
            GitError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for GitError {
    fn from(error: io::Error) -> GitError {
        GitError::Io(error)
    }
}

impl GitError {
    /// As the user reads it.
    pub fn problem(&self) -> Problem {
        let message = match self {
            GitError::Staged(_) => "the commit could not be made; the run's files are staged now",
            _ => "the commit could not be made, so nothing was committed",
        };
        let problem = Problem::new(Code::Busy, message).cause(self);
        self.hints().into_iter().fold(problem, Problem::hint)
    }

    fn hints(&self) -> Vec<String> {
        match self {
            GitError::NoIdentity => vec![
                "say who you are: git config --global user.name 'Your Name'; git config --global user.email you@example.com".into(),
            ],
            GitError::Locked(file) => vec![
                "wait until the other git command ends, then run `ralph accept` again".into(),
                format!("if no git command is running, it was left by one that was killed: rm '{}'", file.display()),
            ],
            GitError::Staged(error) => {
                let mut hints = error.hints();
                hints.push("`ralph accept` commits them once that is solved".into());
                hints
            }
            GitError::Said(_) | GitError::Io(_) => vec!["`ralph diff` shows the run's change".into()],
        }
    }
}

/// The error of a command that failed.
pub fn failed(output: &Output) -> GitError {
    let said = String::from_utf8_lossy(&output.stderr);
    let locked =
        said.split_once("Unable to create '").and_then(|(_, rest)| rest.split_once("': File exists"));
    if let Some((file, _)) = locked {
        return GitError::Locked(file.into());
    }
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("git failed");
    GitError::Said(line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned())
}
