//! Two texts compared line by line. A line ends at `\n` alone, as for git and for the hunks of a change map.
//!
//! One algorithm on numbers, instead of `similar::TextDiff`: that builds six algorithms for each kind of text, 1 MB of code.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, DiffTag, group_diff_ops};
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Beyond this time the diff is still right, but may not be the shortest.
const EXACT: Duration = Duration::from_millis(500);
/// Unchanged lines that are shown around each change.
const CONTEXT: usize = 3;

/// What differs between two texts.
pub struct LineDiff<'t> {
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    operations: Vec<DiffOp>,
}

impl<'t> LineDiff<'t> {
    /// Compares two texts.
    pub fn of(before: &'t str, after: &'t str) -> LineDiff<'t> {
        let (before, after): (Vec<_>, Vec<_>) =
            (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let operations = operations(&before, &after);
        LineDiff { before, after, operations }
    }

    /// How many lines were added.
    pub fn added(&self) -> usize {
        self.changes().map(|change| change.new_range().len()).sum()
    }

    /// How many lines were removed.
    pub fn removed(&self) -> usize {
        self.changes().map(|change| change.old_range().len()).sum()
    }

    /// The lines that differ as a unified diff, below the names of both texts; nothing if none does.
    pub fn unified(&self, from: &str, to: &str) -> String {
        if self.changes().next().is_none() {
            return String::new();
        }
        let mut made = format!("--- {from}\n+++ {to}\n");
        for group in group_diff_ops(self.operations.clone(), CONTEXT) {
            // Writing to a string cannot fail.
            let _ = writeln!(made, "{}", UnifiedHunkHeader::new(&group));
            for operation in &group {
                self.write(&mut made, operation);
            }
        }
        made
    }

    fn write(&self, made: &mut String, operation: &DiffOp) {
        let (tag, old, new) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            return lines(made, ' ', &self.before, old);
        }
        lines(made, '-', &self.before, old);
        lines(made, '+', &self.after, new);
    }

    fn changes(&self) -> impl Iterator<Item = &DiffOp> {
        self.operations.iter().filter(|operation| operation.tag() != DiffTag::Equal)
    }
}

fn lines(made: &mut String, mark: char, all: &[&str], range: Range<usize>) {
    for line in all.get(range).unwrap_or_default() {
        made.push(mark);
        made.push_str(line);
        if !line.ends_with('\n') {
            made.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn operations(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let mut numbers = HashMap::new();
    let mut numbered = |lines: &[&'_ str]| -> Vec<usize> {
        let number = |line: &&str| {
            let next = numbers.len();
            *numbers.entry((*line).to_owned()).or_insert(next)
        };
        lines.iter().map(number).collect()
    };
    let (old, new) = (numbered(before), numbered(after));
    let (old, new) = (old.as_slice(), new.as_slice());
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let deadline = Some(Instant::now() + EXACT);
    let Ok(()) = myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), deadline);
    found.into_inner().into_inner().into_ops()
}

#[cfg(test)]
mod tests {
    use super::LineDiff;

    #[test]
    fn lines_that_differ_are_shown_and_counted() {
        let diff = LineDiff::of("a\nb\n", "a\nc\nd\n");
        assert_eq!(diff.unified("now", "then"), "--- now\n+++ then\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n");
        assert_eq!((diff.added(), diff.removed()), (2, 1));
    }

    #[test]
    fn texts_that_are_equal_have_no_diff() {
        for text in ["", "a\n", "a\nb"] {
            assert_eq!(LineDiff::of(text, text).unified("now", "then"), "");
        }
    }

    #[test]
    fn an_empty_side_is_line_zero() {
        assert_eq!(LineDiff::of("", "a\n").unified("x", "y"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(LineDiff::of("a\n", "").unified("x", "y"), "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n");
    }

    #[test]
    fn a_missing_line_end_is_said_and_only_a_line_feed_ends_a_line() {
        let diff = LineDiff::of("a\rb\nend", "a\rc\nend");
        let expected = "@@ -1,2 +1,2 @@\n-a\rb\n+a\rc\n end\n\\ No newline at end of file\n";
        assert_eq!(diff.unified("x", "y"), format!("--- x\n+++ y\n{expected}"));
    }

    #[test]
    fn changes_that_are_far_apart_are_hunks_of_their_own() {
        let before: String = (0..40).map(|n| format!("{n}\n")).collect();
        let after = before.replacen("3\n", "three\n", 1).replace("39\n", "");
        let unified = LineDiff::of(&before, &after).unified("x", "y");
        let headers: Vec<&str> = unified.lines().filter(|line| line.starts_with("@@")).collect();
        assert_eq!(headers, ["@@ -1,7 +1,7 @@", "@@ -37,4 +37,3 @@"]);
    }
}
