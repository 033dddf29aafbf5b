//! Step Map: puts hunks of the change back, to see which ones a check notices. Closes with `Mapped`.

use super::verify::runner;
use crate::observation::Observation;
use crate::proof::map::{MapRun, no_map};
use crate::step_context::StepContext;
use crate::verification::Runner;
use ralph_rules::record::{Attempt, Ms, Seen};
use ralph_rules::state::State;

/// What the step is to do.
#[derive(Clone, Copy, Debug)]
pub struct MapRequest {
    /// Longest time for all of it.
    time: Ms,
    /// Each command's deadline.
    deadline: Ms,
    id: Attempt,
    /// The tree that was proven.
    tree: u128,
    /// The commands pass in a room with the whole change.
    passes: bool,
}

impl MapRequest {
    /// The request for the files that were proven last.
    pub fn new(state: &State, time: Ms, deadline: Ms) -> MapRequest {
        let (tree, passes) = (state.trees.now, state.proof.passes_with_everything());
        MapRequest { time, deadline, id: state.calls.id, tree, passes }
    }
}

/// Maps the change.
pub fn map(ctx: &StepContext, request: MapRequest) -> Observation {
    let now = ctx.walk();
    let redactor = &ctx.deps.redactor;
    if now.id() != request.tree {
        let map = no_map(now.id(), "the files changed after they were verified", redactor);
        return Seen::Mapped(Box::new(map)).into();
    }
    let runner = Runner {
        until: Some(ctx.clock.ran().saturating_add(request.time)),
        after_failure: false,
        ..runner(ctx, request.deadline, request.id)
    };
    let run = MapRun { setup: &ctx.start.setup, dir: &ctx.rooms, passes: request.passes };
    let map = ctx
        .comparison(&now)
        .and_then(|comparison| ctx.with_site(&now, |site| run.run(site, &comparison, &runner, &mut |_| ())));
    let lost = || no_map(now.id(), "what was kept of the files before the run is gone", redactor);
    Seen::Mapped(Box::new(map.unwrap_or_else(lost))).into()
}
