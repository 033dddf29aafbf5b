//! Parses values from the command line and from variables: numbers, money, durations, sizes, the promise.

use crate::config::parse_duration;
use ralph_rules::money::Micro;
use ralph_rules::record::Ms;

/// A whole number above zero.
pub fn count(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|n| *n > 0);
    number.ok_or_else(|| "use a whole number above 0, such as 10".into())
}

/// A whole number; zero means no limit.
pub fn count_or_none(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "use a whole number, such as 100; 0 means no limit".into())
}

/// `5`, `5.00` or `$5`.
pub fn money(text: &str) -> Result<Micro, String> {
    let number = text.trim().trim_start_matches('$').parse::<f64>().ok();
    let amount = number.and_then(Micro::from_usd).filter(|amount| *amount > Micro::ZERO);
    amount.ok_or_else(|| "use an amount in dollars above 0, such as 5 or 2.50".into())
}

/// `90s`, `15m`, `1h30m`; never zero.
pub fn span(text: &str) -> Result<Ms, String> {
    match parse_duration(text)? {
        0 => Err("a duration must be above 0; use a number and a unit, such as 90s, 15m or 1h30m".into()),
        ms => Ok(ms),
    }
}

/// `500MB`, `5GB`, `1.5GiB`, `800B`; a unit is required, except for 0.
pub fn size(text: &str) -> Result<u64, String> {
    let text = text.trim().to_ascii_uppercase();
    let binary =
        [("TIB", 40), ("GIB", 30), ("MIB", 20), ("KIB", 10)].map(|(name, bits)| (name, 2f64.powi(bits)));
    let decimal = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];
    let split =
        binary.into_iter().chain(decimal).find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)));
    let amount = |text: &str| text.trim().parse::<f64>().ok();
    let bytes = match split {
        Some((number, unit)) => amount(number).map(|number| number * unit),
        None => amount(&text).filter(|number| *number == 0.0),
    };
    let bytes = bytes.filter(|bytes| bytes.is_finite() && (0.0..1e15).contains(bytes));
    let missing = || match split.is_none() && amount(&text).is_some_and(f64::is_finite) {
        true => format!("the unit is missing; write {text}MB or {text}GB"),
        false => "use a number and a unit, such as 500MB or 5GB".into(),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
    bytes.map(|bytes| bytes as u64).ok_or_else(missing)
}

/// The completion promise's inner text; a full tag is accepted.
pub fn promise(text: &str) -> Result<String, String> {
    let inner = text.trim();
    let inner =
        inner.strip_prefix("<promise>").and_then(|t| t.strip_suffix("</promise>")).unwrap_or(inner).trim();
    match inner {
        "" => Err("a promise needs a text, such as COMPLETE".into()),
        _ if inner.contains(['\n', '\r', '<', '>']) => {
            Err("a promise must be one line without < and >".into())
        }
        _ => Ok(inner.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("5GB", 5_000_000_000),
            (" 1.5 mb ", 1_500_000),
            ("12B", 12),
            ("3b", 3),
            ("0", 0),
            ("8GiB", 8 << 30),
            ("1 kib", 1024),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "GB", "-1MB", "5TBs", "NaN", "1e30GB", "12", "inf"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(size("5"), Err("the unit is missing; write 5MB or 5GB".into()));
    }

    #[test]
    fn amounts_are_above_zero_and_finite() {
        for (text, micro) in [("5", 5_000_000), ("$2.50", 2_500_000), (" 0.01 ", 10_000), ("1e1", 10_000_000)]
        {
            assert_eq!(money(text), Ok(Micro(micro)), "{text}");
        }
        for bad in ["", "0", "-1", "NaN", "inf", "1e400", "1e18", "abc", "5 USD", "0.0000001"] {
            assert!(money(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_and_times_are_above_zero() {
        assert_eq!((count("10"), count_or_none("0"), span("90s")), (Ok(10), Ok(0), Ok(90_000)));
        for bad in ["", "0", "-1", "1.5", "abc", "99999999999"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        for bad in ["", "0s", "5", "-1s", "1.5h"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_promise_is_its_inner_text() {
        for text in ["DONE", " DONE ", "<promise>DONE</promise>", "<promise> DONE </promise>\n"] {
            assert_eq!(promise(text).as_deref(), Ok("DONE"), "{text}");
        }
        for bad in ["", " ", "<promise></promise>", "a\nb", "<promise>DONE"] {
            assert!(promise(bad).is_err(), "{bad}");
        }
    }
}
