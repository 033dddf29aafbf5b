//! The iterations of a run, newest first: what came of each, what it cost, why the run continued.

use crate::marks;
use crate::row::{Look, Row};
use ralph_rules::counting::counted;
use ralph_view::fact_text::seconds;
use ralph_view::run_detail::{IterationView, RunDetail};

/// As many as there is room for, with the selected one in it.
pub fn rows(detail: &RunDetail, selected: Option<usize>, width: usize, room: usize) -> Vec<Row> {
    let Some(room) = room.checked_sub(1) else { return Vec::new() };
    let mut rows = vec![Row::looking("ITERATIONS", Look::Faint)];
    let all = &detail.iterations;
    let first = selected.map_or(0, |at| (at + 1).saturating_sub(room)).min(all.len().saturating_sub(1));
    let seen = all.iter().enumerate().skip(first).take(room);
    rows.extend(seen.map(|(at, iteration)| row(iteration, selected == Some(at), width)));
    rows
}

fn row(iteration: &IterationView, selected: bool, width: usize) -> Row {
    let bar = &iteration.bar;
    let mark = marks::below(bar.outcome).unwrap_or_else(|| marks::fill(bar.outcome));
    let cost = bar.cost();
    let mut row = Row::looking(if selected { "▌" } else { " " }, Look::Note)
        .with(format!("{:>3} ", bar.n), if selected { Look::Strong } else { Look::Plain })
        .with(format!("{mark} {:<11} ", bar.outcome.words()), marks::look(bar.outcome))
        .with(format!("{cost:>7} {:>6} ", seconds(bar.ms.max(0))), Look::Plain);
    if width >= 56 {
        row = row.with(format!("{:<9} ", counted(bar.files, "file")), Look::Faint);
        let failing = bar.failing.map_or(String::new(), |n| format!("{n} failing"));
        row = row.with(format!("{failing:<10} "), Look::Plain);
    }
    if let Some(who) = &iteration.who {
        row = row.with(format!("{who} "), Look::Faint);
    }
    let calls = if bar.attempts > 1 { format!("{} calls; ", bar.attempts) } else { String::new() };
    let why = iteration.failure.as_deref().filter(|_| iteration.why.is_empty()).unwrap_or(&iteration.why);
    row.with(format!("{calls}{why}"), Look::Faint)
}
