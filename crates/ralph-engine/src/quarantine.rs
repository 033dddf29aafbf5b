//! What was found where it must not be: the offending content of protected paths, put aside before they are put back.
//! One folder for each time, with a list people and programs can read. Nothing here is ever removed by ralph itself.

use ralph_keep::Blobs;
use ralph_tree::{Index, Kind, Violation};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The list in each folder.
const LIST: &str = "list.json";

/// One folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The run.
    pub run: String,
    /// The iteration that did it.
    pub iteration: u32,
    /// When it was found (UTC, milliseconds).
    pub at: i64,
    /// The workspace.
    pub workspace: String,
    /// What was found.
    pub found: Vec<Found>,
}

/// One offending path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The path within the workspace, as it is shown.
    pub path: String,
    /// What had happened to it.
    pub how: String,
    /// Its permissions when it was found.
    pub mode: u16,
    /// The file beside this list with its content (a link's: where it pointed); none where the path was gone.
    pub file: Option<String>,
    /// It was a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
}

/// Puts aside what is at these paths now. Everything is on disk when this returns; a folder that a crash cut short is
/// written anew.
pub fn put(dir: &Path, case: Case, touched: &[Violation], now: &Index, blobs: &Blobs) -> io::Result<PathBuf> {
    let folder = free(dir, case.iteration)?;
    let mut found = Vec::new();
    for (n, violation) in (1..).zip(touched) {
        let entry = now.get(violation.path.as_bytes());
        let content = entry.filter(|entry| matches!(entry.kind, Kind::File | Kind::Symlink));
        let file = match content {
            Some(entry) => Some(copy(&blobs.path(entry.hash), &folder, n)?),
            None => None,
        };
        found.push(Found {
            path: violation.path.to_string(),
            how: violation.how.to_string(),
            mode: entry.map_or(0, |entry| entry.mode),
            link: entry.is_some_and(|entry| entry.kind == Kind::Symlink),
            file,
        });
    }
    let mut list = File::create(folder.join(LIST))?;
    list.write_all(&serde_json::to_vec_pretty(&Case { found, ..case })?)?;
    list.sync_all()?;
    File::open(&folder)?.sync_all()?;
    Ok(folder)
}

/// Every case there is, oldest first, each with its folder. A folder without a readable list was cut short by a crash;
/// the case was put aside again.
pub fn all(quarantine: &Path) -> Vec<(PathBuf, Case)> {
    let folders = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let cases = folders(quarantine).flat_map(|run| folders(&run).collect::<Vec<_>>());
    let mut all: Vec<(PathBuf, Case)> =
        cases.filter_map(|folder| Some((folder.clone(), read(&folder)?))).collect();
    all.sort_by(|a, b| (a.1.at, &a.0).cmp(&(b.1.at, &b.0)));
    all
}

fn read(folder: &Path) -> Option<Case> {
    serde_json::from_slice(&fs::read(folder.join(LIST)).ok()?).ok()
}

/// A new folder for this iteration, or one that a crash left without its list.
fn free(dir: &Path, iteration: u32) -> io::Result<PathBuf> {
    let names = (1..).map(|time| dir.join(format!("{iteration:03}.{time}")));
    let folder = names.into_iter().find(|folder| !folder.join(LIST).exists()).unwrap_or_default();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    crate::home::Home::make(&folder)?;
    Ok(folder)
}

fn copy(content: &Path, folder: &Path, n: u32) -> io::Result<String> {
    let name = n.to_string();
    let to = folder.join(&name);
    fs::copy(content, &to)?;
    File::open(&to)?.sync_all()?;
    Ok(name)
}
