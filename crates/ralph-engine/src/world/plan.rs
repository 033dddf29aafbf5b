//! Step Plan: ticks the story that was granted, reads the plan and takes the next story. Closes with `Planned`. It can
//! be begun twice: a story that is ticked already stays ticked.

use crate::observation::Observation;
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_rules::record::{Planned, Seen, StoryGrant};
use ralph_rules::state::State;

/// Reads the plan, and ticks it.
pub fn plan(ctx: &StepContext, grant: Option<&StoryGrant>, state: &State) -> Observation {
    let before = ctx.index();
    let redactor = &ctx.deps.redactor;
    let read = match &ctx.stories {
        Some(stories) => stories.read(grant, state, redactor),
        None => Err("the run does not take it story by story".into()),
    };
    let mut planned = match read {
        Err(problem) => Planned { problem: Some(problem), ..Planned::default() },
        Ok(reading) => {
            if reading.another {
                ctx.story_begins();
            }
            Planned {
                tree: 0,
                story: reading.story,
                done: reading.done,
                open: reading.open,
                left: reading.left,
                ticked: reading.ticked,
                put_back: reading.put_back,
                ignored: reading.ignored,
                problem: None,
            }
        }
    };
    let after = ctx.walk();
    // A tick of ralph's is nobody's work, and neither is what a person changed since the last step.
    if !ctx.under_way.loss().happened() && before.id() != after.id() {
        ctx.snapshots.take_durably(&after).discard("keep the plan as it was ticked");
        ctx.user_changed(&before, &after);
    }
    planned.tree = after.id();
    Seen::Planned(Box::new(planned)).into()
}
