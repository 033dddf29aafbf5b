//! Quiet hours: notes of that time are kept until it is over, then sent as one message.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use ralph_rules::record::Ms;

/// A stretch of every day, such as 22:00 to 07:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    from: Time,
    to: Time,
}

impl Quiet {
    /// Reads `22:00-07:00`.
    pub fn of(text: &str) -> Option<Quiet> {
        let (from, to) = text.split_once('-')?;
        let quiet = Quiet { from: time(from)?, to: time(to)? };
        (quiet.from != quiet.to).then_some(quiet)
    }

    /// When the quiet hours that a moment lies in are over; none if it lies in none.
    pub fn ends(&self, at: Ms, zone: &str) -> Option<Ms> {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let local = Timestamp::from_millisecond(at).ok()?.to_zoned(zone.clone());
        let (now, over_midnight) = (local.time(), self.from > self.to);
        let within = match over_midnight {
            true => now >= self.from || now < self.to,
            false => now >= self.from && now < self.to,
        };
        if !within {
            return None;
        }
        let tomorrow = over_midnight && now >= self.from;
        let day = if tomorrow { local.date().tomorrow().ok()? } else { local.date() };
        let end = day.to_datetime(self.to).to_zoned(zone).ok()?;
        Some(end.timestamp().as_millisecond()).filter(|end| *end > at)
    }
}

impl std::fmt::Display for Quiet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.from.strftime("%H:%M"), self.to.strftime("%H:%M"))
    }
}

fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |digits: &str| {
        let plain = (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<i8>().ok().filter(|_| plain)
    };
    Time::new(number(hour)?, number(minute).filter(|_| minute.len() == 2)?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Ms {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn they_end_in_the_morning() {
        let table = [
            ("22:00-07:00", "2026-11-15T21:59:59Z", None),
            ("22:00-07:00", "2026-11-15T22:00:00Z", Some("2026-11-16T07:00:00Z")),
            ("22:00-07:00", "2026-11-16T06:59:59Z", Some("2026-11-16T07:00:00Z")),
            ("22:00-07:00", "2026-11-16T07:00:00Z", None),
            ("13:00-14:30", "2026-11-16T14:00:00Z", Some("2026-11-16T14:30:00Z")),
            ("13:00-14:30", "2026-11-16T14:30:00Z", None),
            ("0:00-23:59", "2026-11-16T00:00:00Z", Some("2026-11-16T23:59:00Z")),
        ];
        for (quiet, at, ends) in table {
            assert_eq!(Quiet::of(quiet).unwrap().ends(ms(at), "UTC"), ends.map(ms), "{quiet} at {at}");
        }
        let berlin = Quiet::of("22:00-07:00").unwrap().ends(ms("2026-11-15T21:30:00Z"), "Europe/Berlin");
        assert_eq!(berlin, Some(ms("2026-11-16T06:00:00Z")));
        // The night in which clocks are set back has an hour more.
        let longer = Quiet::of("22:00-07:00").unwrap().ends(ms("2026-10-24T21:00:00Z"), "Europe/Berlin");
        assert_eq!(longer, Some(ms("2026-10-25T06:00:00Z")));
    }

    #[test]
    fn what_is_no_stretch_of_a_day_is_refused() {
        for text in ["", "22:00", "22-07", "25:00-07:00", "22:60-07:00", "7:00-7:00", "22:00-07:0", "a-b"] {
            assert_eq!(Quiet::of(text), None, "{text}");
        }
        assert_eq!(Quiet::of("22:00 - 7:00").unwrap().to_string(), "22:00-07:00");
    }
}
