//! The hunks of a changed file, and the file with some of them put back.

mod groups;
#[cfg(test)]
mod tests;
mod trivial;

pub use groups::groups;
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, histogram};
use std::collections::BTreeMap;
use std::ops::Range;
pub(crate) use trivial::lines as trivial_lines;

/// One hunk. Lines count from 0; `old` is what the baseline has in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines in the baseline's file.
    pub old: Range<usize>,
    /// Lines in the current file.
    pub new: Range<usize>,
    /// Only comments, blank lines or documentation: it is not tried.
    pub trivial: bool,
}

/// Hunks with this many unchanged lines between them are one.
const NEAR: usize = 1;
/// Where more lines than these could be compared with each other, everything between the first and the last changed
/// line is one hunk: a diff of it would take too long and tell nobody anything.
const MOST_COMPARISONS: usize = 16_000_000;

/// The hunks of a file, in order. An absent side is empty.
pub fn hunks(path: &[u8], before: &str, now: &str) -> Vec<Hunk> {
    let ranges = changed_lines(before, now);
    if ranges.is_empty() {
        return Vec::new();
    }
    let (old, new) = (trivial_lines(path, before), trivial_lines(path, now));
    let all = |lines: &[bool], range: &Range<usize>| {
        lines.get(range.clone()).unwrap_or_default().iter().all(|l| *l)
    };
    ranges
        .into_iter()
        .map(|(before, now)| Hunk { trivial: all(&old, &before) && all(&new, &now), old: before, new: now })
        .collect()
}

/// The current file with these hunks put back to the baseline.
pub fn put_back(before: &str, now: &str, hunks: &[Hunk]) -> String {
    let (old, new) = (lines(before), lines(now));
    let mut sorted: Vec<&Hunk> = hunks.iter().collect();
    sorted.sort_by_key(|hunk| hunk.new.start);
    let (mut made, mut from) = (String::with_capacity(now.len().max(before.len())), 0);
    for hunk in sorted {
        push(&mut made, new.get(from..hunk.new.start));
        push(&mut made, old.get(hunk.old.clone()));
        from = hunk.new.end.max(from);
    }
    push(&mut made, new.get(from..));
    made
}

fn push(made: &mut String, lines: Option<&[&str]>) {
    for line in lines.unwrap_or_default() {
        // A line that was the last of its file may lack its end.
        if !made.is_empty() && !made.ends_with('\n') {
            made.push('\n');
        }
        made.push_str(line);
    }
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// What differs, in lines of both sides.
pub(crate) fn changed_lines(before: &str, now: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let (old, new) = (lines(before), lines(now));
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = |lines: &[&str]| lines.len() - start;
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest(&old).min(rest(&new)))
        .take_while(|(a, b)| a == b)
        .count();
    let (old, new) = (start..old.len() - end, start..new.len() - end);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > MOST_COMPARISONS {
        return vec![(old, new)];
    }
    merged(compared(&numbered(before, &old, now, &new)), &old, &new)
}

/// Equal lines get equal numbers, which are faster to compare.
fn numbered(before: &str, old: &Range<usize>, now: &str, new: &Range<usize>) -> (Vec<usize>, Vec<usize>) {
    let mut numbers = BTreeMap::new();
    let mut number = |text: &'_ str, range: &Range<usize>| -> Vec<usize> {
        let lines = text.split_inclusive('\n').skip(range.start).take(range.len());
        lines
            .map(|line| {
                let next = numbers.len();
                *numbers.entry(line.to_owned()).or_insert(next)
            })
            .collect()
    };
    (number(before, old), number(now, new))
}

fn compared((old, new): &(Vec<usize>, Vec<usize>)) -> Vec<(Range<usize>, Range<usize>)> {
    let (old, new) = (old.as_slice(), new.as_slice());
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = histogram::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    let operations = found.into_inner().into_inner().into_ops();
    let changes = operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    changes.map(|operation| (operation.old_range(), operation.new_range())).collect()
}

/// Brings ranges back to the numbers of the whole file, and makes one of those that are near each other.
fn merged(
    ranges: Vec<(Range<usize>, Range<usize>)>,
    old: &Range<usize>,
    new: &Range<usize>,
) -> Vec<(Range<usize>, Range<usize>)> {
    let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
    let mut made: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (before, now) in ranges {
        let (before, now) = (moved(before, old.start), moved(now, new.start));
        match made.last_mut().filter(|(last, _)| before.start <= last.end + NEAR) {
            Some((last_old, last_new)) => {
                last_old.end = before.end;
                last_new.end = now.end;
            }
            None => made.push((before, now)),
        }
    }
    made
}
