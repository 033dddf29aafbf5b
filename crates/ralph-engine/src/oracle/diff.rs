//! A short account of what changed in the oracle, for people: lines taken away and added, bounded.

use super::{Changed, How, Sources, baseline::Baseline};
use std::collections::BTreeMap;

/// Of all files together.
const MOST: usize = 8 * 1024;
/// Of one file.
const LINES: usize = 40;

/// What differs from the baseline, file by file.
pub fn diff(changed: &[Changed], base: &Baseline, sources: Sources<'_>) -> String {
    let mut text = String::new();
    for (at, one) in changed.iter().enumerate() {
        let old = base.was(one.path.as_bytes()).and_then(|was| sources.old(was.hash)).unwrap_or_default();
        let new = if one.how == How::Deleted {
            Vec::new()
        } else {
            sources.now(one.path.as_bytes()).unwrap_or_default()
        };
        text.push_str(&format!("--- {one}\n"));
        lines(&String::from_utf8_lossy(&old), &String::from_utf8_lossy(&new), &mut text);
        if text.len() > MOST {
            let mut end = MOST;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text.push_str(&format!("\n… cut; {} more files changed\n", changed.len() - at - 1));
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
