//! The user's own checks, as the last part of the step Verify: what they are told and who is asked.

use crate::step_context::StepContext;
use crate::verification::analyzers::{ask, no_answer};
use crate::verification::{Replacements, Room};
use crate::world::verify::runner;
use ralph_rules::analysis::shape::Analysis;
use ralph_rules::analysis::{Response, Trend};
use ralph_rules::record::{AnalyzerResult, Attempt, Check, CheckResult};
use ralph_rules::state::State;
use serde_json::{Value, json};

/// What analyzers are told about the iteration besides the verification; none if nobody is asked.
pub fn about(check: Check, state: &State) -> Option<Value> {
    let start = state.start.as_ref().filter(|start| check == Check::AsIs && !start.analyzers.is_empty())?;
    let mut response = Response {
        claim: state.claim.clone(),
        text_bytes: state.calls.text_bytes,
        denials: state.calls.denials.clone(),
        failed: state.faults.last.is_some(),
        ..Response::default()
    };
    response.errors.clone_from(&response.claim.errors);
    let mut trend = Trend::default();
    trend.add(&response, &start.policy);
    let analysis = Analysis {
        iteration: state.calls.id.iteration,
        text: state.calls.text.clone(),
        ..Analysis::of(&response, &trend, &start.policy)
    };
    Some(json!({
        "v": 1,
        "run": start.run,
        "workspace": start.workspace,
        "iteration": state.calls.id.iteration,
        "analysis": analysis,
        "changed": {"count": state.trees.files, "files": state.trees.changed, "inRun": state.trees.all},
    }))
}

/// Asks every analyzer about the files as they are, until the step is interrupted.
pub(super) fn asked(
    ctx: &StepContext,
    about: Option<Value>,
    results: &[CheckResult],
    id: Attempt,
) -> Vec<AnalyzerResult> {
    let Some(mut about) = about else { return Vec::new() };
    let passed = results.iter().all(|r| r.how == ralph_rules::record::CheckOutcome::Passed);
    let passed = (!results.is_empty()).then_some(passed);
    if let Some(fields) = about.as_object_mut() {
        fields.insert("verification".into(), json!({"passed": passed, "commands": results}));
    }
    let input = about.to_string().into_bytes();
    let unchanged = Replacements::default().hiding(ctx.own_dir.as_ref());
    let dir = ctx.folder.join("analyzer");
    let mut answers = Vec::new();
    for given in &ctx.start.analyzers {
        if ctx.is_interrupted() {
            break;
        }
        let runner = runner(ctx, given.timeout, id);
        answers.push(match Room::with_replacements(&ctx.workspace, &unchanged, &dir) {
            Ok(mut room) => ask(&runner, given, &input, &mut room),
            Err(why) => no_answer(given, 0, format!("the workspace cannot be shown to it: {why}")),
        });
    }
    answers
}
