//! Why a note waits, in a few words.

use crate::config::Config;
use crate::retry::RETRIES;
use crate::upkeep::REMOVED;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ralph_rules::record::Ms;
use ralph_store::{OutboxEntry, OutboxState};

const MINUTE: Ms = 60_000;
const HOUR: Ms = 60 * MINUTE;
const DAY: Ms = 24 * HOUR;

/// Why a note waits; none if it does not wait any more.
pub fn why_waiting(entry: &OutboxEntry, config: &Config, now: Ms) -> Option<String> {
    if entry.state != OutboxState::Pending {
        return None;
    }
    let Some(target) = config.target(&entry.row.target) else { return Some(REMOVED.into()) };
    let waits = !entry.can_be_leased(now, None);
    let quiet = || config.kept_until(target, if waits { entry.row.due } else { now });
    let quiet = quiet().map(|end| format!("quiet until {}", time_of_day(end, &config.zone)));
    let why = match (target.problem(), quiet) {
        _ if entry.is_leased(now) => "being delivered".into(),
        (Some(_), _) => "its target cannot be reached from here".into(),
        (None, quiet) if entry.attempts > 0 => {
            let when = || if waits { format!("in {}", brief(entry.row.due - now)) } else { "now".into() };
            retry(entry, &quiet.unwrap_or_else(when))
        }
        (None, Some(quiet)) => quiet,
        (None, None) if waits && entry.waits_for_quiet_hours() => {
            format!("quiet until {}", time_of_day(entry.row.due, &config.zone))
        }
        (None, None) if waits => format!("due in {}", brief(entry.row.due - now)),
        (None, None) => "due now".into(),
    };
    Some(why)
}

/// When a note is delivered if somebody is there: when it is due, or at the end of the quiet hours in which it is due.
pub fn next_attempt_of(entry: &OutboxEntry, config: &Config, now: Ms) -> Option<Ms> {
    let due = entry.row.due;
    let kept = |target| config.kept_until(target, due.max(now));
    (entry.state == OutboxState::Pending)
        .then(|| config.target(&entry.row.target).and_then(kept).unwrap_or(due))
}

fn retry(entry: &OutboxEntry, when: &str) -> String {
    let answer = entry.answer.as_deref().unwrap_or("no answer");
    format!("retry {} of {RETRIES} {when}: {answer}", entry.attempts)
}

fn time_of_day(at: Ms, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let moment = Timestamp::from_millisecond(at).unwrap_or_default();
    moment.to_zoned(zone).strftime("%H:%M").to_string()
}

/// A time to wait in its largest unit, rounded up: it is not over before.
fn brief(ms: Ms) -> String {
    let up = |unit: Ms| ms.max(0).saturating_add(unit - 1) / unit;
    match ms {
        ..MINUTE => format!("{}s", up(1_000)),
        MINUTE..HOUR => format!("{}m", up(MINUTE)),
        HOUR..DAY => format!("{}h", up(HOUR)),
        _ => format!("{}d", up(DAY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quiet::Quiet;
    use crate::target::{Address, Kind, Target, Webhook};
    use ralph_store::OutboxRow;

    const NOW: Ms = 1_794_700_800_000; // 2026-11-15T00:00:00Z

    /// A configuration with quiet hours, and what a row looks like: written before them, for this target.
    fn quiet_config() -> (Config, OutboxEntry) {
        let here = Target { kind: Kind::Desktop };
        let row = OutboxRow { target: here.id(), at: NOW - HOUR, due: NOW - HOUR, ..OutboxRow::default() };
        let config = Config {
            quiet: Quiet::of("22:00-07:00"),
            zone: "UTC".into(),
            targets: vec![here],
            ..Config::default()
        };
        (config, OutboxEntry { row, ..OutboxEntry::default() })
    }

    #[test]
    fn what_is_due_in_quiet_hours_waits_for_their_end_and_says_so() {
        let (config, fresh) = quiet_config();
        let due = |entry: &OutboxEntry, due: Ms| {
            let row = OutboxRow { due, ..entry.row.clone() };
            OutboxEntry { row, ..entry.clone() }
        };
        let answer = Some("answered 503".into());
        let failed = OutboxEntry { attempts: 2, tried: Some(NOW - HOUR), answer, ..fresh.clone() };
        let evening = NOW - 2 * HOUR - 60_000; // 21:59 of the day before
        let table = [
            (&fresh, NOW, "quiet until 07:00", 7 * HOUR),
            (&failed, NOW, "retry 2 of 10 quiet until 07:00: answered 503", 7 * HOUR),
            (&due(&failed, NOW - HOUR), evening, "retry 2 of 10 quiet until 07:00: answered 503", 7 * HOUR),
            (&due(&failed, NOW + 8 * HOUR), NOW, "retry 2 of 10 in 8h: answered 503", 8 * HOUR),
            (&fresh, NOW + 7 * HOUR, "due now", -HOUR),
        ];
        for (entry, now, why, at) in table {
            assert_eq!(why_waiting(entry, &config, now).as_deref(), Some(why), "{entry:?}");
            assert_eq!(next_attempt_of(entry, &config, now), Some(NOW + at), "{why}");
        }
        let url = ralph_engine::redact::Secret::new("https://example.org/v1/traces");
        let traces = crate::target::Traces { endpoint: url, headers: Vec::new(), problem: None };
        let traces = Target { kind: Kind::Traces(traces) };
        assert_eq!(config.kept_until(&traces, NOW), None, "a trace disturbs nobody");
    }

    #[test]
    fn every_reason_to_wait_is_named() {
        let here = Target { kind: Kind::Desktop };
        let address = Address::Variable("NOT_SET".into(), None);
        let format = crate::message::Format::Standard;
        let webhook = Webhook { address, secret_file: None, format, allow_private: false };
        let elsewhere = Target { kind: Kind::Webhook(webhook) };
        let config = Config {
            quiet: Quiet::of("22:00-07:00"),
            zone: "America/New_York".into(),
            targets: vec![here.clone(), elsewhere.clone()],
            ..Config::default()
        };
        let row = |due: Ms| OutboxRow { target: here.id(), at: NOW, due, ..OutboxRow::default() };
        let entry = |row: OutboxRow| OutboxEntry { row, ..OutboxEntry::default() };
        let kept = |due: Ms| entry(OutboxRow { digest: Some("night".into()), ..row(due) });
        let failed = |attempts, due: Ms| {
            let answer = Some("answered 503".into());
            OutboxEntry { attempts, answer, tried: Some(NOW), ..entry(row(due)) }
        };
        let of = |target: &str| entry(OutboxRow { target: target.into(), ..row(NOW) });
        let table = [
            (entry(row(NOW)), "due now"),
            (kept(NOW + 12 * HOUR), "quiet until 07:00"),
            (kept(NOW), "due now"),
            (failed(3, NOW + 2 * MINUTE), "retry 3 of 10 in 2m: answered 503"),
            (failed(1, NOW + 4_200), "retry 1 of 10 in 5s: answered 503"),
            (failed(10, NOW + DAY), "retry 10 of 10 in 1d: answered 503"),
            (failed(8, NOW + 2 * HOUR + 1), "retry 8 of 10 in 3h: answered 503"),
            (failed(3, NOW), "retry 3 of 10 now: answered 503"),
            (of("webhook-removed"), "target removed"),
            (of(&elsewhere.id()), "its target cannot be reached from here"),
            (OutboxEntry { leased_until: Some(NOW + 9), ..entry(row(NOW)) }, "being delivered"),
            (entry(row(NOW + 30_000)), "due in 30s"),
        ];
        for (entry, why) in table {
            assert_eq!(why_waiting(&entry, &config, NOW).as_deref(), Some(why), "{entry:?}");
        }
        let sent = OutboxEntry { state: OutboxState::Sent, ..entry(row(NOW)) };
        assert_eq!(why_waiting(&sent, &config, NOW), None);
    }
}
