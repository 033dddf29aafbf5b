//! The first row: whether anybody is needed, the calls of the hour, the cost of the day. And the title of a page.

use super::meter;
use crate::marks;
use crate::model::Model;
use crate::page::{Page, PageKind};
use crate::row::{Look, Row, columns, cut};
use ralph_rules::money::Micro;
use ralph_view::card::Tone;
use ralph_view::overview::{Counts, Today};
use ralph_view::run_detail::Meter;
use ralph_view::run_state::short_id;

/// From this width on there are bars.
const BARS: u16 = 110;
/// Cells of a bar.
const CELLS: usize = 10;

/// The first row.
pub fn row(model: &Model, width: u16) -> Row {
    let row = Row::looking("ralph  ", Look::Strong);
    let Some(overview) = &model.overview else {
        return match &model.trouble {
            Some(_) => row.with("no runs could be read", Look::Toned(Tone::Need)),
            None => row.with("reading…", Look::Faint),
        };
    };
    let mut row = counts(row, overview.counts, overview.cards.is_empty());
    let room = usize::from(width).saturating_sub(2 + row.width() + 3);
    let today = &overview.today;
    let whole = if width >= BARS { with_bars(today) } else { Row::default() };
    let calls = calls(today);
    let money = money(today);
    let shorter = [format!("{calls}  {money} today"), format!("{calls}  {money}"), money];
    for right in std::iter::once(whole).chain(shorter.map(Row::text)) {
        if right.width() > 0 && right.width() <= room {
            row = right.moved_right(row);
            break;
        }
    }
    row
}

/// `2 need you · 3 working · 1 waits`.
fn counts(row: Row, counts: Counts, empty: bool) -> Row {
    let part = |n: usize, one: &str, many: &str, tone: Tone| {
        let words = format!("{n} {}", if n == 1 { one } else { many });
        (n > 0).then_some((words, Look::Toned(tone)))
    };
    let parts = [
        part(counts.needs_you, "needs you", "need you", Tone::Need),
        part(counts.working, "working", "working", Tone::Live),
        part(counts.waiting, "waits", "wait", Tone::Wait),
    ];
    let parts: Vec<(String, Look)> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return row.with(if empty { "" } else { "All quiet." }, Look::Plain);
    }
    parts.into_iter().enumerate().fold(row, |row, (at, (words, look))| {
        let row = if at > 0 { row.with(" · ", Look::Faint) } else { row };
        row.with(words, look)
    })
}

fn with_bars(today: &Today) -> Row {
    let mut row = Row::default();
    if let Some(cap) = today.calls_cap {
        let cap = i64::from(cap);
        let texts = (today.calls.to_string(), cap.to_string());
        row = row.with("calls/h ", Look::Faint).and(meter::bar(&limit(today.calls, 0, cap, texts), CELLS));
    } else {
        row = row.with(format!("{} calls/h", today.calls), Look::Faint);
    }
    row = row.with("   ", Look::Plain);
    match today.cap_micro {
        Some(cap) => {
            let texts = (today.spent(), Micro(cap).to_string());
            let meter = limit(today.spent_micro, today.held_micro, cap, texts);
            row.with("today ", Look::Faint).and(meter::bar(&meter, CELLS))
        }
        None => row.with(format!("{} today", today.spent()), Look::Plain),
    }
}

fn limit(used: i64, held: i64, limit: i64, (used_text, limit_text): (String, String)) -> Meter {
    Meter { name: "", used, limit, held, warn_at: limit.saturating_mul(8) / 10, used_text, limit_text }
}

fn calls(today: &Today) -> String {
    match today.calls_cap {
        Some(cap) => format!("{}/{cap} calls/h", today.calls),
        None => format!("{} calls/h", today.calls),
    }
}

fn money(today: &Today) -> String {
    match today.cap_micro {
        Some(cap) => format!("{} of {}", today.spent(), Micro(cap)),
        None => today.spent(),
    }
}

/// What a page shows, and how far it is scrolled.
pub fn page_title(model: &Model, page: &Page) -> Row {
    let wanted = &page.wanted;
    let what = match (wanted.kind, wanted.iteration) {
        (PageKind::Transcript, Some(n)) => format!("Agent output, iteration {n}"),
        (PageKind::Transcript, None) => "Agent output".into(),
        (PageKind::Diff, _) => "Diff of this run".into(),
        (PageKind::Verification, Some(n)) => format!("Verification, iteration {n}"),
        (PageKind::Verification, None) => "Verification".into(),
        (PageKind::Prompt, Some(n)) => format!("Prompt, iteration {n}"),
        (PageKind::Prompt, None) => "Prompt".into(),
        (PageKind::Explanation, _) => "Explanation".into(),
        (PageKind::Help, _) => "Keys".into(),
    };
    let row = Row::looking(what.clone(), Look::Strong).right(page.place(), Look::Faint);
    if wanted.kind == PageKind::Help {
        return row;
    }
    let task = model.selected_card().map(|card| card.run.row.task.as_str()).unwrap_or_default();
    let room = usize::from(model.size.0).saturating_sub(columns(&what) + columns(&page.place()) + 20);
    let row = row.with(format!("  run {}", short_id(&wanted.run)), Look::Faint);
    if room > 12 { row.with(format!("  {}", cut(task, room)), Look::Faint) } else { row }
}

/// A run's mark.
pub fn mark(tone: Tone) -> (&'static str, Look) {
    (marks::of_tone(tone), Look::Toned(tone))
}
