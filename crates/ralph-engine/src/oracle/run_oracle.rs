//! The oracle during a run: its baseline, what the user changed, what the agent changed.

use super::baseline::Baseline;
use super::{Changed, Sources, changed};
use crate::step_context::StepContext;
use ralph_rules::policy::Oracle;
use ralph_rules::record::RunStarted;
use ralph_tree::{BadGlob, Index, Protect, Tree};
use std::path::Path;

/// The workspace's tree, with protected paths and oracle.
pub fn tree(workspace: &Path, start: &RunStarted) -> Result<Tree, BadGlob> {
    let oracle = match start.policy.oracle {
        Oracle::Allow => ralph_tree::Oracle::default(),
        _ => ralph_tree::Oracle::new(&start.oracle_paths, &start.scripts)?,
    };
    let tree = Tree::new(workspace, Protect::new(&start.protect)?).leaving_out(&start.own_files);
    Ok(tree.with_oracle(oracle))
}

/// A call begins. Before the first one, the current oracle becomes the baseline.
pub fn begins(ctx: &StepContext) {
    let mut base = ctx.oracle();
    if base.is_none() && ctx.start.policy.oracle != Oracle::Allow {
        *base =
            Some(Baseline::load(&ctx.folder).unwrap_or_else(|| Baseline::begin(&ctx.folder, &ctx.index())));
    }
}

/// Changes between two calls are the user's and become part of the baseline.
pub fn user_changed(ctx: &StepContext, before: &Index, now: &Index) {
    if let Some(base) = ctx.oracle().as_mut() {
        base.user_changed(before, now);
    }
}

/// The user's changes while the run was not active. `before` counts only if it is the tree the run left.
pub fn user_changed_meanwhile(folder: &Path, before: Option<&Index>, left: u128, now: &Index) {
    if let (Some(before), Some(mut base)) =
        (before.filter(|before| before.id() == left), Baseline::load(folder))
    {
        base.user_changed(before, now);
    }
}

/// What of the oracle is not as the baseline has it.
pub fn changed_now(ctx: &StepContext, now: &Index) -> Vec<Changed> {
    let base = ctx.oracle();
    base.as_ref().map(|base| changed(ctx.tree.oracle(), base, now, sources(ctx))).unwrap_or_default()
}

/// Where contents come from.
pub fn sources(ctx: &StepContext) -> Sources<'_> {
    Sources { blobs: ctx.snapshots.store().blobs(), root: &ctx.workspace }
}
