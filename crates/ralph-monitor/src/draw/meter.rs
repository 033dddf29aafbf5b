//! A limit as a bar: used, reserved, the point from which it warns, and the words.

use crate::row::{Look, Row};
use ralph_view::card::Tone;
use ralph_view::run_detail::Meter;

/// The bar of a limit in so many columns, its words behind it.
pub fn bar(meter: &Meter, room: usize) -> Row {
    let used = cells(meter.used, meter.limit, room);
    let held = cells(meter.used.saturating_add(meter.held), meter.limit, room).saturating_sub(used);
    let warn =
        Some(cells(meter.warn_at, meter.limit, room)).filter(|_| (1..meter.limit).contains(&meter.warn_at));
    let rest: String = (used + held..room).map(|at| if Some(at) == warn { '┆' } else { '░' }).collect();
    let look = match () {
        () if meter.limit > 0 && meter.used >= meter.limit => Look::Toned(Tone::Bad),
        () if meter.limit > 0 && meter.warn_at > 0 && meter.used >= meter.warn_at => Look::Toned(Tone::Need),
        () => Look::Toned(Tone::Good),
    };
    let words = format!(" {} of {}", meter.used_text, meter.limit_text);
    Row::looking("█".repeat(used), look)
        .with("▒".repeat(held), Look::Toned(Tone::Live))
        .with(rest, Look::Faint)
        .with(words, Look::Plain)
}

/// Columns of a part; what is more than nothing is seen.
fn cells(part: i64, whole: i64, room: usize) -> usize {
    if part <= 0 {
        return 0;
    }
    let most = i128::try_from(room).unwrap_or(i128::MAX);
    let cells = i128::from(part) * most / i128::from(whole.max(1));
    usize::try_from(cells.clamp(1, most.max(1))).unwrap_or(room).min(room)
}
