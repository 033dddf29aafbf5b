//! What a run leaves when it ends: its receipt, and a snapshot of the workspace.

use crate::home::Home;
use crate::receipt;
use crate::run::stream_of;
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_rules::objection::Objection;
use ralph_rules::state::State;
use ralph_store::{RunFilter, Store};

/// Writes the receipt into the run's folder. Without it, the journal still holds all of it.
pub(super) fn keep_receipt(store: &dyn Store, ctx: &StepContext, state: &State, reasons: &[Objection]) {
    let rows = store.iterations(&ctx.start.run).unwrap_or_default();
    let head = store.head(&stream_of(&ctx.start.run)).ok().flatten();
    let before = ctx.snapshots.after(0);
    let trees = (before.as_ref(), &*ctx.index());
    let receipt = receipt::of_run(state, &rows, head.as_ref(), trees, reasons);
    std::fs::write(ctx.folder.join("receipt.md"), receipt.markdown()).discard("write receipt.md");
    let json = serde_json::to_vec_pretty(&receipt).unwrap_or_default();
    std::fs::write(ctx.folder.join("receipt.json"), json).discard("write receipt.json");
}

/// Takes a snapshot of the workspace as the run leaves it, and removes old ones. Neither changes how the run ended.
pub(super) fn take_last_snapshot(home: &Home, store: &dyn Store, ctx: &StepContext) {
    if ctx.snapshots.iterations().is_empty() {
        // Nobody was called, so there is nothing to return to, and a stop must not wait for it.
        return;
    }
    ctx.snapshots.left(&ctx.index()).discard("take the last snapshot");
    let runs = || {
        let workspace = Some(ctx.start.workspace.clone());
        let runs = store.runs(&RunFilter { workspace, ..RunFilter::default() }).unwrap_or_default();
        runs.into_iter().rev().collect()
    };
    ctx.snapshots.keep_within_limit(home, runs).discard("prune snapshots");
}
