//! What the lines at the bottom say, for a terminal of any size. Pure: a run's status and what is typed in, lines out,
//! none wider than the terminal. Colours are ANSI's own sixteen and never the only sign of anything.

use crate::plain::{columns_of, fit, plain};
use crate::style::Style;
use ralph_engine::rows::task_title;
use ralph_rules::record::Ms;
use ralph_rules::state::State;
use ralph_view::agent_output::AgentOutput;
use ralph_view::fact_text::{money, seconds};
use ralph_view::wrap::wrap;

/// Below this width or height there is one line.
const TINY: (usize, usize) = (36, 6);
/// Below this there are no bars.
const SMALL: (usize, usize) = (60, 12);
/// From this height on the panel also shows what the agent did before.
const TALL: usize = 30;
/// How much of it.
const LATEST: usize = 6;
/// The most lines for what is done now.
const DOING: usize = 3;
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
    /// What each call cost, in micro-dollars.
    pub costs: &'a [i64],
    /// The iteration under way.
    pub iteration: u32,
    /// What the agent said and did lately.
    pub output: &'a AgentOutput,
}

/// The lines above the last one.
pub fn status_lines(now: &LiveStatus<'_>, size: (usize, usize), style: Style) -> Vec<String> {
    let width = size.0.saturating_sub(1);
    let Some(start) = now.state.start.as_deref().filter(|_| !now.doing.is_empty()) else { return Vec::new() };
    let tiny = size.0 < TINY.0 || size.1 < TINY.1;
    let doing = doing(now, width, if tiny || size.1 < SMALL.1 { 1 } else { DOING }, style);
    if tiny {
        return doing;
    }
    let (nth, most) = (now.iteration, start.policy.max_iterations);
    let (spent, cap) = (now.state.budget.spent.plus(now.state.budget.live).0, start.policy.max_cost);
    let cost = format!("{} of {cap}", money(spent, now.state.budget.unpriced == 0));
    let mut lines = vec![rule(task_title(&start.prompt), width, style)];
    if size.0 < SMALL.0 || size.1 < SMALL.1 {
        lines.push(style.faint(fit(&format!("iteration {nth} of {most}, {cost}"), width)));
        lines.extend(doing);
        return lines;
    }
    let id = start.run.get(start.run.len().saturating_sub(8)..).unwrap_or_default();
    let who = plain(&format!("{} · run {id} · {}", now.state.caller(start).title(), start.workspace));
    lines.push(style.faint(fit(&who, width)));
    lines.push(bar("cost", spent, cap.0, &cost, width, style));
    lines.push(bar("iteration", nth.into(), most.into(), &format!("{nth} of {most}"), width, style));
    if let (Some(calls), Some(cap)) = (now.calls, start.policy.calls_per_hour) {
        lines.push(bar("calls/hour", calls, cap.into(), &format!("{calls} of {cap}"), width, style));
    }
    lines.extend(sparks(now.costs, width, style));
    if size.1 >= TALL {
        lines.extend(now.output.latest(LATEST).iter().map(|line| style.faint(fit(line, width))));
    }
    lines.extend(doing);
    lines
}

/// What is done now and for how long, on at most so many lines.
fn doing(now: &LiveStatus<'_>, width: usize, most: usize, style: Style) -> Vec<String> {
    let mark = if now.waiting { "◷" } else { "▸" };
    let text = plain(&format!("{mark} {} {}", seconds(now.elapsed), now.doing));
    let text = if most > 1 { wrap(&text, width) } else { text };
    let lines = text.lines().take(most).map(|line| fit(line, width));
    lines.map(|line| line.replacen(mark, &style.note(mark), 1)).collect()
}

fn rule(task: &str, width: usize, style: Style) -> String {
    let task = fit(&plain(task), width.saturating_sub(6));
    let used = 4 + task.chars().map(columns_of).sum::<usize>();
    let line = "─".repeat(width.saturating_sub(used));
    format!("{} {} {}", style.faint("──"), style.strong(task), style.faint(line))
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
