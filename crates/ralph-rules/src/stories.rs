//! A plan taken story by story: what the run does with its stories. The gate grants a story as it grants a run, from the
//! story's own first files; then ralph ticks it and takes the next one. When every required story is done, the gate
//! judges the run as a whole, from the files before the run.

use crate::ending::{Ending, Reason, Status};
use crate::grade::Grade;
use crate::next::{Next, act, exit};
use crate::objection::Objection;
use crate::record::{Decision, RunStarted, StoryGrant};
use crate::state::State;
use crate::step::Step;

/// Reads the plan before the next call, or ends the run with what the plan says.
pub(crate) fn plan_first(
    state: &State,
    start: &RunStarted,
    reasons: &mut Vec<Objection>,
) -> Option<Decision> {
    let stories = &state.stories;
    start.stories?;
    if state.person.stop.or(state.person.stop_after).is_some() {
        return None;
    }
    if stories.due() {
        let step = Step::Plan { grant: stories.unticked().cloned(), aside: None };
        return Some(act(step, std::mem::take(reasons)));
    }
    let planned = stories.latest.as_deref()?;
    if let Some(problem) = planned.problem.clone() {
        let file = start.plan.as_ref().map(|plan| plan.file.clone()).unwrap_or_default();
        let ending = Ending::new(Reason::PlanUnusable, false);
        return Some(exit(ending, vec![Objection::PlanUnusable { file, problem }]));
    }
    if !planned.left.is_empty() {
        let left = Objection::StoriesLeft { stories: planned.left.clone() };
        return Some(exit(Ending::new(Reason::Blocked, state.checks.passed()), vec![left]));
    }
    None
}

/// The end of the run, or, where a story is worked on, the end of that story.
pub(crate) fn granted(state: &State, decision: Decision) -> Decision {
    let Next::Exit(ending) = &decision.next else { return decision };
    if ending.status() != Status::Completed || ending.reason == Reason::Accepted {
        return decision;
    }
    let Some(story) = &state.stories.current else {
        // Somebody may have added a story since the plan was read.
        if state.stories.due() {
            return act(Step::Plan { grant: None, aside: None }, Vec::new());
        }
        return weakest(state, *ending, decision.reasons);
    };
    let grade = ending.grade.unwrap_or(Grade::Unverified);
    let own = state.start.as_ref().is_some_and(|start| !start.verify.is_empty()) || !story.verify.is_empty();
    if !ending.verified || !own {
        // No command showed anything about it: a person has to look.
        let ending = Ending::new(Reason::NeedsReview, false).graded(grade);
        return exit(ending, decision.reasons);
    }
    let (key, title) = (story.key.clone(), story.title.clone());
    let said = Objection::StoryGranted { story: title.clone(), grade };
    let reasons = std::iter::once(said).chain(decision.reasons).collect();
    act(Step::Plan { grant: Some(StoryGrant { key, title, grade }), aside: None }, reasons)
}

/// Where nothing but the stories' own commands shows the work, the end of a run is worth no more than its weakest story.
fn weakest(state: &State, ending: Ending, reasons: Vec<Objection>) -> Decision {
    let granted = &state.stories.granted;
    let only_own = state.start.as_ref().is_some_and(|start| start.verify.is_empty());
    let least = granted.iter().map(|story| story.grant.grade).min().filter(|_| only_own);
    let Some(least) = least else { return exit(ending, reasons) };
    let stories = u32::try_from(granted.len()).unwrap_or(u32::MAX);
    let said = std::iter::once(Objection::StoriesComplete { stories });
    let grade = ending.grade.map_or(least, |grade| grade.min(least));
    exit(ending.graded(grade), said.chain(reasons).collect())
}

/// The story had its iterations: another one is taken.
pub(crate) fn set_aside(state: &State, reasons: &[Objection]) -> Option<Decision> {
    let stories = &state.stories;
    let story = stories.current.as_ref().filter(|_| stories.had_its_iterations())?;
    let said = Objection::StorySetAside { story: story.title.clone(), attempts: stories.attempts };
    let reasons = std::iter::once(said).chain(reasons.iter().cloned()).collect();
    Some(act(Step::Plan { grant: None, aside: Some(story.key.clone()) }, reasons))
}
