//! Git directories that lie in another one: those of its linked work trees (`worktrees/NAME`) and of its submodules
//! (`modules/NAME`, whose name may have slashes), and again those in them. Git obeys each of them as soon as it is called in a
//! work tree that belongs to it, also if there is none yet: `git submodule update` takes what it finds in `modules`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The git directories in another one. One that is a link is given as what it leads to, which may lie anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InnerGitDirs {
    /// Of linked work trees.
    pub work_trees: BTreeSet<PathBuf>,
    /// Of submodules.
    pub submodules: BTreeSet<PathBuf>,
}

impl InnerGitDirs {
    /// Those in a git directory whose own path has no link in it.
    #[must_use]
    pub fn of(git_dir: &Path) -> InnerGitDirs {
        let mut found = InnerGitDirs::default();
        let mut waiting = vec![git_dir.to_path_buf()];
        while let Some(dir) = waiting.pop() {
            waiting
                .extend(submodules(&dir).filter(|it| it != git_dir && found.submodules.insert(it.clone())));
            let work_trees = directories(&dir.join("worktrees")).filter(|it| it != git_dir);
            waiting.extend(work_trees.filter(|it| found.work_trees.insert(it.clone())));
        }
        found
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.work_trees.union(&self.submodules)
    }
}

/// What git takes for directories of submodules. Links that lead to anything else are not looked through: that could be the
/// whole disk.
fn submodules(git_dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let modules = git_dir.join("modules");
    let mut names: Vec<PathBuf> = directories(&modules).collect();
    let mut seen = BTreeSet::new();
    std::iter::from_fn(move || {
        while let Some(dir) = names.pop() {
            if dir.join("HEAD").symlink_metadata().is_ok() {
                return Some(dir);
            }
            if dir.starts_with(&modules) && seen.insert(dir.clone()) {
                names.extend(directories(&dir));
            }
        }
        None
    })
}

fn directories(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.path().canonicalize().ok()).filter(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn they_are_found_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let git = root.join("main/.git");
        for made in [
            "modules/a",
            "modules/libs/b",
            "modules/a/modules/c/worktrees/d",
            "worktrees/w/modules/e",
            "modules/empty/hooks",
            "../../elsewhere",
            "../../names/f",
        ] {
            fs::create_dir_all(git.join(made)).unwrap();
        }
        for head in ["modules/a", "modules/libs/b", "modules/a/modules/c", "worktrees/w/modules/e"] {
            fs::write(git.join(head).join("HEAD"), "").unwrap();
        }
        fs::write(root.join("elsewhere/HEAD"), "").unwrap();
        fs::write(root.join("names/f/HEAD"), "").unwrap();
        for (to, at) in [
            ("../../../elsewhere", "x"),
            ("/", "disk"),
            ("..", "loop"),
            (".", "same"),
            ("../../../names", "n"),
        ] {
            symlink(to, git.join("modules").join(at)).unwrap();
        }
        let found = InnerGitDirs::of(&git);
        let below = |all: &BTreeSet<PathBuf>| {
            all.iter().map(|path| path.strip_prefix(&root).unwrap().to_path_buf()).collect::<Vec<_>>()
        };
        let submodules = [
            "elsewhere",
            "main/.git/modules/a",
            "main/.git/modules/a/modules/c",
            "main/.git/modules/libs/b",
            "main/.git/worktrees/w/modules/e",
        ];
        assert_eq!(below(&found.submodules), submodules.map(PathBuf::from));
        let work_trees = ["main/.git/modules/a/modules/c/worktrees/d", "main/.git/worktrees/w"];
        assert_eq!(below(&found.work_trees), work_trees.map(PathBuf::from));
        assert_eq!(found.all().count(), 7);
    }
}
