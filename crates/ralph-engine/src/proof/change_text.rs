//! The whole change as text, for a reviewer: hunks with a few lines around them, bounded.

use super::site::ProofSite;
use ralph_proof::Change;
use ralph_proof::hunks::{Hunk, hunks};
use ralph_rules::prompt::head;
use ralph_tree::TreePath;
use std::fmt::Write;

/// Unchanged lines around a hunk.
const AROUND: usize = 3;
/// Most bytes of one line.
const LINE: usize = 400;

/// What differs from the baseline, file by file, in at most about `most` bytes. The work comes first, so that a large
/// test does not crowd it out.
pub(super) fn change_text(changes: &[Change], site: &ProofSite<'_>, most: usize) -> String {
    let mut sorted: Vec<&Change> = changes.iter().collect();
    sorted.sort_by_key(|change| !change.has_work());
    let mut text = String::new();
    for (at, change) in sorted.iter().enumerate() {
        file(change, site, &mut text);
        if text.len() > most {
            let left = sorted.len() - at - 1;
            text = head(&text, most);
            let _ = write!(text, "\n(cut here; {left} more files changed)\n");
            break;
        }
    }
    text
}

fn file(change: &Change, site: &ProofSite<'_>, text: &mut String) {
    let path = TreePath::from(change.path.as_slice());
    let how = match (change.existed, change.exists) {
        (false, _) => "new file",
        (_, false) => "deleted",
        _ => "changed",
    };
    let _ = writeln!(text, "=== {path} ({how})");
    let read = |there: bool, bytes: Option<Vec<u8>>| match (there, bytes) {
        (false, _) => Some(String::new()),
        (true, bytes) => bytes.and_then(|bytes| String::from_utf8(bytes).ok()),
    };
    let old = read(change.existed, site.read_before(&change.path));
    let new = read(change.exists, site.read_now(&change.path));
    match (old, new) {
        (Some(old), Some(new)) => show(&hunks(&change.path, &old, &new), &old, &new, text),
        _ => text.push_str("(not text, or too large to show)\n"),
    }
}

fn show(hunks: &[Hunk], old: &str, new: &str, text: &mut String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut shown = 0;
    for (at, hunk) in hunks.iter().enumerate() {
        let begin = hunk.new.start.saturating_sub(AROUND).max(shown);
        if begin > shown || at == 0 {
            let _ = writeln!(text, "@@ line {} @@", begin + 1);
        }
        lines(text, ' ', new.get(begin..hunk.new.start));
        lines(text, '-', old.get(hunk.old.clone()));
        lines(text, '+', new.get(hunk.new.clone()));
        let next = hunks.get(at + 1).map_or(new.len(), |next| next.new.start);
        shown = (hunk.new.end + AROUND).min(next).min(new.len());
        lines(text, ' ', new.get(hunk.new.end..shown));
    }
}

fn lines(text: &mut String, sign: char, lines: Option<&[&str]>) {
    for line in lines.unwrap_or_default() {
        let _ = writeln!(text, "{sign}{}", head(line, LINE));
    }
}
