//! Commits made while a step ran: each one that a ref of the user's can reach now, or that HEAD or the stash named in
//! between, is compared with its parents. A commit that touches a protected path is a violation even if a later one
//! takes it back, because the path's content is then in the user's history. A commit that only records what lay there, or
//! repeats one of the user's (`repeated_changes.rs`), is none.
//!
//! Whose a commit is: what any ref named before the step is not the step's. A fetch that only moves remote-tracking refs
//! is no violation: those refs are a copy of what a server said. But what they gained during a step proves nothing later
//! either, because an agent can write them too, and such a commit is looked at when a ref of the user's takes it up.

use super::git::Git;
use super::repeated_changes::Repeats;
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Index, Protect, Refs, Repository, TreePath};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::OnceLock;

/// Touched paths kept in the list.
const MOST: usize = 1000;

/// Trees that are looked at without a commit: each costs a process.
const MOST_TREES: usize = 100;

/// A protected path in a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The commit.
    pub commit: String,
    /// The path within the workspace, as it is shown.
    pub path: String,
    /// The content it got there; none where the commit removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

/// What the search needs to know of the moment before.
pub struct Before<'a> {
    /// Where the refs stood.
    pub refs: &'a Refs,
    /// What refs named before a step of this run.
    pub known: &'a BTreeSet<String>,
    /// The files, for commits that only record what lay there.
    pub files: &'a Index,
    /// Their contents.
    pub blobs: &'a Blobs,
    /// What is protected.
    pub protect: &'a Protect,
    /// The rest of the repository around the workspace: what it is called, and its protected files.
    pub around: Option<(&'a str, &'a Index)>,
}

impl Before<'_> {
    /// A path of the repository as it is shown, with what lay there, if it is protected. What lies around the workspace
    /// is protected by the same globs, from the repository's top.
    fn protected(&self, repository: &Repository, path: &[u8]) -> Option<(String, Option<LayThere<'_>>)> {
        let shown = |path: &[u8]| TreePath::from(path).to_string();
        if let Some(path) = repository.in_workspace(path) {
            let lay_there = self.files.get(&path).map(|entry| LayThere { entry, ignored: !entry.counts });
            return self.protect.protects(&path, false).then(|| (shown(&path), lay_there));
        }
        let (name, files) = self.around.filter(|_| !repository.within.is_empty())?;
        // What is ignored there is not known.
        let lay_there = files.get(path).map(|entry| LayThere { entry, ignored: true });
        self.protect.protects(path, false).then(|| (format!("{name}/{}", shown(path)), lay_there))
    }
}

/// A protected file before the step.
struct LayThere<'a> {
    entry: Entry<'a>,
    /// The user keeps it out of the history.
    ignored: bool,
}

/// The names to start from, and those to stop at; none to start from means that nothing can be new.
pub fn range(repository: &Repository, before: &Before<'_>, now: &Refs) -> (Vec<String>, Vec<String>) {
    let passed = before.refs.passed_through(repository);
    let new = |id: &&String| !before.known.contains(*id);
    let tips: BTreeSet<&String> = now.local.iter().chain(&passed).filter(new).collect();
    (tips.into_iter().cloned().collect(), before.known.iter().cloned().collect())
}

/// Every protected path in the commits between.
pub fn touched(
    git: &Git,
    repository: &Repository,
    before: &Before<'_>,
    now: &Refs,
    (tips, known): &(Vec<String>, Vec<String>),
) -> io::Result<Vec<Touched>> {
    let mut ends = String::new();
    for id in tips {
        ends.push_str(&format!("{id}\n"));
    }
    for id in known {
        ends.push_str(&format!("^{id}\n"));
    }
    let commits = git.run(&["rev-list", "--ignore-missing", "--stdin"], ends.as_bytes())?;
    let mut raw = tagged_trees(git, tips)?;
    if !commits.is_empty() {
        raw.extend(git.run(&DIFF, &commits)?);
    }
    let found = changes(&raw)
        .filter_map(|change| {
            let (shown, lay_there) = before.protected(repository, change.path)?;
            Some((change, shown, lay_there))
        })
        .take(MOST);
    let mut names = Names { git, before, known: BTreeMap::new() };
    let mut all = Vec::new();
    for (change, path, lay_there) in found {
        let name = names.of(lay_there.as_ref())?;
        let unfit = lay_there.is_none_or(|there| there.ignored) || holds_secrets(change.path);
        let records = name.as_deref() == Some(change.new) && !(is_zero(change.old) && unfit);
        if !records {
            all.push(Found { change, path, may_become: name.filter(|_| !unfit) });
        }
    }
    let repeats = Repeats::among(git, before.refs, now, (tips, known), &all)?;
    let all = all.into_iter().filter(|found| !repeats.has(&found.change));
    Ok(all.map(|found| found.change.touched(found.path)).collect())
}

/// Every file of the trees among these names, or that tags among them name without a commit, as if a commit added it.
fn tagged_trees(git: &Git, names: &[String]) -> io::Result<Vec<u8>> {
    let asked: String = names.iter().map(|id| format!("{id}^{{}}\n")).collect();
    let kinds = git.run(&["cat-file", "--batch-check=%(objectname) %(objecttype)"], asked.as_bytes())?;
    let kinds = String::from_utf8_lossy(&kinds).into_owned();
    let trees: BTreeSet<&str> = kinds.lines().filter_map(|line| line.strip_suffix(" tree")).collect();
    if trees.len() > MOST_TREES {
        return Err(io::Error::other("too many tags of trees"));
    }
    let mut raw = Vec::new();
    for tree in trees {
        raw.extend_from_slice(format!("{tree}\0").as_bytes());
        let files = git.run(&["ls-tree", "-r", "-z", "--full-tree", tree], b"")?;
        for file in files.split(|b| *b == 0).filter(|file| !file.is_empty()) {
            let Some(tab) = file.iter().position(|b| *b == b'\t') else { continue };
            let (facts, path) = file.split_at(tab);
            let facts = String::from_utf8_lossy(facts);
            let object = facts.rsplit(' ').next().unwrap_or_default();
            raw.extend_from_slice(format!(":0 0 {} {object} A\0", "0".repeat(object.len())).as_bytes());
            raw.extend_from_slice(path.strip_prefix(b"\t").unwrap_or(path));
            raw.push(0);
        }
    }
    Ok(raw)
}

/// A change to a protected path.
pub(super) struct Found<'a> {
    pub change: Change<'a>,
    /// As it is shown.
    path: String,
    /// The name of the content that lay there, which may be committed.
    pub may_become: Option<String>,
}

/// Compares commits with their parents, whatever the configuration says.
pub(super) const DIFF: [&str; 11] = [
    "diff-tree",
    "--stdin",
    "-r",
    "-c",
    "--root",
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
];

/// A path with its content before and after.
pub(super) type Made = (Vec<u8>, String, String);

/// One line of a raw diff.
pub(super) struct Change<'a> {
    pub commit: &'a str,
    /// The content before, in the first parent.
    old: &'a str,
    new: &'a str,
    pub path: &'a [u8],
}

impl Change<'_> {
    pub fn made(&self) -> Made {
        (self.path.to_vec(), self.old.to_owned(), self.new.to_owned())
    }

    fn touched(&self, path: String) -> Touched {
        let object = (!is_zero(self.new)).then(|| self.new.to_owned());
        Touched { commit: self.commit.to_owned(), path, object }
    }
}

fn is_zero(id: &str) -> bool {
    id.bytes().all(|b| b == b'0')
}

/// Reads `diff-tree --stdin --raw -z`: a commit's name, then for each path a line of colons, modes, names and status,
/// and the path.
pub(super) fn changes(raw: &[u8]) -> impl Iterator<Item = Change<'_>> {
    let mut words = raw.split(|b| *b == 0);
    let mut commit = "";
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            // A commit's name ends with a line break or a NUL, depending on git's version.
            let word = word.strip_prefix(b"\n").unwrap_or(word);
            let Some(line) = word.strip_prefix(b":") else {
                let text = std::str::from_utf8(word).unwrap_or_default().trim();
                if !text.is_empty() {
                    commit = text;
                }
                continue;
            };
            let parents = 1 + line.iter().take_while(|b| **b == b':').count();
            let line = std::str::from_utf8(line.get(parents - 1..)?).unwrap_or_default();
            let fields: Vec<&str> = line.split(' ').collect();
            // Modes of the parents and of the result, then their names in the same order.
            let old = fields.get(parents + 1).copied().unwrap_or_default();
            let new = fields.get(2 * parents + 1).copied().unwrap_or_default();
            return Some(Change { commit, old, new, path: words.next()? });
        }
    })
}

/// Contents by the names git would give them.
struct Names<'a> {
    git: &'a Git,
    before: &'a Before<'a>,
    known: BTreeMap<u128, String>,
}

impl Names<'_> {
    /// What git calls the content that lay there before the step. A commit that gives a file this very content only
    /// records it; even if the file was never committed before, unless its user keeps it out of the history or it holds
    /// secrets.
    fn of(&mut self, lay_there: Option<&LayThere<'_>>) -> io::Result<Option<String>> {
        let Some(hash) = lay_there.map(|there| there.entry.hash).filter(|hash| self.before.blobs.has(*hash))
        else {
            return Ok(None);
        };
        if !self.known.contains_key(&hash) {
            let content = std::fs::read(self.before.blobs.path(hash))?;
            let name = self.git.run(&["hash-object", "--no-filters", "--stdin"], &content)?;
            self.known.insert(hash, String::from_utf8_lossy(&name).trim().to_owned());
        }
        Ok(self.known.get(&hash).cloned())
    }
}

/// Whether a file of this name would tell secrets to whoever reads the history.
fn holds_secrets(path: &[u8]) -> bool {
    static SECRETS: OnceLock<Option<Protect>> = OnceLock::new();
    let secrets = SECRETS.get_or_init(|| Protect::new(Protect::SECRETS).ok());
    secrets.as_ref().is_none_or(|secrets| secrets.protects(path, false))
}
