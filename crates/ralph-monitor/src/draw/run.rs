//! One run in depth: its strip, what it costs, what is still missing, what it does now. The lower the screen, the less of
//! each; the order stays.

mod facts;
mod iterations;

use super::{header, strip};
use crate::clock_times::ClockTimes;
use crate::model::{Lower, Model};
use crate::page_lines::{activity_look, activity_text, tool_state};
use crate::row::{Look, Row, columns, cut, folded};
use ralph_view::activity_line::ActivityLine;
use ralph_view::card::{Card, Group, Tone};
use ralph_view::fact_text::{clock_time, seconds};
use ralph_view::plain::plain;
use ralph_view::run_detail::{EndNote, RunDetail};
use ratatui_core::layout::Rect;

/// How much of everything is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// What it does, and a line of each.
    Short,
    /// A line of each, and the strip.
    Medium,
    /// All of it.
    Tall,
}

impl Detail {
    fn of(height: u16) -> Detail {
        match height {
            ..15 => Detail::Short,
            15..27 => Detail::Medium,
            _ => Detail::Tall,
        }
    }
}

/// As many rows as there is room for.
pub fn rows(model: &Model, area: Rect) -> Vec<Row> {
    let width = usize::from(area.width);
    let mut rows = model.unreadable().map(|why| unreadable(why, width)).unwrap_or_default();
    let Some(detail) = &model.detail else {
        if rows.is_empty() && model.selected.is_some() {
            rows.push(Row::looking("reading…", Look::Faint));
        }
        return rows;
    };
    let shown = Detail::of(area.height);
    rows.extend(title(model, detail, width, shown));
    rows.extend(the_strip(detail, width, shown));
    if let Some(note) = &detail.note {
        rows.extend(end_note(note, width, shown));
    }
    rows.extend(facts::rows(detail, width, shown));
    let room = usize::from(area.height).saturating_sub(rows.len());
    rows.extend(lower(model, detail, width, room));
    rows
}

/// Why the run cannot be read; what was read before stands below.
fn unreadable(why: &str, width: usize) -> Vec<Row> {
    let text = plain(&format!("▲ This run cannot be read: {why}"));
    folded(&text, width).into_iter().map(|line| Row::looking(line, Look::Toned(Tone::Need))).collect()
}

/// An empty row where there is room for it, and a line where there is not.
pub fn gap(width: usize, shown: Detail) -> Row {
    match shown {
        Detail::Tall => Row::default(),
        Detail::Short | Detail::Medium => Row::looking("─".repeat(width), Look::Faint),
    }
}

fn title(model: &Model, detail: &RunDetail, width: usize, shown: Detail) -> Vec<Row> {
    let card = &detail.card;
    let (mark, look) = header::mark(card.tone);
    let state = state_words(card);
    let task = cut(&card.run.row.task, width.saturating_sub(columns(&state) + 4));
    let mut rows = vec![Row::looking(task, Look::Strong).right(format!("{mark} "), look).right(state, look)];
    if shown == Detail::Tall {
        rows.push(Row::looking(about(model, detail), Look::Faint));
        rows.push(Row::default());
    }
    rows
}

fn state_words(card: &Card) -> String {
    let nth = match card.run.row.max_iterations {
        0 => format!("iteration {}", card.iteration),
        most => format!("iteration {} of {most}", card.iteration),
    };
    match card.group {
        Group::Working if card.word == "Working" => nth,
        Group::Working | Group::Waiting => format!("{}, {nth}", card.word),
        Group::NeedsYou | Group::Completed | Group::Ended => card.word.clone(),
    }
}

fn about(model: &Model, detail: &RunDetail) -> String {
    let card = &detail.card;
    let verify = match detail.verify.as_slice() {
        [] => "no verify command".to_owned(),
        [one] => format!("verified by {one}"),
        [one, rest @ ..] => format!("verified by {one} and {} more", rest.len()),
    };
    let began = clock_time(card.run.row.started, &detail.zone);
    let since = format!("since {} ({})", began.get(..5).unwrap_or(&began), card.age(model.now));
    [card.name.as_str(), detail.who.as_str(), &verify, &since, &card.short].join(" · ")
}

fn the_strip(detail: &RunDetail, width: usize, shown: Detail) -> Vec<Row> {
    let height = match shown {
        Detail::Short => 1,
        Detail::Medium => 3,
        Detail::Tall => 5,
    };
    let card_strip = &detail.card.strip;
    let mut rows = strip::bars(card_strip, width, height);
    let legend = strip::legend(card_strip);
    let failing = strip::failing(card_strip, width);
    match failing {
        Some(failing) if columns(&failing) + legend.width() + 2 <= width => {
            rows.push(legend.moved_right(Row::text(failing)));
        }
        Some(failing) => rows.push(Row::text(failing)),
        None if legend.width() > 0 && shown != Detail::Short => rows.push(legend),
        None => {}
    }
    if shown == Detail::Tall {
        rows.push(Row::default());
    }
    rows
}

/// How it ended and why, and the commands that come next.
fn end_note(note: &EndNote, width: usize, shown: Detail) -> Vec<Row> {
    let (mark, look) = header::mark(note.tone);
    let most = if shown == Detail::Tall { 4 } else { 2 };
    let mut rows = vec![Row::looking(format!("{mark} {}", note.title), look)];
    rows.extend(folded(&note.text, width).into_iter().take(most).map(Row::text));
    let wide = note.commands.iter().map(|next| columns(&next.command)).max().unwrap_or(0);
    for next in note.commands.iter().take(if shown == Detail::Short { 2 } else { 6 }) {
        let command =
            format!("  {}{}  ", next.command, " ".repeat(wide.saturating_sub(columns(&next.command))));
        rows.push(Row::looking(command, Look::Note).with(next.what.clone(), Look::Faint));
    }
    if shown == Detail::Tall {
        rows.push(Row::default());
    }
    rows
}

/// What it does now, or its iterations.
fn lower(model: &Model, detail: &RunDetail, width: usize, room: usize) -> Vec<Row> {
    match model.lower {
        Lower::Iterations(at) => iterations::rows(detail, Some(at), width, room),
        Lower::Activity if detail.note.is_some() => iterations::rows(detail, None, width, room),
        Lower::Activity => activity(model, detail, room),
    }
}

fn activity(model: &Model, detail: &RunDetail, room: usize) -> Vec<Row> {
    let mut rows = vec![now(model, detail)];
    let lines = &detail.lines;
    let latest = lines.get(lines.len().saturating_sub(room.saturating_sub(1))..).unwrap_or_default();
    let mut times = ClockTimes::new(&detail.zone);
    rows.extend(latest.iter().map(|line| activity_row(line, &times.of(line.at))));
    rows.truncate(room);
    rows
}

fn now(model: &Model, detail: &RunDetail) -> Row {
    let (mark, look) = header::mark(detail.card.tone);
    let row = Row::looking("NOW ", Look::Faint).with(format!("{mark} "), look);
    let (age, text) = match &detail.doing {
        Some(doing) => {
            let age = doing.since.map(|since| seconds(model.now.saturating_sub(since).max(0)));
            (age.map(|age| format!("{age}  ")).unwrap_or_default(), doing.text.clone())
        }
        None => (String::new(), detail.card.line.clone()),
    };
    row.with(age, Look::Faint).with(text, Look::Plain)
}

fn activity_row(line: &ActivityLine, time: &str) -> Row {
    let row = Row::looking(format!("{time} "), Look::Faint).with(activity_text(line), activity_look(line));
    match tool_state(line.tool) {
        Some((words, look)) => row.right(words, look),
        None => row,
    }
}

/// The colour of something that does or does not hold.
pub fn tone_of(good: bool) -> Tone {
    if good { Tone::Good } else { Tone::Need }
}
