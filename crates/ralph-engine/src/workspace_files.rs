//! Files that ralph writes into a workspace for people and other programs: status views, metrics, reports. An agent may
//! have put a link or a pipe anywhere, so nothing is followed; what is written goes into the workspace or nowhere.

use crate::hidden_views::ignore_text;
use ralph_os::{Draft, NoFollowDir, ReadError};
use ralph_tree::is_own_file;
use std::io::{self, Read, Write};
use std::path::Path;

/// The directory that ralph hides from git.
const OWN: &str = ".ralph";

/// A workspace that is written into.
#[derive(Debug)]
pub struct WorkspaceFiles {
    root: NoFollowDir,
    /// What ralph writes outside of `.ralph/`, with the `.gitignore` files that hide it.
    own: Vec<String>,
}

/// Whether a file must survive a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// Written to the disk before the call returns.
    Yes,
    /// Left to the system: the file is written anew soon.
    No,
}

impl WorkspaceFiles {
    /// Opens the workspace.
    pub fn open(workspace: &Path) -> io::Result<WorkspaceFiles> {
        Ok(WorkspaceFiles { root: NoFollowDir::open(workspace)?, own: Vec::new() })
    }

    /// Keeps these files hidden from git, as far as a `.gitignore` among them does it: agents run `git clean -fdx`.
    #[must_use]
    pub fn hiding(mut self, own: &[String]) -> WorkspaceFiles {
        self.hide(own);
        self
    }

    /// The same, once they are known.
    pub fn hide(&mut self, own: &[String]) {
        self.own = own.to_vec();
    }

    /// Reads a file; empty if there is none. One larger than `most`, or that is not a regular file, is refused.
    pub fn read(&self, path: &str, most: u64) -> io::Result<String> {
        let file = match self.root.open_file(path.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            other => other?,
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(ReadError::LargerThan(most).into());
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Appends to a file, and creates it if it does not exist.
    pub fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = normal(path);
        self.ignore(&path)?;
        self.root.append(path.as_bytes(), bytes)
    }

    /// Replaces a file as a whole: whoever reads it sees the old content or the new one.
    pub fn replace(&self, path: &str, bytes: &[u8], durable: Durable) -> io::Result<()> {
        let path = normal(path);
        self.ignore(&path)?;
        let is_view = self.own.iter().any(|own| is_own_file(own.as_bytes(), path.as_bytes()));
        if is_view && self.replace_from_own_dir(&path, bytes, durable).is_ok() {
            return Ok(());
        }
        self.write(&path, bytes, durable)
    }

    fn write(&self, path: &str, bytes: &[u8], durable: Durable) -> io::Result<()> {
        self.root.replace_file(path.as_bytes(), Draft::Unique, 0o644, |file| {
            file.write_all(bytes)?;
            if durable == Durable::Yes { file.sync_data() } else { Ok(()) }
        })
    }

    /// Writes the new content in `.ralph/` and moves it to its place: a draft beside the view could be committed, or taken
    /// for the agent's work. Fails if `.ralph/` cannot be used or is on another file system.
    fn replace_from_own_dir(&self, path: &str, bytes: &[u8], durable: Durable) -> io::Result<()> {
        let draft = format!("{OWN}/{}", Draft::Unique.name());
        self.ignore_own()?;
        self.write(&draft, bytes, durable)?;
        self.root.rename(draft.as_bytes(), path.as_bytes()).inspect_err(|_| {
            // The first error is the one to report.
            let _ = self.root.remove_file(draft.as_bytes());
        })
    }

    /// Before anything is written, git is told to ignore it.
    fn ignore(&self, path: &str) -> io::Result<()> {
        if path.starts_with(&format!("{OWN}/")) {
            return self.ignore_own();
        }
        let Some((dir, _)) = path.rsplit_once('/') else { return Ok(()) };
        let ignore = format!("{dir}/.gitignore");
        let text = ignore_text(&ignore, &self.own);
        if !self.own.contains(&ignore) || self.read(&ignore, text.len() as u64).is_ok_and(|now| now == text) {
            return Ok(());
        }
        self.write(&ignore, text.as_bytes(), Durable::No)
    }

    /// All of `.ralph/` is ignored, that file included.
    fn ignore_own(&self) -> io::Result<()> {
        let ignore = format!("{OWN}/.gitignore");
        match self.root.metadata(ignore.as_bytes()) {
            Some(_) => Ok(()),
            None => self.write(&ignore, b"*\n", Durable::No),
        }
    }
}

/// A path from the configuration, without `.` and doubled slashes.
fn normal(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_written_whole_and_hidden_from_git() {
        let dir = tempfile::tempdir().unwrap();
        let files = WorkspaceFiles::open(dir.path()).unwrap();
        files.replace(".ralph/status.json", b"{}", Durable::No).unwrap();
        files.replace("./.claude//metrics/s.json", b"1", Durable::No).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(".ralph/.gitignore")).unwrap(), "*\n");
        fs::remove_dir_all(dir.path().join(".ralph")).unwrap();
        files.replace(".ralph/status.json", b"{\"a\":1}", Durable::Yes).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(".ralph/status.json")).unwrap(), "{\"a\":1}");
        assert_eq!(fs::read_dir(dir.path().join(".ralph")).unwrap().count(), 2, "no draft is left");
        assert_eq!(fs::read_to_string(dir.path().join(".claude/metrics/s.json")).unwrap(), "1");
        assert!(!dir.path().join(".claude/.gitignore").exists());
    }

    #[test]
    fn the_ignore_file_of_a_moved_view_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let own = ["m/s.json", "m/r-*.md", "m/.gitignore", "top.json"].map(String::from);
        let files = WorkspaceFiles::open(dir.path()).unwrap().hiding(&own);
        let names = |at: &str| {
            let entries = fs::read_dir(dir.path().join(at)).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        for damage in ["", "*\n"] {
            let _ = fs::remove_dir_all(dir.path().join("m"));
            fs::create_dir(dir.path().join("m")).unwrap();
            fs::write(dir.path().join("m/.gitignore"), damage).unwrap();
            files.replace("m/s.json", b"{}", Durable::No).unwrap();
            let text = fs::read_to_string(dir.path().join("m/.gitignore")).unwrap();
            assert!(text.ends_with("\n/.gitignore\n/s.json\n/r-*.md\n"), "{text}");
        }
        files.replace("top.json", b"{}", Durable::No).unwrap();
        assert_eq!(names("m"), [".gitignore", "s.json"]);
        assert_eq!(
            (names(".ralph"), names("")),
            (vec![".gitignore".into()], vec![".ralph".into(), "m".into(), "top.json".into()])
        );
    }

    #[test]
    fn nothing_is_written_outside_the_workspace() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = WorkspaceFiles::open(dir.path()).unwrap();
        let replace = |path: &str| files.replace(path, b"{}", Durable::No);
        symlink(elsewhere.path(), dir.path().join(".ralph")).unwrap();
        assert!(replace(".ralph/status.json").is_err() && files.append(".ralph/a", b"x").is_err());
        for path in ["../x.json", "a/../../x.json", "a/../x.json", "", "."] {
            assert!(replace(path).is_err(), "{path}");
        }
        fs::write(dir.path().join("f"), "").unwrap();
        assert!(replace("f/s.json").is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_file_is_empty_and_a_link_or_a_large_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let files = WorkspaceFiles::open(dir.path()).unwrap();
        assert_eq!(files.read(".ralph/metrics/a", 9).unwrap(), "");
        files.append(".ralph/metrics/a", b"0123456789").unwrap();
        assert!(files.read(".ralph/metrics/a", 9).is_err());
        assert_eq!(files.read(".ralph/metrics/a", 10).unwrap(), "0123456789");
        symlink(".ralph/metrics/a", dir.path().join("link")).unwrap();
        assert!(files.read("link", 99).is_err());
    }
}
