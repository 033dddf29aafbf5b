//! Step Inspect: examines the workspace after a call: protected paths, then changes, then the plan. Git runs only if
//! commits were made (`protection.rs`). Closes with `Inspected`.

use crate::bound_files;
use crate::observation::Observation;
use crate::protection;
use crate::step_context::StepContext;
use crate::story_plan::StoryPlan;
use ralph_rules::record::{Inspected, Seen};
use ralph_tree::{changes, git_facts};

/// Most file names kept in the record.
const NAMES: usize = 100;

/// Inspects the workspace.
pub fn inspect(ctx: &StepContext) -> Observation {
    let before = ctx.index();
    ctx.commands_ended();
    let after = ctx.walk();
    ctx.step_ended_around();
    let changed = changes(&before, &after);
    let facts = git_facts(&ctx.workspace);
    let redactor = &ctx.deps.redactor;
    Seen::Inspected(Inspected {
        tree: after.id(),
        files: u32::try_from(changed.len()).unwrap_or(u32::MAX),
        changed: changed.paths().take(NAMES).map(|p| redactor.redact(&p.to_string()).into_owned()).collect(),
        test_only: changed.only_tests(),
        violations: protection::found(ctx, &before, &after),
        head: facts.head,
        commits: facts.recent.iter().map(|c| redactor.redact(c).into_owned()).collect(),
        oracle: Vec::new(),
        marker: marker(ctx),
        plan: ctx.start.plan.as_ref().map(|given| bound_files::seen(given, redactor)),
    })
    .into()
}

/// Whether the marker file exists and changed during the run: a marker left by an earlier run does not count.
fn marker(ctx: &StepContext) -> bool {
    let file = ctx.start.policy.gate.marker_file.as_deref();
    let now = file.and_then(|file| bound_files::marker(&ctx.workspace, file));
    let of_story = ctx.stories.as_ref().and_then(StoryPlan::marker);
    now.is_some() && now != of_story.unwrap_or_else(|| ctx.start.marker_before.clone())
}
