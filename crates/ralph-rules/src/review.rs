//! A second pair of eyes: a fresh agent without write access reads proven work before the run ends. It can delay an end
//! and settle a grade that asks somebody to look; it never grants one. Each review counts for the files it read.

use crate::claim::Verdict;
use crate::guard::time;
use crate::next::{Wake, act, exit, interrupted, limits, person, wait};
use crate::objection::Objection;
use crate::record::{Decision, ReviewGiven, RunStarted};
use crate::state::{Review, State};
use crate::step::Step;

/// What is known of the reviewer's opinion.
#[derive(Debug)]
pub(crate) enum Opinion {
    /// There is no reviewer, or nothing to review.
    NotWanted,
    /// It is asked first.
    Ask(Decision),
    /// It has nothing against the end.
    Ships(Objection),
    /// It wants changes.
    Objects(Objection),
    /// It has no opinion of these files, for this reason: the grade decides alone.
    Missing(Objection),
}

/// The reviewer's opinion of the current files, which are proven.
pub(crate) fn opinion(state: &State) -> Opinion {
    let Some(start) = state.start.as_deref() else { return Opinion::NotWanted };
    let Some(given) = start.review.as_ref().filter(|_| state.trees.now != start.tree) else {
        return Opinion::NotWanted;
    };
    match state.reviews.of_tree(state.trees.now) {
        Some((round, review)) => match review.verdict {
            Some(Verdict::Ship) => Opinion::Ships(said(given, round, review)),
            Some(Verdict::Revise) => Opinion::Objects(said(given, round, review)),
            None => without(state, given, said(given, round, review)),
        },
        None => match unasked(state, start, given) {
            Some(why) => without(state, given, Objection::NotReviewed { why }),
            None => Opinion::Ask(ask(state, start, given)),
        },
    }
}

/// Whether the agent may still revise its work: a review is left to read that, the agent has not been told of the
/// objection before, and the run's limits allow another iteration.
pub(crate) fn may_revise(state: &State) -> bool {
    let Some(start) = state.start.as_deref() else { return false };
    let policy = &start.policy;
    let rounds = start.review.as_ref().map_or(0, |given| given.rounds);
    let news = |review: &Review| review.verdict.is_some() && review.iteration == state.calls.done;
    state.reviews.of_tree(state.trees.now).is_some_and(|(_, review)| news(review))
        && state.reviews.used() < rounds
        && state.calls.done < policy.max_iterations
        && state.budget.exhausted(policy).is_none()
        && time::over(state.ran, 0, policy).is_none()
}

/// An objection against earlier files stands until a reviewer withdraws it.
fn without(state: &State, given: &ReviewGiven, why: Objection) -> Opinion {
    match state.reviews.last_verdict().filter(|(_, review)| review.verdict == Some(Verdict::Revise)) {
        Some((round, review)) => Opinion::Objects(said(given, round, review)),
        None => Opinion::Missing(why),
    }
}

/// Why nobody is asked about these files.
fn unasked(state: &State, start: &RunStarted, given: &ReviewGiven) -> Option<String> {
    let policy = &start.policy;
    if state.person.accepted {
        return Some("a person accepted them".into());
    }
    if state.reviews.used() >= given.rounds {
        return Some(format!("the limit of {} is reached (review.rounds)", given.rounds));
    }
    let limit = state.budget.exhausted(policy).or_else(|| time::over(state.ran, 0, policy));
    limit.map(|limit| limit.say())
}

fn ask(state: &State, start: &RunStarted, given: &ReviewGiven) -> Decision {
    if let Some(signal) = state.person.stop.or(state.person.stop_after) {
        return exit(interrupted(signal), vec![person("stop")]);
    }
    if state.person.paused {
        return wait(Wake { at: None, ran: start.policy.max_time });
    }
    let step = Step::Admit {
        id: state.calls.next_review_id(),
        amount: state.budget.first_reservation(&start.policy),
        limits: limits(&start.policy),
        rung: state.ladder.rung,
        anyway: false,
        review: true,
    };
    let (agent, round, of) = (given.agent.name.clone(), state.reviews.used() + 1, given.rounds);
    act(step, vec![Objection::ReviewWanted { agent, round, of }])
}

/// A review as a reason.
pub fn said(given: &ReviewGiven, round: u32, review: &Review) -> Objection {
    let (agent, of) = (given.agent.name.clone(), given.rounds);
    match review.verdict {
        Some(Verdict::Ship) => Objection::ReviewShips { agent, round, of },
        Some(Verdict::Revise) => {
            Objection::ReviewObjects { agent, round, of, findings: review.findings.clone() }
        }
        None => Objection::ReviewUnanswered { agent, round, of, why: review.why.clone() },
    }
}
