//! Where the paths that a run recorded are, once its workspace was moved. A workspace may be a part of a repository that
//! was moved as a whole: then the repository's own directory and what lies around the workspace moved along.

use crate::protection::Repositories;
use std::path::{Path, PathBuf};

/// From a workspace's old path to its new one.
#[derive(Debug)]
pub struct Relocation {
    workspace: (PathBuf, PathBuf),
    /// The paths without the components at their ends that are equal: the directory that was moved, if it was not the
    /// workspace itself.
    top: (PathBuf, PathBuf),
}

impl Relocation {
    /// The workspace was moved from here to there.
    pub fn between(old: &Path, new: &Path) -> Relocation {
        let mut top = (old, new);
        while let (Some(a), Some(b)) = (top.0.parent(), top.1.parent())
            && top.0.file_name() == top.1.file_name()
        {
            top = (a, b);
        }
        Relocation { workspace: (old.into(), new.into()), top: (top.0.into(), top.1.into()) }
    }

    /// Where a directory is now. A repository beside or around the workspace stays where it is, unless it is gone from
    /// there: the workspace may have been moved out of it.
    pub fn dir(&self, dir: &Path) -> PathBuf {
        let (old, new) = &self.workspace;
        if let Ok(inside) = dir.strip_prefix(old) {
            return below(new, inside);
        }
        match dir.strip_prefix(&self.top.0).map(|inside| below(&self.top.1, inside)) {
            Ok(there) if !is_repository(dir) && (is_repository(&there) || !self.top.0.exists()) => there,
            _ => dir.to_path_buf(),
        }
    }

    /// The same repositories where they are now.
    pub fn repositories(&self, mut repositories: Repositories) -> Repositories {
        for git_dir in &mut repositories.git_dirs {
            self.named(&mut git_dir.name, &mut git_dir.dir);
        }
        for history in &mut repositories.histories {
            let repository = &mut history.repository;
            self.named(&mut repository.name, &mut repository.own);
            repository.common = self.dir(&repository.common);
        }
        repositories
    }

    /// One outside the workspace has its path for a name.
    fn named(&self, name: &mut String, dir: &mut PathBuf) {
        let there = self.dir(dir);
        if *name == dir.display().to_string() {
            *name = there.display().to_string();
        }
        *dir = there;
    }
}

/// `join` would add a slash to the directory itself.
fn below(dir: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { dir.to_path_buf() } else { dir.join(inside) }
}

/// Whether a directory is a repository's own, such as `.git`, or the top of its files.
fn is_repository(dir: &Path) -> bool {
    dir.join("HEAD").symlink_metadata().is_ok() || dir.join(".git").symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn repository(at: &Path) {
        fs::create_dir_all(at.join(".git")).unwrap();
        fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_repository_is_followed_only_where_it_left_its_place() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        let relocation = Relocation::between(&at("a/repo/sub"), &at("b/other/sub"));
        let now = |path: &str| relocation.dir(&at(path)).strip_prefix(temp.path()).unwrap().to_owned();
        repository(&at("a/repo"));
        repository(&at("b/other"));
        let stayed = ["a/repo/sub", "a/repo/sub/in/.git", "a/repo/.git", "a/repo"].map(now);
        assert_eq!(
            stayed,
            ["b/other/sub", "b/other/sub/in/.git", "a/repo/.git", "a/repo"].map(PathBuf::from)
        );
        // Whoever is at its path now has no repository.
        fs::remove_dir_all(at("a/repo/.git")).unwrap();
        let gone = ["a/repo/.git", "a/repo", "a/repository/.git", "c/.git"].map(now);
        assert_eq!(gone, ["b/other/.git", "b/other", "a/repository/.git", "c/.git"].map(PathBuf::from));
        // Deleted in both places: it is missed where it was, unless nothing at all is left there.
        fs::remove_dir_all(at("b/other/.git")).unwrap();
        assert_eq!(now("a/repo/.git"), Path::new("a/repo/.git"));
        fs::remove_dir_all(at("a")).unwrap();
        assert_eq!(now("a/repo/.git"), Path::new("b/other/.git"));
    }

    #[test]
    fn directories_of_one_name_are_no_reason_to_leave_the_root() {
        let relocation = Relocation::between(Path::new("/w"), Path::new("/elsewhere/w"));
        assert_eq!(relocation.dir(Path::new("/w/.git")), Path::new("/elsewhere/w/.git"));
        assert_eq!(relocation.dir(Path::new("/nowhere/at/all")), Path::new("/nowhere/at/all"));
    }
}
