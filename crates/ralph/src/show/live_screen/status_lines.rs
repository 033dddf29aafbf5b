//! What the lines at the bottom say, for a terminal of any size. Pure: a run's status and what is typed in, lines out,
//! none wider than the terminal. Colours are ANSI's own sixteen and never the only sign of anything.

use crate::plain::{fit, plain};
use crate::style::Style;
use ralph_rules::record::Ms;
use ralph_rules::state::State;
use ralph_view::fact_text::{money, seconds};
use std::time::Instant;

/// Below this width or height there is one line.
const TINY: (usize, usize) = (36, 6);
/// Below this there are two or three.
const SMALL: (usize, usize) = (60, 12);
/// The width of the bars' names.
const NAME: usize = 12;
/// Iterations in the sparkline.
const SPARKS: usize = 40;

/// A run's status, as the lines show it.
pub struct LiveStatus<'a> {
    /// Its state.
    pub state: &'a State,
    /// What is done now.
    pub doing: &'a str,
    /// For how long.
    pub elapsed: Ms,
    /// The run waits for a moment.
    pub waiting: bool,
    /// Calls of all runs in the last hour, where known.
    pub calls: Option<i64>,
    /// What each iteration cost, in micro-dollars.
    pub costs: &'a [i64],
}

/// The last line: keys, or what is typed.
#[derive(Debug, Default)]
pub struct KeyLine {
    /// A hint that is being typed.
    pub hint: Option<Vec<u8>>,
    /// The keys are explained.
    pub help: bool,
    /// The answer to what was asked, and when it was given.
    pub answer: Option<(String, Instant)>,
    /// The run is paused.
    pub paused: bool,
    /// It waits.
    pub waiting: bool,
    /// There is no keyboard.
    pub no_keyboard: bool,
}

/// The lines above the last one.
pub fn status_lines(now: &LiveStatus<'_>, size: (usize, usize), style: Style) -> Vec<String> {
    let width = size.0.saturating_sub(1);
    let Some(start) = now.state.start.as_deref().filter(|_| !now.doing.is_empty()) else { return Vec::new() };
    let doing = fit(&plain(&format!("{} {}", seconds(now.elapsed), now.doing)), width.saturating_sub(2));
    let doing = format!("{} {doing}", style.note(if now.waiting { "◷" } else { "▸" }));
    if size.0 < TINY.0 || size.1 < TINY.1 {
        return vec![doing];
    }
    let (done, most) = (now.state.calls.done, start.policy.max_iterations);
    let (spent, cap) = (now.state.budget.spent.plus(now.state.budget.live).0, start.policy.max_cost);
    let cost = format!("{} of {cap}", money(spent, now.state.budget.unpriced == 0));
    if size.0 < SMALL.0 || size.1 < SMALL.1 {
        let facts = fit(&format!("{done} of {most} iterations, {cost}"), width);
        return vec![style.faint(facts), doing];
    }
    let mut lines = vec![rule(&start.prompt, width, style)];
    let id = start.run.get(start.run.len().saturating_sub(8)..).unwrap_or_default();
    let who = plain(&format!("{} · run {id} · {}", now.state.caller(start).title(), start.workspace));
    lines.push(style.faint(fit(&who, width)));
    lines.push(bar("cost", spent, cap.0, &cost, width, style));
    lines.push(bar("iterations", done.into(), most.into(), &format!("{done} of {most}"), width, style));
    if let (Some(calls), Some(cap)) = (now.calls, start.policy.calls_per_hour) {
        lines.push(bar("calls/hour", calls, cap.into(), &format!("{calls} of {cap}"), width, style));
    }
    lines.extend(sparks(now.costs, width, style));
    lines.push(doing);
    lines
}

/// All lines, the last one by what is typed.
pub fn with_key_line(body: &[String], keys: &KeyLine, size: (usize, usize), style: Style) -> Vec<String> {
    let width = size.0.saturating_sub(1);
    let mut lines = body.to_vec();
    if let Some(typed) = &keys.hint {
        let text = plain(&format!("{}▏", String::from_utf8_lossy(typed)));
        let line = format!("{} {}", style.note("hint›"), last(&text, width.saturating_sub(6)));
        return with_last(lines, vec![line]);
    }
    if let Some((answer, _)) = &keys.answer {
        return with_last(lines, vec![style.note(fit(answer, width))]);
    }
    if keys.no_keyboard || body.is_empty() {
        return lines;
    }
    if keys.help {
        let help = HELP.map(|line| style.faint(fit(line, width)));
        let room = size.1.saturating_sub(2).max(1);
        lines.extend(help);
        lines.drain(..lines.len().saturating_sub(room));
        return lines;
    }
    if lines.len() > 1 {
        let pause = if keys.paused { "p continue" } else { "p pause" };
        let now = if keys.waiting { "  c continue now" } else { "" };
        let line = format!("h hint  {pause}{now}  s stop after this iteration  ? help");
        lines.push(style.faint(fit(&line, width)));
    }
    lines
}

const HELP: [&str; 6] = [
    "h       type a hint for the next prompt (Enter sends it, Esc cancels)",
    "p       pause before the next call, or continue",
    "c       continue: end a pause or a wait",
    "s       stop after this iteration",
    "Ctrl-C  stop the agent now and inspect its work; twice: exit at once",
    "Ctrl-Z  suspend ralph and its agent; fg continues. ? closes this help",
];

/// In a terminal with one line the last one takes its place.
fn with_last(mut lines: Vec<String>, last: Vec<String>) -> Vec<String> {
    if lines.len() == 1 {
        return last;
    }
    lines.extend(last);
    lines
}

/// The end of a text that fits.
fn last(text: &str, columns: usize) -> String {
    let back: String = text.chars().rev().collect();
    fit(&back, columns).chars().rev().collect()
}

fn rule(task: &str, width: usize, style: Style) -> String {
    let task = task.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let task = fit(&plain(task.trim()), width.saturating_sub(14));
    let used = 11 + task.chars().map(|c| if c < '\u{1100}' { 1 } else { 2 }).sum::<usize>();
    let line = "─".repeat(width.saturating_sub(used));
    format!("{} {} {}", style.faint("── ralph ─"), style.strong(task), style.faint(line))
}

fn bar(name: &str, value: i64, most: i64, words: &str, width: usize, style: Style) -> String {
    let words = fit(words, 24);
    let room = width.saturating_sub(NAME + 2 + 24).clamp(8, 40);
    let full = usize::try_from(value.max(0)).unwrap_or(usize::MAX);
    let whole = usize::try_from(most.max(1)).unwrap_or(usize::MAX);
    let filled = (full.min(whole).saturating_mul(room) / whole).max(usize::from(full > 0));
    let near = full >= whole / 5 * 4 && full > 0;
    let block = "█".repeat(filled);
    let block = if full >= whole {
        style.bad(block)
    } else if near {
        style.warn(block)
    } else {
        style.good(block)
    };
    format!("{name:<NAME$}{block}{} {words}", style.faint("░".repeat(room.saturating_sub(filled))))
}

fn sparks(costs: &[i64], width: usize, style: Style) -> Option<String> {
    const MARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let latest = costs.get(costs.len().saturating_sub(SPARKS.min(width.saturating_sub(NAME + 10)))..)?;
    let most = latest.iter().copied().max().filter(|most| *most > 0)?;
    let mark = |cost: &i64| {
        let step = usize::try_from(cost.clamp(&0, &most).saturating_mul(7) / most).unwrap_or(0);
        MARKS.get(step).copied().unwrap_or('▁')
    };
    let line: String = latest.iter().map(mark).collect();
    let words = style.faint(format!("per call, highest {}", money(most, true)));
    Some(format!("{:<NAME$}{} {words}", "", style.note(line)))
}
