//! The files of `ralph init` as a commit of their own, if the user wants one: nothing else is committed with them, and if
//! git refuses, nothing stays staged.

use super::ignore;
use crate::git_command::git_command;
use ralph_engine::protection::odd_in_repository;
use std::io;
use std::path::Path;
use std::process::{Output, Stdio};

/// The message of the commit.
pub const MESSAGE: &str = "Set up ralph";

/// Whether git can be run here at all: it would wait for ever on a FIFO in the place of a file that it reads.
pub fn is_possible(workspace: &Path) -> bool {
    let fine = |name: &str| match workspace.join(name).symlink_metadata() {
        Ok(meta) => meta.is_file(),
        Err(_) => true,
    };
    ignore::repository(workspace).is_some_and(|top| odd_in_repository(top).is_empty())
        && fine(".gitignore")
        && fine(".gitattributes")
}

/// Whether a file is as its last commit has it, or is not there.
pub fn is_clean(workspace: &Path, file: &str) -> bool {
    let there = workspace.join(file).symlink_metadata().is_ok();
    let same = || git(workspace, &["diff", "--quiet", "HEAD", "--", file]).is_ok_and(|o| o.status.success());
    let known =
        || git(workspace, &["ls-files", "--error-unmatch", "--", file]).is_ok_and(|o| o.status.success());
    !there || is_possible(workspace) && known() && same()
}

/// Commits exactly these files. An error says what git said.
pub fn commit(workspace: &Path, files: &[&str]) -> io::Result<()> {
    let with = |command: &[&'static str]| -> io::Result<()> {
        let output = git(workspace, &[command, &["--"], files].concat())?;
        let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("git failed").to_owned();
        if output.status.success() { Ok(()) } else { Err(io::Error::other(said)) }
    };
    // `git add` stages the others if it refuses one of them.
    let made = with(&["add"]).and_then(|()| with(&["commit", "-q", "-m", MESSAGE]));
    made.inspect_err(|_| drop(with(&["reset", "-q"])))
}

/// The command that does the same.
pub fn command(files: &[&str]) -> String {
    let files = files.join(" ");
    format!("git add {files} && git commit -m \"{MESSAGE}\" -- {files}")
}

fn git(workspace: &Path, args: &[&str]) -> io::Result<Output> {
    git_command(Path::new("git"), workspace).args(args).stdin(Stdio::null()).output()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_testkit::Scratch;
    use std::fs;

    fn said(workspace: &Path, args: &[&str]) -> String {
        String::from_utf8(git(workspace, args).unwrap().stdout).unwrap()
    }

    #[test]
    fn exactly_these_files_are_committed_or_nothing_is_staged() {
        let scratch = Scratch::git_repo();
        let workspace = scratch.workspace();
        fs::write(workspace.join("ralph.toml"), "a").unwrap();
        fs::write(workspace.join("other"), "b").unwrap();
        git(&workspace, &["add", "other"]).unwrap();
        assert!(is_clean(&workspace, ".gitignore"));
        assert!(!is_clean(&workspace, "ralph.toml"));
        commit(&workspace, &["ralph.toml"]).unwrap();
        assert_eq!(
            said(&workspace, &["show", "--format=%s", "--name-only"]).trim(),
            "Set up ralph\n\nralph.toml"
        );
        assert_eq!(said(&workspace, &["diff", "--cached", "--name-only"]).trim(), "other", "stays staged");
        let hook = workspace.join(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, "#!/bin/sh\necho not today >&2; exit 1\n").unwrap();
        fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        fs::write(workspace.join("PROMPT.md"), "c").unwrap();
        let refused = commit(&workspace, &["PROMPT.md"]).unwrap_err();
        assert_eq!(refused.to_string(), "not today");
        assert_eq!(said(&workspace, &["diff", "--cached", "--name-only"]).trim(), "other");
    }
    #[test]
    fn what_git_refuses_to_add_leaves_nothing_staged() {
        let scratch = Scratch::git_repo();
        let workspace = scratch.workspace();
        for name in ["ralph.toml", "PROMPT.md"] {
            fs::write(workspace.join(name), "a").unwrap();
        }
        fs::write(workspace.join(".git/info/exclude"), "PROMPT.md\n").unwrap();
        let refused = commit(&workspace, &["ralph.toml", "PROMPT.md"]).unwrap_err();
        assert!(refused.to_string().contains("ignored"), "{refused}");
        assert_eq!(said(&workspace, &["diff", "--cached", "--name-only"]), "");
    }
}
