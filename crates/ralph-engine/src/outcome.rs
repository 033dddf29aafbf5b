//! The result of a run, as scripts read it: the last line of `run --json`, also in `status --json`.

use ralph_rules::criteria;
use ralph_rules::ending::{Ending, Reason, Status};
use ralph_rules::grade::Grade;
use ralph_rules::money::Micro;
use ralph_rules::objection::Objection;
use ralph_rules::record::{Decision, Fact, Record, SandboxGiven, SandboxSeen, Verified};
use ralph_rules::state::State;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Version of this shape.
    pub v: u32,
    /// Always `result`.
    pub r#type: &'static str,
    /// The run; null when it never started.
    pub run_id: Option<String>,
    /// COMPLETED, ABORTED, ERROR or INTERRUPTED.
    pub status: Status,
    /// Why, by name.
    pub reason: String,
    /// The process's exit code.
    pub exit_code: u8,
    /// Iterations that counted.
    pub iterations: u32,
    /// Dollars booked.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// False when a part of the cost is unknown and booked at its reservation.
    pub cost_is_complete: bool,
    /// Active time.
    pub duration_seconds: f64,
    /// The verification passed on the final tree.
    pub verification_passed: bool,
    /// What the verifications show: proven, tested, unbroken, revised, unclear or unverified; null without a grade.
    pub proof: Option<Grade>,
    /// What contained the agent.
    pub sandbox: String,
    /// The final message of a completed run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The last message of any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_output: Option<String>,
    /// What went wrong outside the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The facts behind it.
    pub details: Value,

    /// False where the journal was kept in memory only.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub recorded: bool,
}

/// The result of a run that ended so.
pub fn outcome(state: &State, ending: Ending, reasons: &[Objection]) -> Outcome {
    let status = ending.status();
    let text = state.calls.text.clone();
    let done = status == Status::Completed;
    let words = ending.why(reasons);
    let start = state.start.as_deref();
    #[allow(clippy::cast_precision_loss)] // milliseconds of a run fit a double exactly
    let duration_seconds = state.ran as f64 / 1000.0;
    Outcome {
        v: 1,
        r#type: "result",
        run_id: start.map(|s| s.run.clone()),
        status,
        reason: ending.name().into(),
        exit_code: ending.exit_code(),
        iterations: state.calls.done,
        cost_usd: state.budget.spent.usd(),
        cost_is_complete: state.budget.unpriced == 0,
        duration_seconds,
        verification_passed: ending.verified,
        proof: ending.grade,
        sandbox: start.map_or_else(|| "none".into(), |s| s.sandbox.clone()),
        output: done.then(|| text.clone()),
        last_output: (!done).then_some(text),
        error: (status == Status::Error).then(|| words.clone()),
        details: details(state, reasons, words),

        recorded: !start.is_some_and(|start| start.unrecorded),
    }
}

/// The result of a run whose journal could not be written any more: what is held counts as spent.
pub fn cut(state: &State, error: &dyn std::error::Error) -> Outcome {
    let ending = Ending::new(Reason::StoreUnsafe, false);
    let known = outcome(state, ending, &[]);
    Outcome {
        cost_usd: state.budget.spent.plus(state.budget.reserved).usd(),
        cost_is_complete: known.cost_is_complete && state.budget.reserved == Micro::ZERO,
        error: Some(error.to_string()),
        ..known
    }
}

fn details(state: &State, reasons: &[Objection], words: String) -> Value {
    let mut map = Map::new();
    map.insert("why".into(), Value::String(words));
    map.insert("because".into(), json!(reasons));
    if !state.alerts.told.is_empty() {
        let alerts: Vec<&Objection> = state.alerts.told.iter().map(|(_, alert)| alert).collect();
        map.insert("alerts".into(), json!(alerts));
    }
    map.insert("filesChanged".into(), json!(state.trees.all));
    if !state.trees.touched.is_empty() {
        map.insert("files".into(), json!(state.trees.touched));
    }
    if !state.trees.by_tools.is_empty() {
        map.insert("restored".into(), json!(state.trees.by_tools));
    }
    if !state.trees.obeyed.is_empty() {
        map.insert("obeyed".into(), json!(state.trees.obeyed));
    }
    if let Some(quarantine) = &state.trees.quarantine {
        map.insert("quarantine".into(), json!(quarantine));
    }
    if let Some(skill) = criteria::skill(state) {
        let not_checked = criteria::not_checked(state);
        map.insert(
            "skill".into(),
            json!({"name": skill.name, "hash": skill.hash, "notChecked": not_checked}),
        );
    }
    if state.stories.is_on() {
        map.insert("stories".into(), json!(crate::receipt::stories_of(state)));
    }
    if let Some(given) = state.start.as_ref().and_then(|start| start.contained.as_deref()) {
        map.insert("sandbox".into(), sandbox(given, &state.sandbox));
    }
    let checks = &state.checks;
    if let Some(put_back) = checks.oracle.as_ref().and_then(|verified| verified.oracle.as_ref()) {
        map.insert("oracle".into(), json!(put_back));
    }
    if let Some(compared) = state.proof.latest() {
        map.insert("changes".into(), json!(crate::receipt::changes_of(&state.proof)));
        if !compared.signs.is_empty() {
            map.insert("signs".into(), json!(compared.signs));
        }
    }
    if let Some(tests) = checks.last.as_ref().and_then(Verified::counts) {
        map.insert("tests".into(), json!(tests));
    }
    if let Some(fault) = &state.faults.last {
        map.insert("error".into(), json!(fault.message));
    } else if let Some(error) = state.checks.error() {
        map.insert("error".into(), json!(error.head));
    }
    Value::Object(map)
}

/// What contained the run, and what that refused.
fn sandbox(given: &SandboxGiven, seen: &SandboxSeen) -> Value {
    json!({
        "backend": given.backend,
        "image": given.image,
        "held": given.held,
        "missing": given.all_missing(seen),
        "hostsRefused": seen.hosts_refused,
        "withheld": given.withheld,
        "notes": given.other_notes(seen),
    })
}

/// The last ending written in a journal, with its reasons.
pub fn last_ending(records: &[Record]) -> Option<(Ending, &[Objection])> {
    records.iter().rev().find_map(|record| match &record.fact {
        Fact::Decided(Decision { next: ralph_rules::next::Next::Exit(ending), reasons }) => {
            Some((*ending, reasons.as_slice()))
        }
        _ => None,
    })
}
