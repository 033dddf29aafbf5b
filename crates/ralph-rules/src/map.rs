//! Whether the change is mapped before a run exits: which of its hunks does a check notice? The answer is for whoever
//! reviews the work; it changes neither the grade nor the ending.

use crate::ending::Reason;
use crate::grade::Grade;
use crate::guard::time;
use crate::next::{Next, act};
use crate::objection::Objection;
use crate::policy::Policy;
use crate::record::Decision;
use crate::state::State;
use crate::step::Step;

/// The decision on graded work, or the map that comes before it.
pub(crate) fn map_first(state: &State, policy: &Policy, decision: Decision) -> Decision {
    let graded = match &decision.next {
        Next::Exit(ending) => {
            ending.grade.is_some_and(|grade| grade > Grade::Unclear) && ending.reason != Reason::Accepted
        }
        // A reviewer is called for graded work only, and should read the map.
        Next::Do(Step::Admit { .. }) => true,
        _ => false,
    };
    if !graded || state.person.stop.is_some() || time::over(state.ran, 0, policy).is_some() {
        return decision;
    }
    match policy.map_time.limit(state.checks.spent).filter(|time| *time > 0 && wanted(state)) {
        Some(time) => {
            let deadline = policy.verify_timeout;
            act(Step::Map { time, deadline }, vec![Objection::MapWanted { time }])
        }
        None => decision,
    }
}

/// Something changed that a check could notice, and it was not mapped yet.
fn wanted(state: &State) -> bool {
    let compared = state.proof.of_tree(state.trees.now);
    let any = |c: &crate::record::Compared| (c.work.any() || c.ambiguous.any()) && !c.docs_only;
    compared.is_some_and(any) && state.proof.map().is_none()
}
