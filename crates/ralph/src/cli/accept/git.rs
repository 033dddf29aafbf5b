//! Git in the user's own repository, for building one commit: plumbing only. No hook runs, nothing is fetched, nobody is
//! asked. What the user configured counts where it decides what is written: the author, line endings, clean filters.

use super::git_error::{GitError, failed};
use crate::git_command::git_command;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod surroundings;

/// A file in a commit or in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitEntry {
    /// `100644`, `100755`, `120000` or `160000`.
    pub mode: String,
    /// The name of its content.
    pub object: String,
}

/// Files by path.
pub type Listing = BTreeMap<Vec<u8>, GitEntry>;

/// One repository.
pub struct Git {
    program: PathBuf,
    /// Where its files begin.
    top: PathBuf,
    /// Where the workspace begins, relative to that: empty, or with a slash at its end.
    pub prefix: Vec<u8>,
    dir: PathBuf,
}

impl Git {
    /// The repository around a workspace; none if git finds none.
    pub fn around(program: &Path, workspace: &Path) -> Result<Option<Git>, GitError> {
        let mut git = Git {
            program: program.to_owned(),
            top: workspace.to_owned(),
            prefix: Vec::new(),
            dir: PathBuf::new(),
        };
        let args =
            ["rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir", "--show-prefix"];
        let found = git.output(&args, None, b"")?;
        if !found.status.success() {
            let words = String::from_utf8_lossy(&found.stderr);
            return if words.contains("not a git repository") { Ok(None) } else { Err(failed(&found)) };
        }
        let mut lines = found.stdout.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
        if lines.next().as_deref() != Some(b"true") {
            return Ok(None);
        }
        git.top = lines.next().map(path).unwrap_or_default();
        git.dir = lines.next().map(path).unwrap_or_default();
        git.prefix = lines.next().unwrap_or_default();
        Ok(Some(git))
    }

    /// Runs a command on this input.
    pub fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.run_with(args, None, input)
    }

    /// The same with another index than the user's.
    pub fn run_with(&self, args: &[&str], index: Option<&Path>, input: &[u8]) -> Result<Vec<u8>, GitError> {
        said(self.output(args, index, input)?)
    }

    /// Makes these changes to the user's index, or to another one. They are read from a file: if we are killed, git must
    /// not take the half of a path that a pipe has for a whole one.
    pub fn update_index(&self, index: Option<&Path>, rows: &[u8], scratch: &Path) -> Result<(), GitError> {
        if rows.is_empty() {
            return Ok(());
        }
        let file = scratch.join("index-info");
        std::fs::write(&file, rows)?;
        let args = ["update-index", "--add", "--replace", "-z", "--index-info"];
        said(self.command(&args, index).stdin(File::open(file)?).output()?).map(drop)
    }

    /// Whether git knows who commits.
    pub fn knows_identity(&self) -> Result<(), GitError> {
        for name in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            let known = self.output(&["var", name], None, b"")?;
            if !known.status.success() {
                return Err(GitError::NoIdentity);
            }
        }
        Ok(())
    }

    /// The one word that a command prints.
    pub fn word(&self, args: &[&str], index: Option<&Path>, input: &[u8]) -> Result<String, GitError> {
        let word = self.run_with(args, index, input)?;
        Ok(String::from_utf8_lossy(&word).trim().to_owned())
    }

    /// The same; none if the command fails or prints nothing.
    pub fn word_if_any(&self, args: &[&str]) -> Option<String> {
        self.word(args, None, b"").ok().filter(|word| !word.is_empty())
    }

    /// The name that a content has in git, written if it is new. Its path decides about line endings and filters; a link
    /// has none.
    pub fn object(&self, path: Option<&[u8]>, content: &[u8]) -> Result<String, GitError> {
        let mut args: Vec<OsString> = ["hash-object", "-w", "--stdin"].map(OsString::from).into();
        args.push(match path {
            Some(path) => OsString::from_vec([b"--path=", path].concat()),
            None => "--no-filters".into(),
        });
        let mut command = self.command(&args, None);
        let name = said(fed(&mut command, content)?)?;
        Ok(String::from_utf8_lossy(&name).trim().to_owned())
    }

    /// The names of many contents: files at these paths below `tree`, which stands for the work tree. `filters`: their
    /// paths decide about line endings and filters.
    pub fn objects(&self, tree: &Path, paths: &[&[u8]], filters: bool) -> Result<Vec<String>, GitError> {
        let list = tree.with_extension("list");
        std::fs::write(&list, paths.join(&b'\n'))?;
        let mut args = vec!["hash-object", "-w", "--stdin-paths"];
        args.extend((!filters).then_some("--no-filters"));
        let mut command = self.command(&args, None);
        command.env("GIT_DIR", &self.dir).env("GIT_WORK_TREE", tree).current_dir(tree);
        let names = said(command.stdin(File::open(list)?).output()?)?;
        let names: Vec<String> = String::from_utf8_lossy(&names).lines().map(str::to_owned).collect();
        match names.len() == paths.len() {
            true => Ok(names),
            false => Err(GitError::Said("hash-object named other files than it was given".into())),
        }
    }

    /// Where the repository's files begin.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// A merge of three texts, or none where they conflict. `at` is a directory for its files.
    pub fn merged(
        &self,
        at: &Path,
        ours: &str,
        base: &str,
        theirs: &str,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let mut files = Vec::new();
        for (name, object) in [("ours", ours), ("base", base), ("theirs", theirs)] {
            let file = at.join(name);
            std::fs::write(&file, self.run(&["cat-file", "blob", object], b"")?)?;
            files.push(file.into_os_string());
        }
        let mut args: Vec<OsString> = ["merge-file", "-p", "-q"].map(OsString::from).into();
        args.extend(files);
        let output = fed(&mut self.command(&args, None), b"")?;
        Ok(output.status.success().then_some(output.stdout))
    }

    /// The files of a commit.
    pub fn files_of(&self, commit: &str) -> Result<Listing, GitError> {
        let listed = self.run(&["ls-tree", "-r", "-z", "--full-tree", commit], b"")?;
        Ok(rows(&listed, |words| match words {
            [mode, _, object] => Some((*mode, *object)),
            _ => None,
        }))
    }

    /// The files of the user's index; one that is in conflict has none.
    pub fn staged(&self) -> Result<Listing, GitError> {
        let listed = self.run(&["ls-files", "-s", "-z"], b"")?;
        Ok(rows(&listed, |words| match words {
            [mode, object, "0"] => Some((*mode, *object)),
            _ => None,
        }))
    }

    /// Which of these paths git ignores. It refuses to say so of a path behind a link, which is not in the repository.
    pub fn ignored(&self, paths: &[Vec<u8>]) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let input: Vec<u8> = paths
            .iter()
            .filter(|path| !self.is_behind_link(path))
            .flat_map(|path| [path, b"\0".as_slice()].concat())
            .collect();
        let output = self.output(&["check-ignore", "-z", "--stdin", "--no-index"], None, &input)?;
        match output.status.code() {
            // 1: none of them.
            Some(0 | 1) => Ok(output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()),
            _ => Err(failed(&output)),
        }
    }

    fn is_behind_link(&self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes.filter_map(|at| path.get(..at)).any(|dir| self.top.join(OsStr::from_bytes(dir)).is_symlink())
    }

    fn output(&self, args: &[&str], index: Option<&Path>, input: &[u8]) -> io::Result<Output> {
        fed(&mut self.command(args, index), input)
    }

    fn command(&self, args: &[impl AsRef<OsStr>], index: Option<&Path>) -> Command {
        let mut command = git_command(&self.program, &self.top);
        command.env("GIT_NO_LAZY_FETCH", "1");
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        // `config` must show the user's own hooks path.
        if args.first().is_some_and(|first| first.as_ref() != "config") {
            command.args(["-c", "core.hooksPath=/dev/null"]);
        }
        command.args(["-c", "core.fsmonitor=false", "-c", "i18n.commitEncoding=UTF-8"]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

fn fed(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // A program that does not read all of it says so by how it ends.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    })
}

/// What a command printed, unless it failed.
fn said(output: Output) -> Result<Vec<u8>, GitError> {
    if output.status.success() { Ok(output.stdout) } else { Err(failed(&output)) }
}

/// Rows of `words TAB path`, each closed by a NUL; `pick` finds mode and object among the words.
fn rows<'a>(listed: &'a [u8], pick: impl Fn(&[&'a str]) -> Option<(&'a str, &'a str)>) -> Listing {
    let row = |row: &'a [u8]| {
        let tab = row.iter().position(|byte| *byte == b'\t')?;
        let words: Vec<&str> = str::from_utf8(row.get(..tab)?).ok()?.split(' ').collect();
        let (mode, object) = pick(&words)?;
        let entry = GitEntry { mode: mode.to_owned(), object: object.to_owned() };
        Some((row.get(tab + 1..)?.to_vec(), entry))
    };
    listed.split(|byte| *byte == 0).filter_map(row).collect()
}
