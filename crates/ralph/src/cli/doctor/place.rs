//! Checks of the machine: git, disk, clock, state directory, terminal.

use super::Row;
use crate::cli::Here;
use crate::init::ignore::repository;
use crate::problem::Code;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::protection::odd_in_repository;
use ralph_store::{NoRoom, RunFilter, Store, disk_free, shown_size};
use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::path::Path;

/// The first day of the year this program was made in: a clock before it is wrong.
const MADE: i64 = 1_767_225_600_000;

/// Git, disk, clock and the state directory.
pub fn rows(here: &Here) -> Vec<Row> {
    let mut rows = vec![git(here), clock(here)];
    match here.home() {
        Ok(home) => {
            rows.push(disk(&home));
            rows.push(state(&home, &here.workspace));
        }
        Err(problem) => rows.push(Row::of("state", &problem)),
    }
    rows
}

fn git(here: &Here) -> Row {
    let program = here.env.which("git", &here.workspace);
    let repository = repository(&here.workspace);
    if let Some(odd) = odd_in_repository(&here.workspace).first() {
        let remedy = "remove it or restore the original file; until then git commands hang";
        return Row::warn("git", format!("git cannot read this repository: {odd}"), remedy);
    }
    match (program, repository) {
        (Some(program), Some(root)) => {
            Row::ok("git", format!("{}, repository {}", program.display(), root.display()))
        }
        (Some(_), None) => Row::warn(
            "git",
            "this directory is not a git repository",
            "optional: `git init` lets you compare and revert changes",
        ),
        (None, _) => Row::warn(
            "git",
            "git is not installed",
            "install it: ralph works without git, but most agents do not",
        ),
    }
}

fn disk(home: &Home) -> Row {
    match disk_free(&home.nearest_dir()) {
        Err(e) => Row::bad("disk", Code::Journal, e.to_string(), "check that the disk is mounted"),
        Ok(disk) => {
            let (free, size) = (shown_size(disk.free), shown_size(disk.size));
            let fact = format!("{free} of {size} free ({} %)", disk.percent());
            match disk.lack() {
                None => Row::ok("disk", fact),
                Some(lack) => {
                    let fact = format!("{fact}, which is not enough for a call: {lack}");
                    let remedy = "free some space; `ralph prune` deletes old transcripts and snapshots";
                    Row::bad("disk", Code::Journal, fact, remedy)
                }
            }
        }
    }
}

/// Asks by writing: permissions alone do not tell of a read-only disk, and mean nothing to root. The file has no name, so
/// nothing is left.
fn unwritable(home: &Home) -> Option<std::io::Error> {
    let dir = home.nearest_dir();
    let probe = tempfile::tempfile_in(&dir).err();
    // A full disk has its own row.
    let probe = probe.filter(|error| !NoRoom::is(error));
    let database = home.dir().join("ralph.db");
    let known = database.exists().then(|| OpenOptions::new().append(true).open(database).err());
    probe.or(known.flatten())
}

fn state(home: &Home, workspace: &Path) -> Row {
    let dir = home.dir();
    let shown = dir.display();
    if let Some(error) = unwritable(home) {
        let remedy = "make it writable, or set XDG_STATE_HOME to a directory on a local disk";
        return Row::bad("state", Code::Journal, format!("cannot write to {shown}: {error}"), remedy);
    }
    if let Some(within) = home.within(workspace) {
        let fact = format!(
            "{within} is in this workspace: it is left out of everything, but an agent without a sandbox can delete it"
        );
        return Row::warn("state", fact, "set XDG_STATE_HOME to a directory outside");
    }
    if !dir.exists() {
        return Row::ok("state", format!("{shown}, created by the first run"));
    }
    match crate::env::others_may_read(dir) {
        true => {
            Row::warn("state", format!("{shown} can be read by other users"), format!("chmod 700 {shown}"))
        }
        false => Row::ok("state", shown.to_string()),
    }
}

/// A clock before this program was made, or before the newest run, is wrong.
fn clock(here: &Here) -> Row {
    let now = utc();
    let shown = jiff::Timestamp::from_millisecond(now)
        .map_or("?".into(), |t| t.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let remedy = "set the clock: hourly and daily limits depend on it";
    if now < MADE {
        return Row::warn("clock", format!("{shown} is in the past"), remedy);
    }
    let store = here.home().ok().and_then(|home| home.store_if_any().ok().flatten());
    let newest = store.and_then(|s| s.runs(&RunFilter { limit: Some(1), ..RunFilter::default() }).ok());
    match newest.and_then(|rows| rows.into_iter().next()).filter(|row| row.updated > now + 60_000) {
        Some(_) => Row::warn("clock", format!("{shown} is before the latest run"), remedy),
        None => Row::ok("clock", shown),
    }
}

/// What this system cannot do that ralph would use; nothing to say where it can do all of it.
pub fn system() -> impl Iterator<Item = Row> {
    ralph_os::missing().iter().map(|missing| Row::warn("system", missing.what, missing.so))
}

/// How output will look.
pub fn terminal(here: &Here) -> Row {
    let Some(size) =
        std::io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(std::io::stdout()))
    else {
        return Row::ok("terminal", "none: plain lines, no colors");
    };
    let size = size.map_or("unknown size".into(), |size| format!("{}×{}", size.ws_col, size.ws_row));
    match (here.env.dumb, here.env.no_color) {
        (true, _) => Row::ok("terminal", format!("{size}, TERM=dumb: plain lines, no colors")),
        (_, true) => Row::ok("terminal", format!("{size}, NO_COLOR is set")),
        _ => Row::ok("terminal", format!("{size}, colors")),
    }
}
