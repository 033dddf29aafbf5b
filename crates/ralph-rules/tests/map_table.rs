//! When the change is mapped before a run exits, for how long, and that the map changes nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done};
use ralph_rules::ending::Reason;
use ralph_rules::grade::Grade;
use ralph_rules::next::{Next, Why};
use ralph_rules::policy::{MINUTE, MapTime, Oracle};
use ralph_rules::record::*;
use ralph_rules::step::Step;

const WORK: &str = "W";

fn compared(changed: &str) -> Compared {
    let set = |letter| ChangeSet { files: u32::from(changed.contains(letter)), names: Vec::new() };
    let (work, ambiguous, oracle) = (set('W'), set('A'), set('T'));
    Compared { work, ambiguous, oracle, docs_only: changed.contains('d'), ..Compared::default() }
}

/// A run whose proof is complete; it exits, or maps the change.
fn proven(green: bool, changed: &str, map_time: MapTime, with: impl FnOnce(&mut RunStarted)) -> Journal {
    let mut journal = Journal::after_baseline(green, |start| {
        start.policy.map_time = map_time;
        with(start);
    });
    journal.sets = Some(compared(changed));
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    journal
}

/// The time of the map that is to be made.
fn map_time(journal: &Journal) -> Option<Ms> {
    match journal.answer.next {
        Next::Do(Step::Map { time, .. }) => Some(time),
        _ => None,
    }
}

fn mapped(journal: &mut Journal, interrupted: bool) {
    let hunk = MappedHunk { path: "src/a.py".into(), state: HunkState::NotHeld, ..MappedHunk::default() };
    let totals = MapTotals { not_held: 1, ..MapTotals::default() };
    let (tree, hunks) = (journal.tree, vec![hunk]);
    let map = ChangeMap { tree, runs: 1, hunks, totals, interrupted, ..ChangeMap::default() };
    journal.see(Seen::Mapped(Box::new(map)));
}

/// Baseline, changed sets, setting, and the map's time if there is to be one. A verification takes 900 ms: the baseline,
/// the files as they are, one room or three.
const TABLE: &[(bool, &str, MapTime, Option<Ms>)] = &[
    (false, "W", MapTime::Off, None),
    (false, "W", MapTime::AtMost(0), None),
    (false, "W", MapTime::AtMost(MINUTE), Some(MINUTE)),
    (false, "W", MapTime::Auto, Some(2_700)),
    (true, "W", MapTime::AtMost(MINUTE), Some(MINUTE)),
    (true, "A", MapTime::AtMost(MINUTE), Some(MINUTE)),
    (true, "WT", MapTime::Auto, Some(4_500)),
    // Nothing that a check could notice.
    (true, "T", MapTime::AtMost(MINUTE), None),
    (true, "Ad", MapTime::AtMost(MINUTE), None),
];

#[test]
fn a_change_is_mapped_before_the_exit_if_there_is_time_for_it() {
    for (green, changed, setting, time) in TABLE {
        let mut journal = Journal::after_baseline(*green, |start| start.policy.map_time = *setting);
        journal.sets = Some(compared(changed));
        journal.room_passes = if changed.contains('A') { |_| true } else { |sets| sets.work };
        journal.iteration(&done(), true, Some(CheckOutcome::Passed));
        assert_eq!(map_time(&journal), *time, "{green} {changed} {setting:?}: {:?}", journal.answer);
        if time.is_some() {
            assert_eq!(journal.reasons(), "map_wanted");
            mapped(&mut journal, false);
        }
        journal.ended_with(Reason::GatePassed, 0);
        assert_eq!(journal.state.proof.map().is_some(), time.is_some());
    }
}

#[test]
fn the_map_changes_neither_grade_nor_ending() {
    for (green, changed) in [(false, "W"), (true, "W"), (true, "WT")] {
        let plain = proven(green, changed, MapTime::Off, |_| {});
        let mut with_map = proven(green, changed, MapTime::AtMost(MINUTE), |_| {});
        mapped(&mut with_map, false);
        assert_eq!(with_map.ended(), plain.ended());
        assert_eq!(with_map.answer.reasons, plain.answer.reasons);
    }
}

#[test]
fn work_that_a_person_has_to_review_is_mapped_too() {
    let mut journal = Journal::after_baseline(true, |start| start.policy.map_time = MapTime::Auto);
    journal.sets = Some(compared("WT"));
    journal.room_passes = |sets| sets.work && sets.oracle;
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    assert!(map_time(&journal).is_some(), "{:?}", journal.answer);
    mapped(&mut journal, false);
    journal.ended_with(Reason::NeedsReview, 2);
    assert_eq!(journal.ended().grade, Some(Grade::Revised));
    journal.later(1_000).resume();
    journal.ask(Request::Accept);
    journal.verified(CheckOutcome::Passed);
    journal.ended_with(Reason::Accepted, 0);
    assert!(journal.state.proof.map().is_some(), "the files are the same");
}

#[test]
fn nothing_is_mapped_without_a_proof() {
    let allowed = proven(false, WORK, MapTime::Auto, |start| start.policy.oracle = Oracle::Allow);
    allowed.ended_with(Reason::GatePassed, 0);
    let mut unverified = Journal::unverified(|start| start.policy.map_time = MapTime::Auto);
    unverified.iteration(&format!("All tests pass.\n\n{}", done()), true, None);
    assert_eq!(unverified.ended().grade, Some(Grade::Unverified));
}

#[test]
fn a_stop_ends_the_map_and_the_work_still_counts() {
    let mut journal = proven(false, WORK, MapTime::Auto, |_| {});
    journal.stop();
    journal.ends_call(Why::Person);
    mapped(&mut journal, true);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn the_time_limit_ends_the_map_and_the_work_still_counts() {
    let limit = 10 * MINUTE;
    let mut journal = proven(false, WORK, MapTime::AtMost(60 * MINUTE), |start| {
        start.policy.max_time = Some(limit);
    });
    assert!(matches!(journal.answer.next, Next::Do(Step::Map { .. })));
    journal.later(limit).see(Seen::Woke);
    journal.ends_call(Why::Time);
    mapped(&mut journal, true);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn a_map_that_was_cut_off_by_a_crash_begins_again_after_a_new_verification() {
    let mut journal = proven(false, WORK, MapTime::Auto, |_| {});
    journal.later(1_000).resume();
    assert!(matches!(journal.answer.next, Next::Do(Step::Verify { check: Check::AsIs, .. })));
    journal.verified(CheckOutcome::Passed);
    assert_eq!(map_time(&journal), Some(3_600), "one more verification");
    mapped(&mut journal, false);
    journal.ended_with(Reason::GatePassed, 0);
}

#[test]
fn another_tree_has_another_map() {
    let mut journal = proven(true, "WT", MapTime::Auto, |start| start.policy.gate.require = Grade::Proven);
    mapped(&mut journal, false);
    journal.ended_with(Reason::NeedsReview, 2);
    journal.later(1_000).resume();
    journal.tree += 1;
    journal.verified(CheckOutcome::Passed);
    journal.iteration(&done(), true, Some(CheckOutcome::Passed));
    assert!(map_time(&journal).is_some(), "{:?}", journal.answer);
}
