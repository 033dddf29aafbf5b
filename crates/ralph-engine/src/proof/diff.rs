//! A short account of what changed in the oracle, for people: lines taken away and added, bounded.

use super::site::ProofSite;
use ralph_proof::Change;
use ralph_tree::TreePath;
use std::collections::BTreeMap;

/// Of all files together.
const MOST: usize = 8 * 1024;
/// Of one file.
const LINES: usize = 40;

/// What differs from the baseline in the oracle, file by file.
pub(super) fn diff(changes: &[Change], site: &ProofSite<'_>) -> String {
    let mut text = String::new();
    let oracle: Vec<&Change> = changes.iter().filter(|change| change.has_oracle()).collect();
    for (at, change) in oracle.iter().enumerate() {
        let old = site.read_before(&change.path).unwrap_or_default();
        let new = site.read_now(&change.path).unwrap_or_default();
        text.push_str(&format!("--- {}\n", TreePath::from(change.path.as_slice())));
        lines(&String::from_utf8_lossy(&old), &String::from_utf8_lossy(&new), &mut text);
        if text.len() > MOST {
            let mut end = MOST;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text.push_str(&format!("\n… cut; {} more files changed\n", oracle.len() - at - 1));
            break;
        }
    }
    text
}

/// Lines that only one side has, in their order. Not a shortest edit: enough to see what was done.
fn lines(old: &str, new: &str, text: &mut String) {
    let count = |side: &str| {
        side.lines().fold(BTreeMap::<String, usize>::new(), |mut counts, line| {
            *counts.entry(line.to_owned()).or_default() += 1;
            counts
        })
    };
    let mut shown = 0;
    for (sign, side, mut other) in [('-', old, count(new)), ('+', new, count(old))] {
        for line in side.lines() {
            match other.get_mut(line) {
                Some(left) if *left > 0 => *left -= 1,
                _ if shown >= LINES => {
                    text.push_str("…\n");
                    return;
                }
                _ => {
                    shown += 1;
                    let line: String = line.chars().take(200).collect();
                    text.push_str(&format!("{sign}{line}\n"));
                }
            }
        }
    }
}
