//! Objects of git that a step deleted or damaged, although the history needs them: git would say `bad object` from then on.
//!
//! Files of objects come and go with ordinary work: `git gc` moves objects into packs and drops those that nothing names. So
//! only where a file is gone or different, git is asked (`git.rs`) whether what was in it can still be read; and only
//! where it cannot, whether one of the user's commits, a ref that is still there or the index needs it. What was missing
//! before the step was in no file, so nobody is blamed for it.

use super::git::Git;
use super::lost_names::{Lost, names};
use super::objects::{Objects, kept_index};
use super::repositories::{History, Repositories};
use super::user_commits::UserCommits;
use crate::step_context::StepContext;
use ralph_rules::record::{How, Violation};
use ralph_tree::ChangedObjects;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Git may take this long to follow the whole history.
const DEADLINE: Duration = Duration::from_secs(120);
/// More damaged objects are not told apart: each costs a process.
const MOST_DAMAGED: usize = 16;

/// What is needed and cannot be read any more: a violation for each repository that lost something.
pub fn lost(ctx: &StepContext, was: &Repositories, is: &Repositories) -> Vec<Violation> {
    let user = UserCommits::load(&ctx.folder);
    let mut found = Vec::new();
    for (before, after) in was.objects.iter().zip(&is.objects) {
        // One that was deleted or replaced as a whole is reported by the workspace's walk.
        if !after.files.is_same_repository(&before.files) {
            continue;
        }
        let changed = after.files.changed_since(&before.files);
        if changed.is_empty() {
            continue;
        }
        let search = Search { ctx, was, is, before, changed, user: &user.named };
        let lost = search.run().unwrap_or_else(|error| {
            tracing::warn!(repository = %before.name, %error, "the objects of a repository cannot be checked");
            Vec::new()
        });
        if !lost.is_empty() {
            let any_gone = !search.changed.gone.is_empty() || !search.changed.packs.is_empty();
            let how = if any_gone { How::Deleted } else { How::Modified };
            found.push(Violation { keys: lost, ..Violation::new(before.name.clone(), how) });
        }
    }
    found
}

/// The search for what one repository lost.
struct Search<'a> {
    ctx: &'a StepContext,
    was: &'a Repositories,
    is: &'a Repositories,
    before: &'a Objects,
    changed: ChangedObjects,
    user: &'a BTreeSet<String>,
}

impl Search<'_> {
    /// What is lost, in words; nothing if nothing is.
    fn run(&self) -> io::Result<Vec<String>> {
        let tips = self.tips();
        let Some(program) = self.ctx.deps.git.as_deref() else {
            return Ok(self.without_git(&tips));
        };
        let git = match Git::beside(program, &self.before.repository, &self.ctx.folder.join("history.git")) {
            Ok(git) => git,
            // What cannot be looked at must not pass for unchanged.
            Err(error) => return Ok(vec![format!("what is left cannot be read: {error}")]),
        };
        git.set_shallow(self.before.files.shallow.as_deref())?;
        let mut words = self.damaged_packs(&git);
        let unreadable = self.unreadable(&git, &tips)?;
        if !unreadable.is_empty() {
            let lost = self.needed(&git, &tips, &unreadable)?;
            words.splice(0..0, names(&git, self.histories(self.was), &tips, &lost));
        }
        Ok(words)
    }

    /// Where the history that must stay begins.
    fn tips(&self) -> BTreeSet<String> {
        let now: BTreeSet<&String> = self.histories(self.is).flat_map(|it| it.refs.current()).collect();
        let before = self.histories(self.was).flat_map(|it| it.refs.current());
        let named: BTreeSet<String> = before.filter(|id| now.contains(id)).cloned().collect();
        &named | self.user
    }

    fn histories<'r>(&'r self, of: &'r Repositories) -> impl Iterator<Item = &'r History> {
        of.histories.iter().filter(|it| it.repository.common == self.before.repository.common)
    }

    /// Only the files can be asked: a commit that was loose, and no pack that may have it now.
    fn without_git(&self, tips: &BTreeSet<String>) -> Vec<String> {
        let packs = |of: &Objects| of.files.pack_indexes().collect::<BTreeSet<_>>();
        let after = self.is.objects.iter().find(|it| it.repository == self.before.repository);
        if after.is_none_or(|after| !packs(after).is_subset(&packs(self.before))) {
            return Vec::new();
        }
        tips.intersection(&self.changed.gone).map(|id| format!("commit {}", short(id))).collect()
    }

    /// Packs that have the same size as before, but whose content is not what it must be.
    fn damaged_packs(&self, git: &Git) -> Vec<String> {
        let is_damaged = |pack: &&std::path::PathBuf| {
            let index = pack.with_extension("idx");
            let said = git.outcome(&["verify-pack", &index.to_string_lossy()], b"", DEADLINE);
            said.is_ok_and(|said| !said.success)
        };
        let damaged = self.changed.rewritten.iter().filter(is_damaged);
        damaged.map(|pack| format!("{} is damaged", file_name(&pack.with_extension("pack")))).collect()
    }

    /// The objects in the files that are gone or different that git cannot read now.
    fn unreadable(&self, git: &Git, tips: &BTreeSet<String>) -> io::Result<BTreeSet<String>> {
        let mut asked = &self.changed.gone | &self.changed.altered;
        for pack in &self.changed.packs {
            match in_pack(git, &kept_index(&self.ctx.folder, pack)) {
                Ok(ids) => asked.extend(ids),
                // What was in it is not known; what the history begins with was somewhere.
                Err(_) => asked.extend(tips.iter().cloned()),
            }
        }
        let mut missing = missing(git, &asked)?;
        missing.extend(damaged(git, &(&self.changed.altered - &missing))?);
        Ok(missing)
    }

    /// Those among them that the history or the index needs.
    fn needed(&self, git: &Git, tips: &BTreeSet<String>, unreadable: &BTreeSet<String>) -> io::Result<Lost> {
        let mut lost = Lost { objects: tips & unreadable, staged: Vec::new() };
        if lost.objects.is_empty() {
            lost.objects = reached(git, tips, unreadable)?;
        }
        for history in self.histories(self.is) {
            let staged = git.staged(&history.repository.own.join("index")).unwrap_or_default();
            lost.staged.extend(staged_among(&staged, unreadable));
        }
        Ok(lost)
    }
}

/// The objects that a pack had, by the copy of its index.
fn in_pack(git: &Git, index: &Path) -> io::Result<Vec<String>> {
    let listed = git.run(&["show-index"], &fs::read(index)?)?;
    let lines = String::from_utf8_lossy(&listed).into_owned();
    Ok(lines.lines().filter_map(|line| line.split(' ').nth(1)).map(ToOwned::to_owned).collect())
}

/// Those that are in no file that git can open.
fn missing(git: &Git, ids: &BTreeSet<String>) -> io::Result<BTreeSet<String>> {
    let asked: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let said = git.run(&["cat-file", "--batch-check"], asked.as_bytes())?;
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(said.lines().filter_map(|line| line.strip_suffix(" missing")).map(ToOwned::to_owned).collect())
}

/// Those whose content git cannot read to its end: it stops at the first.
fn damaged(git: &Git, ids: &BTreeSet<String>) -> io::Result<BTreeSet<String>> {
    let (mut left, mut found) = (ids.clone(), BTreeSet::new());
    while !left.is_empty() && found.len() < MOST_DAMAGED {
        let asked: String = left.iter().map(|id| format!("{id}\n")).collect();
        let Ok(said) = git.outcome(&["cat-file", "--batch"], asked.as_bytes(), DEADLINE) else { break };
        let named = if said.success { BTreeSet::new() } else { named_among(&said.errors, &left) };
        if named.is_empty() {
            break;
        }
        left = &left - &named;
        found.extend(named);
    }
    Ok(found)
}

/// Those that the history reaches from these commits. Git may stop at the first; then its error names it.
fn reached(git: &Git, tips: &BTreeSet<String>, ids: &BTreeSet<String>) -> io::Result<BTreeSet<String>> {
    let asked: String = tips.iter().map(|id| format!("{id}\n")).collect();
    // The commit graph would answer for commits that are gone.
    let args =
        ["-c", "core.commitGraph=false", "rev-list", "--objects", "--no-object-names", "--missing=print"];
    let args = [&args[..], &["--ignore-missing", "--stdin"]].concat();
    let said = git.outcome(&args, asked.as_bytes(), DEADLINE)?;
    let mut found = BTreeSet::new();
    for line in said.output.split(|b| *b == b'\n') {
        let id = std::str::from_utf8(line.strip_prefix(b"?").unwrap_or(line)).unwrap_or_default();
        found.extend(ids.get(id).cloned());
    }
    if !said.success {
        found.extend(named_among(&said.errors, ids));
    }
    Ok(found)
}

/// The objects that a text names.
fn named_among(text: &str, ids: &BTreeSet<String>) -> BTreeSet<String> {
    // An empty file of an object is named by its path, `ab/cdef`.
    let joined = text.replace('/', "");
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_hexdigit());
        words.filter_map(|word| ids.get(word).cloned()).collect()
    };
    &words(text) | &words(&joined)
}

/// The paths in a list of the index whose content is among these objects.
fn staged_among(list: &[u8], ids: &BTreeSet<String>) -> Vec<(String, String)> {
    let lines = list.split(|b| *b == 0).filter_map(|line| {
        let tab = line.iter().position(|b| *b == b'\t')?;
        let (facts, path) = line.split_at(tab);
        let id = std::str::from_utf8(facts).ok()?.split(' ').nth(1)?;
        Some((ids.get(id)?.clone(), ralph_tree::shown(path.strip_prefix(b"\t")?)))
    });
    lines.collect()
}

/// The beginning of an object's name, as people know it.
pub(super) fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
