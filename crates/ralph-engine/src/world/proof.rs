//! Second half of a proof: runs the same commands on the same work with the baseline's tests restored, at the
//! workspace's own path where the system permits it. Closes with `Verified` like any verification.

use super::verify::{run_commands, verified};
use crate::observation::Observation;
use crate::oracle::{baseline_files, diff, run_oracle};
use crate::step_context::StepContext;
use crate::verification::{Room, not_run};
use ralph_rules::record::{Attempt, Check, Ms, PutBack};
use std::io;

/// Name of the room's directory in the run's folder.
const ROOM: &str = "view";

/// Verifies the work against the baseline's tests.
pub fn prove(ctx: &StepContext, deadline: Ms, id: Attempt) -> Observation {
    let check = Check::WithBaselineOracle;
    let now = ctx.walk();
    let changed = run_oracle::changed_now(ctx, &now);
    let (replacements, diff) = match ctx.oracle().as_ref() {
        Some(base) => {
            let sources = run_oracle::sources(ctx);
            (baseline_files(&changed, base, sources), diff::diff(&changed, base, sources))
        }
        None => (Err(io::Error::other("the baseline's tests are not kept any more")), String::new()),
    };
    let dir = ctx.folder.join(ROOM);
    let mut contained = "layer";
    let results = replacements.and_then(|replacements| {
        let mut room = Room::with_replacements(&ctx.workspace, &replacements, &dir)?;
        let results = run_commands(ctx, check, deadline, id, &mut room);
        contained = room.kind();
        results
    });
    let results = results.unwrap_or_else(|why| {
        let why = format!("the baseline's tests could not be restored: {why}");
        ctx.start.verify.iter().map(|command| not_run(command, why.as_str())).collect()
    });
    let redactor = &ctx.deps.redactor;
    let files = changed.iter().map(|one| redactor.redact(&one.to_string()).into_owned()).collect();
    let oracle = PutBack { contained: contained.into(), files, diff: redactor.redact(&diff).into_owned() };
    verified(ctx, check, results, &now, Some(oracle))
}
