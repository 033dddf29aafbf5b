//! Times as Claude writes them: UTC stamps in events, and `7:11am (UTC)` in its limit messages.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Time since 1970.
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// `2026-11-15T06:05:29.926Z`.
pub fn stamp(at: Duration) -> String {
    let date = Date::of(at.as_secs());
    let (hour, minute, second) = date.time;
    let Date { year, month, day, .. } = date;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", at.subsec_millis())
}

/// `7:11am (UTC)`.
pub fn clock(epoch: u64) -> String {
    let (hour, minute, _) = Date::of(epoch).time;
    let half = if hour < 12 { "am" } else { "pm" };
    let hour = if hour % 12 == 0 { 12 } else { hour % 12 };
    format!("{hour}:{minute:02}{half} (UTC)")
}

/// `Nov 18, 6:27am (UTC)`.
pub fn day_and_clock(epoch: u64) -> String {
    let date = Date::of(epoch);
    let month =
        usize::try_from(date.month).ok().and_then(|m| MONTHS.get(m.wrapping_sub(1))).unwrap_or(&"Jan");
    format!("{month} {}, {}", date.day, clock(epoch))
}

struct Date {
    year: u64,
    month: u64,
    day: u64,
    time: (u64, u64, u64),
}

impl Date {
    /// The proleptic Gregorian date of a moment, counted in eras of 400 years that begin on 1 March.
    fn of(epoch: u64) -> Date {
        let days = epoch / 86_400 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let second = epoch % 86_400;
        Date { year, month, day, time: (second / 3600, second / 60 % 60, second % 60) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_claude_writes_them() {
        assert_eq!(stamp(Duration::from_millis(1_794_722_729_926)), "2026-11-15T06:05:29.926Z");
        assert_eq!(stamp(Duration::from_secs(951_782_400)), "2000-02-29T00:00:00.000Z");
        assert_eq!(clock(1_794_726_675), "7:11am (UTC)");
        assert_eq!(day_and_clock(1_794_983_274), "Nov 18, 6:27am (UTC)");
        assert_eq!(clock(0), "12:00am (UTC)");
        assert_eq!(clock(43_260), "12:01pm (UTC)");
    }
}
