//! Ignore rules: `.gitignore` at every level and `.git/info/exclude`, each repository with its own.
//!
//! Rules hang together as a chain from the deepest directory upward; the first that matches wins.
//! Compiled matchers are kept by content, so that an unchanged `.gitignore` is compiled once a process.
//! Not read: the user's global excludes and git's index (a tracked file that is also ignored does not count).

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::content::{small_file, small_file_in};
use crate::git_dir::GitDir;
use crate::index::{Kind, short};
use crate::listing::Listing;

/// How much of one file of rules is read: many times what people write, little enough to compile.
pub(crate) const MOST: u64 = 256 * 1024;

/// The rules in force in one directory.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    deepest: Option<Rc<Link>>,
    /// What leads from the top of the repository around the workspace to the workspace, with a slash at its
    /// end; mostly empty.
    lead: Rc<[u8]>,
    /// Equal only for equal rules; flags of an older walk hold only under the same key.
    pub key: [u8; 16],
}

/// One file of rules and those above it.
#[derive(Debug)]
struct Link {
    above: Option<Rc<Link>>,
    matcher: Arc<Gitignore>,
    /// How many bytes of a path, lead included, lead to the directory of the file.
    depth: usize,
}

impl Rules {
    /// True if a path of the workspace is ignored.
    pub fn ignore(&self, path: &[u8], is_dir: bool) -> bool {
        if self.lead.is_empty() {
            self.ignore_whole(path, is_dir)
        } else {
            self.ignore_whole(&[&self.lead, path].concat(), is_dir)
        }
    }

    /// The same for a path that begins with the lead.
    fn ignore_whole(&self, path: &[u8], is_dir: bool) -> bool {
        let mut next = self.deepest.as_deref();
        while let Some(link) = next {
            let below = path.get(link.depth..).unwrap_or_default();
            match link.matcher.matched(as_path(below), is_dir) {
                Match::None => next = link.above.as_deref(),
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }

    fn and(&self, bytes: &[u8], matcher: Option<Arc<Gitignore>>, depth: usize) -> Rules {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.key).update(&bytes.len().to_le_bytes()).update(bytes);
        let above = self.deepest.clone();
        let deepest = match matcher {
            Some(matcher) => Some(Rc::new(Link { above, matcher, depth })),
            None => above,
        };
        Rules { deepest, lead: Rc::clone(&self.lead), key: short(&hasher) }
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Whether the repository around a directory ignores it altogether, so that the two have nothing to do with each other.
pub(crate) fn is_ignored_around(root: &Path) -> bool {
    Compiled::default().outside(root, &[]).lead.is_empty()
}

/// Which rules hold in a directory with some of a workspace's files.
#[derive(Clone, Debug)]
pub(crate) struct CopyRules {
    /// The workspace, whose repository's rules hold.
    pub workspace: PathBuf,
    /// The `.gitignore` files that hold; programs may have left others.
    pub gitignores: BTreeSet<Vec<u8>>,
}

/// Compiled rules by content, those of this walk and those of the last.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    used: HashMap<[u8; 32], Option<Arc<Gitignore>>>,
    last: HashMap<[u8; 32], Option<Arc<Gitignore>>>,
}

impl Compiled {
    /// Begins a walk: what the last but one used and the last did not is forgotten.
    pub fn turn(&mut self) {
        self.last = std::mem::take(&mut self.used);
    }

    fn get(&mut self, bytes: &[u8]) -> Option<Arc<Gitignore>> {
        let key = *blake3::hash(bytes).as_bytes();
        let last = &mut self.last;
        self.used.entry(key).or_insert_with(|| last.remove(&key).unwrap_or_else(|| compile(bytes))).clone()
    }

    /// The rules a walk of `root` begins with: those of the repository around it, if it lies deeper in one.
    /// A workspace that the repository around it ignores altogether is on its own.
    pub fn outside(&mut self, root: &Path, seed: &[u8]) -> Rules {
        let key = short(blake3::Hasher::new().update(seed));
        let alone = Rules { deepest: None, lead: Rc::from([]), key };
        let Some((top, git)) = GitDir::around(root).filter(|(top, _)| *top != root) else { return alone };
        let Ok(lead) = root.strip_prefix(top) else { return alone };
        let lead = [lead.as_os_str().as_bytes(), b"/"].concat();
        let excludes = small_file(&git.common.join("info/exclude"), MOST).unwrap_or_default();
        let mut rules = Rules { lead: Rc::from(lead.as_slice()), ..alone.clone() };
        rules = rules.and(&excludes, self.get(&excludes), 0);
        let mut depth = 0;
        while let Some(len) = lead.iter().skip(depth).position(|&byte| byte == b'/') {
            let dir = top.join(as_path(lead.get(..depth).unwrap_or_default()));
            let own = small_file(&dir.join(".gitignore"), MOST).unwrap_or_default();
            rules = rules.and(&own, self.get(&own), depth);
            if rules.ignore_whole(lead.get(..depth + len).unwrap_or_default(), true) {
                return alone;
            }
            depth += len + 1;
        }
        rules
    }

    /// The rules inside a directory of the workspace, given those around it. `path` is its own, with a slash
    /// at its end unless it is the root.
    pub fn inside(
        &mut self,
        around: &Rules,
        fd: BorrowedFd<'_>,
        listing: &Listing,
        root: &Path,
        path: &[u8],
    ) -> Rules {
        let mut rules = around.clone();
        if listing.find(c".git").is_some() {
            rules = self.of_repository(rules, root, path);
        }
        self.of_directory(rules, fd, listing, path.len())
    }

    /// The same in a copy of the workspace.
    pub fn inside_copy(
        &mut self,
        around: &Rules,
        fd: BorrowedFd<'_>,
        listing: &Listing,
        copy: &CopyRules,
        path: &[u8],
    ) -> Rules {
        let mut rules = around.clone();
        if path.is_empty() {
            rules = self.of_repository(rules, &copy.workspace, b"");
        }
        match copy.gitignores.contains([path, b".gitignore"].concat().as_slice()) {
            true => self.of_directory(rules, fd, listing, path.len()),
            false => rules,
        }
    }

    /// With the rules of the repository that begins at this path of the workspace, if one does, in place of those around
    /// it.
    pub fn of_repository(&mut self, rules: Rules, root: &Path, path: &[u8]) -> Rules {
        let Some(git) = GitDir::at(&root.join(as_path(path))) else { return rules };
        let depth = rules.lead.len() + path.len();
        let excludes = small_file(&git.common.join("info/exclude"), MOST).unwrap_or_default();
        Rules { deepest: None, ..rules }.and(&excludes, self.get(&excludes), depth)
    }

    /// With the rules of a `.gitignore` in a directory whose path, with a slash at its end, is so long.
    pub fn with(&mut self, rules: &Rules, bytes: &[u8], path_len: usize) -> Rules {
        rules.and(bytes, self.get(bytes), rules.lead.len() + path_len)
    }

    /// With the rules of a directory's own `.gitignore`.
    fn of_directory(
        &mut self,
        rules: Rules,
        fd: BorrowedFd<'_>,
        listing: &Listing,
        path_len: usize,
    ) -> Rules {
        let own = listing.find(c".gitignore").filter(|item| matches!(item.kind, Some(Kind::File) | None));
        match own.and_then(|_| small_file_in(fd, c".gitignore", MOST)) {
            Some(bytes) => self.with(&rules, &bytes, path_len),
            None => rules,
        }
    }
}

/// Compiles what can be compiled; lines that are no globs are left out, as git does. None: no rules.
fn compile(bytes: &[u8]) -> Option<Arc<Gitignore>> {
    let mut builder = GitignoreBuilder::new("");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok()) {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|matcher| !matcher.is_empty()).map(Arc::new)
}
