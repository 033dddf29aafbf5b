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
    let why = match target.problem() {
        _ if entry.is_leased(now) => "being delivered".into(),
        Some(_) => "its target cannot be reached from here".into(),
        None if entry.attempts > 0 => retry(entry, waits, now),
        None if waits && entry.waits_for_quiet_hours() => {
            format!("quiet until {}", time_of_day(entry.row.due, &config.zone))
        }
        None if waits => format!("due in {}", brief(entry.row.due - now)),
        None => "due now".into(),
    };
    Some(why)
}

fn retry(entry: &OutboxEntry, waits: bool, now: Ms) -> String {
    let when = if waits { format!("in {}", brief(entry.row.due - now)) } else { "now".into() };
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

    #[test]
    fn every_reason_to_wait_is_named() {
        let here = Target { kind: Kind::Desktop };
        let address = Address::Variable("NOT_SET".into(), None);
        let format = crate::message::Format::Standard;
        let webhook = Webhook { address, secret_file: None, format, allow_private: false };
        let elsewhere = Target { kind: Kind::Webhook(webhook) };
        let config = Config {
            quiet: Quiet::of("22:00-07:00"),
            zone: "Europe/Berlin".into(),
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
            (kept(NOW + 6 * HOUR), "quiet until 07:00"),
            (kept(NOW), "due now"),
            (failed(3, NOW + 2 * MINUTE), "retry 3 of 10 in 2m: answered 503"),
            (failed(1, NOW + 4_200), "retry 1 of 10 in 5s: answered 503"),
            (failed(10, NOW + DAY), "retry 10 of 10 in 1d: answered 503"),
            (failed(8, NOW + 5 * HOUR + 1), "retry 8 of 10 in 6h: answered 503"),
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
