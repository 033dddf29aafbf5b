//! When a limit ends, as agents word it: an epoch after a bar, a clock time with or without date and zone,
//! a number of seconds. Only read from text that is known to report a limit. The engine, which knows clock
//! and zone, make a moment of it.

use crate::reply::Reset;

/// The reset time an error text names, if it names one.
pub fn reset_in(text: &str) -> Option<Reset> {
    let text = text.get(..text.floor_char_boundary(4096)).unwrap_or(text);
    epoch_after_bar(text)
        .or_else(|| {
            after_words(
                text,
                &["resets in ", "reset in ", "reset after ", "try again in ", "retry in ", "retry after "],
                span,
            )
        })
        .or_else(|| after_words(text, &["retry-after: ", "retry-after "], span))
        .or_else(|| after_words(text, &["resets at ", "resets on ", "resets ", "reset at "], clock))
        .or_else(|| after_words(text, &["try again at ", "available again at ", "try again on "], clock))
}

/// Seconds or milliseconds since 1970, as a number an agent gave.
pub fn epoch(number: f64) -> Option<Reset> {
    if !number.is_finite() || number < 1e9 {
        return None;
    }
    let millis = if number < 1e11 { number * 1e3 } else { number };
    #[allow(clippy::cast_possible_truncation)] // below 1e14
    (millis < 1e14).then_some(Reset::At(millis as i64))
}

fn epoch_after_bar(text: &str) -> Option<Reset> {
    text.split('|').skip(1).find_map(|rest| epoch(digits(rest.trim_start())?.0.parse().ok()?))
}

/// Tries `read` on what follows any of these words, wherever they stand.
fn after_words(text: &str, words: &[&str], read: fn(&str) -> Option<Reset>) -> Option<Reset> {
    let lower = text.to_ascii_lowercase();
    words.iter().find_map(|word| {
        lower.match_indices(word).find_map(|(at, _)| read(text.get(at + word.len()..)?.trim_start()))
    })
}

/// `30`, `30s`, `41.5s`, `5 minutes`, `2h 15m`: a bare number is seconds.
fn span(text: &str) -> Option<Reset> {
    let mut rest = text;
    let mut millis: i64 = 0;
    let mut seen = false;
    while let Some((number, after)) = digits(rest) {
        let number: i64 = number.parse().ok()?;
        let (thousandths, after) = fraction(after);
        let after = after.trim_start();
        let unit_end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let scale = match unit.to_ascii_lowercase().as_str() {
            "ms" => 1,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
            "d" | "day" | "days" => 86_400_000,
            _ => 1_000,
        };
        millis = millis.checked_add(number.checked_mul(scale)?)?.checked_add(thousandths * scale / 1000)?;
        seen = true;
        rest = after.trim_start_matches([',', ' ']);
    }
    seen.then_some(Reset::After(millis))
}

/// The thousandths after a decimal point, and what follows them.
fn fraction(text: &str) -> (i64, &str) {
    let Some((places, rest)) = text.strip_prefix('.').and_then(digits) else { return (0, text) };
    let three: String = places.chars().chain("000".chars()).take(3).collect();
    (three.parse().unwrap_or(0), rest)
}

/// `8:12am`, `3pm`, `19:30`, `Nov 18, 7:25am (UTC)`, `Nov 18 at 7am`, `Nov 18, 2026, 7:25 AM UTC`, `Nov 18`.
fn clock(text: &str) -> Option<Reset> {
    let (date, rest) = match date(text) {
        Some((date, rest)) => (Some(date), rest),
        None => (None, text),
    };
    let rest = rest.trim_start_matches([',', ' ']);
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let (hour, minute, rest) = match time(rest) {
        Some(time) => time,
        None if date.is_some() => (0, 0, rest),
        None => return None,
    };
    Some(Reset::Clock { date, hour, minute, zone: zone(rest) })
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

fn date(text: &str) -> Option<((u8, u8), &str)> {
    let word_end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, rest) = text.split_at(word_end);
    let name = word.get(..3)?.to_ascii_lowercase();
    let month = (1u8..).zip(MONTHS).find(|(_, m)| *m == name)?.0;
    let (day, rest) = digits(rest.trim_start_matches(['.', ' ']))?;
    let day: u8 = day.parse().ok().filter(|d| (1..=31).contains(d))?;
    let rest = ["st", "nd", "rd", "th"].iter().find_map(|s| rest.strip_prefix(s)).unwrap_or(rest);
    Some(((month, day), skip_year(rest)))
}

fn skip_year(rest: &str) -> &str {
    match digits(rest.trim_start_matches([',', ' '])) {
        Some((year, after)) if year.len() == 4 && !after.starts_with(':') => after,
        _ => rest,
    }
}

fn time(text: &str) -> Option<(u8, u8, &str)> {
    let (hour, rest) = digits(text)?;
    let hour: u8 = hour.parse().ok()?;
    let (minute, rest, exact) = match rest.strip_prefix(':').and_then(digits) {
        Some((minute, rest)) if minute.len() == 2 => (minute.parse().ok()?, rest, true),
        Some(_) => return None,
        None => (0u8, rest, false),
    };
    let rest = rest.strip_prefix(':').and_then(digits).map_or(rest, |(_seconds, rest)| rest);
    let spaced = rest.trim_start_matches([' ', '\u{202f}', '\u{a0}']);
    let half = spaced.get(..2).map(str::to_ascii_lowercase);
    let (hour, rest) = match half.as_deref() {
        Some("am") if (1..=12).contains(&hour) => (hour % 12, spaced.get(2..)?),
        Some("pm") if (1..=12).contains(&hour) => (hour % 12 + 12, spaced.get(2..)?),
        _ if exact && hour < 24 => (hour, rest),
        _ => return None,
    };
    (minute < 60).then_some((hour, minute, rest))
}

/// `(UTC)`, `(America/New_York)`, or a bare `UTC` or `GMT` after the time.
fn zone(rest: &str) -> Option<String> {
    let rest = rest.trim_start();
    let named = match rest.strip_prefix('(') {
        Some(inside) => inside.split(')').next()?,
        None => rest.split([' ', '.', ',', ';']).next().filter(|z| matches!(*z, "UTC" | "GMT" | "Z"))?,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-' | ':');
    (!named.is_empty() && named.len() <= 64 && named.chars().all(plain)).then(|| named.to_owned())
}

/// The digits at the start, and what follows them.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(date: Option<(u8, u8)>, hour: u8, minute: u8, zone: Option<&str>) -> Option<Reset> {
        Some(Reset::Clock { date, hour, minute, zone: zone.map(str::to_owned) })
    }

    #[test]
    fn every_wording_is_understood() {
        let ny = Some("America/New_York");
        for (text, reset) in [
            ("Claude AI usage limit reached|1794730237", Some(Reset::At(1_794_730_237_000))),
            ("limit|1794730237123", Some(Reset::At(1_794_730_237_123))),
            ("5-hour limit reached ∙ resets 8:12am", clock(None, 8, 12, None)),
            ("Session limit reached ∙ resets 3pm", clock(None, 15, 0, None)),
            ("… · resets 12am (UTC)", clock(None, 0, 0, Some("UTC"))),
            ("… · resets 12:30pm (America/New_York)", clock(None, 12, 30, ny)),
            ("Weekly limit reached ∙ resets Nov 18, 7:25am", clock(Some((11, 18)), 7, 25, None)),
            ("… · resets Nov 18, 6:27am (UTC)", clock(Some((11, 18)), 6, 27, Some("UTC"))),
            ("… resets Nov 18 at 7am (Europe/Berlin)", clock(Some((11, 18)), 7, 0, Some("Europe/Berlin"))),
            ("… resets Jan 2, 2027, 6am", clock(Some((1, 2)), 6, 0, None)),
            ("… resets on March 3rd", clock(Some((3, 3)), 0, 0, None)),
            ("You’ve hit your usage limit. … or try again at 7:21 AM.", clock(None, 7, 21, None)),
            ("try again at Nov 20th, 2026 1:05 PM.", clock(Some((11, 20)), 13, 5, None)),
            ("resets at 19:30 UTC", clock(None, 19, 30, Some("UTC"))),
            ("limit resets in 2h 15m", Some(Reset::After(8_100_000))),
            ("Please try again in 20s", Some(Reset::After(20_000))),
            ("Please try again in 3 minutes.", Some(Reset::After(180_000))),
            ("429 retry-after: 7", Some(Reset::After(7_000))),
            ("Please retry in 41.0625s.", Some(Reset::After(41_062))),
            ("Please retry in 1.5h", Some(Reset::After(5_400_000))),
            ("Your quota will reset after 3h24m5s.", Some(Reset::After(12_245_000))),
            (
                "5 hour usage limit reached. It will reset in 2 hours 5 minutes. To",
                Some(Reset::After(7_500_000)),
            ),
        ] {
            assert_eq!(reset_in(text), reset, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "limit reached",
            "resets soon",
            "resets 25:00",
            "resets 13pm",
            "resets 8",
            "resets 8:7am",
            "a|b|12",
            "Please try again later.",
            "resets Foo 18",
            "try again in 99999999999999999999s",
        ] {
            assert_eq!(reset_in(text), None, "{text}");
        }
        assert_eq!(epoch(f64::NAN), None);
        assert_eq!(epoch(-5.0), None);
    }
}
