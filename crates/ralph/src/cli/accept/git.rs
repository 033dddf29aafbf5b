//! Git in the user's own repository, for building one commit: plumbing only. No hook runs, nothing is fetched, nobody is
//! asked. What the user configured counts where it decides what is written: the author, line endings, clean filters.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Variables that would lead git elsewhere, such as those that a hook has.
const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_LITERAL_PATHSPECS",
];
/// What git is doing while one of these is in its directory.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
];
/// Hooks that `git commit` would run.
const HOOKS: &[&str] = &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

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
    pub fn around(program: &Path, workspace: &Path) -> io::Result<Option<Git>> {
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
            let said = String::from_utf8_lossy(&found.stderr);
            return if said.contains("not a git repository") { Ok(None) } else { Err(failed(&found)) };
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
    pub fn run(&self, args: &[&str], input: &[u8]) -> io::Result<Vec<u8>> {
        self.run_with(args, None, input)
    }

    /// The same with another index than the user's.
    pub fn run_with(&self, args: &[&str], index: Option<&Path>, input: &[u8]) -> io::Result<Vec<u8>> {
        let output = self.output(args, index, input)?;
        if output.status.success() { Ok(output.stdout) } else { Err(failed(&output)) }
    }

    /// The one word that a command prints.
    pub fn word(&self, args: &[&str], index: Option<&Path>, input: &[u8]) -> io::Result<String> {
        let said = self.run_with(args, index, input)?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// The same; none if the command fails or prints nothing.
    pub fn word_if_any(&self, args: &[&str]) -> Option<String> {
        self.word(args, None, b"").ok().filter(|word| !word.is_empty())
    }

    /// The name that a content has in git, written if it is new. Its path decides about line endings and filters; a link
    /// has none.
    pub fn object(&self, path: Option<&[u8]>, content: &[u8]) -> io::Result<String> {
        let mut args: Vec<OsString> = ["hash-object", "-w", "--stdin"].map(OsString::from).into();
        args.push(match path {
            Some(path) => OsString::from_vec([b"--path=", path].concat()),
            None => "--no-filters".into(),
        });
        let mut command = self.command(&args, None);
        let output = fed(&mut command, content)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(failed(&output)),
        }
    }

    /// A merge of three texts, or none where they conflict. `at` is a directory for its files.
    pub fn merged(&self, at: &Path, ours: &str, base: &str, theirs: &str) -> io::Result<Option<Vec<u8>>> {
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
    pub fn files_of(&self, commit: &str) -> io::Result<Listing> {
        let listed = self.run(&["ls-tree", "-r", "-z", "--full-tree", commit], b"")?;
        Ok(rows(&listed, |words| match words {
            [mode, _, object] => Some((*mode, *object)),
            _ => None,
        }))
    }

    /// The files of the user's index; one that is in conflict has none.
    pub fn staged(&self) -> io::Result<Listing> {
        let listed = self.run(&["ls-files", "-s", "-z"], b"")?;
        Ok(rows(&listed, |words| match words {
            [mode, object, "0"] => Some((*mode, *object)),
            _ => None,
        }))
    }

    /// Which of these paths git ignores, as far as it can say.
    pub fn ignored(&self, paths: &[Vec<u8>]) -> io::Result<BTreeSet<Vec<u8>>> {
        let input: Vec<u8> = paths.iter().flat_map(|path| [path, b"\0".as_slice()].concat()).collect();
        let output = self.output(&["check-ignore", "-z", "--stdin", "--no-index"], None, &input)?;
        Ok(output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
    }

    /// What git is in the middle of.
    pub fn under_way(&self) -> Option<&'static str> {
        UNDER_WAY.iter().find(|(file, _)| self.dir.join(file).exists()).map(|(_, what)| *what)
    }

    /// Hooks that `git commit` would run here.
    pub fn hooks(&self) -> Vec<&'static str> {
        let own = self.word_if_any(&["config", "--type=path", "--get", "core.hooksPath"]);
        let common = self.word_if_any(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let dir = match (own, common) {
            (Some(own), _) => self.top.join(own),
            (None, Some(common)) => PathBuf::from(common).join("hooks"),
            (None, None) => return Vec::new(),
        };
        let runs = |hook: &&&str| {
            use std::os::unix::fs::PermissionsExt;
            let meta = dir.join(hook).metadata();
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        HOOKS.iter().filter(runs).copied().collect()
    }

    fn output(&self, args: &[&str], index: Option<&Path>, input: &[u8]) -> io::Result<Output> {
        fed(&mut self.command(args, index), input)
    }

    fn command(&self, args: &[impl AsRef<OsStr>], index: Option<&Path>) -> Command {
        let mut command = Command::new(&self.program);
        for name in ELSEWHERE {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C.UTF-8");
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.current_dir(&self.top);
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

fn failed(output: &Output) -> io::Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("git failed");
    io::Error::other(format!("git: {}", line.trim_start_matches("fatal: ").trim_start_matches("error: ")))
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
