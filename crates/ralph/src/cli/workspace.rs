//! The directory that a command works in: the one that `-C` names, otherwise the nearest one that is set up, from the
//! current directory up to the root of its repository.

use crate::init::ignore::repository;
use ralph_engine::home::Home;
use ralph_store::{Database, RunFilter, Store};
use std::path::{Path, PathBuf};

/// Which directories a command looks for when none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// The current directory only.
    CurrentDirectory,
    /// The nearest with a ralph.toml.
    Config,
    /// The nearest with a ralph.toml, or with runs.
    Runs,
    /// As `Runs`, for screens: a database that is locked is not waited for. They show all runs in any case.
    RunsAtOnce,
}

/// The workspace of a command that was typed in this directory; the directory itself if no other is found.
pub fn find(typed_in: &Path, finds: Finds, home: Option<&Home>, user_home: Option<&Path>) -> PathBuf {
    let here = || typed_in.to_path_buf();
    if finds == Finds::CurrentDirectory || has_config(typed_in) {
        return here();
    }
    let root = repository(typed_in);
    let inside = |dir: &&Path| root.is_some_and(|root| dir.starts_with(root));
    if finds == Finds::Config {
        return typed_in
            .ancestors()
            .take_while(inside)
            .find(|dir| has_config(dir))
            .map_or_else(here, Path::to_path_buf);
    }
    // Outside a repository, only directories that ralph has worked in belong to the user for sure.
    let open = |home: &Home| match finds {
        Finds::RunsAtOnce => home.store_at_once(),
        _ => home.store_if_any(),
    };
    let store = home.and_then(|home| open(home).ok().flatten());
    let near = |dir: &&Path| root.is_none() && Some(*dir) != user_home || inside(dir);
    let found = typed_in.ancestors().take_while(near).find(|dir| {
        root.is_some() && has_config(dir) || store.as_ref().is_some_and(|store| has_runs(store, dir))
    });
    found.map_or_else(here, Path::to_path_buf)
}

/// A ralph.toml that lies above a directory, in the same repository.
pub fn config_above(dir: &Path) -> Option<PathBuf> {
    let root = repository(dir)?;
    let above = dir.ancestors().skip(1).take_while(|above| above.starts_with(root));
    above.map(|above| above.join("ralph.toml")).find(|file| file.is_file())
}

fn has_config(dir: &Path) -> bool {
    dir.join("ralph.toml").is_file()
}

fn has_runs(store: &Database, dir: &Path) -> bool {
    let workspace = Some(dir.to_string_lossy().into_owned());
    let filter = RunFilter { workspace, limit: Some(1), ..RunFilter::default() };
    store.runs(&filter).is_ok_and(|runs| !runs.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_is_found_up_to_the_root_of_the_repository_and_no_further() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().canonicalize().unwrap();
        let (repo, deep) = (outside.join("repo"), outside.join("repo/a/b"));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(outside.join("ralph.toml"), "").unwrap();
        let find = |finds| find(&deep, finds, None, None);
        assert_eq!(find(Finds::Config), deep, "without a repository");
        std::fs::create_dir(repo.join(".git")).unwrap();
        std::fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(find(Finds::Config), deep, "the one above the repository is not used");
        std::fs::write(repo.join("ralph.toml"), "").unwrap();
        assert_eq!((find(Finds::Config), find(Finds::Runs)), (repo.clone(), repo.clone()));
        assert_eq!(find(Finds::CurrentDirectory), deep);
        assert_eq!(config_above(&deep), Some(repo.join("ralph.toml")));
        assert_eq!(config_above(&repo), None);
        std::fs::write(repo.join("a/ralph.toml"), "").unwrap();
        assert_eq!(find(Finds::Config), repo.join("a"), "the nearest");
    }
}
