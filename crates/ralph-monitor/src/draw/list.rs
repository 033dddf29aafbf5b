//! The list: the runs by group, two rows each.

use super::{header, strip};
use crate::model::{ListRow, Model, list_rows};
use crate::row::{Look, Row, columns, folded};
use ralph_view::card::{Card, Tone};
use ralph_view::plain::plain;
use ratatui_core::layout::Rect;

/// Below this width there is no strip.
const STRIPS: u16 = 30;
/// Bars on a card of a narrow list.
const FEW_BARS: usize = 8;

/// As many rows as there is room for.
pub fn rows(model: &Model, area: Rect) -> Vec<Row> {
    let cards = model.listed();
    if cards.is_empty() {
        return empty(model, area.width.into());
    }
    let seen = list_rows(&cards);
    let seen = seen.iter().skip(model.list_top).take(area.height.into());
    let row = |row: &ListRow| match *row {
        ListRow::Heading(group) => Row::looking(format!(" {}", group.title().to_uppercase()), Look::Faint),
        ListRow::Task(at) => cards.get(at).map(|card| task(model, card)).unwrap_or_default(),
        ListRow::Doing(at) => cards.get(at).map(|card| doing(model, card, area.width)).unwrap_or_default(),
        ListRow::Blank => Row::default(),
    };
    seen.map(row).collect()
}

/// Why no run could be read, with what to do about it.
pub fn unreadable(why: &str, width: usize) -> Vec<Row> {
    let text = plain(&format!("▲ The runs cannot be read: {why}"));
    folded(&text, width).into_iter().map(|line| Row::looking(line, Look::Toned(Tone::Need))).collect()
}

fn empty(model: &Model, width: usize) -> Vec<Row> {
    let Some(overview) = &model.overview else {
        let rows = model.trouble.as_ref().map(|why| unreadable(why, width.saturating_sub(2)));
        return rows.into_iter().flatten().map(|row| Row::text(" ").and(row)).collect();
    };
    if !model.filter.is_empty() {
        return vec![Row::looking(format!(" No run has “{}”.", model.filter), Look::Faint)];
    }
    vec![
        Row::looking(format!(" {}", overview.headline), Look::Strong),
        Row::looking(format!(" {}", overview.lead), Look::Plain),
    ]
}

fn task(model: &Model, card: &Card) -> Row {
    let selected = model.selected.as_ref() == Some(&card.run.row.id);
    let (mark, look) = header::mark(card.tone);
    Row::looking(if selected { "▌" } else { " " }, Look::Note)
        .with(format!("{mark} "), look)
        .with(card.run.row.task.clone(), if selected { Look::Strong } else { Look::Plain })
        .right(format!("{} ", card.run.cost()), Look::Faint)
}

fn doing(model: &Model, card: &Card, width: u16) -> Row {
    let mut row = Row::text("   ").with(format!("{} ", said(card)), Look::Faint);
    let bars = if width < 60 { FEW_BARS } else { usize::MAX };
    if width >= STRIPS {
        for (bar, look) in strip::small(&card.strip, bars) {
            row = row.right(bar, look);
        }
    }
    let room = usize::from(width) / 4;
    let name = crate::row::cut(&card.name, room.max(4));
    let age = card.age(model.now);
    let place = format!(" {name} · {age} ");
    let place = if columns(&place) * 2 > usize::from(width) { format!(" {age} ") } else { place };
    row.right(place, Look::Faint)
}

/// The state in a word where the group does not say it, then the sentence.
fn said(card: &Card) -> String {
    use ralph_view::card::Group;
    match card.group {
        Group::Working | Group::Waiting => card.line.clone(),
        Group::NeedsYou | Group::Completed | Group::Ended => format!("{}: {}", card.word, card.line),
    }
}
