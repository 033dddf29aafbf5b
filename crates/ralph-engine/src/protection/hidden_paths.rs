//! Paths that a step hid from git (`assume-unchanged`, `skip-worktree`), so that `git status` no longer shows changes to
//! them. They are made visible again with git itself, which changes two bits of its index; by then everything that git
//! obeys has been restored.

use super::git_dir::GitDir;
use super::repositories::{History, Repositories};
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_os::Links;
use ralph_tree::{ASSUMED, Index, SKIPPED, odd_places};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The paths of the workspace that are hidden now and were not before.
pub fn hidden(was: &Repositories, is: &Repositories, after: &Index) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (old, new) in was.histories.iter().zip(&is.histories) {
        for (path, how) in new.hidden.more_than(&old.hidden) {
            let Some(path) = new.repository.in_workspace(path) else {
                // Around the workspace only what is protected counts.
                let around = is.around().filter(|around| around.index.get(path).is_some());
                all.extend(around.map(|around| [around.name.as_bytes(), b"/", path].concat()));
                continue;
            };
            // A sparse checkout skips files that do not exist; one that exists was hidden on purpose.
            let declared = is_sparse(was, old) || is_sparse(is, new);
            let sparse = how == SKIPPED && declared && after.get(&path).is_none();
            if !sparse {
                all.push(path);
            }
        }
    }
    all
}

fn is_sparse(all: &Repositories, history: &History) -> bool {
    let of =
        |git_dir: &&GitDir| git_dir.dir == history.repository.own || git_dir.dir == history.repository.common;
    all.git_dirs.iter().filter(of).any(|git_dir| git_dir.index.get(b"info/sparse-checkout").is_some())
}

/// Makes hidden paths visible again; those that stay hidden are found by the next inspection.
pub fn show(ctx: &StepContext, was: &Repositories) {
    let Some(program) = ctx.deps.git.as_deref() else { return };
    for (old, new) in was.histories.iter().zip(&was.again().histories) {
        for (flag, option) in [(ASSUMED, "--no-assume-unchanged"), (SKIPPED, "--no-skip-worktree")] {
            let paths: Vec<&[u8]> = new
                .hidden
                .more_than(&old.hidden)
                .filter(|(_, how)| how & flag != 0)
                .map(|(path, _)| path)
                .collect();
            // Git would wait on what it cannot read.
            if paths.is_empty() || !odd_places(&new.repository, Links::Follow).is_empty() {
                continue;
            }
            let mut git = Command::new(program);
            git.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
            for (name, value) in [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")] {
                git.env(name, value);
            }
            for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false"] {
                git.args(["-c", setting]);
            }
            git.env("GIT_DIR", &new.repository.own).env("GIT_WORK_TREE", top(ctx, new));
            git.current_dir(top(ctx, new)).args(["update-index", option, "-z", "--stdin"]);
            let child = git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let Ok(mut child) = child else { continue };
            if let Some(mut input) = child.stdin.take() {
                std::io::Write::write_all(&mut input, &paths.join(&0))
                    .discard("name the hidden paths to git");
            }
            child.wait().discard("wait for git update-index");
        }
    }
}

/// Where the repository's files begin.
fn top(ctx: &StepContext, history: &History) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let repository = &history.repository;
    let depth = repository.within.split(|b| *b == b'/').filter(|part| !part.is_empty()).count();
    let above = ctx.workspace.ancestors().nth(depth).unwrap_or(&ctx.workspace);
    above.join(std::ffi::OsStr::from_bytes(&repository.files))
}
