//! Days in the user's time zone: when each begins and ends, daylight saving time included.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Consecutive days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    /// First day.
    pub first: Date,
    /// Last day, included.
    pub last: Date,
    /// When the first begins, UTC milliseconds.
    pub from: i64,
    /// When the last ends, UTC milliseconds.
    pub before: i64,
}

impl Days {
    /// One day.
    pub fn one(day: Date, zone: &str) -> Days {
        Days::span(day, day, zone)
    }

    /// From this day to that one, both included.
    pub fn span(first: Date, last: Date, zone: &str) -> Days {
        let next = last.checked_add(1.day()).unwrap_or(last);
        Days { first, last, from: begins(first, zone), before: begins(next, zone) }
    }

    /// Whether a moment is on one of these days, UTC milliseconds.
    pub fn contains(&self, at: i64) -> bool {
        (self.from..self.before).contains(&at)
    }
}

/// When a day begins. Where midnight does not exist, the first moment after it.
fn begins(day: Date, zone: &str) -> i64 {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    day.to_zoned(zone).and_then(|noon| noon.start_of_day()).map_or(0, |z| z.timestamp().as_millisecond())
}

/// The date at `now` (UTC milliseconds).
pub fn today(now: i64, zone: &str) -> Option<Date> {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    Some(Timestamp::from_millisecond(now).ok()?.to_zoned(zone).date())
}

/// The days from `done` to yesterday, at most `back` of them; none if the clock was set back.
pub(super) fn between(done: Option<Date>, today: Date, back: i64) -> Vec<Date> {
    let earliest = today.checked_sub(back.days()).unwrap_or(today);
    let mut day = done.map_or(earliest, |done| done.max(earliest));
    let mut days = Vec::new();
    while day < today {
        days.push(day);
        day = day.checked_add(1.day()).unwrap_or(today);
    }
    days
}

/// A time as RFC 3339, with milliseconds.
pub fn stamp(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |at| format!("{at:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_day_is_as_long_as_the_clock_makes_it() {
        let hours = |day: Date, zone: &str| {
            let days = Days::one(day, zone);
            (days.before - days.from) / HOUR
        };
        assert_eq!(hours(date(2026, 11, 15), "Europe/Berlin"), 24);
        assert_eq!(hours(date(2026, 3, 29), "Europe/Berlin"), 23);
        assert_eq!(hours(date(2026, 10, 25), "Europe/Berlin"), 25);
        // There is no midnight that day.
        assert_eq!(hours(date(2018, 11, 4), "America/Sao_Paulo"), 23);
        assert_eq!(hours(date(2026, 3, 29), "No/Where"), 24);
    }

    #[test]
    fn days_follow_each_other_without_a_gap() {
        let (a, b) = (date(2026, 3, 28), date(2026, 3, 30));
        let span = Days::span(a, b, "Europe/Berlin");
        let parts = [a, date(2026, 3, 29), b].map(|day| Days::one(day, "Europe/Berlin"));
        assert_eq!((span.from, span.before), (parts[0].from, parts[2].before));
        assert!(parts.windows(2).all(|two| two[0].before == two[1].from));
    }

    #[test]
    fn what_was_looked_at_is_not_looked_at_again() {
        let today = date(2026, 11, 15);
        assert_eq!(between(Some(today), today, 31), []);
        assert_eq!(between(Some(date(2026, 11, 13)), today, 31), [date(2026, 11, 13), date(2026, 11, 14)]);
        assert_eq!(between(None, today, 2), [date(2026, 11, 13), date(2026, 11, 14)]);
        assert_eq!(between(Some(date(2027, 1, 1)), today, 31), [], "the clock was set back");
    }

    #[test]
    fn moments_are_written_as_dates_of_scripts_are() {
        assert_eq!(stamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(stamp(i64::MAX), "");
    }
}
