//! Small statistics over milliseconds.

use std::time::{Duration, Instant};

/// The value below which this share of all lies.
pub fn share(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}

/// The median.
pub fn p50(values: &[f64]) -> f64 {
    share(values, 0.5)
}

/// Milliseconds.
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// How long something took, in milliseconds.
pub fn timed(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    millis(begun.elapsed())
}
