//! Files as one commit has them.

use super::git::Git;
use crate::step_context::StepContext;
use ralph_tree::Repository;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// More files are not read: each costs a process.
const MOST: usize = 500;

/// Reads files of one commit without obeying anything in its repository.
pub struct Committed {
    git: Git,
    commit: String,
    read: RefCell<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

impl Committed {
    /// None if there is no git, or no such repository before the current step.
    pub fn new(ctx: &StepContext, commit: &str, is_it: impl Fn(&Repository) -> bool) -> Option<Committed> {
        let repositories = ctx.protection.repositories();
        let repository = repositories.histories.iter().map(|h| &h.repository).find(|r| is_it(r))?;
        let program = ctx.deps.git.as_deref()?;
        let git = Git::beside(program, repository, &ctx.folder.join("history.git")).ok()?;
        Some(Committed { git, commit: commit.to_owned(), read: RefCell::default() })
    }

    /// A file by its path from the repository's top.
    pub fn read(&self, path: &[u8]) -> Option<Vec<u8>> {
        let mut read = self.read.borrow_mut();
        if let Some(known) = read.get(path) {
            return known.clone();
        }
        if read.len() >= MOST {
            return None;
        }
        let name = format!("{}:{}", self.commit, std::str::from_utf8(path).ok()?);
        let bytes = self.git.run(&["cat-file", "blob", &name], b"").ok();
        read.insert(path.to_vec(), bytes.clone());
        bytes
    }
}
