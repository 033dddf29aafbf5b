//! Checks of the snapshots: whether the contents that `ralph undo` would need are whole.

use super::Row;
use crate::cli::Here;
use ralph_engine::home::Home;
use ralph_engine::snapshots::Snapshots;
use ralph_snapshots::{Blobs, SnapshotStore, damaged_contents, wrong_size};
use ralph_store::{RunFilter, Store};

const NAME: &str = "snapshots";
/// Most names in a row.
const SHOWN: usize = 3;
const REMEDY: &str =
    "the next run saves them again from files that are unchanged; `ralph undo` cannot restore the others";

/// The sizes of what the latest run here saved; with `full`, every content of every workspace is read. No row where
/// nothing was saved.
pub fn rows(here: &Here, full: bool) -> Vec<Row> {
    let Ok(home) = here.home() else { return Vec::new() };
    let row = if full { all(&home) } else { latest(here, &home) };
    row.into_iter().collect()
}

fn latest(here: &Here, home: &Home) -> Option<Row> {
    let store = home.store_if_any().ok()??;
    let workspace = Some(here.workspace.to_string_lossy().into_owned());
    let newest = store.runs(&RunFilter { workspace, limit: Some(1), ..RunFilter::default() }).ok()?;
    let snapshots = Snapshots::of(home, &here.workspace, &newest.first()?.id);
    let state = snapshots.last()?;
    let wrong = wrong_size(snapshots.store().blobs(), &state);
    Some(match wrong.is_empty() {
        true => Row::ok(NAME, "the latest run's contents have the right sizes (--full reads all)"),
        false => damaged(wrong.len(), wrong.iter().take(SHOWN).map(ToString::to_string).collect()),
    })
}

fn all(home: &Home) -> Option<Row> {
    let (mut count, mut names) = (0, Vec::new());
    for folder in std::fs::read_dir(home.dir().join("keep")).ok()?.flatten() {
        let store = SnapshotStore::at(folder.path());
        let blobs: &Blobs = store.blobs();
        match damaged_contents(blobs) {
            Ok((read, damaged)) => {
                count += read;
                names.extend(damaged.into_iter().map(|hash| blobs.path(hash).display().to_string()));
            }
            Err(error) => {
                let fact = format!("{} cannot be read: {error}", folder.path().display());
                return Some(Row::warn(NAME, fact, "check its permissions and the disk"));
            }
        }
    }
    match names.len() {
        0 if count == 0 => None,
        0 => Some(Row::ok(NAME, format!("all {count} saved contents are whole"))),
        n => Some(damaged(n, names.into_iter().take(SHOWN).collect())),
    }
}

fn damaged(count: usize, mut names: Vec<String>) -> Row {
    if count > names.len() {
        names.push(format!("and {} more", count - names.len()));
    }
    let what = if count == 1 {
        "1 saved content is damaged"
    } else {
        &format!("{count} saved contents are damaged")
    };
    Row::warn(NAME, format!("{what}: {}", names.join(", ")), REMEDY)
}
