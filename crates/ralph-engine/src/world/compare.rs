//! Step Compare: splits what changed since the baseline into work, oracle and ambiguous. Closes with `Compared`.

use crate::observation::Observation;
use crate::proof::RedBefore;
use crate::step_context::StepContext;
use ralph_rules::record::{CheckOutcome, Compared, Seen, Verified};
use ralph_tree::{Index, TreePath, changes};

/// How many files that changed meanwhile are named.
const NAMES: usize = 6;

/// Compares the current files with the baseline's. `before` is the verification before the first call.
pub fn compare(ctx: &StepContext, before: Option<&Verified>) -> Observation {
    let verified = ctx.index();
    let now = ctx.walk();
    let failed = before.iter().flat_map(|verified| &verified.results);
    let red: Vec<RedBefore<'_>> = failed
        .filter(|result| result.how != CheckOutcome::Passed)
        .map(|result| RedBefore { command: &result.command, not_run: result.how == CheckOutcome::NotRun })
        .collect();
    let mut compared = match ctx.compare(&now, &red) {
        Some(comparison) => comparison.record(&ctx.deps.redactor),
        None => {
            let problem = Some("what an earlier process kept of them is gone".into());
            Compared { tree: now.id(), problem, ..Compared::default() }
        }
    };
    compared.changed_since = names_of_changes(ctx, &verified, &now);
    Seen::Compared(Box::new(compared)).into()
}

/// Some names of the files that changed between two moments.
pub fn names_of_changes(ctx: &StepContext, earlier: &Index, now: &Index) -> Vec<String> {
    let redacted = |path: &TreePath| ctx.deps.redactor.redact(&path.to_string()).into_owned();
    changes(earlier, now).paths().take(NAMES).map(redacted).collect()
}
