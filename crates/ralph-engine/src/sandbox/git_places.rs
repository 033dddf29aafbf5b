//! What of a workspace is read-only for the programs of a run.

use super::WorkspacePlaces;
use ralph_sandbox::policy::is_obeyed;
use ralph_tree::{Index, InnerGitDirs, Kind, bare_repositories, named_places, repositories, way};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More paths of one kind than these are left to detection, and that is said: each costs a mount at every start of a program.
const MOST: usize = 4096;

impl WorkspacePlaces {
    /// The places of a workspace as a walk found it. `first` are those that the run began with: they come before all that an agent
    /// may have made since, and of directories elsewhere only theirs count. Of directories elsewhere only those of the repository
    /// around the workspace count: a repository that lies in it may have been made by an agent, and say anything.
    pub fn of(workspace: &Path, index: &Index, first: Option<&WorkspacePlaces>) -> WorkspacePlaces {
        let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
        let (mut inside, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
        for repository in repositories(workspace, index) {
            let is_around = repository.files.is_empty();
            let inner = InnerGitDirs::of(&repository.common);
            // What links lead to may be anybody's.
            let is_near = |dir: &&PathBuf| dir.starts_with(&repository.common) || dir.starts_with(&root);
            let inner = inner.all().filter(is_near).cloned();
            for dir in [repository.own, repository.common.clone()].into_iter().chain(inner) {
                match dir.strip_prefix(&root) {
                    Ok(below) => drop(inside.insert(below.to_path_buf())),
                    Err(_) if is_around => drop(elsewhere.insert(dir)),
                    Err(_) => {}
                }
            }
        }
        if let Some(first) = first {
            elsewhere.retain(|dir| first.git_elsewhere.iter().any(|known| dir.starts_with(known)));
        }
        inside.extend(bare_repositories(index).map(path_of));
        let files = index.repositories().filter(|entry| entry.kind == Kind::File);
        let files: Vec<PathBuf> = files.map(|entry| path_of(entry.path)).collect();
        let mut protected = protected(index);
        protected.extend(second_names(&root, index));
        let entries = names_in(&root);
        // Those that the agent made itself it may go on to write.
        let obeyed = entries.iter().filter(|name| is_obeyed(name.as_bytes()));
        let obeyed = obeyed.filter(|name| first.is_none_or(|first| first.entries.contains(*name)));
        protected.extend(named(&root, index, &inside, obeyed));
        protected.sort();
        protected.dedup();
        let mut limit = Limit { left_out: 0 };
        let known = |list: fn(&WorkspacePlaces) -> &Vec<PathBuf>| first.map(list);
        WorkspacePlaces {
            protected: limit.take(protected, known(|first| &first.protected)),
            plan_file: None,
            git_directories: limit.take(inside.into_iter().collect(), known(|first| &first.git_directories)),
            git_files: limit.take(files, known(|first| &first.git_files)),
            git_elsewhere: limit.take(elsewhere.into_iter().collect(), known(|first| &first.git_elsewhere)),
            entries,
            left_out: limit.left_out,
        }
    }

    /// Why not all of them are held, if that is so.
    pub(super) fn too_many(&self) -> Option<String> {
        let left_out = self.left_out;
        (left_out > 0).then(|| {
            format!("{left_out} protected paths and repositories are more than the {MOST} of each kind that can be mounted")
        })
    }
}

/// Counts what is more than can be mounted.
struct Limit {
    left_out: usize,
}

impl Limit {
    /// What is known first, so that nothing new takes its place.
    fn take(&mut self, all: Vec<PathBuf>, known: Option<&Vec<PathBuf>>) -> Vec<PathBuf> {
        let Some(over) = all.len().checked_sub(MOST + 1) else { return all };
        self.left_out += over + 1;
        let known: BTreeSet<&PathBuf> = known.into_iter().flatten().collect();
        let (mut kept, new): (Vec<PathBuf>, Vec<PathBuf>) =
            all.into_iter().partition(|it| known.contains(it));
        kept.extend(new);
        kept.truncate(MOST);
        kept
    }
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// What the configuration of git, a protected link or one that other programs obey names in the workspace, where it exists, with
/// the links on the way. A directory that a repository lies in is not read-only for that: git would no longer work.
fn named<'a>(
    root: &Path,
    index: &Index,
    git_directories: &BTreeSet<PathBuf>,
    obeyed: impl Iterator<Item = &'a String>,
) -> Vec<PathBuf> {
    let above: BTreeSet<&Path> = git_directories.iter().flat_map(|dir| dir.ancestors()).collect();
    let is_there = |path: &PathBuf| {
        path.symlink_metadata().is_ok_and(|it| it.is_file() || it.is_dir() || it.is_symlink())
    };
    let links = obeyed.map(|name| root.join(name)).filter(|path| path.is_symlink());
    let places =
        named_places(root, index).into_iter().chain(links.flat_map(|link| way(&link))).filter(is_there);
    let below = places.filter_map(|path| Some(path.strip_prefix(root).ok()?.to_path_buf()));
    below.filter(|path| !above.contains(path.as_path()) && path.components().next().is_some()).collect()
}

/// The protected paths, without those that lie in a protected directory.
fn protected(index: &Index) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in index.entries().filter(|entry| entry.protected) {
        let path = path_of(entry.path);
        let covered = found.last().is_some_and(|last| path.starts_with(last));
        if !covered && entry.kind != Kind::Special {
            found.push(path);
        }
    }
    found
}

/// Hard links to protected files: who writes one writes the other. Of files that git ignores a walk knows none.
fn second_names(root: &Path, index: &Index) -> Vec<PathBuf> {
    let files = || index.entries().filter(|entry| entry.kind == Kind::File);
    let protected: BTreeMap<u64, PathBuf> =
        files().filter(|entry| entry.protected).map(|entry| (entry.ino, path_of(entry.path))).collect();
    let same = |a: &Path, b: &Path| {
        let identity = |path: &Path| root.join(path).symlink_metadata().ok().map(|it| (it.dev(), it.ino()));
        identity(a).is_some_and(|a| Some(a) == identity(b))
    };
    let others = files().filter(|entry| !entry.protected);
    let names = others.filter_map(|entry| Some((path_of(entry.path), protected.get(&entry.ino)?)));
    names.filter(|(path, known)| same(path, known)).map(|(path, _)| path).collect()
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
        WorkspacePlaces::of(root, &tree.walk(None).unwrap(), None)
    }

    #[test]
    fn a_protected_directory_stands_for_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["secrets/a", "secrets/b/c.pem", "secretsa.pem", "keys/x.pem", "keys/y"] {
            fs::create_dir_all(dir.path().join(file).parent().unwrap()).unwrap();
            fs::write(dir.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link.pem")).unwrap();
        fs::hard_link(dir.path().join("secrets/a"), dir.path().join("second")).unwrap();
        let mut found = places(dir.path()).protected;
        found.sort();
        assert_eq!(found, ["keys/x.pem", "link.pem", "second", "secrets", "secretsa.pem"].map(PathBuf::from));
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
        for made in [".git", "tools/hooks", "keys", "dots/claude"] {
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
        std::os::unix::fs::symlink("dots/claude", dir.path().join(".claude")).unwrap();
        let found = places(dir.path()).protected;
        let expected = [
            ".claude",
            ".git/hooks",
            ".git/more.cfg",
            "dots/claude",
            "keys/real",
            "link.pem",
            "shared.cfg",
            "tools/hooks",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
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
        assert_eq!(found.git_elsewhere, [root.join("main/.git"), root.join("main/.git/worktrees/work")]);
        assert_eq!(found.git_directories, [PathBuf::from("made/.git")]);
        let mut files = found.git_files;
        files.sort();
        assert_eq!(files, [PathBuf::from(".git"), PathBuf::from("inner/.git")]);
    }

    #[test]
    fn what_was_there_first_is_not_displaced() {
        let zoo = PathBuf::from("zoo/.git");
        let made = (0..=MOST).map(|n| PathBuf::from(format!("a{n}/.git")));
        let all: Vec<PathBuf> = made.chain([zoo.clone()]).collect();
        let mut limit = Limit { left_out: 0 };
        let kept = limit.take(all.clone(), Some(&vec![zoo.clone()]));
        assert_eq!((kept.len(), &kept[0], limit.left_out), (MOST, &zoo, 2));
        let all = all.into_iter().take(MOST).collect();
        assert_eq!((limit.take(all, None).len(), limit.left_out), (MOST, 2));
        let places = WorkspacePlaces { left_out: 2, ..WorkspacePlaces::default() };
        assert!(places.too_many().unwrap().starts_with("2 protected paths and repositories"));
        assert_eq!(WorkspacePlaces::default().too_many(), None);
    }

    #[test]
    fn an_agent_does_not_lead_a_mount_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let (work, other) = (dir.path().join("work"), dir.path().join("other/.git"));
        fs::create_dir_all(work.join("inner")).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let first = places(&work);
        for at in [work.join("inner"), work.clone()] {
            fs::write(at.join(".git"), format!("gitdir: {}\n", other.display())).unwrap();
            let tree = Tree::new(&work, Protect::new(["secrets/"]).unwrap());
            let now = WorkspacePlaces::of(&work, &tree.walk(None).unwrap(), Some(&first));
            assert!(now.git_elsewhere.is_empty(), "{:?}", now.git_elsewhere);
        }
        assert_eq!(places(&work).git_elsewhere.len(), 1, "if it was there from the start");
    }
}
