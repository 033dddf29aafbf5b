//! A plan taken story by story: the gate grants each from its own first files, ralph ticks it, another is taken; a story
//! that had its iterations is set aside; the run ends when the whole gate is satisfied, too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, bound, done, more, plan};
use ralph_rules::ending::Reason;
use ralph_rules::grade::Grade;
use ralph_rules::next::Next;
use ralph_rules::policy::Until;
use ralph_rules::prompt::compose;
use ralph_rules::record::*;
use ralph_rules::step::Step;

fn run(attempts: u32) -> Journal {
    Journal::start(|start| {
        start.plan = bound(plan(0, 2));
        start.stories = Some(StoriesGiven { attempts });
    })
}

fn story(key: &str) -> StoryGiven {
    StoryGiven {
        key: key.into(),
        title: format!("{key}: do it"),
        criteria: vec![format!("{key} is there")],
        ..StoryGiven::default()
    }
}

/// What the plan says: the story to take, and how many are done and open.
fn planned(journal: &mut Journal, story: Option<StoryGiven>, (done, open): (u32, u32)) {
    assert!(matches!(journal.answer.next, Next::Do(Step::Plan { .. })), "{:?}", journal.answer);
    journal.tree += 1;
    let planned = Planned { tree: journal.tree, story, done, open, ..Planned::default() };
    journal.see(Seen::Planned(Box::new(planned)));
}

fn left(journal: &mut Journal, names: &[&str]) {
    journal.tree += 1;
    let left = names.iter().map(ToString::to_string).collect();
    let planned = Planned { tree: journal.tree, done: 1, open: 1, left, ..Planned::default() };
    journal.see(Seen::Planned(Box::new(planned)));
}

fn granted(journal: &Journal) -> (String, Grade) {
    match &journal.answer.next {
        Next::Do(Step::Plan { grant: Some(grant), .. }) => (grant.key.clone(), grant.grade),
        other => panic!("not granted: {other:?}"),
    }
}

const PASSED: Option<CheckOutcome> = Some(CheckOutcome::Passed);

/// The first story is taken and its baseline was red.
fn first_taken(attempts: u32) -> Journal {
    let mut journal = run(attempts);
    planned(&mut journal, Some(story("A")), (0, 2));
    journal.verified(CheckOutcome::Failed);
    journal
}

#[test]
fn each_story_is_granted_from_its_own_first_files_and_then_the_run() {
    let mut journal = first_taken(5);
    assert!(compose(&journal.state).contains("A: do it\n\nAcceptance criteria:\n- A is there"));
    journal.iteration(&done(), true, PASSED);
    assert_eq!(granted(&journal), ("A".into(), Grade::Proven));
    planned(&mut journal, Some(story("B")), (1, 1));
    // The second one has a baseline of its own: green this time, so that a passing check shows nothing.
    assert!(matches!(journal.answer.next, Next::Do(Step::Verify { check: Check::Baseline, .. })));
    journal.verified(CheckOutcome::Passed);
    assert!(!compose(&journal.state).contains("A: do it"));
    journal.room_passes = |_| true;
    journal.iteration(&done(), true, PASSED);
    assert_eq!(granted(&journal), ("B".into(), Grade::Unbroken));
    // All are done: the run as a whole is verified and proven, from the files before it.
    planned(&mut journal, None, (2, 0));
    assert!(matches!(journal.answer.next, Next::Do(Step::Verify { check: Check::AsIs, .. })));
    journal.room_passes = |sets| sets.work;
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.ended().grade, Some(Grade::Proven), "red before the run, green because of the work");
    assert_eq!(journal.state.calls.done, 2);
    let grades: Vec<_> = journal.state.stories.granted.iter().map(|s| (s.grant.grade, s.iteration)).collect();
    assert_eq!(grades, [(Grade::Proven, 1), (Grade::Unbroken, 2)]);
}

#[test]
fn no_claim_no_grant() {
    let mut journal = first_taken(5);
    journal.iteration(&more(), true, PASSED);
    assert!(matches!(journal.answer.next, Next::Do(Step::Plan { grant: None, aside: None })));
    assert_eq!(journal.reasons(), "explicit_continue");
    planned(&mut journal, Some(story("A")), (0, 2));
    journal.goes_on("");
    assert_eq!(journal.state.objections[0].code(), "explicit_continue", "the prompt still has it");
    journal.iteration(&done(), false, Some(CheckOutcome::Failed));
    assert_eq!(journal.reasons(), "verification_failed");
    // Other open stories do not contradict the claim.
    planned(&mut journal, Some(story("A")), (0, 2));
    journal.iteration(&done(), true, PASSED);
    assert_eq!(granted(&journal).0, "A");
}

#[test]
fn a_story_that_needs_a_person_ends_the_run_as_ever() {
    let mut journal = first_taken(5);
    journal.sets = Some(Compared {
        ambiguous: ChangeSet { files: 1, names: vec!["Makefile".into()] },
        ..Compared::default()
    });
    journal.room_passes = |sets| sets.ambiguous;
    journal.iteration(&done(), true, PASSED);
    journal.ended_with(Reason::NeedsReview, 2);
    assert_eq!(journal.state.stories.granted, []);
    // Resumed, it is the same story.
    journal.resume();
    assert_eq!(journal.state.stories.current.as_ref().unwrap().key, "A");
}

#[test]
fn after_its_iterations_a_story_is_set_aside_and_what_is_left_blocks() {
    let mut journal = first_taken(2);
    for _ in 0..2 {
        journal.iteration(&more(), true, Some(CheckOutcome::Failed));
        if journal.state.stories.aside.is_empty() {
            planned(&mut journal, Some(story("A")), (0, 2));
        }
    }
    let Next::Do(Step::Plan { grant: None, aside: Some(aside) }) = &journal.answer.next else {
        panic!("{:?}", journal.answer)
    };
    assert_eq!((aside.as_str(), journal.reasons().as_str()), ("A", "story_set_aside"));
    planned(&mut journal, Some(story("B")), (0, 2));
    journal.verified(CheckOutcome::Failed);
    journal.iteration(&done(), true, PASSED);
    assert_eq!(granted(&journal).0, "B");
    left(&mut journal, &["A: do it"]);
    journal.ended_with(Reason::Blocked, 2);
    assert!(journal.answer.reasons[0].say().ends_with("A: do it"), "{:?}", journal.answer);
    // Somebody looked: it gets its iterations again.
    journal.resume();
    assert!(journal.state.stories.aside.is_empty());
    planned(&mut journal, Some(story("A")), (1, 1));
    journal.verified(CheckOutcome::Failed);
    journal.goes_on("");
}

#[test]
fn a_stuck_story_is_set_aside_before_the_breaker_opens() {
    let mut journal = first_taken(4);
    for n in 1..=4 {
        journal.iteration(&more(), false, Some(CheckOutcome::Failed));
        if n < 4 {
            planned(&mut journal, Some(story("A")), (0, 2));
        }
    }
    assert_eq!(journal.reasons(), "story_set_aside");
    planned(&mut journal, Some(story("B")), (0, 2));
    assert_eq!(journal.state.stall.running, 0, "the next one starts anew");
}

#[test]
fn work_that_is_good_enough_is_not_set_aside_for_want_of_a_test() {
    for (asks, attempts, granted_after) in [(1, 5, 2), (2, 2, 2), (1, 1, 1)] {
        let mut journal = Journal::start(|start| {
            start.plan = bound(plan(0, 2));
            start.stories = Some(StoriesGiven { attempts });
            start.policy.gate.ask_for_test = asks;
        });
        planned(&mut journal, Some(story("A")), (0, 2));
        journal.verified(CheckOutcome::Passed);
        journal.room_passes = |_| true;
        for n in 1..=granted_after {
            journal.iteration(&done(), true, PASSED);
            if n < granted_after {
                assert_eq!(journal.reasons(), "ask_for_test");
                planned(&mut journal, Some(story("A")), (0, 2));
            }
        }
        assert_eq!(granted(&journal), ("A".into(), Grade::Unbroken), "{asks} {attempts}");
    }
}

#[test]
fn a_grant_is_ticked_also_after_a_crash_and_counted_once() {
    let mut journal = first_taken(5);
    journal.iteration(&done(), true, PASSED);
    let before = granted(&journal);
    for _ in 0..3 {
        journal.resume();
        assert_eq!(granted(&journal), before, "the step is begun again");
    }
    assert_eq!(journal.state.stories.granted.len(), 1);
    planned(&mut journal, Some(story("B")), (1, 1));
    journal.resume();
    assert!(matches!(journal.answer.next, Next::Do(Step::Plan { grant: None, .. })), "{:?}", journal.answer);
}

#[test]
fn a_plan_that_cannot_be_used_ends_the_run_and_the_grant_is_kept() {
    let mut journal = first_taken(5);
    journal.iteration(&done(), true, PASSED);
    let problem = Some("line 3, column 1: the JSON ends too early".to_string());
    let broken = Planned { tree: journal.tree, problem, ..Planned::default() };
    journal.see(Seen::Planned(Box::new(broken)));
    journal.ended_with(Reason::PlanUnusable, 65);
    assert!(journal.answer.reasons[0].say().contains("line 3, column 1"), "{:?}", journal.answer);
    journal.resume();
    assert_eq!(granted(&journal).0, "A", "once the plan is whole, the story is ticked");
}

#[test]
fn a_complete_plan_needs_no_call_and_a_stop_comes_first() {
    let mut journal = run(5);
    planned(&mut journal, None, (2, 0));
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::AlreadyComplete, 0);
    let mut journal = first_taken(5);
    journal.admit();
    journal.stop();
    journal.says(&more());
    journal.inspected(true);
    journal.ended_with(Reason::Interrupted, 130);
}

#[test]
fn a_persons_tick_moves_on_and_a_new_story_reopens() {
    let mut journal = first_taken(5);
    journal.iteration(&more(), true, PASSED);
    // Somebody ticked A and B: nothing was granted, so that only a claim and the whole gate can end the run.
    planned(&mut journal, None, (2, 0));
    journal.goes_on("");
    journal.iteration(&done(), true, PASSED);
    // The plan is read once more before the end, and a run that is killed meanwhile verifies again.
    journal.resume();
    journal.verified(CheckOutcome::Passed);
    journal.tree -= 1;
    planned(&mut journal, None, (2, 0));
    journal.ended_with(Reason::GatePassed, 0);
    let mut journal = first_taken(5);
    journal.iteration(&done(), true, PASSED);
    planned(&mut journal, None, (1, 0));
    journal.verified(CheckOutcome::Failed);
    journal.goes_on("verification_failed");
    journal.iteration(&more(), true, PASSED);
    planned(&mut journal, Some(story("C")), (1, 1));
    journal.verified(CheckOutcome::Failed);
    journal.goes_on("");
    assert_eq!(journal.state.stories.current.as_ref().unwrap().key, "C");
}

#[test]
fn passing_checks_of_the_story_before_prove_nothing_for_the_next() {
    let mut journal = Journal::start(|start| {
        start.plan = bound(plan(0, 2));
        start.stories = Some(StoriesGiven { attempts: 5 });
        start.policy.gate.until = Until::Verified;
    });
    planned(&mut journal, Some(story("A")), (0, 2));
    journal.verified(CheckOutcome::Failed);
    journal.iteration(&more(), true, PASSED);
    assert_eq!(granted(&journal).0, "A");
    planned(&mut journal, Some(story("B")), (1, 1));
    journal.verified(CheckOutcome::Passed);
    journal.iteration(&more(), false, PASSED);
    assert_eq!(journal.reasons(), "green_before", "{:?}", journal.answer);
}

#[test]
fn a_story_brings_its_own_commands_and_needs_no_others() {
    let own = StoryGiven { verify: vec!["test -f b".into(), "make test".into()], ..story("A") };
    let mut journal = run(5);
    planned(&mut journal, Some(own.clone()), (0, 2));
    let commands: Vec<_> = journal.state.commands().cloned().collect();
    assert_eq!(commands, ["make test", "test -f b"], "each once");
    let mut journal = Journal::unverified(|start| {
        start.plan = bound(plan(0, 1));
        start.stories = Some(StoriesGiven { attempts: 5 });
    });
    planned(&mut journal, Some(own), (0, 1));
    journal.verified(CheckOutcome::Failed);
    journal.iteration(&done(), true, PASSED);
    assert_eq!(granted(&journal).1, Grade::Proven);
    planned(&mut journal, None, (1, 0));
    // All commands once more, together, on the files that were ticked in.
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::GatePassed, 0);
    assert_eq!(journal.ended().grade, Some(Grade::Proven));
    // Without any command nothing is granted.
    let mut journal = Journal::unverified(|start| {
        start.plan = bound(plan(0, 1));
        start.stories = Some(StoriesGiven { attempts: 5 });
    });
    planned(&mut journal, Some(story("A")), (0, 1));
    let claim = format!("All tests pass. The implementation is complete.\n\n{}", done());
    journal.iteration(&claim, true, None);
    journal.ended_with(Reason::NeedsReview, 2);
}

/// A person ticks what was left of a run whose last story broke the first one: that is no end.
#[test]
fn what_is_left_may_be_ticked_by_a_person_but_what_was_granted_has_to_hold() {
    let own = |key: &str| StoryGiven { verify: vec![format!("test -f {key}")], ..story(key) };
    for (how, ends) in [(CheckOutcome::Passed, true), (CheckOutcome::Failed, false)] {
        let mut journal = Journal::unverified(|start| {
            start.plan = bound(plan(0, 2));
            start.stories = Some(StoriesGiven { attempts: 5 });
        });
        planned(&mut journal, Some(own("A")), (0, 2));
        journal.verified(CheckOutcome::Failed);
        journal.iteration(&done(), true, PASSED);
        planned(&mut journal, Some(own("B")), (1, 1));
        let commands: Vec<_> = journal.state.commands().cloned().collect();
        assert_eq!(commands, ["test -f A", "test -f B"]);
        journal.verified(CheckOutcome::Failed);
        journal.iteration(&done(), true, Some(CheckOutcome::Failed));
        planned(&mut journal, None, (2, 0));
        journal.verified(how);
        match ends {
            true => journal.ended_with(Reason::GatePassed, 0),
            false => assert!(!matches!(&journal.answer.next, Next::Exit(_)), "{:?}", journal.answer),
        }
    }
}
