//! Why something was not accepted, or was: code and facts. The same object goes into the journal, onto the
//! screen, into the next prompt and into `explain`; `say` is its one wording.

use crate::claim::{Code, Lint};
use crate::failure::Class;
use crate::money::Micro;
use crate::record::{CheckOutcome, Ms, Violation};
use crate::suite::Counts;
use serde::{Deserialize, Serialize};

/// Every reason the rules give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "facts", rename_all = "snake_case")]
#[allow(missing_docs)] // the fields are the facts (those added later are optional); `say` puts each into words
pub enum Objection {
    FirstIteration,
    BaselineWanted { commands: u32 },
    CallClosed { iteration: u32 },
    InspectionClean { files: u32, progress: bool, seen_at: Option<u32> },
    ClaimAndProof { indicators: u32 },
    ClaimUnverified { indicators: u32 },
    SignalsRunning { iterations: u32, verified: bool },
    SignalAgain { running: u32, needed: u32 },
    ProofAlone,
    GreenBefore,
    PlanComplete { done: u32 },
    NothingToDo,
    SeeItTwice,
    ExplicitContinue,
    UnreadableBlock { lint: Code },
    NoClaim,
    VerificationFailed { command: String, how: CheckOutcome, exit: Option<i32>, claimed: bool },
    ClaimWithoutEvidence { indicators: u32, needed: u32 },
    ContradictoryClaim { what: String },
    Blocked { recommendation: String },
    ProhibitedPath { paths: Vec<Violation> },
    RestoreLimit { times: u32 },
    OracleChanged { files: Vec<String> },
    OracleFlagged { files: Vec<String> },
    FewerTests { before: Counts, now: Option<Counts> },
    Flaky,
    NoProgress { running: u32, limit: u32 },
    HalfOpen { running: u32, limit: Option<u32> },
    ProgressAgain,
    SeenBefore { iteration: u32 },
    Escalated { rung: u32, of: u32, agent: String, model: Option<String> },
    Deescalated { rung: u32, of: u32, agent: String, model: Option<String> },
    SameError { running: u32, limit: u32, error: String, fingerprint: Option<String> },
    TestOnly { running: u32, limit: u32 },
    OutputDecline { percent: u32, of_mean: u32, below: Option<u32> },
    Denied { running: u32, limit: u32, tools: Vec<String>, allow: Option<String> },
    Lint { lint: Code, line: u32, detail: String },
    AsksPerson,
    CallFailed { class: Class, message: String, running: u32 },
    Backoff { until: Ms, class: Class },
    WaitTooLong { until: Ms, max_wait: Ms },
    NoWait { until: Option<Ms> },
    RateWindow { used: i64, cap: i64, until: Option<Ms> },
    ProviderHeld { class: Class, what: String, until: Option<Ms> },
    CostReached { spent: Micro, cap: Micro },
    CostNearly { spent: Micro, cap: Micro },
    DayReached { spent: Micro, cap: Micro },
    DayNearly { date: String, spent: Micro, cap: Micro },
    IterationsReached { used: u32, max: u32 },
    IterationsNearly { used: u32, max: u32 },
    TimeReached { ran: Ms, max: Ms },
    CallTooLong { ms: Ms, limit: Ms },
    TooSilent { ms: Ms, limit: Ms },
    UsageAhead { seen: Micro, dearest: Micro, reserved: Micro },
    PersonAsked { request: String },
    CallWasOpen { attempt: String },
    BaselineTimedOut { command: String },
    StoreUnsafe { what: String },
}

impl Objection {
    /// The code as scripts see it.
    pub fn code(&self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(map)) => {
                map.get("code").and_then(|c| c.as_str()).unwrap_or_default().to_string()
            }
            _ => String::new(),
        }
    }

    /// A limit comes near: told once, and shown as such.
    pub fn is_alert(&self) -> bool {
        matches!(
            self,
            Objection::CostNearly { .. } | Objection::IterationsNearly { .. } | Objection::DayNearly { .. }
        )
    }

    /// One plain sentence.
    #[allow(clippy::too_many_lines)] // one line a reason; splitting the table would hide it
    pub fn say(&self) -> String {
        use Objection as O;
        match self {
            O::FirstIteration => "nothing has been tried yet".into(),
            O::BaselineWanted { commands } => {
                format!("what is red already must be known first ({commands} command{})", s(*commands))
            }
            O::CallClosed { iteration } => format!("the call of iteration {iteration} closed"),
            O::InspectionClean { files, progress: true, .. } => {
                format!("{files} file{} changed, no protected path touched", s(*files))
            }
            O::InspectionClean { files: 0, .. } => "nothing changed, no protected path touched".into(),
            O::InspectionClean { files, seen_at, .. } => {
                let when = seen_at.map(|n| format!(" ({})", state_of(n))).unwrap_or_default();
                format!("{files} file{} changed, to a state already seen in this run{when}", s(*files))
            }
            O::ClaimAndProof { .. } => "the agent says it is done and verification passed".into(),
            O::ClaimUnverified { indicators } => {
                format!("the agent says it is done, with {indicators} indicators; nothing was verified")
            }
            O::SignalsRunning { iterations, verified } => format!(
                "{iterations} iterations running showed enough signs of completion{}",
                if *verified { " and verification passed" } else { "; nothing was verified" }
            ),
            O::SignalAgain { running, needed } => {
                format!("{running} of {needed} completion signals running: if all is done, say so once more")
            }
            O::ProofAlone => "verification passed".into(),
            O::GreenBefore => {
                "verification was green before the run and nothing has changed: that proves nothing".into()
            }
            O::PlanComplete { done } => {
                format!("the plan is complete ({done} item{}) and verification passes already", s(*done))
            }
            O::NothingToDo => "verification was green before and nothing needed changing".into(),
            O::SeeItTwice => "nothing changed and verification was green before: asked once more".into(),
            O::ExplicitContinue => "the agent says there is more to do (EXIT_SIGNAL: false)".into(),
            O::UnreadableBlock { lint } => format!("the status block could not be read ({})", name(lint)),
            O::NoClaim => "the agent made no claim (no status block, no promise)".into(),
            O::VerificationFailed { command, how, exit, claimed } => {
                let but = if *claimed { "the agent says it is done, but " } else { "" };
                match (how, exit) {
                    (CheckOutcome::TimedOut, _) => {
                        format!("{but}`{command}` did not end within its deadline")
                    }
                    (CheckOutcome::NotRun, _) => format!("{but}`{command}` could not be run"),
                    (_, Some(code)) => format!("{but}`{command}` failed with exit {code}"),
                    _ => format!("{but}`{command}` failed"),
                }
            }
            O::ClaimWithoutEvidence { indicators, needed } => format!(
                "the claim stands on {indicators} indicator{}, {needed} are needed where nothing is verified",
                s(*indicators)
            ),
            O::ContradictoryClaim { what } => format!("the claim contradicts itself: {what}"),
            O::Blocked { recommendation } if recommendation.is_empty() => "the agent is blocked".into(),
            O::Blocked { recommendation } => format!("the agent is blocked: {recommendation}"),
            O::ProhibitedPath { paths } => {
                let names: Vec<&str> = paths.iter().take(5).map(|v| v.path.as_str()).collect();
                let more = paths.len().saturating_sub(5);
                let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("protected: {}{tail}", names.join(", "))
            }
            O::RestoreLimit { times } => format!("protected paths were put back {times} times already"),
            O::OracleChanged { files } => {
                format!("it passes only with changed tests: {}", some(files))
            }
            O::OracleFlagged { files } => {
                format!("tests or how they are run changed: {}", some(files))
            }
            O::FewerTests { before, now } => match now {
                Some(now) => format!(
                    "fewer tests ran than before the run: {} with {} skipped, not {} with {}",
                    now.total, now.skipped, before.total, before.skipped
                ),
                None => {
                    format!("no test ran that can be counted; before the run there were {}", before.total)
                }
            },
            O::Flaky => "flaky: it had failed on the same files before it passed".into(),
            O::NoProgress { running, limit } => {
                format!("no new state of the files in {running} iteration{} (limit {limit})", s(*running))
            }
            O::HalfOpen { running, limit } => {
                let more = limit.unwrap_or(0).saturating_sub(*running).max(1);
                let more = if more == 1 { "one more".into() } else { format!("at most {more} more") };
                format!("no progress in {running} iteration{}: {more}, with another approach", s(*running))
            }
            O::ProgressAgain => "there is progress again".into(),
            O::SeenBefore { iteration } => {
                format!("the files went back to {}: no progress", state_of(*iteration))
            }
            O::Escalated { rung, of, agent, model } => {
                format!("rung {rung} of {of} is tried: {}", who(agent, model.as_deref()))
            }
            O::Deescalated { rung: 0, agent, model, .. } => {
                format!("progress: back to {}", who(agent, model.as_deref()))
            }
            O::Deescalated { rung, of, agent, model } => {
                format!("progress: back to rung {rung} of {of}: {}", who(agent, model.as_deref()))
            }
            O::SameError { running, limit, error, .. } => {
                format!("the same error {running} times running (limit {limit}): {error}")
            }
            O::TestOnly { running, limit } => {
                format!("only tests were touched in {running} iterations running (limit {limit})")
            }
            O::OutputDecline { percent, of_mean, .. } => {
                format!("the answer shrank to {percent} % of the mean of {of_mean} characters")
            }
            O::Denied { running, limit, tools, allow } => {
                let allow = allow.as_ref().map(|how| format!("; allowed by {how}")).unwrap_or_default();
                format!(
                    "{} refused in {running} iteration{} without progress (limit {limit}){allow}",
                    tools.join(", "),
                    s(*running)
                )
            }
            O::Lint { lint, line: 0, detail } => {
                format!("the report breaks a rule, {}: {detail}", name(lint))
            }
            O::Lint { lint, line, detail } => {
                format!("the report breaks a rule in line {line}, {}: {detail}", name(lint))
            }
            O::AsksPerson => "the agent asked a question; nobody will answer".into(),
            O::CallFailed { class, message, running } => {
                let again = if *running > 1 { format!(" ({running} running)") } else { String::new() };
                format!("the call failed, {}{again}: {message}", class.words())
            }
            O::Backoff { class, .. } => format!("waiting, because of {}", class.words()),
            O::WaitTooLong { max_wait, .. } => {
                format!("the wait would pass the {} that ralph may wait", span(*max_wait))
            }
            O::NoWait { .. } => "waiting was not wanted (--no-wait)".into(),
            O::RateWindow { used, cap, .. } => format!("{used} of {cap} in the last hour are used"),
            O::ProviderHeld { class, what, .. } if what.is_empty() => class.words().into(),
            O::ProviderHeld { class, what, .. } => format!("{} ({what})", class.words()),
            O::CostReached { spent, cap } => format!("{spent} of {cap} are spent"),
            O::CostNearly { spent, cap } => format!("{spent} of {cap} are spent, over 80 %"),
            O::DayReached { spent, cap } => format!("{spent} of the day's {cap} are spent or reserved"),
            O::DayNearly { date, spent, cap } => {
                format!("{spent} of the {cap} of {date} are spent or reserved over all runs, over 80 %")
            }
            O::IterationsReached { used, max } => format!("{used} of {max} iterations are used"),
            O::IterationsNearly { used, max } => format!("{used} of {max} iterations are used, over 90 %"),
            O::TimeReached { max, .. } => format!("the time limit of {} is reached", span(*max)),
            O::CallTooLong { limit, .. } => format!("the call passed its limit of {}", span(*limit)),
            O::TooSilent { limit, .. } => {
                format!("no output and no running tool for {}", span(*limit))
            }
            O::UsageAhead { seen, .. } => format!("the call has used {seen} and goes on"),
            O::PersonAsked { request } => format!("a person asked to {request}"),
            O::CallWasOpen { attempt } => format!("call {attempt} was open when ralph ended abruptly"),
            O::BaselineTimedOut { command } => {
                format!("`{command}` did not end within its deadline before the agent had done anything")
            }
            O::StoreUnsafe { what } => what.clone(),
        }
    }
}

impl From<&Lint> for Objection {
    fn from(lint: &Lint) -> Objection {
        let line = u32::try_from(lint.line).unwrap_or(u32::MAX);
        Objection::Lint { lint: lint.code, line, detail: lint.detail.clone() }
    }
}

/// The first names, and how many there are besides.
fn some(files: &[String]) -> String {
    let first: Vec<&str> = files.iter().take(5).map(String::as_str).collect();
    let more = files.len().saturating_sub(5);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

fn state_of(iteration: u32) -> String {
    match iteration {
        0 => "the state before the run".into(),
        n => format!("the state of iteration {n}"),
    }
}

fn who(agent: &str, model: Option<&str>) -> String {
    model.map_or_else(|| agent.into(), |model| format!("{agent} with {model}"))
}

/// The name a value has in JSON.
fn name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

fn s(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// A span of time in the largest unit that stays exact enough to read.
pub fn span(ms: Ms) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1_000),
        120_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}
