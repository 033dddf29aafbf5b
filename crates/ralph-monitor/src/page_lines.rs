//! What pages say, as lines.

use crate::clock_times::ClockTimes;
use crate::page::{PageLine, PageWanted};
use crate::row::Look;
use ralph_view::activity_line::{ActivityLine, LineKind, ToolState};
use ralph_view::card::Tone;
use ralph_view::fact_text::{clock_time, seconds};
use ralph_view::iteration_parts::{CommandResult, Verification};
use ralph_view::plain::plain;
use ralph_view::run_state::short_id;

/// The keys, with what each does.
const KEYS: [(&str, &str); 20] = [
    ("j k ↓ ↑", "the next or previous run; scroll a page"),
    ("Enter", "open the run, or the transcript of an iteration"),
    ("Esc", "back; from the list, leave"),
    ("Tab", "iterations of the run, or what it does now"),
    ("/", "search: filters the list, finds text on a page"),
    ("n N", "the next run that needs you; on a page, the next or previous match"),
    ("g G", "to the beginning, to the end (Space and b: a screenful down, up)"),
    ("← →", "on a page, the iteration before or after"),
    ("o", "what the agent said and did"),
    ("d", "the diff of the run so far"),
    ("v", "output of the verification"),
    ("i", "the prompt of the iteration"),
    ("e", "explain the run: every decision, and how it ended"),
    ("h", "type a hint for the next prompt (Enter sends it, Esc cancels)"),
    ("p c", "pause before the next call, or continue; end a wait"),
    ("s S", "stop after this iteration, or now (asks first)"),
    ("a", "put a run away that needs you, or take it back"),
    ("Ctrl-L", "redraw the screen"),
    ("Ctrl-Z", "suspend the monitor; the runs continue"),
    ("q Ctrl-C", "leave; the runs continue"),
];

/// The page of keys.
pub fn help() -> Vec<PageLine> {
    let line = |(key, what): &(&str, &str)| PageLine {
        before: format!("{key:<10}"),
        text: (*what).to_owned(),
        look: Look::Plain,
    };
    KEYS.iter().map(line).collect()
}

/// What an agent said and did. What was said in several lines stays so.
pub fn activity(lines: &[ActivityLine], zone: &str) -> Vec<PageLine> {
    let mut times = ClockTimes::new(zone);
    lines.iter().flat_map(|line| activity_lines(line, &times.of(line.at))).collect()
}

/// The latest of a call under way, and how to see what came before.
pub fn latest_activity(lines: &[ActivityLine], zone: &str, wanted: &PageWanted) -> Vec<PageLine> {
    let is_whole = lines.first().is_none_or(|first| first.n <= 1);
    let earlier = (!is_whole).then(|| earlier_lines(wanted));
    earlier.into_iter().chain(activity(lines, zone)).collect()
}

/// Where the lines are that are not shown.
pub fn earlier_lines(wanted: &PageWanted) -> PageLine {
    let iteration = wanted.iteration.unwrap_or(0);
    PageLine::new(
        format!("Earlier lines: `ralph logs {} -i {iteration}`", short_id(&wanted.run)),
        Look::Faint,
    )
}

fn activity_lines(line: &ActivityLine, time: &str) -> Vec<PageLine> {
    let time = format!("{time} ");
    let text = format!("{} {}{}", line.name, line.text, state_words(line.tool));
    let pieces = text.trim().lines().enumerate().map(|(at, piece)| PageLine {
        before: if at == 0 { time.clone() } else { " ".repeat(time.len()) },
        text: piece.to_owned(),
        look: activity_look(line),
    });
    pieces.collect()
}

/// One line of activity without its time and state.
pub fn activity_text(line: &ActivityLine) -> String {
    plain(format!("{} {}", line.name, line.text).trim())
}

/// How a line of activity looks.
pub fn activity_look(line: &ActivityLine) -> Look {
    match line.kind {
        LineKind::Tool => Look::Plain,
        LineKind::Said => Look::Strong,
        LineKind::Note => Look::Faint,
    }
}

/// How far a tool is, in a word and a mark; nothing for one that ended well.
pub fn tool_state(state: Option<ToolState>) -> Option<(&'static str, Look)> {
    match state? {
        ToolState::Runs => Some(("● runs", Look::Toned(Tone::Live))),
        ToolState::Failed => Some(("✗ failed", Look::Toned(Tone::Need))),
        ToolState::Done => None,
    }
}

fn state_words(state: Option<ToolState>) -> String {
    tool_state(state).map(|(words, _)| format!("  {words}")).unwrap_or_default()
}

/// The lines of a text.
pub fn text(text: &str) -> Vec<PageLine> {
    text.lines().map(|line| PageLine::new(line, Look::Plain)).collect()
}

/// A unified diff.
pub fn diff(lines: Vec<String>) -> Vec<PageLine> {
    let look = |line: &str| match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Look::Strong,
        [b'@', b'@', ..] => Look::Note,
        [b'+', ..] => Look::Toned(Tone::Good),
        [b'-', ..] => Look::Toned(Tone::Bad),
        [b' ' | b'\\', ..] => Look::Plain,
        _ => Look::Strong,
    };
    lines.into_iter().map(|line| PageLine { look: look(&line), ..PageLine::new(line, Look::Plain) }).collect()
}

/// What was verified, and the end of each command's output.
pub fn verifications(all: &[Verification], zone: &str) -> Vec<PageLine> {
    if all.is_empty() {
        return vec![PageLine::new("Nothing was verified in this iteration.", Look::Faint)];
    }
    all.iter().flat_map(|one| verification(one, zone)).collect()
}

fn verification(one: &Verification, zone: &str) -> Vec<PageLine> {
    let (mark, look) = crate::marks::holds(Some(one.passed));
    let word = if one.passed { "passed" } else { "failed" };
    let title = format!("{mark} {}: {word} at {}", one.check, clock_time(one.at, zone));
    let mut lines = vec![PageLine::new(title, if one.passed { look } else { Look::Strong })];
    lines.extend(one.results.iter().flat_map(result));
    lines.push(PageLine::new("", Look::Plain));
    lines
}

fn result(result: &CommandResult) -> Vec<PageLine> {
    let exit = result.exit.map_or("did not exit".to_owned(), |code| format!("exit {code}"));
    let tests =
        result.failing.map_or(String::new(), |(failing, of)| format!(", {failing} of {of} tests fail"));
    let title = format!("$ {}   {exit}{tests}, {}", result.command, seconds(result.ms.max(0)));
    let mut lines = vec![PageLine::new(title, Look::Note)];
    lines.extend(result.failed.iter().map(|name| PageLine::new(format!("  ✗ {name}"), Look::Plain)));
    lines.extend(result.tail.lines().map(|line| PageLine::new(format!("  {line}"), Look::Plain)));
    lines
}
