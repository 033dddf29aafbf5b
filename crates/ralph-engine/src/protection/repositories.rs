//! The git repositories of a workspace at one moment: configuration and hooks that git obeys, and the refs. Recorded before
//! every step that runs an agent or a verify command, and kept in the run's folder for recovery after a crash.

use ralph_os::{Links, what_it_is};
use ralph_tree::{Hidden, Index, OBEYED, Protect, REFS, Refs, Repository, Tree, odd_places, repositories};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Name of the list in a moment's folder.
const LIST: &str = "list.json";

/// The repositories at one moment.
#[derive(Debug, Default)]
pub struct Repositories {
    /// Directories with files that git obeys.
    pub git_dirs: Vec<GitDir>,
    /// Refs of each repository.
    pub histories: Vec<History>,
}

/// A repository's own directory, such as `.git`.
#[derive(Debug)]
pub struct GitDir {
    /// Name for display: `.git`, or an absolute path.
    pub name: String,
    /// Where it is.
    pub dir: PathBuf,
    /// The files in it that git obeys.
    pub index: Arc<Index>,
}

/// One repository's refs.
#[derive(Debug)]
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
}

impl Repositories {
    /// Reads the current state. What is unchanged since `earlier` is not read again.
    pub fn look(root: &Path, files: &Index, earlier: &Repositories) -> Repositories {
        let mut now = Repositories::default();
        for repository in repositories(root, files) {
            let known = earlier.histories.iter().find(|h| h.repository == repository);
            now.histories.push(History::look(repository.clone(), known));
            let common = match repository.common.strip_prefix(root) {
                Ok(inside) => inside.display().to_string(),
                Err(_) => repository.common.display().to_string(),
            };
            for (name, dir) in [(repository.name, repository.own), (common, repository.common)] {
                if !now.git_dirs.iter().any(|git_dir| git_dir.dir == dir) {
                    let known = earlier.git_dirs.iter().find(|git_dir| git_dir.dir == dir);
                    let index = obeyed(&dir, known.map(|git_dir| &*git_dir.index));
                    now.git_dirs.push(GitDir { name, dir, index });
                }
            }
        }
        now
    }

    /// The same directories, read again. New ones are found by the workspace's walk, not here.
    pub fn again(&self) -> Repositories {
        let git_dir = |git_dir: &GitDir| GitDir {
            name: git_dir.name.clone(),
            dir: git_dir.dir.clone(),
            index: obeyed(&git_dir.dir, Some(&git_dir.index)),
        };
        let history = |history: &History| History::look(history.repository.clone(), Some(history));
        Repositories {
            git_dirs: self.git_dirs.iter().map(git_dir).collect(),
            histories: self.histories.iter().map(history).collect(),
        }
    }

    /// Writes it to a folder, and to disk where it changed.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        for (n, git_dir) in self.git_dirs.iter().enumerate() {
            git_dir.index.save_durably(&folder.join(format!("{n}.tree")))?;
        }
        let history = |h: &History| {
            let r = &h.repository;
            let paths = [bytes(&r.own), bytes(&r.common), r.files.clone(), r.within.clone()];
            (r.name.clone(), paths, h.refs.to_text(), h.hidden.paths.clone().into_iter().collect())
        };
        let listed = Listed {
            git_dirs: self
                .git_dirs
                .iter()
                .map(|git_dir| (git_dir.name.clone(), bytes(&git_dir.dir)))
                .collect(),
            histories: self.histories.iter().map(history).collect(),
            odd: self.histories.iter().map(|history| history.odd.clone()).collect(),
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
            Some(GitDir { name, dir: path(dir), index })
        };
        let mut odd = listed.odd.into_iter();
        let history = |(name, [own, common, files, within], refs, hidden): KeptHistory| {
            let odd = odd.next().unwrap_or_default();
            let repository = Repository { name, own: path(own), common: path(common), files, within };
            let hidden = Hidden::of(hidden);
            History { repository, stamp: Index::default(), refs: Refs::from_text(&refs), hidden, odd }
        };
        Some(Repositories {
            git_dirs: listed.git_dirs.into_iter().enumerate().map(git_dir).collect::<Option<_>>()?,
            histories: listed.histories.into_iter().map(history).collect(),
        })
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

impl History {
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

/// The files in a directory that git obeys; empty if it cannot be read.
pub fn obeyed(dir: &Path, earlier: Option<&Index>) -> Arc<Index> {
    static GLOBS: OnceLock<Option<Protect>> = OnceLock::new();
    Arc::new(walk(dir, GLOBS.get_or_init(|| Protect::new(OBEYED).ok()).as_ref(), earlier))
}

fn refs_globs() -> Option<&'static Protect> {
    static GLOBS: OnceLock<Option<Protect>> = OnceLock::new();
    GLOBS.get_or_init(|| Protect::new(REFS).ok()).as_ref()
}

fn walk(dir: &Path, globs: Option<&Protect>, earlier: Option<&Index>) -> Index {
    let tree = globs.map(|globs| Tree::guarding(dir, globs.clone()));
    tree.and_then(|tree| tree.walk(earlier).ok()).unwrap_or_default()
}
