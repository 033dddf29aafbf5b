//! Durations as people write them: `90s`, `15m`, `1h30m`, `500ms`, `2d`.

use ralph_rules::record::Ms;

/// Milliseconds, or what is wrong with the text.
pub fn parse_duration(text: &str) -> Result<Ms, String> {
    let wrong =
        || format!("`{text}` is not a valid duration; use a number and a unit, such as 90s, 15m or 1h30m");
    let mut rest = text.trim();
    let mut total: Ms = 0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let scale = match unit {
            "ms" => 1,
            "s" | "sec" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        let number: Ms = number.parse().map_err(|_| wrong())?;
        total = number.checked_mul(scale).and_then(|n| total.checked_add(n)).ok_or_else(wrong)?;
        rest = tail.trim_start();
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_durations_in_many_ways() {
        let cases = [("90s", 90_000), ("15m", 900_000), ("1h30m", 5_400_000), ("500ms", 500), ("2 d", -1)];
        for (text, ms) in cases {
            assert_eq!(parse_duration(text).unwrap_or(-1), ms, "{text}");
        }
        for bad in ["", "5", "m", "1x", "-1s", "1.5h", "99999999999999999999s", "9223372036854775807d"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
