//! Whether another call may begin: limits, waits, pauses, then the reservation. What a run cannot know by itself (the
//! daily budget, the rate window, the disk) is checked by the step `Admit`.

use crate::ending::{Ending, Reason};
use crate::failure::{Class, Reaction};
use crate::grade::Grade;
use crate::guard::time::{self, Moment};
use crate::ladder;
use crate::next::{Wake, act, exit, interrupted, limits, person, verify, wait};
use crate::objection::Objection;
use crate::policy::{MINUTE, Policy};
use crate::record::{Attempt, Check, Decision, Ms, Refused, Refuser, RunStarted};
use crate::state::State;
use crate::step::Step;
use crate::stories;

/// Another call, a wait, or the end. `reasons` come from the verdict on the last iteration.
pub fn admission(state: &State, start: &RunStarted, mut reasons: Vec<Objection>) -> Decision {
    let policy = &start.policy;
    if let Some(decision) = stories::plan_first(state, start, &mut reasons) {
        return decision;
    }
    if let Some(decision) = baseline(state, policy) {
        return decision;
    }
    if let Some(signal) = state.person.stop.or(state.person.stop_after) {
        return exit(interrupted(signal), vec![person("stop")]);
    }
    if let Some(decision) = nothing_to_do(state) {
        return decision;
    }
    if let Some(decision) = unavailable(state).or_else(|| spent(state, policy)) {
        return decision;
    }
    if let Some(decision) = waiting(state, start) {
        return decision;
    }
    if state.person.paused {
        return wait(Wake { at: None, ran: policy.max_time });
    }
    let id = state.calls.next_id();
    if let Some(command) = state.checks.baseline_timed_out().filter(|_| state.calls.done == 0) {
        reasons.push(Objection::BaselineTimedOut { command: command.into() });
    }
    let rung = ladder::next_rung(state, start);
    reasons.extend(ladder::rung_change(state, start, rung));
    let anyway = state.person.skip_wait;
    act(
        Step::Admit {
            id,
            amount: state.budget.first_reservation(policy),
            limits: limits(policy),
            rung,
            anyway,
            review: false,
        },
        reasons,
    )
}

/// The verification before the first call. A run does not start if it times out (with a fallback it makes one iteration),
/// nor, unless it is to start anyway, if a command cannot run at all: no work of the agent could pass it.
fn baseline(state: &State, policy: &Policy) -> Option<Decision> {
    if let Some(command) = state.checks.baseline_timed_out().filter(|_| !policy.fallback) {
        let reasons = Objection::BaselineTimedOut { command: command.into() };
        return Some(exit(Ending::new(Reason::BaselineTimedOut, false), vec![reasons]));
    }
    if let Some((command, missing)) = state.checks.baseline_cannot_run().filter(|_| !policy.start_anyway) {
        let reasons = Objection::VerifyCannotRun { command: command.into(), missing: missing.clone() };
        return Some(exit(Ending::new(Reason::VerifyCannotRun, false), vec![reasons]));
    }
    let commands = state.commands().count();
    if commands == 0 || state.checks.baseline.is_some() {
        return None;
    }
    if let Some(signal) = state.person.stop.or(state.person.stop_after) {
        return Some(exit(interrupted(signal), vec![person("stop")]));
    }
    if let Some(late) = time::over(state.ran, 0, policy) {
        return Some(exit(Ending::new(Reason::TimeLimit, false), vec![late]));
    }
    let commands = u32::try_from(commands).unwrap_or(u32::MAX);
    Some(verify(Check::Baseline, policy, Objection::BaselineWanted { commands }))
}

/// The plan is complete before the first call and verification passes: the agent is not called at all.
fn nothing_to_do(state: &State) -> Option<Decision> {
    let untouched = state.calls.id == Attempt::default();
    let tasks =
        state.tasks.latest.as_ref().filter(|_| state.tasks.pending() == Some(0)).map(|seen| seen.done);
    let done = tasks.or_else(|| state.stories.complete())?;
    (untouched && state.checks.baseline_green())
        .then(|| Ending::new(Reason::AlreadyComplete, true).graded(Grade::Unbroken))
        .map(|ending| exit(ending, vec![Objection::PlanComplete { done }]))
}

/// Failures that waiting cannot fix.
fn unavailable(state: &State) -> Option<Decision> {
    let fault = state.faults.last.as_ref()?;
    if fault.class.reaction() != Reaction::Stop || state.faults.forgiven {
        return None;
    }
    let reasons = Objection::CallFailed {
        class: fault.class,
        message: fault.message.clone(),
        running: state.faults.running,
    };
    Some(exit(Ending::new(Reason::AgentUnavailable, false), vec![reasons]))
}

/// The run's own limits: cost, time, iterations.
fn spent(state: &State, policy: &Policy) -> Option<Decision> {
    let verified = state.checks.passed();
    let stop = |reason, reasons| Some(exit(Ending::new(reason, verified), vec![reasons]));
    if let Some(reasons) = state.budget.exhausted(policy) {
        return stop(Reason::CostLimit, reasons);
    }
    if let Some(reasons) = time::over(state.ran, 0, policy) {
        return stop(Reason::TimeLimit, reasons);
    }
    let (used, max) = (state.calls.done, most_iterations(state, policy));
    (used >= max).then(|| {
        exit(Ending::new(Reason::MaxIterations, verified), vec![Objection::IterationsReached { used, max }])
    })
}

/// The limit of iterations: one, where the run only falls back to it.
fn most_iterations(state: &State, policy: &Policy) -> u32 {
    match state.checks.baseline_timed_out() {
        Some(_) if policy.fallback => policy.max_iterations.min(1),
        _ => policy.max_iterations,
    }
}

/// A wait after a provider failure, a crash, or for `pause_between`.
fn waiting(state: &State, start: &RunStarted) -> Option<Decision> {
    let policy = &start.policy;
    let fault = state.faults.last.as_ref();
    let (since, until) = match (fault, state.faults.wait_until(&start.run)) {
        (Some(fault), Some(until)) => (Moment { at: fault.at, ran: fault.ran }, until),
        _ if policy.pause_between > 0 && state.calls.done > 0 => {
            (state.calls.closed, state.calls.closed.at + policy.pause_between)
        }
        _ => return None,
    };
    if since.waited(until, state.now()) || state.person.skip_wait {
        return None;
    }
    let provider = fault.map(|f| f.class).filter(|class| class.reaction() == Reaction::Wait);
    if let Some(class) = provider {
        if !state.faults.wait_fits(since, until, policy) {
            let reasons = Objection::WaitTooLong { until, max_wait: policy.max_wait };
            return Some(exit(gave_up(class), vec![failed(state), reasons]));
        }
        if policy.no_wait {
            let reasons = Objection::NoWait { until: Some(until) };
            return Some(exit(gave_up(class), vec![failed(state), reasons]));
        }
    }
    Some(wait_until(state, policy, since, until))
}

fn failed(state: &State) -> Objection {
    match &state.faults.last {
        Some(f) => Objection::CallFailed {
            class: f.class,
            message: f.message.clone(),
            running: state.faults.running,
        },
        None => Objection::NoClaim,
    }
}

fn gave_up(class: Class) -> Ending {
    let reason = match class {
        Class::UsageLimit | Class::RateLimited => Reason::RateLimit,
        _ => Reason::AgentUnavailable,
    };
    Ending::new(reason, false)
}

/// Waits, or stops at once if the wait would end after the time limit.
fn wait_until(state: &State, policy: &Policy, since: Moment, until: Ms) -> Decision {
    if let Some(late) = time::over(state.ran, until - state.at, policy) {
        return exit(Ending::new(Reason::TimeLimit, state.checks.passed()), vec![late]);
    }
    let awake = since.awake_until(until);
    wait(Wake { at: Some(until), ran: Some(policy.max_time.map_or(awake, |max| max.min(awake))) })
}

/// The reservation was refused: a wait, or the end.
pub fn refused(state: &State, start: &RunStarted, refused: &Refused) -> Decision {
    if let Some(signal) = state.person.stop.or(state.person.stop_after) {
        return exit(interrupted(signal), vec![person("stop")]);
    }
    let (total, cap) = (crate::money::Micro(refused.total), crate::money::Micro(refused.cap));
    match refused.by {
        Refuser::RunCap => exit(
            Ending::new(Reason::CostLimit, state.checks.passed()),
            vec![Objection::CostReached { spent: total, cap }],
        ),
        // Other runs have used part of the daily budget in the meantime: reserve less.
        Refuser::DayCap if refused.total < refused.cap => admission(state, start, Vec::new()),
        Refuser::DayCap => exit(
            Ending::new(Reason::DailyBudget, state.checks.passed()),
            vec![Objection::DayReached { spent: total, cap }],
        ),
        Refuser::Disk | Refuser::Store => exit(
            Ending::new(Reason::StoreUnsafe, false),
            vec![Objection::StoreUnsafe { what: refused.what.clone() }],
        ),
        Refuser::CallsPerHour | Refuser::TokensPerHour | Refuser::Provider => full(state, start, refused),
        // The request itself was handled above.
        Refuser::Person => admission(state, start, Vec::new()),
    }
}

/// The rate window is full, or the provider is known to fail: wait, unless `no_wait` is set or it would take too long.
fn full(state: &State, start: &RunStarted, refused: &Refused) -> Decision {
    let (policy, since) = (&start.policy, state.refused_at);
    // A time in the past would make the run ask again immediately, forever.
    let until = refused.until.filter(|at| *at > since.at).unwrap_or(since.at + MINUTE);
    if since.waited(until, state.now()) || state.person.skip_wait {
        return admission(state, start, Vec::new());
    }
    let class = refused.class.filter(|_| refused.by == Refuser::Provider);
    let (fits, why, ending) = match class {
        Some(class) => (
            state.faults.wait_fits(since, until, policy),
            Objection::ProviderHeld { class, what: refused.what.clone(), until: refused.until },
            gave_up(class),
        ),
        None => (
            until - since.at <= policy.max_wait,
            Objection::RateWindow { used: refused.total, cap: refused.cap, until: refused.until },
            Ending::new(Reason::RateLimit, false),
        ),
    };
    if policy.no_wait {
        return exit(ending, vec![why, Objection::NoWait { until: Some(until) }]);
    }
    if !fits {
        return exit(ending, vec![why, Objection::WaitTooLong { until, max_wait: policy.max_wait }]);
    }
    wait_until(state, policy, since, until)
}
