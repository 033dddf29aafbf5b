//! Clock and calendar: the moment an agent's reset wording means, and the calendar day a call is booked on. The pure
//! crates know neither clock nor zone, so it is done here.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use ralph_agents::Reset;
use ralph_rules::record::Ms;

/// The zone of this name; an unknown one is UTC.
fn zone_of(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

fn moment(at: Ms, zone: &str) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(at).ok()?.to_zoned(zone_of(zone)))
}

/// The calendar day in the user's zone, such as `2026-11-15`.
pub fn day_of(at: Ms, zone: &str) -> String {
    moment(at, zone).map(|z| z.date().to_string()).unwrap_or_default()
}

/// When a reset is: a time without a date is the next such time in its zone, or the user's.
pub fn resolve(reset: &Reset, now: Ms, zone: &str) -> Option<Ms> {
    match reset {
        Reset::At(at) => Some(*at),
        Reset::After(ms) => Some(now.saturating_add(*ms)),
        Reset::Clock { date, hour, minute, zone: named } => {
            let zone = named.as_deref().unwrap_or(zone);
            let today = moment(now, zone)?;
            let time = jiff::civil::time(i8::try_from(*hour).ok()?, i8::try_from(*minute).ok()?, 0, 0);
            let next = match date {
                Some((month, day)) => next_date(today.date(), *month, *day)?.to_datetime(time),
                None => next_time(&today, today.date().to_datetime(time))?,
            };
            Some(next.to_zoned(zone_of(zone)).ok()?.timestamp().as_millisecond())
        }
    }
}

/// Today at that time, or tomorrow when it has passed. Seconds are cut off in a wording, and clocks differ: a time that
/// passed just now is over at any moment, not in a day.
fn next_time(now: &Zoned, today: DateTime) -> Option<DateTime> {
    let passed = now.datetime().checked_sub(5.minutes()).ok()?;
    if today > passed { Some(today) } else { today.checked_add(1.day()).ok() }
}

/// This year's date, or next year's when it lies more than half a year back.
fn next_date(today: Date, month: u8, day: u8) -> Option<Date> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    let this = Date::new(today.year(), month, day).ok()?;
    if today.since(this).ok()?.get_days() > 183 {
        Date::new(today.year() + 1, month, day).ok()
    } else {
        Some(this)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15 08:00:00 UTC.
    const NOW: Ms = 1_794_729_600_000;

    fn clock(date: Option<(u8, u8)>, hour: u8, minute: u8, zone: Option<&str>) -> Reset {
        Reset::Clock { date, hour, minute, zone: zone.map(Into::into) }
    }

    #[test]
    fn a_bare_time_is_the_next_such_time_in_the_zone() {
        let hour = 3_600_000;
        let cases = [
            (clock(None, 9, 30, Some("UTC")), hour * 3 / 2),
            (clock(None, 7, 0, Some("UTC")), 23 * hour),
            (clock(None, 8, 0, Some("UTC")), 0),
            (clock(None, 7, 57, Some("UTC")), -180_000),
            (clock(None, 7, 54, Some("UTC")), 24 * hour - 360_000),
            (clock(None, 10, 0, None), hour),
            (clock(Some((11, 18)), 7, 25, Some("UTC")), 3 * 24 * hour - 35 * 60_000),
            (clock(Some((1, 2)), 8, 0, Some("UTC")), 48 * 24 * hour),
            (Reset::After(5_000), 5_000),
            (Reset::At(NOW + 1), 1),
        ];
        for (reset, ahead) in cases {
            assert_eq!(resolve(&reset, NOW, "Europe/Berlin"), Some(NOW + ahead), "{reset:?}");
        }
    }

    #[test]
    fn an_impossible_time_is_none() {
        assert_eq!(resolve(&clock(Some((2, 31)), 1, 1, None), NOW, "UTC"), None);
    }

    #[test]
    fn the_day_is_the_users() {
        assert_eq!(day_of(NOW, "UTC"), "2026-11-15");
        assert_eq!(day_of(NOW + 15 * 3_600_000, "UTC"), "2026-11-15");
        assert_eq!(day_of(NOW + 15 * 3_600_000, "Asia/Tokyo"), "2026-11-16");
        assert_eq!(day_of(NOW, "No/Where"), "2026-11-15");
    }
}
