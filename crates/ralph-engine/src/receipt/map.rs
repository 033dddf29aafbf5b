//! The map of the change in a receipt.

use ralph_rules::counting::counted;
use ralph_rules::record::{ChangeMap, HunkState, MapTotals, MappedHunk};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Which hunks of the change a check notices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceiptMap {
    /// How often the commands ran for it.
    pub runs: u32,
    /// How long that took.
    pub ms: i64,
    /// How many hunks there are, by state.
    #[serde(flatten)]
    pub totals: MapTotals,
    /// The hunks: those that are not held first.
    pub hunks: Vec<MappedHunk>,
    /// How many more there are.
    pub left_out: u32,
    /// It was interrupted before all hunks were tried.
    pub interrupted: bool,
    /// Its time was over before all hunks were tried.
    pub out_of_time: bool,
    /// Why nothing more could be tried.
    pub problem: Option<String>,
}

impl From<&ChangeMap> for ReceiptMap {
    fn from(map: &ChangeMap) -> ReceiptMap {
        let listed = u32::try_from(map.hunks.len()).unwrap_or(u32::MAX);
        ReceiptMap {
            runs: map.runs,
            ms: map.ms,
            totals: map.totals,
            hunks: map.hunks.clone(),
            left_out: map.totals.all().saturating_sub(listed),
            interrupted: map.interrupted,
            out_of_time: map.out_of_time,
            problem: map.problem.clone(),
        }
    }
}

impl ReceiptMap {
    /// A section of the receipt: what was found, then the hunks, those that are not held first.
    pub fn markdown(&self) -> String {
        let MapTotals { held, not_held, not_tried } = self.totals;
        let mut text = String::from("\n## Map of the change\n\n");
        let (all, runs) = (self.totals.all(), counted(self.runs, "verification"));
        let _ = writeln!(
            text,
            "Each part of the change was put back to see whether a check notices: {held} of {all} held (a check \
             fails without it), {not_held} not held, {not_tried} not tried; {runs}."
        );
        let ends = [
            self.interrupted.then(|| "It was interrupted before everything was tried.".to_owned()),
            self.out_of_time
                .then(|| "Its time was over before everything was tried (verify.map_time).".to_owned()),
            self.problem.as_ref().map(|why| format!("It could not be completed: {why}.")),
        ];
        for end in ends.into_iter().flatten() {
            let _ = writeln!(text, "\n{end}");
        }
        if !self.hunks.is_empty() {
            self.diff(&mut text);
        }
        if self.left_out > 0 {
            let _ = writeln!(text, "\n{} more are not listed.", self.left_out);
        }
        text
    }

    fn diff(&self, text: &mut String) {
        let fence = "`".repeat(self.longest_fence() + 1);
        let _ = writeln!(text, "\n{fence}diff");
        for hunk in &self.hunks {
            let note = hunk.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
            let _ = writeln!(text, "{} {}: {}{note}", mark(hunk.state), hunk.place(), hunk.state.words());
            let MappedHunk { old_start, old_lines, new_start, new_lines, .. } = hunk;
            if *old_lines + *new_lines > 0 {
                let _ = writeln!(text, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
            }
            for line in &hunk.lines {
                let _ = writeln!(text, "{}", line.trim_end_matches('\r'));
            }
            if hunk.cut > 0 {
                let _ = writeln!(text, "… {} more", counted(hunk.cut, "line"));
            }
        }
        let _ = writeln!(text, "{fence}");
    }

    /// So that nothing in a hunk closes the block.
    fn longest_fence(&self) -> usize {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let run = |line: &String| line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        lines.map(run).max().unwrap_or(0).max(2)
    }
}

/// The mark of a hunk in a diff.
pub fn mark(state: HunkState) -> char {
    match state {
        HunkState::NotHeld => '✗',
        HunkState::NotTried => '?',
        HunkState::HeldTogether | HunkState::Held => '✓',
    }
}
