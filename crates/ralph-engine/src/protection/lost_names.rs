//! Lost objects in words that say what was in them: the branch whose commit is gone, the file of an old commit.

use super::git::Git;
use super::lost_objects::short;
use super::repositories::History;
use ralph_rules::record::Violation;
use ralph_tree::shown;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Git may search this long for the file that an object was.
const SEARCH: Duration = Duration::from_secs(10);
/// Branches that are named for one commit.
const BRANCHES: usize = 3;

/// What a repository needs and cannot read.
pub struct Lost {
    /// Objects that the history needs.
    pub objects: BTreeSet<String>,
    /// Objects that the index needs, each with its path.
    pub staged: Vec<(String, String)>,
}

/// In words: at most one more than is shown.
pub fn names<'a>(
    git: &Git,
    histories: impl Iterator<Item = &'a History>,
    tips: &BTreeSet<String>,
    lost: &Lost,
) -> Vec<String> {
    let mut branches: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (branch, id) in histories.flat_map(|history| &history.refs.branches) {
        branches.entry(id).or_default().insert(branch);
    }
    // What is in the index is mostly in a commit too.
    let staged = lost.staged.iter().filter(|_| lost.objects.is_empty());
    let staged = staged.map(|(_, path)| format!("{path} in the index"));
    // What people know best comes first.
    let (named, others): (Vec<&String>, Vec<&String>) =
        lost.objects.iter().partition(|id| branches.contains_key(id.as_str()));
    let objects = named.into_iter().chain(others).map(|id| match branches.get(id.as_str()) {
        Some(names) => format!("commit {} of {}", short(id), of_branches(names)),
        None if tips.contains(id) => format!("commit {}", short(id)),
        None => file_of(git, tips, id).unwrap_or_else(|| format!("object {}", short(id))),
    });
    objects.chain(staged).take(Violation::KEYS + 1).collect()
}

fn of_branches(names: &BTreeSet<&str>) -> String {
    let first: Vec<&str> = names.iter().copied().take(BRANCHES).collect();
    let word = if names.len() > 1 { "branches" } else { "branch" };
    format!("{word} {}{}", first.join(" and "), if names.len() > BRANCHES { " and others" } else { "" })
}

/// The file that an object was, and where in the history; none if git finds none.
fn file_of(git: &Git, tips: &BTreeSet<String>, id: &str) -> Option<String> {
    let asked: String = tips.iter().map(|id| format!("{id}\n")).collect();
    let find = format!("--find-object={id}");
    let args = ["log", "-1", "--format=%H", "--raw", "--no-abbrev", "-z", "--no-renames", "--no-ext-diff"];
    let args = [&args[..], &[&find, "--ignore-missing", "--stdin"]].concat();
    let said = git.outcome(&args, asked.as_bytes(), SEARCH).ok()?;
    // The commit, a NUL, then colon, modes and names, a NUL, and the path.
    let mut words = said.output.split(|b| *b == 0);
    let commit = String::from_utf8_lossy(words.next()?).trim().to_owned();
    let facts = String::from_utf8_lossy(words.next()?).into_owned();
    let path = shown(words.next()?);
    let when = if facts.split(' ').nth(3) == Some(id) { "of" } else { "before" };
    Some(format!("{path} {when} commit {}", short(&commit)))
}
