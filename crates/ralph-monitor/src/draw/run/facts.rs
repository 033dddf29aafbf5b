//! What a run costs, what would stop it, what is still missing, and what earlier runs say.

use super::{Detail, gap, tone_of};
use crate::draw::meter;
use crate::marks;
use crate::row::{Look, Row, columns, cut};
use ralph_rules::money::Micro;
use ralph_view::conditions::Condition;
use ralph_view::run_detail::{Meter, RunDetail};

/// Cells of a limit's bar on a row of its own, at most.
const CELLS: usize = 26;
/// The width of the names of limits.
const NAME: usize = 11;
/// Conditions shown.
const CONDITIONS: usize = 9;

/// The rows of this part.
pub fn rows(detail: &RunDetail, width: usize, shown: Detail) -> Vec<Row> {
    let mut rows = limits(detail, width, shown);
    rows.extend(breaker(detail));
    if shown > Detail::Short {
        rows.extend(ladder(detail));
        rows.extend(expected(detail));
        let before = detail.seen_before.iter().take(if shown == Detail::Tall { 3 } else { 1 });
        rows.extend(
            before
                .map(|seen| Row::looking("seen before: ", Look::Faint).with(seen.text.clone(), Look::Plain)),
        );
    }
    if !rows.is_empty() {
        rows.push(gap(width, shown));
    }
    if !detail.conditions.is_empty() {
        rows.extend(conditions(&detail.conditions, width, shown));
        rows.push(gap(width, shown));
    }
    rows
}

fn limits(detail: &RunDetail, width: usize, shown: Detail) -> Vec<Row> {
    if shown == Detail::Tall {
        let room = width.saturating_sub(NAME + 22).clamp(6, CELLS);
        let row =
            |limit| Row::looking(format!("{:<NAME$}", name(limit)), Look::Faint).and(meter::bar(limit, room));
        return detail.limits.iter().map(row).collect();
    }
    let mut row = Row::default();
    let each = width / detail.limits.len().max(1);
    for limit in &detail.limits {
        let words = columns(limit.name) + columns(&limit.used_text) + columns(&limit.limit_text) + 9;
        let cells = each.saturating_sub(words).clamp(4, 16);
        let next = Row::looking(format!("{} ", limit.name), Look::Faint).and(meter::bar(limit, cells));
        if row.width() + next.width() <= width {
            row = row.and(next).with("   ", Look::Plain);
        }
    }
    Some(row).filter(|row| row.width() > 0).into_iter().collect()
}

fn name(limit: &Meter) -> &'static str {
    limit.name
}

/// `breaker closed: no progress □□□ same error ■■□□□`.
fn breaker(detail: &RunDetail) -> Option<Row> {
    let breaker = &detail.breaker;
    if breaker.state.is_empty() {
        return None;
    }
    let closed = breaker.state == "closed";
    let look = if closed { Look::Plain } else { Look::Toned(tone_of(false)) };
    let row = Row::looking("breaker ", Look::Faint).with(breaker.state, look);
    let row = if breaker.fuses.is_empty() { row } else { row.with(":", Look::Faint) };
    Some(breaker.fuses.iter().fold(row, |row, fuse| {
        let used = usize::try_from(fuse.used.min(fuse.limit)).unwrap_or(0);
        let left = usize::try_from(fuse.limit).unwrap_or(0).saturating_sub(used);
        let counts = match used + left {
            ..=10 => format!("{}{}", "■".repeat(used), "□".repeat(left)),
            limit => format!("{used} of {limit}"),
        };
        row.with(format!(" {} ", fuse.name), Look::Faint).with(counts, Look::Plain)
    }))
}

/// `ladder  claude sonnet → ▸ claude opus`.
fn ladder(detail: &RunDetail) -> Option<Row> {
    let rung = detail.card.strip.bars.last().map_or(0, |bar| bar.rung);
    let now = usize::try_from(rung).unwrap_or(0);
    let steps = detail.ladder.iter().enumerate().map(|(at, title)| match at == now {
        true => format!("▸ {title}"),
        false => title.clone(),
    });
    let steps: Vec<String> = steps.collect();
    (!steps.is_empty()).then(|| Row::looking("ladder  ", Look::Faint).with(steps.join(" → "), Look::Plain))
}

/// What runs here usually take; a number says what is behind it.
fn expected(detail: &RunDetail) -> Option<Row> {
    let expected = detail.expected.as_ref()?;
    let iterations = format!("{} to {} iterations", expected.iterations_p50, expected.iterations_p90);
    let cost = format!("{} to {}", Micro(expected.cost_p50_micro), Micro(expected.cost_p90_micro));
    let text = format!("{iterations}, {cost} (p50 to p90 of {} runs here)", expected.runs);
    Some(Row::looking("expected  ", Look::Faint).with(text, Look::Plain))
}

fn conditions(all: &[Condition], width: usize, shown: Detail) -> Vec<Row> {
    if shown != Detail::Tall {
        return vec![in_one_row(all, width)];
    }
    let heading = Row::looking("WHAT IT TAKES TO BE PROVEN", Look::Faint);
    let widest = all.iter().map(|condition| columns(&condition.what)).max().unwrap_or(0).min(width / 2);
    let row = |condition: &Condition| {
        let (mark, look) = marks::holds(condition.holds);
        let what = cut(&condition.what, widest);
        let space = " ".repeat(widest.saturating_sub(columns(&what)) + 2);
        Row::looking(format!("{mark} "), look)
            .with(what + &space, Look::Plain)
            .with(condition.detail.clone(), Look::Faint)
    };
    std::iter::once(heading).chain(all.iter().take(CONDITIONS).map(row)).collect()
}

/// What does not hold comes first where there is no room for all.
fn in_one_row(all: &[Condition], width: usize) -> Row {
    let whole = all.iter().map(|condition| columns(&condition.what) + 4).sum::<usize>() <= width;
    let mut shown: Vec<&Condition> = all.iter().collect();
    if !whole {
        shown.sort_by_key(|condition| match condition.holds {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        });
    }
    shown.into_iter().fold(Row::default(), |row, condition| {
        let (mark, look) = marks::holds(condition.holds);
        let detail = match condition.holds {
            Some(false) => format!("{} ({})", condition.what, condition.detail),
            _ => condition.what.clone(),
        };
        row.with(format!("{mark} "), look).with(format!("{detail}  "), Look::Plain)
    })
}
