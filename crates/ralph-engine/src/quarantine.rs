//! What was found where it must not be: the offending content of protected paths, put aside before they are put back.
//! One folder for each time, with a list people and programs can read. Nothing here is ever removed by ralph itself.

use crate::protection::Touched;
use ralph_snapshots::{QuarantineCopy, copy_to_quarantine};
use ralph_tree::TreePath;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The list in each folder.
const LIST: &str = "list.json";

/// One folder.
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
    /// Commits that hold protected paths. They stay in the history, where only their owner may remove them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Touched>,
}

/// One offending path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The path as it is shown.
    pub path: String,
    /// Its bytes in hexadecimal, where they are not what is shown; relative to `root`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// The directory it lies in, where that is not the workspace: a repository's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What had happened to it.
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

/// Something to put aside.
pub struct Item<'a> {
    /// Where the path begins.
    pub root: &'a Path,
    /// What stands before it on screens; empty for the workspace.
    pub name: &'a str,
    /// The path.
    pub path: TreePath,
    /// What happened to it.
    pub how: String,
}

/// A folder that is being filled. Everything is on disk when it is closed; one that a crash cut short is filled anew,
/// one that was closed stays as it is.
pub struct Folder {
    path: PathBuf,
    case: Case,
    count: u32,
}

impl Folder {
    /// The folder of this time; none where it was filled and closed before.
    pub fn open(path: PathBuf, case: Case) -> io::Result<Option<Folder>> {
        if path.join(LIST).exists() {
            return Ok(None);
        }
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        crate::home::Home::create_private_dir(&path)?;
        Ok(Some(Folder { path, case, count: 0 }))
    }

    /// Puts aside what is at a path now.
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

    /// Notes a path where nothing is any more.
    pub fn gone(&mut self, item: &Item<'_>) {
        self.note(item, &QuarantineCopy::default(), None);
    }

    /// Puts aside what a commit holds.
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
            commit: None,
        });
    }

    /// Writes the list: from now on the folder is whole.
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map_while(pair).collect()
}
