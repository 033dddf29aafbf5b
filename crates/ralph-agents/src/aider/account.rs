//! The line with which Aider accounts for an answer: `Tokens: 12k sent, 1.2k cache hit, 50 received. Cost: $0.01
//! message, $0.02 session.` Its numbers are rounded, and the cost is only there where it knows the model's price.

use ralph_rules::money::{Micro, Usage};

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Tokens of this answer.
    pub usage: Usage,
    /// Cost of this answer.
    pub message: Option<Micro>,
    /// Cost of the whole call so far.
    pub session: Option<Micro>,
}

impl Account {
    /// Reads the line; none where it is another one.
    pub fn read(line: &str) -> Option<Account> {
        let (tokens, cost) = line.strip_prefix("Tokens: ")?.split_once(" received.")?;
        let mut usage = Usage::default();
        let mut parts = tokens.split(", ").peekable();
        while let Some(part) = parts.next() {
            let (count, kind) = part.split_once(' ').unwrap_or((part, ""));
            let count = rounded(count)?;
            match kind {
                "sent" => usage.input = count,
                "cache hit" => usage.cache_read = count,
                "cache write" => usage.cache_write = count,
                // The last one's name is what the line was split at.
                "" if parts.peek().is_none() => usage.output = count,
                _ => return None,
            }
        }
        // What was sent counts what the cache had.
        usage.input = usage.input.saturating_sub(usage.cache_read);
        let mut amounts = cost.split('$').skip(1).map(|amount| {
            let amount = amount.split(' ').next().unwrap_or(amount);
            amount.parse().ok().and_then(Micro::from_usd)
        });
        let (message, session) = (amounts.next().flatten(), amounts.next().flatten());
        Some(Account { usage, message, session })
    }
}

/// `50`, `1.2k`, `12k`.
fn rounded(count: &str) -> Option<u64> {
    let (number, scale) = match count.strip_suffix('k') {
        Some(number) => (number, 1000.0),
        None => (count, 1.0),
    };
    let number: f64 = number.parse().ok().filter(|n| (0.0..1e12).contains(n))?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded just above
    Some((number * scale).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_read_as_rounded_as_it_is() {
        let usage = |input, cache_read, output| Usage { input, cache_read, output, cache_write: 0 };
        for (line, usage, message, session) in [
            ("Tokens: 1.0k sent, 50 received.", usage(1000, 0, 50), None, None),
            (
                "Tokens: 12k sent, 1.2k cache hit, 999 received. Cost: $0.0032 message, $0.05 session.",
                usage(10_800, 1200, 999),
                Some(Micro(3200)),
                Some(Micro(50_000)),
            ),
            ("Tokens: 5 sent, 5 received. Cost: $0.01", usage(5, 0, 5), Some(Micro(10_000)), None),
        ] {
            assert_eq!(Account::read(line), Some(Account { usage, message, session }), "{line}");
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "Tokens: many",
            "Tokens: 5 sent",
            " Tokens: 5 sent, 5 received.",
            "Tokens: x sent, 5 received.",
            "Tokens: 5 sent, 7, 5 received.",
            "Tokens: 5 lost, 5 received.",
        ] {
            assert_eq!(Account::read(line), None, "{line}");
        }
    }
}
