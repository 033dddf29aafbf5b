//! What of a workspace is read-only for the programs of a run.

use super::WorkspacePlaces;
use ralph_tree::{Index, InnerGitDirs, Kind, bare_repositories, named_places, repositories};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// More protected paths than these are left to detection: each costs a mount at every start of a program.
const MOST: usize = 4096;

/// More bare repositories are left to detection.
const MOST_BARE: usize = 64;

impl WorkspacePlaces {
    /// The places of a workspace as a walk found it. Of directories elsewhere only those of the repository around the
    /// workspace count: a repository that lies in it may have been made by an agent, and say anything.
    pub fn of(workspace: &Path, index: &Index) -> WorkspacePlaces {
        let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
        let (mut inside, mut elsewhere) = (Vec::new(), Vec::new());
        for repository in repositories(workspace, index) {
            let is_around = repository.files.is_empty();
            let inner = InnerGitDirs::of(&repository.common);
            // What links lead to may be anybody's.
            let inner = inner
                .all()
                .cloned()
                .filter(|dir| dir.starts_with(&repository.common) || dir.starts_with(&root));
            for dir in [repository.own, repository.common.clone()].into_iter().chain(inner) {
                match dir.strip_prefix(&root) {
                    Ok(below) if !inside.contains(&below.to_path_buf()) => inside.push(below.to_path_buf()),
                    Err(_) if is_around && !elsewhere.contains(&dir) => elsewhere.push(dir),
                    _ => {}
                }
            }
        }
        let bare = bare_repositories(index).map(path_of).filter(|dir| !inside.contains(dir));
        let bare: Vec<PathBuf> = bare.take(MOST_BARE).collect();
        inside.extend(bare);
        let files = index.repositories().filter(|entry| entry.kind == Kind::File);
        let mut protected = protected(index);
        protected.extend(named(&root, index, &inside));
        WorkspacePlaces {
            protected,
            plan_file: None,
            git_directories: inside,
            git_files: files.map(|entry| path_of(entry.path)).collect(),
            git_elsewhere: elsewhere,
            entries: names_in(&root),
        }
    }
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// What the configuration of git or a protected link names in the workspace, where it exists; links themselves are left to
/// detection. A directory that a repository lies in is not read-only for that: git would no longer work.
fn named(root: &Path, index: &Index, git_directories: &[PathBuf]) -> Vec<PathBuf> {
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok_and(|it| it.is_file() || it.is_dir());
    let places = named_places(root, index).into_iter().filter(is_there);
    let below = places.filter_map(|path| Some(path.strip_prefix(root).ok()?.to_path_buf()));
    let apart = |path: &PathBuf| {
        path.components().next().is_some() && !git_directories.iter().any(|dir| dir.starts_with(path))
    };
    below.filter(apart).take(MOST).collect()
}

/// The protected paths, without those that lie in a protected directory. Links are left to detection: what is mounted over
/// one would be mounted over its target.
fn protected(index: &Index) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in index.entries().filter(|entry| entry.protected) {
        let path = path_of(entry.path);
        let covered = found.last().is_some_and(|last| path.starts_with(last));
        if !covered && matches!(entry.kind, Kind::File | Kind::Directory) {
            found.push(path);
        }
    }
    if found.len() > MOST {
        tracing::warn!(paths = found.len(), "too many protected paths to mount; the rest is only watched");
        found.truncate(MOST);
    }
    found
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_tree::{Protect, Tree};

    fn places(root: &Path) -> WorkspacePlaces {
        let tree = Tree::new(root, Protect::new(["secrets/", "*.pem"]).unwrap());
        WorkspacePlaces::of(root, &tree.walk(None).unwrap())
    }

    #[test]
    fn a_protected_directory_stands_for_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["secrets/a", "secrets/b/c.pem", "secretsa.pem", "keys/x.pem", "keys/y"] {
            fs::create_dir_all(dir.path().join(file).parent().unwrap()).unwrap();
            fs::write(dir.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link.pem")).unwrap();
        let mut found = places(dir.path()).protected;
        found.sort();
        assert_eq!(found, ["keys/x.pem", "secrets", "secretsa.pem"].map(PathBuf::from));
    }

    #[test]
    fn linked_work_trees_belong_to_their_repository() {
        let dir = tempfile::tempdir().unwrap();
        for made in [".git/worktrees/b", ".git/worktrees/a"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.path().join(".git/worktrees/note"), "").unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join(".git/worktrees/link")).unwrap();
        let found = places(dir.path()).git_directories;
        assert_eq!(found, [".git", ".git/worktrees/a", ".git/worktrees/b"].map(PathBuf::from));
    }

    #[test]
    fn what_a_config_or_a_link_names_is_read_only_too() {
        let dir = tempfile::tempdir().unwrap();
        for made in [".git", "tools/hooks", "keys"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[include]\n\tpath = ../shared.cfg\n\tpath = ../missing.cfg\n[core]\n\thooksPath = .\n";
        fs::write(dir.path().join(".git/config"), config).unwrap();
        fs::write(dir.path().join("shared.cfg"), "[include]\n\tpath = .git/more.cfg\n").unwrap();
        fs::write(dir.path().join(".git/more.cfg"), "").unwrap();
        fs::write(dir.path().join("keys/real"), "").unwrap();
        std::os::unix::fs::symlink("../tools/hooks", dir.path().join(".git/hooks")).unwrap();
        std::os::unix::fs::symlink("keys/real", dir.path().join("link.pem")).unwrap();
        let found = places(dir.path()).protected;
        assert_eq!(found, [".git/more.cfg", "keys/real", "shared.cfg", "tools/hooks"].map(PathBuf::from));
    }

    #[test]
    fn a_bare_repository_has_no_dot_git() {
        let dir = tempfile::tempdir().unwrap();
        for made in ["fixtures/remote.git/objects/info", "fixtures/remote.git/refs", "docs/refs", "door"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        for file in ["fixtures/remote.git/HEAD", "docs/HEAD", "door/HEAD", "door/commondir", "docs/OVERHEAD"]
        {
            fs::write(dir.path().join(file), "ref: refs/heads/main\n").unwrap();
        }
        let found = places(dir.path()).git_directories;
        assert_eq!(found, ["door", "fixtures/remote.git"].map(PathBuf::from));
    }

    #[test]
    fn only_the_repository_around_may_lie_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let (main, work) = (dir.path().join("main"), dir.path().join("work"));
        let own = main.join(".git/worktrees/work");
        for made in [&own, &work.join("inner"), &work.join("made/.git"), &dir.path().join("other/.git")] {
            fs::create_dir_all(made).unwrap();
        }
        fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        for head in ["main/.git/HEAD", "work/made/.git/HEAD", "other/.git/HEAD"] {
            fs::write(dir.path().join(head), "ref: refs/heads/main\n").unwrap();
        }
        fs::write(work.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        // A repository in the workspace that claims the directory of another one outside.
        let claimed = dir.path().join("other/.git");
        fs::write(work.join("inner/.git"), format!("gitdir: {}\n", claimed.display())).unwrap();
        let found = places(&work);
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(found.git_elsewhere, [root.join("main/.git/worktrees/work"), root.join("main/.git")]);
        assert_eq!(found.git_directories, [PathBuf::from("made/.git")]);
        let mut files = found.git_files;
        files.sort();
        assert_eq!(files, [PathBuf::from(".git"), PathBuf::from("inner/.git")]);
    }
}
