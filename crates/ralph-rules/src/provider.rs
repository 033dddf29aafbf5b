//! A provider's availability, shared by all runs of a user: when one run meets a limit or an outage, the others do not
//! call until it is over. Open until a time, then half-open: one run at a time tries, and a success closes it. The engine
//! stores it; `failure.rs` is what a single run remembers.

use crate::failure::{Class, Fault, Reaction, backoff, jitter};
use crate::policy::{MINUTE, SECOND};
use crate::record::Ms;
use serde::{Deserialize, Serialize};

/// A clock this much behind the moment a failure was noted was set back since.
const CLOCK_SLACK: Ms = MINUTE;
/// Runs that were held by another's failure come back at least this much apart from it, on average.
const SPREAD: Ms = 5 * SECOND;

/// State of a failing provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// How it failed last.
    pub class: Class,
    /// In the agent's words.
    #[serde(default)]
    pub message: String,
    /// Which run met it last.
    pub run: String,
    /// Failures since it last worked, of all runs.
    pub fails: u32,
    /// The first of them.
    pub since: Ms,
    /// The last one.
    pub at: Ms,
    /// When it may be tried again.
    pub until: Ms,
    /// The provider itself named that time.
    #[serde(default)]
    pub promised: bool,
}

impl Provider {
    /// The provider's state after this failure; none if the failure is not the provider's.
    pub fn failed(before: Option<&Provider>, fault: &Fault, run: &str) -> Option<Provider> {
        if fault.class.reaction() != Reaction::Wait {
            return None;
        }
        let fails = before.map_or(0, |p| p.fails).saturating_add(1);
        let reset = fault.reset_at.filter(|reset| *reset > fault.at);
        let later = fault.at.saturating_add(SECOND + jitter(run, fails, backoff(fails)));
        // A failure on the way does not shorten what the provider itself has named.
        let named = before.filter(|p| p.promised && p.until > fault.at).map(|p| p.until);
        let until = reset.unwrap_or(later).max(named.unwrap_or(Ms::MIN));
        Some(Provider {
            class: fault.class,
            message: fault.message.clone(),
            run: run.into(),
            fails,
            since: before.map_or(fault.at, |p| p.since),
            at: fault.at,
            until,
            promised: reset.is_some() || named.is_some(),
        })
    }

    /// Until when this run must leave it alone; none: it may be tried, by one run at a time.
    pub fn holds(&self, run: &str, now: Ms) -> Option<Ms> {
        // A clock that was set back would prolong the wait, so the provider is tried again.
        let set_back = now < self.at.saturating_sub(CLOCK_SLACK);
        if set_back || now >= self.until {
            return None;
        }
        let spread = ((self.until - now) / 10).clamp(SPREAD, MINUTE);
        Some(self.until.saturating_add(SECOND + jitter(run, self.fails, spread)))
    }

    /// When to look again while another run tries: soon, and not all at once.
    pub fn look_again(run: &str, now: Ms) -> Ms {
        let moment = u32::try_from(now.div_euclid(SECOND) & 0xffff_ffff).unwrap_or(0);
        now.saturating_add(SPREAD + jitter(run, moment, 2 * SPREAD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Ms = 1_794_729_600_000;
    const HOUR: Ms = 60 * MINUTE;

    fn fault(class: Class, at: Ms, reset_at: Option<Ms>) -> Fault {
        Fault { class, message: "it failed".into(), reset_at, at, ran: 0 }
    }

    #[test]
    fn only_what_waiting_may_heal_is_shared() {
        for class in [Class::Auth, Class::Billing, Class::BadRequest, Class::Aborted, Class::MaxTurns] {
            assert_eq!(Provider::failed(None, &fault(class, NOW, None), "a"), None, "{class:?}");
        }
        for class in [Class::UsageLimit, Class::RateLimited, Class::Outage, Class::Network] {
            assert!(Provider::failed(None, &fault(class, NOW, None), "a").is_some(), "{class:?}");
        }
    }

    #[test]
    fn a_named_reset_holds_every_run_and_they_come_back_apart() {
        let known = Provider::failed(None, &fault(Class::UsageLimit, NOW, Some(NOW + HOUR)), "a").unwrap();
        assert_eq!(known.until, NOW + HOUR);
        let back: Vec<Ms> = ["b", "c", "d"].map(|run| known.holds(run, NOW).unwrap()).into();
        for until in &back {
            assert!((NOW + HOUR + SECOND..=NOW + HOUR + MINUTE + SECOND).contains(until), "{until}");
        }
        assert!(back[0].abs_diff(back[1]) >= 1_000 && back[1].abs_diff(back[2]) >= 1_000, "{back:?}");
        assert_eq!(known.holds("b", NOW + HOUR), None, "then it may be tried");
    }

    #[test]
    fn failures_of_all_runs_lengthen_the_back_off_and_never_shorten_a_named_time() {
        let mut known = Provider::failed(None, &fault(Class::Outage, NOW, None), "a").unwrap();
        assert!(known.until <= NOW + 6 * SECOND + SECOND);
        for n in 1..40 {
            let at = known.until + n;
            known = Provider::failed(Some(&known), &fault(Class::Outage, at, None), "b").unwrap();
            assert!((at + SECOND..=at + 15 * MINUTE + SECOND).contains(&known.until));
        }
        assert_eq!((known.fails, known.since), (40, NOW));
        let at = known.at + 1;
        let limit =
            Provider::failed(Some(&known), &fault(Class::UsageLimit, at, Some(at + HOUR)), "a").unwrap();
        let storm = Provider::failed(Some(&limit), &fault(Class::RateLimited, at + 5, None), "b").unwrap();
        assert_eq!(storm.until, at + HOUR);
        let after = Provider::failed(Some(&storm), &fault(Class::Outage, at + HOUR, None), "b").unwrap();
        assert!(after.until > at + HOUR && !after.promised);
    }

    #[test]
    fn a_clock_set_back_a_day_does_not_prolong_it_by_a_day() {
        let known = Provider::failed(None, &fault(Class::UsageLimit, NOW, Some(NOW + HOUR)), "a").unwrap();
        assert_eq!(known.holds("b", NOW - 24 * HOUR), None, "one run tries");
        assert_eq!(known.holds("b", NOW + 30 * HOUR), None);
    }
}
