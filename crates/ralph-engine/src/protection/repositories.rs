//! The git repositories of a workspace at one moment: configuration and hooks that git obeys, and the refs. Recorded before
//! every step that runs an agent or a verify command, and kept in the run's folder for recovery after a crash.

use super::git_dir::{GitDir, Guards};
use super::objects::Objects;
use ralph_os::{Links, what_it_is};
use ralph_tree::{
    Hidden, Index, InnerGitDirs, Protect, REFS, Refs, Repository, Tree, bare_repositories, odd_places,
    repositories, shown,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Name of the list in a moment's folder.
const LIST: &str = "list.json";

/// The repositories at one moment.
#[derive(Clone, Debug, Default)]
pub struct Repositories {
    /// Directories with files that git obeys.
    pub git_dirs: Vec<GitDir>,
    /// Refs of each repository.
    pub histories: Vec<History>,
    /// The files that hold their objects; the caller of `look` adds them.
    pub objects: Vec<Objects>,
}

/// One repository's refs.
#[derive(Clone, Debug)]
pub struct History {
    /// The repository.
    pub repository: Repository,
    /// The files that hold its refs; if they are unchanged, so are the refs.
    stamp: Index,
    /// The refs.
    pub refs: Refs,
    /// Paths that its index hides from `git status`.
    pub hidden: Hidden,
    /// What git cannot read as it expects to, by its shown path.
    odd: BTreeMap<String, String>,
}

/// Name, the four paths, refs, and what is hidden.
type KeptHistory = (String, [Vec<u8>; 4], String, Vec<(Vec<u8>, u8)>);

/// What is kept of a moment, besides the indexes.
#[derive(Serialize, Deserialize)]
struct Listed {
    #[serde(rename = "places")]
    git_dirs: Vec<(String, Vec<u8>)>,
    histories: Vec<KeptHistory>,
    /// What git could not read, history by history.
    #[serde(default)]
    odd: Vec<BTreeMap<String, String>>,
    /// The last directory lies around the workspace, which begins here; and the globs of protected paths.
    #[serde(default)]
    around: Option<(Vec<u8>, Vec<String>)>,
    /// Which of the directories were made in this step.
    #[serde(default)]
    made: Vec<Vec<u8>>,
    /// In which of them a `.git` was made that leads away.
    #[serde(default)]
    lead_away: Vec<Vec<u8>>,
    /// Directories of objects by their names, each with the number of the history whose repository has it.
    #[serde(default)]
    objects: Vec<(String, usize)>,
}

impl Repositories {
    /// Reads the current state. What is unchanged since `earlier` is not read again.
    pub fn look(root: &Path, files: &Index, protect: &Protect, earlier: &Repositories) -> Repositories {
        let (mut now, mut dirs) = (Repositories::default(), GitDirs::since(earlier));
        let known: BTreeMap<&Path, &History> = earlier.histories.iter().map(|it| (it.own(), it)).collect();
        let top = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        for repository in repositories(root, files) {
            let known = known.get(repository.own.as_path()).filter(|known| known.repository == repository);
            now.histories.push(History::look(repository.clone(), known.copied()));
            // What git obeys of linked work trees is looked at with the directory around them. What links lead to may be anybody's.
            let mut shared = InnerGitDirs::of(&repository.common).submodules;
            shared.retain(|dir| dir.starts_with(&repository.common) || dir.starts_with(&top));
            let shared = [repository.common].into_iter().chain(shared);
            dirs.add(repository.name, repository.own);
            for dir in shared {
                let name = shown(dir.strip_prefix(root).unwrap_or(&dir).as_os_str().as_bytes());
                dirs.add(name, dir);
            }
        }
        for bare in bare_repositories(files) {
            dirs.add(shown(bare), top.join(OsStr::from_bytes(bare)));
        }
        now.git_dirs = dirs.found;
        now.keep_known(earlier);
        let around = match (earlier.around(), now.histories.first()) {
            (Some(known), _) => Some(known.again()),
            (None, Some(history)) => GitDir::around(&history.repository, root, protect),
            (None, None) => None,
        };
        now.git_dirs.extend(around);
        now
    }

    /// Whether a directory is one of these.
    pub fn has(&self, dir: &Path) -> bool {
        self.git_dirs.iter().any(|git_dir| git_dir.dir == dir)
    }

    /// The same with directories of repositories that were not there. What lies around the workspace stays the last one.
    pub fn with_made(&self, made: Vec<GitDir>) -> Repositories {
        let mut all = self.clone();
        let end = all.git_dirs.len() - usize::from(self.around().is_some());
        all.git_dirs.splice(end..end, made);
        all
    }

    /// What was known before stays known as long as it is there: a repository that an agent makes in the workspace, or an
    /// ignore rule, must not put the one around it out of sight.
    fn keep_known(&mut self, earlier: &Repositories) {
        let dirs: BTreeSet<&Path> = self.git_dirs.iter().map(|it| it.dir.as_path()).collect();
        let gone = |it: &&GitDir| it.is_of_git() && it.dir.is_dir() && !dirs.contains(it.dir.as_path());
        let again: Vec<GitDir> = earlier.git_dirs.iter().filter(gone).map(GitDir::again).collect();
        self.git_dirs.extend(again);
        let owns: BTreeSet<&Path> = self.histories.iter().map(History::own).collect();
        let gone = |it: &&History| it.own().is_dir() && !owns.contains(it.own());
        let again = |it: &History| History::look(it.repository.clone(), Some(it));
        let again: Vec<History> = earlier.histories.iter().filter(gone).map(again).collect();
        self.histories.extend(again);
    }

    /// The part of the repository around the workspace, if the workspace is a part of one.
    pub fn around(&self) -> Option<&GitDir> {
        self.git_dirs.last().filter(|git_dir| git_dir.is_around())
    }

    /// The same directories, read again. New ones are found by the workspace's walk, not here.
    pub fn again(&self) -> Repositories {
        let history = |history: &History| History::look(history.repository.clone(), Some(history));
        Repositories {
            git_dirs: self.git_dirs.iter().map(GitDir::again).collect(),
            histories: self.histories.iter().map(history).collect(),
            objects: self.objects.iter().map(Objects::again).collect(),
        }
    }

    /// Writes it to a folder, and to disk where it changed.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        for (n, git_dir) in self.git_dirs.iter().enumerate() {
            git_dir.index.save_durably(&folder.join(format!("{n}.tree")))?;
        }
        for (n, objects) in self.objects.iter().enumerate() {
            objects.save(folder, n)?;
        }
        let history = |h: &History| {
            let r = &h.repository;
            let paths = [bytes(&r.own), bytes(&r.common), r.files.clone(), r.within.clone()];
            (r.name.clone(), paths, h.refs.to_text(), h.hidden.paths.clone().into_iter().collect())
        };
        let dirs = |is: fn(&Guards) -> bool| {
            self.git_dirs.iter().filter(|it| is(&it.guards)).map(|it| bytes(&it.dir)).collect()
        };
        let listed = Listed {
            git_dirs: self
                .git_dirs
                .iter()
                .map(|git_dir| (git_dir.name.clone(), bytes(&git_dir.dir)))
                .collect(),
            histories: self.histories.iter().map(history).collect(),
            odd: self.histories.iter().map(|history| history.odd.clone()).collect(),
            around: self.around().and_then(|git_dir| match &git_dir.guards {
                Guards::Around { workspace, protect } => Some((workspace.clone(), protect.globs().to_vec())),
                Guards::GitObeys | Guards::Made | Guards::LeadsAway => None,
            }),
            made: dirs(|guards| matches!(guards, Guards::Made)),
            lead_away: dirs(|guards| matches!(guards, Guards::LeadsAway)),
            objects: self
                .objects
                .iter()
                .filter_map(|it| Some((it.name.clone(), self.history_of(it)?)))
                .collect(),
        };
        ralph_os::write_durably(&folder.join(LIST), &serde_json::to_vec(&listed)?)
    }

    /// Reads it from a folder; `None` if it is incomplete.
    pub fn load(folder: &Path) -> Option<Repositories> {
        use std::os::unix::ffi::OsStringExt;
        let path = |bytes: Vec<u8>| PathBuf::from(std::ffi::OsString::from_vec(bytes));
        let listed: Listed = serde_json::from_slice(&fs::read(folder.join(LIST)).ok()?).ok()?;
        let git_dir = |(n, (name, dir)): (usize, (String, Vec<u8>))| {
            let index = Arc::new(Index::load(&folder.join(format!("{n}.tree")))?);
            let guards = match (listed.made.contains(&dir), listed.lead_away.contains(&dir)) {
                (true, _) => Guards::Made,
                (_, true) => Guards::LeadsAway,
                _ => Guards::GitObeys,
            };
            Some(GitDir { name, dir: path(dir), index, guards })
        };
        let around = match listed.around {
            Some((workspace, globs)) => {
                Some(Guards::Around { workspace, protect: Arc::new(Protect::new(globs).ok()?) })
            }
            None => None,
        };
        let mut odd = listed.odd.into_iter();
        let history = |(name, [own, common, files, within], refs, hidden): KeptHistory| {
            let odd = odd.next().unwrap_or_default();
            let repository = Repository { name, own: path(own), common: path(common), files, within };
            let hidden = Hidden::of(hidden);
            History { repository, stamp: Index::default(), refs: Refs::from_text(&refs), hidden, odd }
        };
        let mut git_dirs: Vec<GitDir> =
            listed.git_dirs.into_iter().enumerate().map(git_dir).collect::<Option<_>>()?;
        if let (Some(last), Some(guards)) = (git_dirs.last_mut(), around) {
            last.guards = guards;
        }
        let histories: Vec<History> = listed.histories.into_iter().map(history).collect();
        let objects = listed.objects.into_iter().enumerate().filter_map(|(n, (name, history))| {
            Objects::load(folder, n, name, histories.get(history)?.repository.clone())
        });
        Some(Repositories { git_dirs, objects: objects.collect(), histories })
    }

    /// The first history of the repository that has these objects.
    fn history_of(&self, objects: &Objects) -> Option<usize> {
        self.histories.iter().position(|history| history.repository == objects.repository)
    }

    /// What could be read before and cannot be read now, by its shown path.
    pub fn unread_since(&self, before: &Repositories) -> BTreeSet<String> {
        let pairs = before.histories.iter().zip(&self.histories);
        pairs.flat_map(|(was, is)| is.newly_unread(was).cloned()).collect()
    }

    /// Every commit that any remote-tracking ref names.
    pub fn remote(&self) -> BTreeSet<String> {
        self.histories.iter().flat_map(|history| history.refs.remote.iter().cloned()).collect()
    }
}

/// What git cannot read as it expects to in the repository around a directory, in words: `.git/HEAD is a FIFO`.
pub fn odd_in_repository(root: &Path) -> Vec<String> {
    let dot_git = root.join(".git");
    let kind = dot_git.symlink_metadata().map(|meta| meta.file_type());
    let blocked = kind.ok().filter(|kind| !kind.is_dir() && !kind.is_symlink()).and_then(what_it_is);
    let found = repositories(root, &Index::default());
    let odd = found
        .iter()
        .flat_map(|repository| odd_places(repository, Links::Follow))
        .map(|(path, what)| format!("{path} is {what}"));
    blocked.map(|what| format!(".git is {what}")).into_iter().chain(odd).collect()
}

/// Directories with files that git obeys, each once.
struct GitDirs<'a> {
    earlier: BTreeMap<&'a Path, &'a Index>,
    seen: BTreeSet<PathBuf>,
    found: Vec<GitDir>,
}

impl<'a> GitDirs<'a> {
    fn since(earlier: &'a Repositories) -> GitDirs<'a> {
        let earlier = earlier.git_dirs.iter().map(|it| (it.dir.as_path(), &*it.index)).collect();
        GitDirs { earlier, seen: BTreeSet::new(), found: Vec::new() }
    }

    fn add(&mut self, name: String, dir: PathBuf) {
        if self.seen.insert(dir.clone()) {
            let known = self.earlier.get(dir.as_path()).copied();
            self.found.push(GitDir::look(name, dir, Guards::GitObeys, known));
        }
    }
}

impl History {
    fn own(&self) -> &Path {
        &self.repository.own
    }

    fn look(repository: Repository, earlier: Option<&History>) -> History {
        let stamp = walk(&repository.common, refs_globs(), earlier.map(|earlier| &earlier.stamp));
        let own = repository.own == repository.common;
        let refs = match earlier.filter(|earlier| own && earlier.stamp.same_contents(&stamp)) {
            Some(earlier) => earlier.refs.clone(),
            None => Refs::read(&repository),
        };
        let hidden = Hidden::read(&repository.own.join("index"), earlier.map(|earlier| &earlier.hidden));
        let odd = odd_places(&repository, Links::Refuse);
        History { repository, stamp, refs, hidden, odd }
    }

    /// What git cannot read now, or ralph cannot, and could before: by its shown path.
    fn newly_unread<'a>(&'a self, before: &'a History) -> impl Iterator<Item = &'a String> {
        let new = |now: &'a BTreeMap<String, String>, was: &'a BTreeMap<String, String>| {
            now.iter().filter(|(path, what)| was.get(*path) != Some(what)).map(|(path, _)| path)
        };
        new(&self.odd, &before.odd).chain(new(&self.refs.unread, &before.refs.unread))
    }
}

fn refs_globs() -> Option<&'static Protect> {
    static GLOBS: OnceLock<Option<Protect>> = OnceLock::new();
    GLOBS.get_or_init(|| Protect::new(REFS).ok()).as_ref()
}

pub(super) fn walk(dir: &Path, globs: Option<&Protect>, earlier: Option<&Index>) -> Index {
    let tree = globs.map(|globs| Tree::guarding(dir, globs.clone()));
    tree.and_then(|tree| tree.walk(earlier).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(at: &Path) {
        fs::create_dir_all(at.join(".git/refs")).unwrap();
        fs::write(at.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(at.join(".git/config"), "[core]\n").unwrap();
    }

    #[test]
    fn the_repository_around_a_subdirectory_stays_in_sight() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let workspace = top.join("a/sub");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(top.join(".env"), "KEY=1").unwrap();
        repository(&top);
        let protect = Protect::new(Protect::DEFAULTS).unwrap();
        let files = || Tree::new(&workspace, protect.clone()).walk(None).unwrap();
        let look = |earlier: &Repositories| Repositories::look(&workspace, &files(), &protect, earlier);
        let first = look(&Repositories::default());
        let around = first.around().unwrap();
        assert_eq!((around.name.as_str(), around.index.get(b".env").is_some()), ("../..", true));
        // An agent makes a repository of its own, and has the workspace ignored.
        repository(&workspace);
        fs::write(top.join(".gitignore"), "a/\n").unwrap();
        let second = look(&first);
        assert_eq!(second.around().map(|around| around.dir.clone()), Some(top.clone()));
        let own = |all: &Repositories, dir: &Path| all.histories.iter().any(|h| h.repository.own == dir);
        assert!(own(&second, &top.join(".git")) && own(&second, &workspace.join(".git")));
        // A process that comes after a crash knows the same.
        let folder = tempfile::tempdir().unwrap();
        second.save(folder.path()).unwrap();
        let loaded = Repositories::load(folder.path()).unwrap();
        fs::write(top.join(".env"), "KEY=2").unwrap();
        let (was, is) = (loaded.around().unwrap(), loaded.around().unwrap().again());
        let found = ralph_tree::violations(&was.index, &is.index);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [".env (modified)"]);
    }
}
