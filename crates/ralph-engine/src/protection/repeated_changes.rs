//! Changes to protected paths that a commit of the user's made already, made once more: `git rebase` does that. They are
//! let through where they lead to what was there before the step. Otherwise an agent could bring back what the user made
//! and then took back.

use super::git::Git;
use super::history::{Change, DIFF, Found, Made, changes};
use ralph_tree::Refs;
use std::collections::BTreeSet;
use std::io;

/// The changes that may be repeated.
#[derive(Debug, Default)]
pub struct Repeats {
    made: BTreeSet<Made>,
    /// Commits and paths that lead to something else than was there.
    astray: BTreeSet<(String, Vec<u8>)>,
}

impl Repeats {
    /// Those among the changes between the known commits and the tips.
    pub fn among(
        git: &Git,
        was: &Refs,
        now: &Refs,
        (tips, known): (&[String], &[String]),
        changed: &[Found<'_>],
    ) -> io::Result<Repeats> {
        let made = made_before(git, known, changed)?;
        let mut repeats = Repeats { made, astray: BTreeSet::new() };
        let again: Vec<&Found<'_>> = changed.iter().filter(|found| repeats.has(&found.change)).collect();
        // What HEAD only passed through is on the way to a tip.
        for tip in tips.iter().filter(|tip| now.local.contains(*tip) && !again.is_empty()) {
            let ends: String = known.iter().map(|id| format!("^{id}\n")).collect();
            let commits =
                git.run(&["rev-list", "--ignore-missing", "--stdin"], format!("{tip}\n{ends}").as_bytes())?;
            let commits = String::from_utf8_lossy(&commits).into_owned();
            let commits: BTreeSet<&str> = commits.lines().collect();
            for found in again.iter().filter(|found| commits.contains(found.change.commit)) {
                if !leads_back(git, was, now, tip, found)? {
                    repeats.astray.insert((found.change.commit.to_owned(), found.change.path.to_vec()));
                }
            }
        }
        Ok(repeats)
    }

    /// Whether a change only repeats one.
    pub fn has(&self, change: &Change<'_>) -> bool {
        self.made.contains(&change.made())
            && !self.astray.contains(&(change.commit.to_owned(), change.path.to_vec()))
    }
}

/// The changes among these that a known commit made already, at the same path, from and to the same content.
fn made_before(git: &Git, known: &[String], changed: &[Found<'_>]) -> io::Result<BTreeSet<Made>> {
    let paths: BTreeSet<&[u8]> = changed.iter().map(|found| found.change.path).collect();
    // A line of input is a path.
    let paths: Vec<&[u8]> = paths.into_iter().filter(|path| !path.contains(&b'\n')).collect();
    if paths.is_empty() || known.is_empty() {
        return Ok(BTreeSet::new());
    }
    let asked = [known.join("\n").as_bytes(), b"\n--\n", &paths.join(&b'\n'), b"\n"].concat();
    let list = ["--literal-pathspecs", "rev-list", "--ignore-missing", "--full-history", "--stdin"];
    let commits = git.run(&list, &asked)?;
    let raw = git.run(&DIFF, &commits)?;
    Ok(changes(&raw).filter(|change| paths.contains(&change.path)).map(|change| change.made()).collect())
}

/// Whether a path at a tip is as it lay in the workspace before the step, or as the branches that are there now had it.
/// What no earlier branch names, a new branch or a tag, may have it as any branch had it.
fn leads_back(git: &Git, was: &Refs, now: &Refs, tip: &String, found: &Found<'_>) -> io::Result<bool> {
    let path = found.change.path;
    let is = contents(git, [tip], path)?.pop().flatten();
    if is.is_some() && is == found.may_become {
        return Ok(true);
    }
    let branches = now.branches.iter().filter(|(_, id)| *id == tip);
    let earlier: BTreeSet<&String> = branches.filter_map(|(name, _)| was.branches.get(name)).collect();
    if earlier.is_empty() {
        return Ok(contents(git, was.branches.values(), path)?.contains(&is));
    }
    Ok(contents(git, earlier, path)?.iter().all(|had| *had == is))
}

/// What a path holds in each of these commits; none where it is not there.
fn contents<'a>(
    git: &Git,
    commits: impl IntoIterator<Item = &'a String>,
    path: &[u8],
) -> io::Result<Vec<Option<String>>> {
    let asked = commits.into_iter().flat_map(|commit| [commit.as_bytes(), b":", path, b"\n"]);
    let asked: Vec<u8> = asked.flatten().copied().collect();
    let answers = git.run(&["cat-file", "--batch-check=%(objectname)"], &asked)?;
    let name = |line: &[u8]| {
        let hex = !line.is_empty() && line.iter().all(u8::is_ascii_hexdigit);
        hex.then(|| String::from_utf8_lossy(line).into_owned())
    };
    Ok(answers.strip_suffix(b"\n").unwrap_or(&answers).split(|byte| *byte == b'\n').map(name).collect())
}
