//! A corner of a screen, down to one column: counts and the day's cost, the selected run, what it does. Where there is
//! one row, it is the run; what is typed or asked comes first of all.

use super::{footer, header, list};
use crate::model::Model;
use crate::row::{Look, Row, columns};
use ralph_rules::money::Micro;
use ralph_view::card::{Card, Tone};
use ralph_view::fact_text::seconds;
use ratatui_core::layout::Rect;

/// The rows that fit, the most important first.
pub fn rows(model: &Model, area: Rect) -> Vec<Row> {
    let width = usize::from(area.width);
    let busy = model.typing.is_some() || model.question.is_some() || model.answer.is_some();
    if let (Some(why), None, false) = (&model.trouble, &model.overview, busy || model.page.is_some()) {
        return list::unreadable(why, width);
    }
    let last = (busy || model.trouble.is_some()).then(|| footer::row(model, width));
    if let Some(page) = &model.page {
        return last.into_iter().chain(page.seen().iter().cloned()).collect();
    }
    let card = model.selected_card().or_else(|| Some(&model.detail.as_ref()?.card));
    let run = card.map(|card| run(card, width));
    let doing = card.map(|card| doing(model, card));
    match area.height {
        1 => last.or(run).or_else(|| Some(counts(model, width))).into_iter().collect(),
        2 => [run.or_else(|| Some(counts(model, width))), last.or(doing)].into_iter().flatten().collect(),
        _ => [Some(counts(model, width)), run, last.or(doing)].into_iter().flatten().collect(),
    }
}

/// `▲2 ●3 ◷1  $6.42/50`.
fn counts(model: &Model, width: usize) -> Row {
    let Some(overview) = &model.overview else { return Row::looking("ralph…", Look::Faint) };
    let counts = overview.counts;
    let parts = [(counts.needs_you, Tone::Need), (counts.working, Tone::Live), (counts.waiting, Tone::Wait)];
    let mut row = Row::default();
    for (n, tone) in parts.into_iter().filter(|(n, _)| *n > 0) {
        let (mark, look) = header::mark(tone);
        row = row.with(format!("{mark}{n} "), look);
    }
    if row.width() == 0 {
        row = row.with(overview.headline.trim_end_matches('.'), Look::Plain).with(" ", Look::Plain);
    }
    let spent = overview.today.spent();
    let whole = match overview.today.cap_micro {
        Some(cap) => format!(" {spent}/{}", Micro(cap).to_string().trim_start_matches('$')),
        None => format!(" {spent}"),
    };
    let whole = whole.replace(".00", "");
    if row.width() + columns(&whole) <= width { row.with(whole, Look::Plain) } else { row }
}

/// `● parser 5/10 $1.43`.
fn run(card: &Card, width: usize) -> Row {
    let (mark, look) = header::mark(card.tone);
    let row = &card.run.row;
    let iteration = match row.max_iterations {
        0 => card.iteration.to_string(),
        most => format!("{}/{most}", card.iteration),
    };
    let rest = format!(" {iteration} {}", card.run.cost());
    let room = width.saturating_sub(columns(&rest) + 2);
    let name = crate::row::cut(&card.name, room.max(3));
    Row::looking(format!("{mark} "), look).with(name, Look::Strong).with(rest, Look::Plain)
}

/// For how long, and what.
fn doing(model: &Model, card: &Card) -> Row {
    let detail = model.detail.as_ref().filter(|detail| detail.card.run.row.id == card.run.row.id);
    let since = detail.and_then(|detail| detail.doing.as_ref()?.since);
    let age = since.map(|since| format!("{} ", seconds(model.now.saturating_sub(since).max(0))));
    Row::looking(age.unwrap_or_default(), Look::Faint).with(card.line.clone(), Look::Plain)
}
