//! Hides what ralph writes outside of `.ralph/` (`[views]`) from git, so that neither `git status` nor an agent's
//! `git add -A` finds it. Next to a view lies a `.gitignore` that names the view and itself. In the workspace's root, and
//! where such a file is the user's own, the repository's `info/exclude` gets a line instead: it is never committed.
//!
//! The agent must not change `info/exclude`, and another run in the same repository would take ralph's line for its
//! agent's work. So it is written once, before the first step of a run, and never while such a run is active.

use crate::home::Home;
use ralph_diagnostics::Discard;
use ralph_os::{Draft, NoFollowDir};
use ralph_store::{RunFilter, RunRow, Store};
use ralph_tree::{Index, Repository, WorkspaceLock, repositories};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::Path;

/// The first line of a `.gitignore` that ralph keeps.
const MARK: &str = "# Written by ralph: files for other programs, set under [views] in ralph.toml.";
/// A larger file of rules is left alone.
const MOST: u64 = 256 << 10;

/// Where a repository keeps rules of its own.
const EXCLUDE: &str = "info/exclude";

/// Hides these views of a run that is about to start. Returns them with the `.gitignore` files that ralph keeps for them,
/// which are nobody's work either. If it fails, the run continues.
pub fn hide(home: &Home, store: &dyn Store, workspace: &Path, mut views: Vec<String>) -> Vec<String> {
    let hidden = HiddenViews::plan(workspace, &views);
    hidden.write_ignore_files(workspace, &views).discard("hide views from git with a .gitignore");
    let is_busy = |common: &Path| is_busy(home, store, workspace, common);
    hidden.exclude(workspace, is_busy).discard("hide views from git in info/exclude");
    views.extend(hidden.ignore_files);
    views
}

/// Whether a run is active in another workspace of this repository.
fn is_busy(home: &Home, store: &dyn Store, workspace: &Path, common: &Path) -> bool {
    let filter = RunFilter { resumable: Some(true), ..RunFilter::default() };
    let is_active = |run: &RunRow| {
        let holder = WorkspaceLock::holder(&home.locks(), Path::new(&run.workspace));
        run.pid.is_some() && holder.is_some_and(|who| crate::open::drives(&who, &run.id))
    };
    let is_in_it = |run: &RunRow| {
        let around = repositories(Path::new(&run.workspace), &Index::default());
        Path::new(&run.workspace) != workspace && around.iter().any(|it| it.common == common)
    };
    store.runs(&filter).is_ok_and(|runs| runs.iter().any(|run| is_in_it(run) && is_active(run)))
}

/// How views are hidden.
#[derive(Debug, Default)]
struct HiddenViews {
    /// `.gitignore` files that ralph keeps.
    ignore_files: Vec<String>,
    /// Views that only `info/exclude` can hide.
    excluded: Vec<String>,
}

impl HiddenViews {
    /// Decides how to hide these views; nothing is written yet.
    fn plan(workspace: &Path, views: &[String]) -> HiddenViews {
        let mut hidden = HiddenViews::default();
        let Ok(root) = NoFollowDir::open(workspace) else { return hidden };
        for (dir, names) in by_directory(views) {
            let ignore = format!("{dir}/.gitignore");
            let is_ours = || match root.open_file(ignore.as_bytes()) {
                Err(error) => error.kind() == io::ErrorKind::NotFound,
                Ok(_) => read(&root, &ignore).is_ok_and(|text| text.starts_with(MARK)),
            };
            match !dir.is_empty() && is_ours() {
                true => hidden.ignore_files.push(ignore),
                false => hidden.excluded.extend(names.into_iter().map(str::to_owned)),
            }
        }
        hidden
    }

    /// Writes the `.gitignore` files.
    fn write_ignore_files(&self, workspace: &Path, views: &[String]) -> io::Result<()> {
        let root = NoFollowDir::open(workspace)?;
        for ignore in &self.ignore_files {
            let text = ignore_text(ignore, views);
            if read(&root, ignore)? != text {
                root.replace_file(ignore.as_bytes(), Draft::Unique, 0o644, |file| {
                    io::Write::write_all(file, text.as_bytes())
                })?;
            }
        }
        Ok(())
    }

    /// Adds what is missing to the `info/exclude` of the repository around the workspace, unless `is_busy` says that
    /// another run would be disturbed.
    fn exclude(&self, workspace: &Path, is_busy: impl FnOnce(&Path) -> bool) -> io::Result<()> {
        let around = repositories(workspace, &Index::default()).into_iter().next();
        let Some(repository) = around.filter(|_| !self.excluded.is_empty()) else { return Ok(()) };
        let git = NoFollowDir::open(&repository.common)?;
        let present = read(&git, EXCLUDE)?;
        let theirs = read(&NoFollowDir::open(workspace)?, ".gitignore").unwrap_or_default();
        let lines = self.excluded.iter().map(|view| (line(view), exclude_line(&repository, view)));
        let has = |text: &str, wanted: &str| text.lines().any(|line| line.trim_end() == wanted);
        let missing: Vec<String> = lines
            .filter(|(own, whole)| {
                let unrooted = own.trim_start_matches('/');
                !has(&present, whole) && !has(&theirs, own) && !has(&theirs, unrooted)
            })
            .map(|(_, whole)| whole)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        if is_busy(&repository.common) {
            return Err(io::Error::other("another run is active in this repository"));
        }
        git.append(EXCLUDE.as_bytes(), addition(&present, &missing).as_bytes())
    }
}

/// What a `.gitignore` that ralph keeps holds: itself and the views next to it.
pub fn ignore_text(ignore: &str, views: &[String]) -> String {
    let mut text = format!("{MARK}\n/.gitignore\n");
    let dir = ignore.trim_end_matches("/.gitignore");
    for view in by_directory(views).get(dir).into_iter().flatten().filter(|view| **view != ignore) {
        let name = view.rsplit('/').next().unwrap_or_default();
        let _ = writeln!(text, "{}", line(name));
    }
    text
}

fn by_directory(views: &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for view in views {
        let dir = view.rsplit_once('/').map_or("", |(dir, _)| dir);
        found.entry(dir).or_default().push(view);
    }
    found
}

/// A path as a line of ignore rules. Its `*`, if it has one, means what it means there.
fn line(path: &str) -> String {
    let mut text = String::from("/");
    for c in path.chars() {
        if matches!(c, '\\' | '?' | '[' | ' ') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// The line for a view in the rules of the whole repository.
fn exclude_line(repository: &Repository, view: &str) -> String {
    match String::from_utf8_lossy(&repository.within) {
        within if within.is_empty() => line(view),
        within => line(&format!("{within}/{view}")),
    }
}

fn addition(present: &str, lines: &[String]) -> String {
    let mut text = String::new();
    if !present.is_empty() && !present.ends_with('\n') {
        text.push('\n');
    }
    if !present.lines().any(|line| line == MARK) {
        let _ = writeln!(text, "{MARK}");
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// A file of rules; empty if there is none.
fn read(dir: &NoFollowDir, path: &str) -> io::Result<String> {
    let file = match dir.open_file(path.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        other => other?,
    };
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST {
        true => Err(io::Error::other("it is too large")),
        false => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}
