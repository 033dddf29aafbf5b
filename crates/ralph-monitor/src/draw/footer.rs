//! The last row: what is typed, a question, an answer, what is wrong with the database, or else the keys.

use crate::model::{BOTH, Lower, Model, Typing};
use crate::row::{Look, Row, columns, last};
use ralph_view::card::{Group, Tone};
use ralph_view::fact_text::seconds;
use ralph_view::plain::plain;

/// The last row in so many columns.
pub fn row(model: &Model, width: usize) -> Row {
    if let Some(question) = &model.question {
        return Row::looking(question.text.clone(), Look::Toned(Tone::Need));
    }
    match &model.typing {
        Some(Typing::Hint { text, .. }) => return typed("hint›", text, width),
        Some(Typing::Search(text)) => return typed("/", text, width),
        None => {}
    }
    if let Some(answer) = &model.answer {
        let (mark, look) = if answer.bad { ("▲ ", Look::Toned(Tone::Need)) } else { ("✓ ", Look::Note) };
        return Row::looking(mark, look).with(answer.text.clone(), look);
    }
    // Until something was read, the list says it.
    if let Some(trouble) = model.trouble.as_ref().filter(|_| model.overview.is_some()) {
        let age = seconds(model.now.saturating_sub(model.read_at).max(0));
        return Row::looking("▲ ", Look::Toned(Tone::Need))
            .with(plain(trouble), Look::Toned(Tone::Need))
            .right(format!("as of {age} ago"), Look::Faint);
    }
    keys(model, width)
}

fn typed(before: &str, text: &str, width: usize) -> Row {
    let room = width.saturating_sub(columns(before) + 2);
    Row::looking(format!("{before} "), Look::Note).with(last(&plain_typed(text), room) + "▏", Look::Plain)
}

/// As `plain`, but a space at the end is seen at once.
fn plain_typed(text: &str) -> String {
    let space = text.len() - text.trim_end().len();
    plain(text) + &" ".repeat(space)
}

/// As many keys as fit, in the order in which they are missed; help always.
fn keys(model: &Model, width: usize) -> Row {
    const HELP: (&str, &str) = ("?", "help");
    let wide = |key: &(&str, &str)| columns(key.0) + 1 + columns(key.1) + 2;
    let mut room = width.saturating_sub(wide(&HELP) - 2);
    let mut row = Row::default();
    for key in wanted(model) {
        if wide(&key) <= room {
            room -= wide(&key);
            row = row.with(key.0, Look::Note).with(format!(" {}  ", key.1), Look::Faint);
        }
    }
    row.with(HELP.0, Look::Note).with(format!(" {}", HELP.1), Look::Faint)
}

fn wanted(model: &Model) -> Vec<(&'static str, &'static str)> {
    if model.page.is_some() {
        return vec![
            ("Esc", "back"),
            ("j/k", "scroll"),
            ("/", "search"),
            ("n/N", "next, previous"),
            ("g/G", "ends"),
        ];
    }
    let group = model.selected_card().map(|card| card.group);
    let active = matches!(group, Some(Group::Working | Group::Waiting));
    let mut keys = match (model.open, model.size.0 >= BOTH) {
        (false, false) => return list_keys(active),
        _ if matches!(model.lower, Lower::Iterations(_)) => iteration_keys(model.open),
        (true, _) => vec![("Esc", "runs"), ("Tab", "iterations"), ("o", "output")],
        (false, true) => {
            vec![("j/k", "run"), ("Enter", "whole screen"), ("Tab", "iterations"), ("o", "output")]
        }
    };
    keys.extend([("d", "diff"), ("v", "verification")]);
    match group {
        _ if active => keys.extend([("h", "hint"), ("p", "pause"), ("s", "stop after")]),
        Some(Group::NeedsYou) => keys.extend([("e", "explain"), ("h", "hint"), ("a", "put away")]),
        _ => keys.push(("e", "explain")),
    }
    keys.extend([("/", "search"), ("n", "next that needs you"), ("q", "leave")]);
    keys
}

/// While Tab has chosen the iterations.
fn iteration_keys(open: bool) -> Vec<(&'static str, &'static str)> {
    let back = if open { "activity" } else { "runs" };
    vec![("j/k", "iteration"), ("Enter", "output"), ("Tab", back), ("i", "prompt")]
}

fn list_keys(active: bool) -> Vec<(&'static str, &'static str)> {
    let mut keys = vec![
        ("j/k", "run"),
        ("Enter", "open"),
        ("/", "search"),
        ("n", "next that needs you"),
        ("q", "leave"),
    ];
    if active {
        keys.extend([("h", "hint"), ("p", "pause")]);
    }
    keys
}
