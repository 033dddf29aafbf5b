//! The files that a resumed run compares with.

use crate::home::Home;
use crate::leftovers::Loss;
use crate::moved;
use crate::proof::user_changed_meanwhile;
use crate::protection::{BEFORE, Moment};
use crate::session::has_session;
use crate::snapshots::Snapshots;
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_rules::state::{Phase, State};
use ralph_tree::Index;
use std::path::Path;

/// The files that the next step is compared with: those before the step that was under way, or those that are there now,
/// changed by nobody but the user.
pub(super) fn files_before(
    home: &Home,
    (id, workspace): (&str, &Path),
    state: &State,
    left: Option<Index>,
    now: Index,
) -> Index {
    if moved::standing(home, id, workspace) != moved::Standing::Same {
        moved::adopt(home, workspace, id, &now);
    }
    if let Some(moment) = before_the_crash(home, state, id) {
        return moment.files;
    }
    if Loss::of_run(&home.run(id)).happened() {
        let last = Moment::load(&home.run(id), BEFORE).map(|moment| moment.files).or(left);
        return last.map_or_else(|| now.clone(), |last| now.with_protected_of(&last));
    }
    // Between two hooks the session works: what changed since ralph looked last is its work.
    if let Some(left) = left.as_ref().filter(|_| state.in_session && has_session(&home.run(id))) {
        return left.clone();
    }
    let snapshots = Snapshots::of(home, workspace, id);
    if !snapshots.iterations().is_empty() {
        // What the user changed belongs to the baseline from now on, so its contents are needed.
        snapshots.take_durably(&now).discard("keep what the user changed");
        user_changed_meanwhile(&home.run(id), left.as_ref(), state.trees.now, &now);
    }
    now
}

/// The workspace before the step during which an earlier process died: what differs from it is the agent's work.
pub(super) fn before_the_crash(home: &Home, state: &State, id: &str) -> Option<Moment> {
    let under_way = matches!(
        state.phase,
        Phase::Calling { .. }
            | Phase::Ending
            | Phase::Lost
            | Phase::Recovering
            | Phase::Answered
            | Phase::Inspecting
            | Phase::Restoring { .. }
            | Phase::Comparing
            | Phase::Verifying(_)
            | Phase::Mapping
    );
    let moment = under_way.then(|| Moment::load(&home.run(id), BEFORE)).flatten()?;
    let own = state.start.as_ref().and_then(|start| home.within(Path::new(&start.workspace)));
    Some(Moment { files: moment.files.without(own.as_ref()), ..moment })
}

/// The state before the step in which a supervisor was lost, if one was.
pub(super) fn before_the_loss(ctx: &StepContext) -> Option<Moment> {
    ctx.under_way.loss().happened().then(|| Moment::load(&ctx.folder, BEFORE)).flatten()
}
