//! Writes the files of a commit into a directory, with plumbing commands only: no checkout, no filters, no hooks, no
//! configuration of the repository that could run code.

use crate::protection::odd_in_repository;
use ralph_tree::{Index, check_objects, repositories};
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A git command that runs no other program and never prompts.
fn git(repo: &Path) -> Command {
    let mut git = Command::new("git");
    // A directory of the workspace may be on the path, as that of a virtual environment, and an agent may have put a git
    // there.
    if let Some(path) = path_outside(repo) {
        git.env("PATH", path);
    }
    git.arg("-C").arg(repo).args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    git.stdin(Stdio::null()).stderr(Stdio::null());
    git
}

/// The directories of `PATH` that do not lie in this one.
fn path_outside(dir: &Path) -> Option<OsString> {
    let dir = dir.canonicalize().ok()?;
    let path = std::env::var_os("PATH")?;
    let real = |place: &PathBuf| place.canonicalize().unwrap_or_else(|_| place.clone());
    let outside =
        std::env::split_paths(&path).filter(|place| place.is_absolute() && !real(place).starts_with(&dir));
    std::env::join_paths(outside).ok()
}

/// Whether git can read the repository around a directory. The error names what it would wait on, such as a FIFO in the
/// place of a file.
pub fn check(repo: &Path) -> io::Result<()> {
    if let Some(odd) = odd_in_repository(repo).into_iter().next() {
        return Err(io::Error::other(odd));
    }
    repositories(repo, &Index::default()).first().map_or(Ok(()), check_objects)
}

/// Git's answer in one line; `None` if it has none.
pub fn ask(repo: &Path, args: &[&str]) -> Option<String> {
    check(repo).ok()?;
    let output = git(repo).args(args).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The full hash of the commit that a revision names.
pub fn named(repo: &Path, word: &str) -> Option<String> {
    ask(repo, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{word}^{{commit}}")])
}

/// The merge base of `head` and the main branch; `head` itself if there is none.
pub fn base_of(repo: &Path, head: &str) -> Option<String> {
    let remote = ask(repo, &["rev-parse", "--abbrev-ref", "origin/HEAD"]);
    let names =
        remote.into_iter().chain(["origin/main", "origin/master", "main", "master"].map(str::to_owned));
    let onto = names.filter_map(|name| named(repo, &name)).find(|onto| onto != head);
    onto.and_then(|onto| ask(repo, &["merge-base", head, &onto])).or_else(|| Some(head.to_owned()))
}

/// The paths below a directory that differ from the commit that is checked out, relative to the directory; a file that
/// was moved is two. `None` if git has no answer, such as outside a repository.
pub fn changed_since_head(dir: &Path) -> Option<Vec<Vec<u8>>> {
    check(dir).ok()?;
    let args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", "."];
    let output = git(dir).args(args).output().ok().filter(|output| output.status.success())?;
    let rows = output.stdout.split(|byte| *byte == 0);
    let mut paths: Vec<Vec<u8>> = rows.filter_map(|row| row.get(3..).map(<[u8]>::to_vec)).collect();
    if !paths.is_empty() && !dir.join(".git").exists() {
        // Git names them from the repository's root.
        let prefix = prefix(dir).into_os_string();
        let below = |path: Vec<u8>| path.strip_prefix(prefix.as_bytes()).map(<[u8]>::to_vec);
        paths = paths.into_iter().filter_map(below).collect();
    }
    Some(paths)
}

/// A file as it is in a commit, named relative to a directory; `None` if it is not in it.
pub fn content_at(dir: &Path, commit: &str, path: &[u8]) -> Option<Vec<u8>> {
    let mut name = std::ffi::OsString::from(format!("{commit}:./"));
    name.push(OsStr::from_bytes(path));
    let output = git(dir).args(["cat-file", "blob"]).arg(name).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Where a directory lies in its repository; empty at the top.
pub fn prefix(dir: &Path) -> PathBuf {
    ask(dir, &["rev-parse", "--show-prefix"]).map(PathBuf::from).unwrap_or_default()
}

/// Writes the commit's files into an empty directory. Submodules are left out.
pub fn lay_out(repo: &Path, commit: &str, to: &Path) -> io::Result<()> {
    check(repo)?;
    std::fs::create_dir_all(to)?;
    let listed = git(repo).args(["ls-tree", "-r", "-z", "--full-tree", commit]).output()?;
    if !listed.status.success() {
        return Err(io::Error::other(format!("git cannot list {commit}")));
    }
    let mut reader =
        git(repo).args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut asks), Some(answers)) = (reader.stdin.take(), reader.stdout.take()) else {
        return Err(io::Error::other("git did not return any objects"));
    };
    let mut answers = BufReader::new(answers);
    for row in listed.stdout.split(|byte| *byte == 0).filter(|row| !row.is_empty()) {
        let Some((mode, object, path)) = row_of(row) else { continue };
        writeln!(asks, "{object}")?;
        asks.flush()?;
        let content = content(&mut answers)?;
        write(to, path, mode, &content)?;
    }
    drop(asks);
    reader.wait().map(drop)
}

/// Mode, object and path of a row; none for what is no file.
fn row_of(row: &[u8]) -> Option<(&str, &str, &[u8])> {
    let tab = row.iter().position(|byte| *byte == b'\t')?;
    let mut words = str::from_utf8(row.get(..tab)?).ok()?.split(' ');
    let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
    (kind == "blob").then_some((mode, object, row.get(tab + 1..)?))
}

fn content(answers: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = String::new();
    answers.read_line(&mut head)?;
    let size = head.trim().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
    let size = size.ok_or_else(|| io::Error::other(format!("git says: {}", head.trim())))?;
    let mut content = Vec::new();
    answers.take(size).read_to_end(&mut content)?;
    answers.read_exact(&mut [0])?;
    Ok(content)
}

fn write(to: &Path, path: &[u8], mode: &str, content: &[u8]) -> io::Result<()> {
    let at = to.join(OsStr::from_bytes(path));
    std::fs::create_dir_all(at.parent().unwrap_or(to))?;
    if mode == "120000" {
        return std::os::unix::fs::symlink(OsStr::from_bytes(content), at);
    }
    std::fs::write(&at, content)?;
    let bits = if mode == "100755" { 0o755 } else { 0o644 };
    std::fs::set_permissions(&at, std::fs::Permissions::from_mode(bits))
}
