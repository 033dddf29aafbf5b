//! The strip in characters: a bar an iteration. Height is cost in eighths of a cell, fill is what came of it, dots are the
//! iterations that are left; below it the numbers, with ✓ for proven, ✗ for went wrong and – for stopped.

use crate::marks;
use crate::row::{Look, Row, columns};
use ralph_view::strip::{Bar, BarOutcome, Strip};

/// Eighths of a cell, from the lowest.
const EIGHTHS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// Widths of a bar and of the gap behind it, from the widest.
const PITCHES: [(usize, usize); 4] = [(3, 2), (2, 1), (1, 1), (1, 0)];
/// Dots that stay when there are more bars than columns.
const FEW_DOTS: usize = 4;

/// What fits into a width.
struct Window<'a> {
    bars: &'a [Bar],
    dots: usize,
    wide: usize,
    gap: usize,
}

impl<'a> Window<'a> {
    /// The latest bars in the widest pitch that has room for all, with as many dots as there is room for.
    fn of(strip: &'a Strip, width: usize) -> Window<'a> {
        let left = usize::try_from(strip.left).unwrap_or(usize::MAX);
        let slots = strip.bars.len().saturating_add(left);
        let fits = |(wide, gap): &&(usize, usize)| slots.saturating_mul(wide + gap) <= width;
        let (wide, gap) = PITCHES.iter().find(fits).copied().unwrap_or((1, 0));
        let room = width / (wide + gap);
        let dots = left.min(room.saturating_sub(strip.bars.len()).max(left.min(FEW_DOTS).min(room / 2)));
        let hidden = strip.bars.len().saturating_sub(room - dots.min(room));
        Window { bars: strip.bars.get(hidden..).unwrap_or_default(), dots, wide, gap }
    }
}

/// The strip in `height` rows and a row of numbers.
pub fn bars(strip: &Strip, width: usize, height: usize) -> Vec<Row> {
    if strip.bars.is_empty() && strip.left == 0 {
        return Vec::new();
    }
    let window = Window::of(strip, width);
    let highest = window.bars.iter().map(|bar| bar.cost_micro).max().unwrap_or(0);
    let rows = (0..height).rev().map(|level| level_row(&window, highest, height, level));
    rows.chain(std::iter::once(numbers(strip, &window))).collect()
}

/// One level of all bars, 0 at the bottom.
fn level_row(window: &Window<'_>, highest: i64, height: usize, level: usize) -> Row {
    let mut row = Row::default();
    for bar in window.bars {
        let filled = cell(bar, highest, height, level).repeat(window.wide);
        row = row.with(filled, marks::look(bar.outcome)).with(" ".repeat(window.gap), Look::Plain);
    }
    if level == 0 {
        let dot = centred("·", window.wide) + &" ".repeat(window.gap);
        row = row.with(dot.repeat(window.dots), Look::Faint);
    }
    row
}

/// What a bar has at a level. Shades have no eighths: they are rounded up.
fn cell(bar: &Bar, highest: i64, height: usize, level: usize) -> &'static str {
    let eighths = eighths(bar.cost_micro, highest, height);
    let here = eighths.saturating_sub(level * 8).min(8);
    match (here, bar.outcome) {
        (0, _) => " ",
        (_, BarOutcome::NothingNew | BarOutcome::UnderWay) => marks::fill(bar.outcome),
        _ => EIGHTHS.get(here - 1).copied().unwrap_or("█"),
    }
}

/// How high a bar is; one that cost nothing is still seen.
fn eighths(cost: i64, highest: i64, height: usize) -> usize {
    let whole = i64::try_from(height.saturating_mul(8)).unwrap_or(i64::MAX);
    let part = i128::from(cost.max(0)) * i128::from(whole) / i128::from(highest.max(1));
    usize::try_from(part.clamp(1, i128::from(whole))).unwrap_or(1)
}

/// The number of each bar where there is room, and its mark; the number of the last iteration that is left.
fn numbers(strip: &Strip, window: &Window<'_>) -> Row {
    let pitch = window.wide + window.gap;
    let mut row = Row::default();
    let mut owed = 0_usize;
    let last = window.bars.last().map(|bar| bar.n);
    for (place, bar) in window.bars.iter().enumerate() {
        let mark = marks::below(bar.outcome).unwrap_or_default();
        let number = bar.n.to_string();
        let wanted = place == 0 || Some(bar.n) == last || bar.n.is_multiple_of(5) || pitch >= 5;
        let label = match () {
            () if !mark.is_empty() && pitch < number.len() + 2 => mark.to_owned(),
            () if wanted && number.len() < pitch.max(number.len() + 1) => format!("{number}{mark}"),
            () => mark.to_owned(),
        };
        // A label wider than its bar takes columns of the next ones, which then have none.
        if owed >= pitch {
            owed -= pitch;
            continue;
        }
        let label = if owed > 0 { String::new() } else { centred(&label, window.wide) };
        let space = (pitch - owed).saturating_sub(columns(&label));
        let apart = usize::from(pitch < 3 && columns(&label) > 1);
        owed = (columns(&label) + apart).saturating_sub(pitch - owed);
        row = row.with(label, number_look(bar.outcome)).with(" ".repeat(space), Look::Plain);
    }
    let end = last.unwrap_or(0).saturating_add(strip.left).to_string();
    if window.dots > 0 && window.dots * pitch > end.len() + owed {
        let before = (window.dots - 1) * pitch + window.wide / 2;
        let before = before.saturating_sub(owed + end.len() / 2);
        row = row.with(" ".repeat(before), Look::Plain).with(end, Look::Faint);
    }
    row
}

fn number_look(outcome: BarOutcome) -> Look {
    if marks::below(outcome).is_some() { marks::look(outcome) } else { Look::Faint }
}

fn centred(text: &str, wide: usize) -> String {
    let room = wide.saturating_sub(columns(text));
    format!("{}{text}{}", " ".repeat(room / 2), " ".repeat(room - room / 2))
}

/// The strip of a card: one column a bar.
pub fn small(strip: &Strip, most: usize) -> Vec<(String, Look)> {
    let latest = strip.bars.get(strip.bars.len().saturating_sub(most)..).unwrap_or_default();
    let highest = latest.iter().map(|bar| bar.cost_micro).max().unwrap_or(0);
    let one = |bar: &Bar| {
        let mark = marks::below(bar.outcome).unwrap_or_else(|| cell(bar, highest, 1, 0));
        (mark.to_owned(), marks::look(bar.outcome))
    };
    latest.iter().map(one).collect()
}

/// `failing tests 14 → 11 → 9 → 2`; where that does not fit, the first and the latest.
pub fn failing(strip: &Strip, width: usize) -> Option<String> {
    let counts: Vec<String> = strip.failing().iter().map(u32::to_string).collect();
    let (first, rest) = counts.split_first()?;
    let whole = format!("failing tests {}", counts.join(" → "));
    if columns(&whole) <= width {
        return Some(whole);
    }
    let fits = (0..rest.len()).map(|from| rest.get(from..).unwrap_or_default().join(" → "));
    let mut fits = fits.map(|latest| format!("failing tests {first} → … → {latest}"));
    fits.find(|text| columns(text) <= width).or_else(|| counts.last().map(|now| format!("{now} failing")))
}

/// What the fills mean, of those that are seen.
pub fn legend(strip: &Strip) -> Row {
    let mut row = Row::default();
    let seen = |outcome: &BarOutcome| strip.bars.iter().any(|bar| bar.outcome == *outcome);
    for outcome in BarOutcome::ALL.into_iter().filter(seen) {
        let mark = marks::below(outcome).unwrap_or_else(|| marks::fill(outcome));
        row = row.with(mark, marks::look(outcome)).with(format!(" {}  ", outcome.words()), Look::Faint);
    }
    row
}
