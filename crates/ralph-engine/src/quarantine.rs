//! Quarantine: the content found at protected paths, copied here before those paths are restored. One folder per restore,
//! with a list that people and programs can read. ralph never removes anything from it.

use crate::protection::Touched;
use ralph_snapshots::{QuarantineCopy, copy_to_quarantine};
use ralph_tree::TreePath;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

mod path_state;

pub use path_state::PathState;

/// The list in each folder.
const LIST: &str = "list.json";

/// The list of one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Commits that contain protected paths. They stay in the history; only their owner may remove them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Touched>,
}

/// One offending path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The path as it is shown.
    pub path: String,
    /// Its bytes in hexadecimal, if they differ from what is shown; relative to `root`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// The directory it is in, if not the workspace: a repository's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What happened to it.
    pub how: String,
    /// Its permissions when it was found.
    pub mode: u16,
    /// The file or directory beside this list with its content (a link's: where it pointed); none where the path was
    /// gone, or nothing that has a content.
    pub file: Option<String>,
    /// It was a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// The commit it was found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// It was deleted: restoring the case deletes it again. Not set for protected paths.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// It was a directory; what was in it is listed by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub directory: bool,
}

impl Found {
    /// The path relative to its root.
    pub fn path(&self) -> TreePath {
        match &self.bytes {
            Some(hex) => unhex(hex).as_slice().into(),
            None => self.path.as_bytes().into(),
        }
    }
}

/// A path to quarantine.
pub struct Item<'a> {
    /// The directory that the path is relative to.
    pub root: &'a Path,
    /// Prefix for display; empty for the workspace.
    pub name: &'a str,
    /// The path.
    pub path: TreePath,
    /// What happened to it.
    pub how: String,
}

/// A folder that is being filled. After `close` everything is on disk. One that a crash left incomplete is filled again;
/// a complete one is not touched.
pub struct Folder {
    path: PathBuf,
    case: Case,
    count: u32,
}

impl Folder {
    /// Creates a folder; `None` if it is complete already.
    pub fn open(path: PathBuf, case: Case) -> io::Result<Option<Folder>> {
        if is_complete(&path) {
            return Ok(None);
        }
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        crate::home::Home::create_private_dir(&path)?;
        Ok(Some(Folder { path, case, count: 0 }))
    }

    /// Copies what is at a path now.
    pub fn put(&mut self, item: &Item<'_>) -> io::Result<()> {
        self.count += 1;
        let name = self.count.to_string();
        let aside = match copy_to_quarantine(item.root, &item.path, &self.path.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => QuarantineCopy::default(),
            other => other?,
        };
        self.note(item, &aside, Some(name).filter(|_| aside.kept));
        Ok(())
    }

    /// Lists a path that no longer exists.
    pub fn gone(&mut self, item: &Item<'_>) {
        self.note(item, &QuarantineCopy::default(), None);
    }

    /// Lists a directory without what is in it.
    pub fn directory(&mut self, item: &Item<'_>, mode: u32) {
        self.note(item, &QuarantineCopy { mode, ..QuarantineCopy::default() }, None);
        if let Some(found) = self.case.found.last_mut() {
            found.directory = true;
        }
    }

    /// Copies the content of a path in a commit.
    pub fn commit(&mut self, touched: &Touched, content: Option<&[u8]>) -> io::Result<()> {
        let mut found = Found {
            path: touched.path.clone(),
            how: "in a commit".into(),
            mode: 0o600,
            commit: Some(touched.commit.clone()),
            ..Found::default()
        };
        if let Some(content) = content {
            self.count += 1;
            let name = self.count.to_string();
            let mut file = File::create(self.path.join(&name))?;
            file.write_all(content)?;
            file.sync_all()?;
            found.file = Some(name);
        }
        self.case.found.push(found);
        self.case.commits.push(touched.clone());
        Ok(())
    }

    fn note(&mut self, item: &Item<'_>, aside: &QuarantineCopy, file: Option<String>) {
        let shown = item.path.to_string();
        let bytes = (shown.as_bytes() != item.path.as_bytes()).then(|| hex(item.path.as_bytes()));
        let inside = item.name.is_empty();
        self.case.found.push(Found {
            path: if inside { shown } else { format!("{}/{shown}", item.name) },
            bytes: if inside { bytes } else { Some(hex(item.path.as_bytes())) },
            root: (!inside).then(|| item.root.display().to_string()),
            how: item.how.clone(),
            mode: u16::try_from(aside.mode).unwrap_or(0),
            link: aside.kind == "link",
            file,
            ..Found::default()
        });
    }

    /// Writes the list, which makes the folder complete.
    pub fn close(self) -> io::Result<PathBuf> {
        let draft = self.path.join("list.tmp");
        let mut list = File::create(&draft)?;
        list.write_all(&serde_json::to_vec_pretty(&self.case)?)?;
        list.sync_all()?;
        fs::rename(draft, self.path.join(LIST))?;
        File::open(&self.path)?.sync_all()?;
        Ok(self.path)
    }
}

/// Whether a folder is complete: nothing may be changed in it any more.
pub fn is_complete(folder: &Path) -> bool {
    folder.join(LIST).exists()
}

/// All cases with their folders, oldest first. A folder without a readable list was left incomplete by a crash; its case
/// was recorded again.
pub fn all(quarantine: &Path) -> Vec<(PathBuf, Case)> {
    sorted(folders(quarantine).flat_map(|run| folders(&run).collect::<Vec<_>>()))
}

/// The same of one run, whose folders are here.
pub fn of_run(run: &Path) -> Vec<(PathBuf, Case)> {
    sorted(folders(run))
}

fn folders(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn sorted(cases: impl Iterator<Item = PathBuf>) -> Vec<(PathBuf, Case)> {
    let mut all: Vec<(PathBuf, Case)> =
        cases.filter_map(|folder| Some((folder.clone(), read(&folder)?))).collect();
    all.sort_by(|a, b| (a.1.at, &a.0).cmp(&(b.1.at, &b.0)));
    all
}

/// A name for a new folder of a run: the iteration, a letter for what it is from, and a number.
pub fn free_folder(run: &Path, iteration: u32, letter: char) -> PathBuf {
    let names = (1..).map(|n: u32| run.join(format!("{iteration:03}.{letter}{n}")));
    names.into_iter().find(|path| !is_complete(path)).unwrap_or_default()
}

/// The workspace of a run's cases is here from now on, and other directories where `there` says. It is on disk when this
/// returns.
pub fn moved(run: &Path, workspace: &Path, there: impl Fn(&Path) -> PathBuf) -> io::Result<()> {
    for folder in fs::read_dir(run).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Some(mut case) = read(&folder) else { continue };
        case.workspace = workspace.to_string_lossy().into_owned();
        for root in case.found.iter_mut().filter_map(|found| found.root.as_mut()) {
            *root = there(Path::new(root)).display().to_string();
        }
        ralph_os::write_durably(&folder.join(LIST), &serde_json::to_vec_pretty(&case)?)?;
    }
    Ok(())
}

fn read(folder: &Path) -> Option<Case> {
    serde_json::from_slice(&fs::read(folder.join(LIST)).ok()?).ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map_while(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_move_with_their_workspace_or_the_failure_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("001");
        let root = |dir: &str| Found { root: Some(dir.into()), ..Found::default() };
        let found = vec![Found::default(), root("/old/.git")];
        let case = Case { workspace: "/old/sub".into(), found, ..Case::default() };
        Folder::open(folder.clone(), case).unwrap().unwrap().close().unwrap();
        let to_new = || {
            moved(temp.path(), Path::new("/new/sub"), |dir| Path::new("/new").join(dir.file_name().unwrap()))
        };
        // What a list is written to first, in the way.
        let draft = folder.join(format!("{LIST}.{}.tmp", std::process::id()));
        fs::create_dir(&draft).unwrap();
        assert!(to_new().is_err());
        assert_eq!(read(&folder).unwrap().workspace, "/old/sub", "as a whole or not at all");
        fs::remove_dir(&draft).unwrap();
        to_new().unwrap();
        let case = read(&folder).unwrap();
        assert_eq!(case.workspace, "/new/sub");
        assert_eq!(case.found, [Found::default(), root("/new/.git")]);
    }
}
