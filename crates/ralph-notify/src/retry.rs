//! When a failed delivery is tried again: after 5 seconds at first, a day at last, ten times; later if the receiver asks.

use jiff::Timestamp;
use ralph_rules::record::Ms;

const SECOND: Ms = 1_000;
const MINUTE: Ms = 60 * SECOND;
const HOUR: Ms = 60 * MINUTE;

/// How often a delivery is tried again.
pub(crate) const RETRIES: usize = 10;

/// The waits between attempts.
const WAITS: [Ms; RETRIES] = [
    5 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
];

/// When to try again after so many failed attempts, this one included; none: never. A receiver can ask for more time,
/// up to a day.
pub(crate) fn next_attempt(failed: u32, now: Ms, asked: Option<Ms>) -> Option<Ms> {
    let wait = WAITS.get(usize::try_from(failed.saturating_sub(1)).ok()?)?;
    let asked = asked.unwrap_or(0).clamp(0, 24 * HOUR);
    Some(now.saturating_add(asked.max(*wait)))
}

/// What `Retry-After` asks for: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: Ms) -> Option<Ms> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(Ms::from(seconds) * SECOND);
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?;
    Some(Timestamp::from(date).as_millisecond().saturating_sub(now).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_times_from_five_seconds_to_a_day() {
        let waits: Vec<Option<Ms>> = (1..=12).map(|failed| next_attempt(failed, 0, None)).collect();
        assert_eq!((waits[0], waits[9]), (Some(5 * SECOND), Some(24 * HOUR)));
        assert_eq!((waits[10], waits[11]), (None, None));
        assert!(waits[..10].windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_receiver_can_ask_for_more_time_but_not_for_less_or_forever() {
        let now = 1_794_700_800_000; // 2026-11-15T00:00:00Z
        let table = [
            ("120", Some(120 * SECOND)),
            (" 0 ", Some(0)),
            ("Sun, 15 Nov 2026 00:10:00 GMT", Some(10 * MINUTE)),
            ("Sat, 14 Nov 2026 00:00:00 GMT", Some(0)),
            ("-5", None),
            ("soon", None),
            ("", None),
            ("99999999999999", None),
        ];
        for (value, asked) in table {
            assert_eq!(retry_after(value, now), asked, "{value}");
        }
        assert_eq!(next_attempt(1, now, Some(MINUTE)), Some(now + MINUTE));
        assert_eq!(next_attempt(1, now, Some(0)), Some(now + 5 * SECOND));
        assert_eq!(next_attempt(1, now, Some(400 * HOUR)), Some(now + 24 * HOUR));
    }
}
