//! One wording for every number, fact and decision, shared by the live lines, `explain`, `status` and `replay`.

use crate::plain::plain;
use jiff::tz::TimeZone;
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Why};
use ralph_rules::objection::{Objection, span};
use ralph_rules::record::{
    CallEnded, Check, CheckOutcome, Inspected, Ms, PlanSeen, PriceFrom, Refused, Refuser, Request, Seen,
    Verified, Violation,
};
use ralph_rules::step::Step;

/// Names of files shown.
const NAMES: usize = 6;
/// Protected paths named on a screen.
const TOUCHED: usize = 50;

/// An amount; `~` marks one that is not wholly known.
pub fn money(micro: i64, complete: bool) -> String {
    format!("{}{}", if complete { "" } else { "~" }, Micro(micro))
}

/// `0.4s`, `12s`, `3m05s`, `1h02m`.
pub fn seconds(ms: Ms) -> String {
    match ms {
        ..10_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        10_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        _ => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// `just now`, `5m ago`.
pub fn ago(ms: Ms) -> String {
    match ms {
        ..60_000 => "just now".into(),
        60_000..3_600_000 => format!("{}m ago", ms / 60_000),
        3_600_000..172_800_000 => format!("{}h ago", ms / 3_600_000),
        _ => format!("{}d ago", ms / 86_400_000),
    }
}

/// The time of day in the run's zone.
pub fn clock_time(at: Ms, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    match jiff::Timestamp::from_millisecond(at) {
        Ok(moment) => moment.to_zoned(zone).strftime("%H:%M:%S").to_string(),
        Err(_) => "--:--:--".into(),
    }
}

/// What the rules answered.
pub fn decision_words(next: &Next) -> String {
    match next {
        Next::Do(step) => step_words(step),
        Next::Interrupt(why) => format!("end what is under way: {}", why_words(*why)),
        Next::Wait { .. } => "wait".into(),
        Next::Exit(ending) => format!("end with {} (exit {})", ending.name(), ending.exit_code()),
    }
}

fn step_words(step: &Step) -> String {
    match step {
        Step::Admit { id, amount, .. } => format!("prepare iteration {}, reserve {amount}", id.iteration),
        Step::Call { id, rung, .. } => {
            let attempt = if id.attempt > 1 { format!(" attempt {}", id.attempt) } else { String::new() };
            let rung = if *rung > 0 { format!(", rung {rung}") } else { String::new() };
            format!("call the agent, iteration {}{attempt}{rung}", id.iteration)
        }
        Step::Extend { to, .. } => format!("raise the reservation to {to}"),
        Step::Inspect { .. } => "inspect the workspace".into(),
        Step::Restore { paths } => format!("put {} protected paths back", paths.len()),
        Step::Verify { check: Check::Baseline, .. } => "verify before the first iteration".into(),
        Step::Verify { check: Check::AsIs, .. } => "verify".into(),
        Step::Verify { check: Check::WithBaselineOracle, .. } => "verify with the tests as they were".into(),
        Step::Recover { id, .. } => format!("find out what became of call {id}"),
    }
}

fn why_words(why: Why) -> &'static str {
    match why {
        Why::Person => "a person asked",
        Why::Deadline => "the call's time is up",
        Why::Time => "the run's time is up",
        Why::Silence => "it is silent",
        Why::Budget => "the money is used up",
    }
}

/// Why, for a terminal.
pub fn reason_words(reason: &Objection) -> String {
    plain(&reason.say())
}

/// What was seen, in lines, for a terminal.
pub fn fact_words(seen: &Seen) -> Vec<String> {
    facts(seen).iter().map(|line| plain(line)).collect()
}

fn facts(seen: &Seen) -> Vec<String> {
    match seen {
        Seen::RunStarted(start) => {
            let from = if start.prompt_from == "argument" { "the command line" } else { &start.prompt_from };
            let run = format!(
                "run started: task from {from}, agent {}, at most {} iterations and {}",
                start.agent.name, start.policy.max_iterations, start.policy.max_cost
            );
            let plan = start.plan.as_ref().map(|given| plan_words(&given.file, &given.seen));
            std::iter::once(run).chain(plan).collect()
        }
        Seen::Resumed(_) => vec!["resumed".into()],
        Seen::PolicyChanged(changed) => vec![format!(
            "limits changed: at most {} iterations and {}",
            changed.policy.max_iterations, changed.policy.max_cost
        )],
        Seen::Woke => Vec::new(),
        Seen::Admitted(admitted) => {
            let mistake = admitted.template_failed.as_ref();
            let mistake = mistake.map(|m| format!("a template failed, ralph's own was used: {m}"));
            std::iter::once(format!("{} reserved", admitted.grant)).chain(mistake).collect()
        }
        Seen::Refused(refused) => vec![refused_words(refused)],
        Seen::Extended(extended) => vec![format!("reservation raised to {}", extended.to)],
        Seen::Spent(spent) => vec![format!("{} used so far in this call", spent.total)],
        Seen::Silent(silent) => vec![format!("silent for {}", span(silent.ms))],
        Seen::CallEnded(call) => call_words(call),
        Seen::CallLost(lost) => vec![format!("the call was lost, {} booked", lost.charged)],
        Seen::Inspected(seen) => inspected_words(seen),
        Seen::Restored(restored) => {
            let (back, left) = (restored.restored.len(), restored.left.len());
            let kept =
                if restored.quarantine.is_some() { "; `ralph quarantine show` tells more" } else { "" };
            vec![format!("{back} protected paths put back, {left} left{kept}")]
        }
        Seen::Verified(verified) => verified_words(verified),
        Seen::Asked(asked) => vec![match &asked.request {
            Request::Stop { after: true, .. } => "a person asked to stop after this iteration".into(),
            Request::Stop { .. } => "a person asked to stop".into(),
            Request::Pause => "a person asked to pause".into(),
            Request::Continue => "a person asked to go on".into(),
            Request::Hint { text } => format!("a person gave a hint: {text}"),
        }],
    }
}

/// Who said no, and to what.
fn refused_words(refused: &Refused) -> String {
    let Refused { total, cap, what, .. } = refused;
    match (refused.by, refused.class) {
        (Refuser::Provider, Some(class)) => format!("not called: {} ({what})", class.words()),
        (Refuser::Provider | Refuser::Disk | Refuser::Store, _) => format!("refused: {what}"),
        (Refuser::CallsPerHour, _) => format!("{total} of {cap} calls an hour are used, over all runs"),
        (Refuser::TokensPerHour, _) => format!("{total} of {cap} tokens an hour are used, over all runs"),
        (Refuser::RunCap, _) => {
            format!("{} of the run's {} are spent or reserved", Micro(*total), Micro(*cap))
        }
        (Refuser::DayCap, _) => {
            format!("{} of the day's {} are spent or reserved", Micro(*total), Micro(*cap))
        }
    }
}

fn inspected_words(seen: &Inspected) -> Vec<String> {
    let names = seen.changed.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = if seen.changed.len() > NAMES { ", …" } else { "" };
    let mut lines = vec![match seen.files {
        0 => "no file changed".into(),
        1 => format!("1 file changed: {names}"),
        n => format!("{n} files changed: {names}{more}"),
    }];
    lines.extend(touched(&seen.violations).map(|path| format!("protected path touched: {path}")));
    lines.extend(seen.plan.as_ref().map(|plan| plan_words("as it stands", plan)));
    lines
}

/// Protected paths, each with what was done to it; the first of very many.
fn touched(violations: &[Violation]) -> impl Iterator<Item = String> {
    violations.iter().take(TOUCHED).map(|v| match v.commit.as_deref().and_then(|c| c.get(..10)) {
        Some(commit) => format!("{} ({} {commit})", v.path, v.how.words()),
        None => format!("{} ({})", v.path, v.how.words()),
    })
}

fn plan_words(which: &str, plan: &PlanSeen) -> String {
    match &plan.problem {
        Some(problem) => format!("the plan, {which}, cannot be read: {problem}"),
        None => format!("the plan, {which}: {} done, {} open", plan.done, plan.pending),
    }
}

fn call_words(call: &CallEnded) -> Vec<String> {
    let price = match call.price {
        PriceFrom::Reported => "",
        PriceFrom::Computed => " (computed from tokens)",
        PriceFrom::Unpriced => " (unknown, booked at the reservation)",
    };
    let recovered = if call.recovered { ", found in the transcript after a crash" } else { "" };
    let mut lines =
        vec![format!("the agent ended after {}, {}{price}{recovered}", seconds(call.ms), call.charged)];
    if let Some(failure) = &call.failure {
        lines.push(format!("it failed: {} ({})", failure.message, failure.class.words()));
    }
    if call.outlived > 0 {
        lines.push(format!("{} processes it left behind were ended", call.outlived));
    }
    if !call.denials.is_empty() {
        lines.push(format!("it was refused {}", call.denials.join(", ")));
    }
    lines
}

fn verified_words(verified: &Verified) -> Vec<String> {
    let mut lines: Vec<String> = verified
        .results
        .iter()
        .map(|r| {
            let how = match (r.how, r.exit) {
                (CheckOutcome::Passed, _) => "passed".into(),
                (CheckOutcome::TimedOut, _) => "did not end in time".into(),
                (CheckOutcome::NotRun, _) => "could not be run".into(),
                (CheckOutcome::Interrupted, _) => "was interrupted".into(),
                (CheckOutcome::Failed, Some(code)) => format!("failed, exit {code}"),
                (CheckOutcome::Failed, None) => "failed".into(),
            };
            format!("`{}` {how} ({})", r.command, seconds(r.ms))
        })
        .collect();
    lines.extend(
        touched(&verified.violations).map(|path| format!("verification touched a protected path: {path}")),
    );
    lines
}
