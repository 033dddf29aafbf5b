//! What a repository says about itself, read from its files: commit, branch, recent subjects.
//!
//! For the prompt and the record. An agent can write all of this, so it is shown, never trusted. What is
//! missing or broken is left out.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::content::{regular_file, small_file};
use crate::git_dir::GitDir;
use crate::path::shown;

const MOST_SUBJECTS: usize = 5;
const LONGEST_SUBJECT: usize = 120;
/// How much of the end of the log is read, and of packed-refs as a whole.
const LOG_TAIL: u64 = 32 * 1024;
const PACKED_REFS: u64 = 16 << 20;

/// Where a repository stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// The commit that is checked out; None without commits or without a repository.
    pub head: Option<String>,
    /// The branch, also one without commits; None when detached.
    pub branch: Option<String>,
    /// Subjects of the last commits made here, newest first: at most five, each at most 120 characters.
    pub recent: Vec<String>,
}

/// The facts of the repository at or around `root`; empty without one.
#[must_use]
pub fn git_facts(root: &Path) -> GitFacts {
    // A relative path has no directories above it to look in.
    let Some((_, git)) = root.canonicalize().ok().as_deref().and_then(GitDir::around) else {
        return GitFacts::default();
    };
    let head = first_line(&git.own.join("HEAD"));
    let target = head.as_deref().and_then(|line| line.strip_prefix("ref:")).map(str::trim);
    let branch = target.and_then(|name| name.strip_prefix("refs/heads/")).filter(|name| *name != ".invalid");
    GitFacts {
        branch: branch.map(|name| short_text(name.as_bytes())),
        head: match target {
            Some(name) => resolve(&git, name, 5),
            None => head.as_deref().and_then(commit),
        },
        recent: recent(&git.own.join("logs/HEAD")).unwrap_or_default(),
    }
}

/// The commit a ref stands for, as a loose file or packed; refs may point to refs a few times.
fn resolve(git: &GitDir, name: &str, hops: u8) -> Option<String> {
    let sane = name.starts_with("refs/") && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !sane || hops == 0 {
        return None;
    }
    let loose = first_line(&git.own.join(name)).or_else(|| first_line(&git.common.join(name)));
    match loose.as_deref() {
        Some(line) => match line.strip_prefix("ref:") {
            Some(next) => resolve(git, next.trim(), hops - 1),
            None => commit(line),
        },
        None => packed(&git.common.join("packed-refs"), name),
    }
}

fn packed(path: &Path, name: &str) -> Option<String> {
    let mut lines = BufReader::new(regular_file(path)?.take(PACKED_REFS));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).ok()? > 0 {
        let found = line.trim_ascii_end().strip_suffix(name.as_bytes()).and_then(|id| id.strip_suffix(b" "));
        if let Some(id) = found {
            return commit(std::str::from_utf8(id).ok()?);
        }
        line.clear();
    }
    None
}

/// Subjects of what was committed, from the end of the log.
fn recent(path: &Path) -> Option<Vec<String>> {
    let mut file = regular_file(path)?;
    let from = file.metadata().ok()?.len().saturating_sub(LOG_TAIL);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut tail = Vec::new();
    file.take(LOG_TAIL).read_to_end(&mut tail).ok()?;
    let messages = tail.split(|&byte| byte == b'\n').rev().filter_map(|line| {
        let tab = line.iter().position(|&byte| byte == b'\t')?;
        subject(line.get(tab + 1..)?)
    });
    Some(messages.take(MOST_SUBJECTS).collect())
}

/// The subject in a log message like `commit (amend): Say why`; None for checkouts, resets and the like.
fn subject(message: &[u8]) -> Option<String> {
    let colon = message.windows(2).position(|pair| pair == b": ")?;
    let action = message.get(..colon)?;
    let made = [&b"commit"[..], b"cherry-pick", b"revert", b"rebase (pick)", b"am"];
    made.iter()
        .any(|verb| action.starts_with(verb))
        .then(|| short_text(message.get(colon + 2..).unwrap_or_default()))
}

fn short_text(bytes: &[u8]) -> String {
    shown(bytes).chars().take(LONGEST_SUBJECT).collect()
}

fn first_line(path: &Path) -> Option<String> {
    let text = String::from_utf8(small_file(path, 4096)?).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// A commit's name: 40 or 64 hexadecimal digits.
fn commit(text: &str) -> Option<String> {
    let hex = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| text.to_owned())
}
