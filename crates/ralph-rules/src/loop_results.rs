//! The breaker of a loop that is not ralph's: a script records how each of its loops went (`ralph circuit record`), and
//! the guards of a run judge what was recorded.

use crate::analysis::Trend;
use crate::breaker::Breaker;
use crate::fingerprint::Fingerprint;
use crate::guard::Closed;
use crate::objection::Objection;
use crate::policy::Policy;
use serde::{Deserialize, Serialize};

/// Results that are kept, unless the thresholds need more.
const KEPT: usize = 100;

/// How one loop went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopResult {
    /// Files changed.
    pub progress: bool,
    /// The error it ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fingerprint>,
    /// Length of its output, where the script knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
}

/// The results recorded since the breaker was last closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopResults {
    /// How many were recorded.
    pub count: u32,
    /// The latest, oldest first.
    pub latest: Vec<LoopResult>,
}

/// What the guards say about recorded results.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The breaker.
    pub state: Breaker,
    /// Loops in a row without progress.
    pub without_progress: u32,
    /// Loops in a row with the same error.
    pub same_error: u32,
    /// What the breaker's state follows from, where it is not closed.
    pub reason: Option<Objection>,
}

impl LoopResults {
    /// Adds a result; old ones that no threshold needs are forgotten.
    pub fn add(&mut self, result: LoopResult, policy: &Policy) {
        self.count = self.count.saturating_add(1);
        self.latest.push(result);
        let breaker = &policy.breaker;
        let needed = breaker.half_open_after.saturating_add(breaker.open_after).max(breaker.same_error);
        let kept = KEPT.max(usize::try_from(needed).unwrap_or(usize::MAX));
        self.latest.drain(..self.latest.len().saturating_sub(kept));
    }

    /// What the guards of a run would say.
    pub fn judge(&self, policy: &Policy) -> Judged {
        let mut trend = Trend::default();
        let mut length = 0;
        for result in &self.latest {
            // A length that nobody measured counts as unchanged.
            length = result.output_bytes.unwrap_or(length);
            trend.closed(&Closed {
                progress: result.progress,
                agent_error: result.error.clone(),
                text_bytes: length,
                ..Closed::default()
            });
        }
        let (without_progress, same_error) = trend.running();
        let state = trend.breaker(policy);
        let reason = match state {
            Breaker::Closed => None,
            _ => {
                let idle = policy.breaker.half_open_after.saturating_add(policy.breaker.open_after);
                // Half open already, and now opened by something else.
                let other = state == Breaker::Open && without_progress < idle;
                let passed = |o: &Objection| other && matches!(o, Objection::NoProgress { .. });
                trend.objections(policy).into_iter().find(|objection| !passed(objection))
            }
        };
        Judged { state, without_progress, same_error, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Micro;
    use crate::policy::Decline;

    fn judged(results: &[(bool, &str, Option<u64>)], policy: &Policy) -> Judged {
        let mut all = LoopResults::default();
        for (progress, error, output_bytes) in results {
            let error = (!error.is_empty()).then(|| Fingerprint::of(error));
            all.add(LoopResult { progress: *progress, error, output_bytes: *output_bytes }, policy);
        }
        all.judge(policy)
    }

    #[test]
    fn recorded_loops_are_judged_by_the_guards_of_a_run() {
        let mut policy = Policy::strict(9, Micro(1));
        policy.breaker.decline = Decline::Open;
        let (idle, works) = ((false, "", None), (true, "", None));
        let same = (true, "error: no such file", None);
        let long = (true, "", Some(1_000));
        for (results, state) in [
            (vec![], Breaker::Closed),
            (vec![idle; 2], Breaker::Closed),
            (vec![idle; 3], Breaker::HalfOpen),
            (vec![idle; 4], Breaker::Open),
            (vec![idle, idle, idle, works], Breaker::Closed),
            (vec![same; 4], Breaker::Closed),
            (vec![same; 5], Breaker::Open),
            (vec![same, same, (true, "error: another one", None), same, same], Breaker::Closed),
            (vec![long, long, long, (true, "", Some(200))], Breaker::Open),
            (vec![long, long, long, works], Breaker::Closed),
        ] {
            assert_eq!(judged(&results, &policy).state, state, "{results:?}");
        }
    }

    #[test]
    fn the_reason_is_what_opened_it() {
        let policy = Policy::strict(9, Micro(1));
        let fails = (true, "error: no such file", None);
        let idle = (false, "error: no such file", None);
        let reason =
            |results: &[(bool, &str, Option<u64>)]| judged(results, &policy).reason.map(|r| r.code());
        assert_eq!(reason(&[(false, "", None); 4]).as_deref(), Some("no_progress"));
        assert_eq!(reason(&[fails, fails, idle, idle, idle]).as_deref(), Some("same_error"));
        assert_eq!(reason(&[fails]), None);
    }

    #[test]
    fn thresholds_above_what_is_kept_are_still_reached() {
        let mut policy = Policy::strict(9, Micro(1));
        (policy.breaker.half_open_after, policy.breaker.open_after) = (300, 20);
        assert_eq!(judged(&vec![(false, "", None); 319], &policy).state, Breaker::HalfOpen);
        assert_eq!(judged(&vec![(false, "", None); 320], &policy).state, Breaker::Open);
    }
}
