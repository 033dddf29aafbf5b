//! A directory that is gone after the test, with a workspace, a home and a state directory in it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Where tests of the sandbox make their directories: not below `/tmp`, which a contained program has for itself, and where
/// every user can reach it. The build's directory for tests, unless the clone itself lies in the wrong place.
pub fn outside_tmp(target: &str) -> PathBuf {
    let target = PathBuf::from(target);
    let in_tmp = ["/tmp", "/var/tmp"].iter().any(|tmp| target.starts_with(tmp));
    let reached = target.ancestors().all(|dir| fs::metadata(dir).is_ok_and(|meta| meta.mode() & 0o001 != 0));
    // What this process makes is its user's.
    let made = tempfile::tempdir().and_then(|dir| dir.path().metadata());
    let is_root = made.is_ok_and(|meta| meta.uid() == 0);
    if is_root && (in_tmp || !reached) { PathBuf::from("/var/lib") } else { target }
}

/// A scratch place; dropped, it removes itself.
pub struct Scratch {
    root: TempDir,
    contained: bool,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

impl Scratch {
    /// An empty workspace with its own home and state.
    pub fn new() -> Scratch {
        Scratch::at(tempfile::tempdir().expect("a temporary directory"), false)
    }

    /// The same below a directory that is not a temporary one, and with a sandbox: a contained program has a temporary
    /// directory of its own.
    pub fn contained_in(dir: &Path) -> Scratch {
        std::fs::create_dir_all(dir).expect("the directory above");
        Scratch::at(tempfile::tempdir_in(dir).expect("a directory in it"), true)
    }

    fn at(root: TempDir, contained: bool) -> Scratch {
        for name in ["workspace", "state", "home", "config"] {
            std::fs::create_dir(root.path().join(name)).expect("a directory in it");
        }
        Scratch { root, contained }
    }

    /// The same, the workspace a git repository with one (empty) commit.
    pub fn git_repo() -> Scratch {
        let scratch = Scratch::new();
        scratch.make_git_repo();
        scratch
    }

    /// Makes the workspace a git repository with one (empty) commit.
    pub fn make_git_repo(&self) {
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["config", "user.name", "Test"]);
        self.git(&["config", "user.email", "test@localhost"]);
        self.git(&["config", "commit.gpgsign", "false"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "Start"]);
    }

    /// Where the agent works.
    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("workspace")
    }

    /// What `XDG_STATE_HOME` is.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// The directory above both, for files that belong to neither.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Writes files into the workspace, with the directories above them.
    pub fn files(&self, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = self.workspace().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
            std::fs::write(path, content).expect("a file");
        }
    }

    /// The content of a file of the workspace.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Runs git in the workspace and returns what it printed; a failure fails the test.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.command("git").args(args).output().expect("git runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {error}");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// The whole environment for a program under test: nothing of the user's own, and of `RALPH_*` only what switches the
    /// sandbox off for those that are not about it: their agents leave traces for the test outside of the workspace.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let at = |name: &str| self.root.path().join(name).into_os_string();
        let word = |text: &str| OsString::from(text);
        let path = std::env::var_os("PATH").unwrap_or_else(|| word("/usr/local/bin:/usr/bin:/bin"));
        let sandbox = (!self.contained).then(|| (word("RALPH_SANDBOX"), word("off")));
        let env = vec![
            (word("PATH"), path),
            (word("HOME"), at("home")),
            (word("XDG_STATE_HOME"), at("state")),
            (word("XDG_CONFIG_HOME"), at("config")),
            (word("LANG"), word("C.UTF-8")),
            (word("TZ"), word("UTC")),
            (word("TERM"), word("dumb")),
            (word("GIT_CONFIG_NOSYSTEM"), word("1")),
        ];
        env.into_iter().chain(sandbox).collect()
    }

    /// A program to be started in the workspace, with that environment.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.workspace()).env_clear().envs(self.env());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_repository_has_one_commit_and_takes_files() {
        let scratch = Scratch::git_repo();
        scratch.files(&[("a/b.txt", "hello\n")]);
        assert_eq!(scratch.git(&["log", "--format=%s %an"]), "Start Test");
        assert_eq!(scratch.git(&["status", "--porcelain"]), "?? a/");
        assert_eq!(scratch.read("a/b.txt"), "hello\n");
    }

    #[test]
    fn the_environment_is_its_own() {
        let scratch = Scratch::new();
        let output = scratch.command("env").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&format!("XDG_STATE_HOME={}", scratch.state().display())));
        assert!(text.contains("RALPH_SANDBOX=off\n") && !text.contains("CARGO"));
        let contained = Scratch::contained_in(&std::env::temp_dir());
        let output = contained.command("env").output().unwrap();
        assert!(!String::from_utf8(output.stdout).unwrap().contains("RALPH_"));
    }
}
