//! The words for every number, fact and decision, shared by everything that shows a run.

use crate::plain::plain;
use crate::refused_hosts::refused_hosts;
use jiff::tz::TimeZone;
use ralph_agents::Client;
use ralph_rules::counting::counted;
use ralph_rules::ending::{Ending, outside_signal};
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Why};
use ralph_rules::objection::{Objection, span};
use ralph_rules::policy::Policy;
use ralph_rules::record::{
    CallEnded, ChangeMap, Check, CheckOutcome, Compared, Decision, FROM_ARGUMENT, HunkState, Inspected,
    MapTotals, Ms, PlanSeen, Planned, PriceFrom, Refused, Refuser, Request, Resumed, ReviewGiven, RunStarted,
    SandboxSeen, Seen, SessionGiven, Verified, Violation,
};
use ralph_rules::state::{Review, State};
use ralph_rules::step::Step;

/// Names of files shown.
const NAMES: usize = 6;
/// Protected paths named on a screen.
const TOUCHED: usize = 50;

/// An amount; `~` marks one that is not wholly known.
pub fn money(micro: i64, complete: bool) -> String {
    format!("{}{}", if complete { "" } else { "~" }, Micro(micro))
}

/// With a capital letter first, as a sentence begins.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
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

/// The moment something ends: the time of day in the run's zone, with the date if it is not within a day.
pub fn clock_until(at: Ms, now: Ms, zone: &str) -> String {
    const NEARLY_A_DAY: Ms = 20 * 3_600_000;
    let far = at.saturating_sub(now) > NEARLY_A_DAY;
    let zoned = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    match jiff::Timestamp::from_millisecond(at) {
        Ok(moment) if far => moment.to_zoned(zoned).strftime("%H:%M on %Y-%m-%d").to_string(),
        _ => clock_time(at, zone),
    }
}

/// A decision, in words.
pub fn decision_words(next: &Next) -> String {
    match next {
        Next::Do(step) => step_words(step),
        Next::Interrupt(why) => format!("interrupt: {}", why_words(*why)),
        Next::Wait { .. } => "wait".into(),
        Next::Exit(ending) => format!("end: {} (exit {})", ending.name(), ending.exit_code()),
    }
}

/// The heading of the review that is about to begin.
pub fn review_title(state: &State) -> String {
    let Some((start, given)) = state.start.as_ref().and_then(|s| Some((s, s.review.as_ref()?))) else {
        return "Review".into();
    };
    let round = state.reviews.used() + 1;
    plain(&format!("Review {round} of {} by {}", given.rounds, start.caller(0, true).title()))
}

/// A review in lines: `review 1 of 2 by codex: REVISE, 2 findings`, and each finding.
pub fn review_words(given: &ReviewGiven, round: u32, review: &Review) -> Vec<String> {
    let said = match review.verdict {
        None => format!("no verdict, {}", review.why),
        Some(verdict) => match review.findings.len() {
            0 => verdict.name().to_owned(),
            1 => format!("{}, 1 finding", verdict.name()),
            n => format!("{}, {n} findings", verdict.name()),
        },
    };
    let first = format!("review {round} of {} by {}: {said}", given.rounds, given.agent.name);
    let findings = review.findings.iter().map(|finding| format!("- {finding}"));
    std::iter::once(first).chain(findings).map(|line| plain(&line)).collect()
}

fn step_words(step: &Step) -> String {
    match step {
        Step::Admit { id, amount, review: true, .. } => {
            format!("prepare a review of iteration {}, reserve {amount}", id.iteration)
        }
        Step::Call { id, review: true, .. } => format!("call the reviewer, iteration {}", id.iteration),
        Step::Admit { id, amount, .. } => format!("prepare iteration {}, reserve {amount}", id.iteration),
        Step::Call { id, rung, .. } => {
            let attempt = if id.attempt > 1 { format!(" attempt {}", id.attempt) } else { String::new() };
            let rung = if *rung > 0 { format!(", rung {rung}") } else { String::new() };
            format!("call the agent, iteration {}{attempt}{rung}", id.iteration)
        }
        Step::Extend { to, .. } => format!("raise the reservation to {to}"),
        Step::Inspect { .. } => "inspect the workspace".into(),
        Step::Restore { paths } => format!("restore {}", counted(paths.len() as u64, "protected path")),
        Step::Verify { check: Check::Baseline, .. } => "verify before the first iteration".into(),
        Step::Verify { check: Check::AsIs, .. } => "verify".into(),
        Step::Verify { check: Check::WithBaselineOracle, .. } => "verify with the original tests".into(),
        Step::Verify { check: Check::InRoom(sets), .. } => format!("verify {}", sets.words()),
        Step::Compare => "compare the changes with the files before the run".into(),
        Step::Map { time, .. } => format!("map the change, for at most {}", span(*time)),
        Step::Recover { id, .. } => format!("recover call {id} from its transcript"),
        Step::Plan { grant: Some(grant), .. } => format!("tick the story {}, read the plan", grant.title),
        Step::Plan { aside: Some(aside), .. } => format!("set the story {aside} aside, read the plan"),
        Step::Plan { .. } => "read the plan".into(),
    }
}

fn why_words(why: Why) -> &'static str {
    match why {
        Why::Person => "requested by a person",
        Why::Deadline => "the call timed out",
        Why::Time => "the run's time limit is reached",
        Why::Silence => "no output from the agent",
        Why::Budget => "the budget is used up",
    }
}

/// A reason, in words fit for a terminal.
pub fn reason_words(reason: &Objection) -> String {
    plain(&reason.say())
}

/// A fact, in lines fit for a terminal.
pub fn fact_words(seen: &Seen) -> Vec<String> {
    facts(seen).iter().map(|line| plain(line)).collect()
}

fn limits(policy: &Policy) -> String {
    format!("{} and {}", counted(policy.max_iterations, "iteration"), policy.max_cost)
}

/// How a run went on.
fn resumed_words(resumed: &Resumed) -> Vec<String> {
    let how = if resumed.by_hook { "a hook of the session continues the run" } else { "resumed" };
    let left = "the session is gone: ralph calls the agent itself from now on";
    let left = resumed.left_session.then(|| left.to_owned());
    let moved = resumed.workspace.as_ref();
    let moved = moved.map(|workspace| format!("the workspace was moved to {workspace}"));
    let sandbox = resumed.contained.as_ref().map(|given| format!("sandbox: {}", given.words()));
    let clock = resumed.clock_behind.map(clock_words);
    std::iter::once(how.into()).chain(left).chain(moved).chain(sandbox).chain(clock).collect()
}

/// The session that does the work.
fn session_words(session: &SessionGiven) -> String {
    let client = Client::of_agent(&session.client).map_or("the client", |client| client.title());
    format!("in a session of {client}: limits act between iterations, they cannot end one")
}

fn started_words(start: &RunStarted) -> Vec<String> {
    let from = if start.prompt_from == FROM_ARGUMENT { "the command line" } else { &start.prompt_from };
    let skill = start.skill.as_ref().map(|skill| format!(", skill {}", skill.name));
    let run = format!(
        "run started: task from {from}, agent {}{}, limits {}",
        start.agent.name,
        skill.unwrap_or_default(),
        limits(&start.policy)
    );
    let plan = start.plan.as_ref().map(|given| plan_words(&given.file, &given.seen));
    let sandbox = start.contained.as_ref().map(|_| format!("sandbox: {}", start.sandbox));
    let session = start.session.as_ref().map(session_words);
    let clock = start.clock_behind.map(clock_words);
    std::iter::once(run).chain(session).chain(sandbox).chain(plan).chain(clock).collect()
}

fn facts(seen: &Seen) -> Vec<String> {
    match seen {
        Seen::RunStarted(start) => started_words(start),
        Seen::Resumed(resumed) => resumed_words(resumed),
        Seen::CallsFound(found) if found.carry.is_some() => {
            vec![format!("the session worked on meanwhile, {}", money(found.cost().0, found.unpriced == 0))]
        }
        Seen::CallsFound(found) => vec![format!(
            "the journal comes from an older copy: its transcripts show {}, up to iteration {}, {}",
            counted(found.calls, "further call"),
            found.last,
            money(found.cost().0, found.unpriced == 0),
        )],
        Seen::PolicyChanged(changed) => vec![format!("limits changed: {}", limits(&changed.policy))],
        Seen::Woke => Vec::new(),
        Seen::Admitted(admitted) => {
            let mistake = admitted.template_failed.as_ref();
            let mistake = mistake.map(|m| format!("a template failed, so the built-in one was used: {m}"));
            let unsaved = admitted.no_snapshot.as_deref().map(no_snapshot_words);
            std::iter::once(format!("{} reserved", admitted.grant)).chain(mistake).chain(unsaved).collect()
        }
        Seen::Refused(refused) => vec![refused_words(refused)],
        Seen::Extended(extended) => vec![format!("reservation raised to {}", extended.to)],
        Seen::Spent(spent) => vec![format!("{} spent so far in this call", spent.total)],
        Seen::Silent(silent) => vec![format!("no output for {}", span(silent.ms))],
        Seen::CallEnded(call) => call_words(call),
        Seen::CallLost(lost) => vec![format!("the call was lost; counted as {}", lost.charged)],
        Seen::Inspected(seen) => inspected_words(seen),
        Seen::Restored(restored) => {
            let kept = restored
                .quarantine
                .as_ref()
                .map(|_| "the agent's version is in quarantine: `ralph quarantine show`".to_owned());
            let rows = [("restored", &restored.restored), ("left as is", &restored.left)];
            let rows = rows.into_iter().filter(|(_, paths)| !paths.is_empty());
            rows.map(|(what, paths)| format!("{what}: {}", first_names(paths))).chain(kept).collect()
        }
        Seen::Compared(compared) => compared_words(compared),
        Seen::Verified(verified) => verified_words(verified),
        Seen::Mapped(map) => mapped_words(map),
        Seen::WorkspaceUnusable(unusable) => vec![unusable.what.clone()],
        Seen::Asked(asked) => vec![asked_words(&asked.request)],
        Seen::Planned(planned) => planned_words(planned),
    }
}

/// What the plan says: first the story to work on, then what was done to the plan.
pub fn planned_words(planned: &Planned) -> Vec<String> {
    let counts = format!("{} done, {} open", planned.done, planned.open);
    let first = match (&planned.problem, &planned.story) {
        (Some(problem), _) => format!("the plan cannot be used: {problem}"),
        (None, Some(story)) => format!("story: {} ({counts})", story.title),
        (None, None) if planned.left.is_empty() => format!("no story is left ({counts})"),
        (None, None) => format!("no story can be taken ({counts})"),
    };
    let rows =
        [("ticks put back", planned.put_back.join(", ")), ("does not count", planned.ignored.join("; "))];
    let rows = rows.into_iter().filter(|(_, names)| !names.is_empty());
    std::iter::once(first).chain(rows.map(|(what, names)| format!("{what}: {names}"))).collect()
}

fn asked_words(request: &Request) -> String {
    if let Request::Stop { signal, .. } = request
        && let Some(signal) = outside_signal(*signal)
    {
        return format!("received {signal}, which asks to stop");
    }
    match request {
        Request::Stop { after: true, .. } => "a person asked to stop after this iteration".into(),
        Request::Stop { .. } => "a person asked to stop".into(),
        Request::Pause => "a person asked to pause".into(),
        Request::Continue => "a person asked to continue".into(),
        Request::Accept => "a person accepted the work".into(),
        Request::Hint { text } => format!("hint from a person: {text}"),
    }
}

/// Why a run ended, in words; what ended it is named if no person did.
pub fn ending_words(ending: &Ending, reasons: &[Objection]) -> String {
    if ending.outside_signal().is_some() {
        return ending.why(reasons);
    }
    let mut words: Vec<String> = reasons.iter().map(reason_words).collect();
    words.dedup();
    words.join("; ")
}

/// Why a run continues or ends after an iteration, in words.
pub fn judgement_words(decision: &Decision) -> Option<String> {
    match &decision.next {
        Next::Exit(ending) if ending.outside_signal().is_some() => Some(ending.why(&decision.reasons)),
        _ => decision.reasons.first().map(reason_words),
    }
}

/// The clock was found so far behind.
pub fn clock_words(behind: Ms) -> String {
    format!("the clock was set back: it is {} behind the latest record", span(behind))
}

/// What changed since the baseline, set by set.
fn compared_words(compared: &Compared) -> Vec<String> {
    let sets = [("work", &compared.work), ("checks", &compared.oracle), ("either", &compared.ambiguous)];
    let sets = sets.into_iter().filter(|(_, set)| set.any()).map(|(name, set)| {
        let names = set.names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
        let more = if set.names.len() > NAMES { ", …" } else { "" };
        format!("{name}: {names}{more}")
    });
    let signs = compared.signs.iter();
    let signs = signs.map(|s| format!("look at {}:{}: the work {}: {}", s.path, s.line, s.what, s.text));
    sets.chain(signs).collect()
}

/// Which hunks of the change a check notices.
fn mapped_words(map: &ChangeMap) -> Vec<String> {
    let MapTotals { held, not_held, not_tried } = map.totals;
    let (all, runs) = (map.totals.all(), counted(map.runs, "verification"));
    let how = match (&map.problem, map.interrupted, map.out_of_time) {
        (Some(why), ..) => format!("; not completed: {why}"),
        (None, true, _) => "; interrupted".into(),
        (None, _, true) => "; out of time".into(),
        _ => String::new(),
    };
    let found = format!(
        "map of the change: {held} of {all} parts held by a check, {not_held} not held, {not_tried} not tried \
         ({runs}){how}"
    );
    let unheld = map.hunks.iter().filter(|hunk| hunk.state == HunkState::NotHeld);
    let unheld = unheld.take(NAMES).map(|hunk| format!("not held by any check: {}", hunk.place()));
    std::iter::once(found).chain(unheld).collect()
}

/// That a call began without a snapshot, and why.
pub fn no_snapshot_words(why: &str) -> String {
    format!("no snapshot before this call ({why}): `ralph undo` cannot return to this state")
}

/// What refused a call, and why.
fn refused_words(refused: &Refused) -> String {
    let Refused { total, cap, what, .. } = refused;
    match (refused.by, refused.class) {
        (Refuser::Provider, Some(class)) => format!("agent not called: {} ({what})", class.words()),
        (Refuser::Provider | Refuser::Disk | Refuser::Store, _) => format!("refused: {what}"),
        (Refuser::Person, _) => "agent not called: a person asked to stop".into(),
        (Refuser::CallsPerHour, _) => format!("{total} of {cap} calls per hour used, over all runs"),
        (Refuser::TokensPerHour, _) => format!("{total} of {cap} tokens per hour used, over all runs"),
        (Refuser::RunCap, _) => {
            format!("{} of the run's {} spent or reserved", Micro(*total), Micro(*cap))
        }
        (Refuser::DayCap, _) => {
            format!("{} of the day's {} spent or reserved", Micro(*total), Micro(*cap))
        }
    }
}

fn inspected_words(seen: &Inspected) -> Vec<String> {
    let names = seen.changed.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = if seen.changed.len() > NAMES { ", …" } else { "" };
    let mut lines = vec![match seen.files {
        0 => "no files changed".into(),
        1 => format!("1 file changed: {names}"),
        n => format!("{n} files changed: {names}{more}"),
    }];
    lines.extend(touched(&seen.violations, "protected path changed"));
    lines.extend(seen.plan.as_ref().map(|plan| plan_words("now", plan)));
    lines
}

/// Protected paths, each with what was done to it, or by which tool; the first of very many.
fn touched(violations: &[Violation], what: &str) -> impl Iterator<Item = String> {
    violations.iter().take(TOUCHED).map(move |v| {
        let (path, how) = (&v.path, v.how_words());
        match (&v.tool, v.commit.as_deref().and_then(|c| c.get(..10))) {
            (Some(tool), _) => format!("{tool} changed {path} ({how})"),
            (None, Some(commit)) => format!("{what}: {path} ({how} {commit})"),
            (None, None) => format!("{what}: {path} ({how})"),
        }
    })
}

/// The first names of many.
fn first_names(names: &[String]) -> String {
    let more = if names.len() > NAMES { ", …" } else { "" };
    names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ") + more
}

fn plan_words(which: &str, plan: &PlanSeen) -> String {
    match &plan.problem {
        Some(problem) => format!("plan ({which}) cannot be read: {problem}"),
        None => format!("plan ({which}): {} done, {} open", plan.done, plan.pending),
    }
}

/// How to make a cost known, where the tokens and the model are, but not its price.
fn unpriced_model(call: &CallEnded) -> Option<String> {
    let unpriced = call.price == PriceFrom::Unpriced && call.computed.is_none() && call.ended_by.is_none();
    let model = call.model.as_ref().filter(|_| unpriced && call.usage.total() > 0)?;
    Some(format!("the price of `{model}` is not known: set it in your config.toml, [prices.\"{model}\"]"))
}

fn call_words(call: &CallEnded) -> Vec<String> {
    let cost = match call.price {
        PriceFrom::Reported => call.charged.to_string(),
        PriceFrom::Computed => format!("{} (computed from tokens)", call.charged),
        PriceFrom::Seen => format!("~{} seen before it was ended", call.charged),
        PriceFrom::Unpriced => format!("cost unknown, counted as the {} estimate", call.charged),
    };
    let recovered = if call.recovered { ", recovered from the transcript after a crash" } else { "" };
    let mut lines = vec![format!("agent finished in {}, {cost}{recovered}", seconds(call.ms))];
    if let Some(failure) = &call.failure {
        lines.push(format!("agent failed: {} ({})", failure.message, failure.class.words()));
    }
    lines.extend(unpriced_model(call));
    if call.outlived > 0 {
        let processes = if call.outlived == 1 { "process" } else { "processes" };
        lines.push(format!("{} leftover {processes} stopped", call.outlived));
    }
    if !call.denials.is_empty() {
        lines.push(format!("permission denied: {}", call.denials.join(", ")));
    }
    lines.extend(call.sandbox.as_deref().map(sandbox_words).unwrap_or_default());
    lines
}

/// What a sandbox refused a program, or could not do for it.
pub(crate) fn sandbox_words(seen: &SandboxSeen) -> Vec<String> {
    let hosts =
        refused_hosts(&seen.hosts_refused).into_iter().map(|hosts| format!("the sandbox refused {hosts}"));
    let notes = seen.notes.iter().map(|note| format!("sandbox: {note}"));
    hosts.chain(notes).collect()
}

fn verified_words(verified: &Verified) -> Vec<String> {
    let mut lines: Vec<String> = verified
        .results
        .iter()
        .map(|r| {
            let how = match (r.how, r.exit) {
                (CheckOutcome::Passed, _) => "passed".into(),
                (CheckOutcome::TimedOut, _) => "timed out".into(),
                (CheckOutcome::NotRun, _) => "could not be run".into(),
                (CheckOutcome::Interrupted, _) => "was interrupted".into(),
                (CheckOutcome::Failed, Some(code)) => format!("failed, exit {code}"),
                (CheckOutcome::Failed, None) => "failed".into(),
            };
            format!("`{}` {how} ({})", r.command, seconds(r.ms))
        })
        .collect();
    lines.extend(touched(&verified.violations, "verification changed a protected path"));
    lines.extend(verified.sandbox.as_deref().map(sandbox_words).unwrap_or_default());
    lines
}
