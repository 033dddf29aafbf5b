//! The record of a map: its hunks with their lines, bounded and without secrets.

use super::End;
use super::changed_files::{ChangedFile, Unit, Units, numbered};
use crate::redact::Redactor;
use ralph_proof::map::Held;
use ralph_rules::record::{ChangeMap, HunkState, MappedHunk};
use std::ops::Range;

/// Most hunks in a record.
const HUNKS: usize = 300;
/// Most lines of one hunk.
const LINES: usize = 40;
/// Most bytes of one line.
const LINE: usize = 300;
/// Most bytes of all lines together.
const BYTES: usize = 64 * 1024;

/// Adds what is known of the units.
pub(super) fn list(
    mut map: ChangeMap,
    units: &Units,
    held: &[Held],
    end: Option<End>,
    redactor: &Redactor,
) -> ChangeMap {
    let untried = match &end {
        Some(End::Interrupted) => Some("interrupted"),
        Some(End::OutOfTime) => Some("out of time"),
        _ => None,
    };
    let mut found: Vec<(HunkState, &Unit, &ChangedFile)> =
        units.all().zip(held).map(|((unit, file), held)| (state(*held), unit, file)).collect();
    found.iter().for_each(|(state, ..)| map.totals.count(*state));
    found.sort_by_key(|(state, unit, _)| (unit.hunk.trivial, *state));
    let mut left = BYTES;
    for (state, unit, file) in found.into_iter().take(HUNKS) {
        let note = match state {
            _ if file.not_text => Some("not a text file"),
            HunkState::NotTried if unit.hunk.trivial => Some("only comments, blank lines or documentation"),
            HunkState::NotTried => untried,
            _ => None,
        };
        let hunk = MappedHunk { state, note: note.map(Into::into), ..numbered(unit, file, redactor) };
        map.hunks.push(with_lines(hunk, unit, file, redactor, &mut left));
    }
    match end {
        Some(End::Interrupted) => map.interrupted = true,
        Some(End::OutOfTime) => map.out_of_time = true,
        Some(End::Problem(why)) => map.problem = Some(redactor.redact(&why).into_owned()),
        None => {}
    }
    map
}

fn state(held: Held) -> HunkState {
    match held {
        Held::Held => HunkState::Held,
        Held::HeldTogether => HunkState::HeldTogether,
        Held::NotHeld => HunkState::NotHeld,
        Held::NotTried => HunkState::NotTried,
    }
}

/// Adds the hunk's lines as far as there is room for them.
fn with_lines(
    mut hunk: MappedHunk,
    unit: &Unit,
    file: &ChangedFile,
    redactor: &Redactor,
    left: &mut usize,
) -> MappedHunk {
    let sides = [('-', &file.before, &unit.hunk.old), ('+', &file.now, &unit.hunk.new)];
    for (sign, text, range) in sides {
        // As one text: a secret may go over several lines.
        let lines = redactor.redact(&excerpt(text, range)).into_owned();
        for line in lines.lines() {
            let end = line.floor_char_boundary(LINE);
            let shown = format!("{sign}{}", line.get(..end).unwrap_or_default());
            if hunk.lines.len() >= LINES || shown.len() > *left {
                hunk.cut = hunk.cut.saturating_add(1);
                continue;
            }
            *left -= shown.len();
            hunk.lines.push(shown);
        }
    }
    hunk
}

fn excerpt(text: &str, range: &Range<usize>) -> String {
    text.split_inclusive('\n').skip(range.start).take(range.len()).collect()
}
