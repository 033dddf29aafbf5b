//! A workspace that is lost or cannot be written ends the run at once, whatever step found it; the step is begun again
//! when the run is resumed, there or where the workspace was moved to.

use super::resume::{inspecting, restoring, step, verifying};
use crate::journal::{Journal, bound, done, plan};
use ralph_rules::ending::Reason;
use ralph_rules::money::Micro;
use ralph_rules::record::*;

fn unusable(how: Unusable) -> Seen {
    Seen::WorkspaceUnusable(WorkspaceUnusable { how, what: "the workspace /work is gone".into() })
}

#[test]
fn it_ends_the_run_in_every_step_and_the_step_is_begun_again() {
    type Made = fn() -> Journal;
    let made: [(&str, Made, &str); 7] = [
        ("baseline", || Journal::start(|_| {}), "verify Baseline"),
        ("admitting", || Journal::after_baseline(false, |_| {}), "admit 001.a1"),
        ("inspecting", inspecting, "inspect"),
        ("restoring", restoring, "restore"),
        ("verifying", || verifying(0), "verify AsIs"),
        ("comparing", || verifying(1), "verify AsIs"),
        ("verifying in a room", || verifying(2), "verify AsIs"),
    ];
    for (name, make, then) in made {
        for how in [Unusable::Lost, Unusable::Unwritable] {
            let mut journal = make();
            let before =
                (journal.state.calls.done, journal.state.stall.running, journal.state.budget.reserved);
            journal.see(unusable(how));
            journal.ended_with(how.reason(), 74);
            assert!(journal.ended().resumable() && !journal.ended().opens_breaker(), "{name}");
            let codes: Vec<String> = journal.answer.reasons.iter().map(|o| o.code()).collect();
            assert_eq!(codes, [how.reason().name().to_lowercase()], "{name}");
            let after =
                (journal.state.calls.done, journal.state.stall.running, journal.state.budget.reserved);
            assert_eq!(after, before, "{name}: nothing was judged");
            journal.later(1_000).resume();
            assert_eq!(step(&journal), then, "{name}");
        }
    }
}

#[test]
fn it_comes_before_a_request_to_stop_and_before_protected_paths() {
    let mut journal = restoring();
    journal.stop();
    journal.see(unusable(Unusable::Lost));
    journal.ended_with(Reason::WorkspaceLost, 74);
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.stop();
    journal.see(unusable(Unusable::Unwritable));
    journal.ended_with(Reason::WorkspaceUnwritable, 74);
    assert_eq!(journal.state.budget.reserved, Micro::ZERO, "nothing was reserved");
}

#[test]
fn a_moved_workspace_is_where_the_resumption_says() {
    let mut journal = Journal::after_baseline(false, |start| start.plan = bound(plan(0, 1)));
    journal.see(unusable(Unusable::Lost));
    let workspace = Some("/moved/here".to_owned());
    let plan = Some(plan(0, 1));
    journal.see(Seen::Resumed(Resumed { workspace, plan, rules: 5, ..Resumed::default() }));
    let start = journal.state.start.as_ref().unwrap();
    assert_eq!(start.workspace, "/moved/here");
    assert_eq!(start.plan.as_ref().unwrap().path, "/moved/here/fix_plan.md");
    assert_eq!(step(&journal), "admit 001.a1");
    let mut beside = Journal::start(|start| {
        start.plan = bound(PlanSeen::default());
        start.workspace = "/wor".into();
    });
    beside.see(Seen::Resumed(Resumed { workspace: Some("/new".into()), ..Resumed::default() }));
    let start = beside.state.start.as_ref().unwrap();
    assert_eq!(start.plan.as_ref().unwrap().path, "/work/fix_plan.md", "not in it, so not moved with it");
}

#[test]
fn a_clock_that_was_set_back_is_remembered_and_changes_no_decision() {
    let mut journal = Journal::start(|start| start.clock_behind = Some(5_000));
    journal.verified(CheckOutcome::Failed);
    assert_eq!(journal.state.clock_behind, Some(5_000));
    journal.see(Seen::Resumed(Resumed { clock_behind: Some(9_000), ..Resumed::default() }));
    assert_eq!(journal.state.clock_behind, Some(9_000));
    journal.resume();
    assert_eq!(journal.state.clock_behind, Some(9_000), "the largest step back");
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal.ended_with(Reason::GatePassed, 0);
}
