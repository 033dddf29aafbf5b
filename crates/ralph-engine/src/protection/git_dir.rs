//! Directories besides the workspace with files that must not change, each with an index of these files.

use super::repositories::walk;
use ralph_tree::{Index, OBEYED, Protect, Repository, Tree};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Of more linked work trees the configs are not looked at.
const MOST_WORKTREES: usize = 256;

/// A directory besides the workspace with files that must not change: a repository's own, such as `.git`, or the rest of
/// the repository around a workspace that is a part of it.
#[derive(Debug)]
pub struct GitDir {
    /// Name for display: `.git`, `..`, or an absolute path.
    pub name: String,
    /// Where it is.
    pub dir: PathBuf,
    /// The files in it that must not change.
    pub index: Arc<Index>,
    /// Which ones these are.
    pub guards: Guards,
}

/// What must not change in a directory besides the workspace.
#[derive(Clone, Debug)]
pub enum Guards {
    /// What git obeys.
    GitObeys,
    /// Protected paths around the workspace.
    Around {
        /// Where the workspace begins.
        workspace: Vec<u8>,
        /// The protected paths, relative to the repository's top.
        protect: Arc<Protect>,
    },
}

impl GitDir {
    /// Reads it. What is unchanged since `earlier` is not read again.
    pub fn look(name: String, dir: PathBuf, guards: Guards, earlier: Option<&Index>) -> GitDir {
        let index = match &guards {
            Guards::GitObeys => obeyed(&dir, earlier),
            Guards::Around { workspace, protect } => {
                let tree = Tree::around(&dir, Protect::clone(protect), workspace);
                Arc::new(tree.walk(earlier).unwrap_or_default())
            }
        };
        GitDir { name, dir, index, guards }
    }

    /// The rest of the repository around a workspace, if the workspace is a part of one.
    pub fn around(repository: &Repository, workspace: &Path, protect: &Protect) -> Option<GitDir> {
        let top = repository.top_around(workspace)?;
        let depth = workspace.strip_prefix(&top).map_or(0, |within| within.components().count());
        let guards =
            Guards::Around { workspace: repository.within.clone(), protect: Arc::new(protect.clone()) };
        Some(GitDir::look(vec![".."; depth].join("/"), top, guards, None))
    }

    /// The same directory now.
    pub fn again(&self) -> GitDir {
        GitDir::look(self.name.clone(), self.dir.clone(), self.guards.clone(), Some(&self.index))
    }

    /// Whether its files are those that git obeys.
    pub fn is_of_git(&self) -> bool {
        matches!(self.guards, Guards::GitObeys)
    }
}

/// The files in a directory that git obeys; empty if it cannot be read.
fn obeyed(dir: &Path, earlier: Option<&Index>) -> Arc<Index> {
    static GLOBS: OnceLock<Option<Protect>> = OnceLock::new();
    let linked = linked_worktrees(dir);
    if linked.is_empty() {
        return Arc::new(walk(dir, GLOBS.get_or_init(|| Protect::new(OBEYED).ok()).as_ref(), earlier));
    }
    let own = linked.iter().map(|name| format!("/worktrees/{name}/config.worktree"));
    let globs = Protect::new(OBEYED.iter().map(ToString::to_string).chain(own)).ok();
    Arc::new(walk(dir, globs.as_ref(), earlier))
}

/// The names under which a repository keeps its linked work trees, each with a config of its own: git derives them from
/// directories.
fn linked_worktrees(dir: &Path) -> Vec<String> {
    let plain = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._- ".contains(&b));
    let names = fs::read_dir(dir.join("worktrees")).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok()).filter(plain);
    let mut names: Vec<String> = names.take(MOST_WORKTREES).collect();
    names.sort();
    names
}
