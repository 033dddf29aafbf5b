//! The order of runs of a proof and the grades it ends in, as a table: how the baseline came out, which sets changed,
//! which rooms pass, and what follows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;

use journal::{Journal, done, more};
use ralph_rules::ending::Reason;
use ralph_rules::grade::Grade;
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::policy::Oracle;
use ralph_rules::record::*;
use ralph_rules::step::Step;
use ralph_rules::suite::Counts;
use std::collections::BTreeMap;

/// `W`, `A` and `T` in any combination; `-` is the baseline.
fn letters(sets: RoomSets) -> String {
    let all = [(sets.work, 'W'), (sets.ambiguous, 'A'), (sets.oracle, 'T'), (sets.canary, '!')];
    let found: String = all.into_iter().filter(|(on, _)| *on).map(|(_, letter)| letter).collect();
    if found.is_empty() { "-".into() } else { found }
}

fn set(any: bool, name: &str) -> ChangeSet {
    if any { ChangeSet { files: 1, names: vec![name.into()] } } else { ChangeSet::default() }
}

fn compared(changed: &str) -> Compared {
    Compared {
        work: set(changed.contains('W'), "src/a.py"),
        ambiguous: set(changed.contains('A'), "data.json"),
        oracle: set(changed.contains('T'), "tests/test_a.py"),
        layout_only: changed.contains('l'),
        no_tests_before: changed.contains('n'),
        docs_only: changed.contains('d'),
        configuration_only: changed.contains('c'),
        ..Compared::default()
    }
}

/// A run whose work is claimed and verified, before its proof.
fn claimed(green: bool, changed: &Compared, with: impl FnOnce(&mut RunStarted)) -> Journal {
    let mut journal = Journal::after_baseline(green, with);
    journal.sets = Some(changed.clone());
    journal.by_hand = true;
    again(&mut journal, true);
    journal
}

/// Another iteration that claims to be done, and is verified.
fn again(journal: &mut Journal, changed: bool) {
    journal.later(1_000).admit();
    journal.says(&done());
    journal.inspected(changed);
    journal.verified(CheckOutcome::Passed);
}

/// Plays the proof; `rooms` says which rooms pass (`WA+ T- …`), a second sign is for the second attempt. Returns the
/// rooms in the order they were run.
fn prove(journal: &mut Journal, rooms: &str) -> String {
    let table: BTreeMap<&str, &str> =
        rooms.split_whitespace().map(|word| word.split_at(word.find(['+', '~']).unwrap())).collect();
    let mut tries: BTreeMap<String, usize> = BTreeMap::new();
    let mut ran = Vec::new();
    for _ in 0..20 {
        match journal.answer.next {
            Next::Do(Step::Compare) => drop(journal.compare().clone()),
            Next::Do(Step::Verify { check: Check::InRoom(sets), .. }) => {
                let name = letters(sets);
                let outcomes = table.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not in {rooms}"));
                let at = tries.entry(name.clone()).or_default();
                let sign = outcomes.as_bytes()[(*at).min(outcomes.len() - 1)];
                *at += 1;
                ran.push(name);
                let how = if sign == b'+' { CheckOutcome::Passed } else { CheckOutcome::Failed };
                journal.in_room(how);
            }
            Next::Do(Step::Verify { check: Check::WithBaselineOracle, .. }) => {
                ran.push("view".into());
                let how = if table["view"] == "+" { CheckOutcome::Passed } else { CheckOutcome::Failed };
                journal.verified(how);
            }
            _ => break,
        }
    }
    ran.join(" ")
}

fn follows(journal: &Journal) -> String {
    match &journal.answer.next {
        Next::Exit(ending) => {
            let grade = ending.grade.map_or("-", Grade::name);
            format!("{} {} {grade}", ending.name(), ending.exit_code())
        }
        Next::Do(Step::Admit { .. }) => format!("continue {}", journal.reasons()),
        other => format!("{other:?}"),
    }
}

/// Baseline, changed sets (`l` layout only, `n` no tests before, `c` configuration only, `d` documentation only), rooms, the rooms that are run, what follows.
const TABLE: &[(&str, &str, &str, &str, &str)] = &[
    // A baseline that failed.
    ("red", "W", "W+", "W", "gate_passed 0 proven"),
    ("red", "WT", "W+", "W", "gate_passed 0 proven"),
    ("red", "WA", "W+", "W", "gate_passed 0 proven"),
    ("red", "WA", "W~ WA+ A~", "W WA A", "gate_passed 0 proven"),
    ("red", "WA", "W~ WA+ A+", "W WA A", "NEEDS_REVIEW 2 unclear"),
    ("red", "A", "A+", "A", "NEEDS_REVIEW 2 unclear"),
    ("red", "WT", "W~ WT+", "W WT W", "ORACLE_CHANGED 4 -"),
    ("red", "T", "-+ T+", "T -", "NEEDS_REVIEW 2 unclear"),
    ("red", "T", "-~ T+", "T - -", "ORACLE_CHANGED 4 -"),
    ("red", "WAT", "W~ WA~ WAT+", "W WA WAT WA", "ORACLE_CHANGED 4 -"),
    ("red", "WT", "W~+ WT+ -~", "W WT W -", "gate_passed 0 proven"),
    ("red", "WTl", "W~ WT+ T~", "W WT W T", "gate_passed 0 proven"),
    ("red", "WTl", "W~ WT+ T+", "W WT W T", "ORACLE_CHANGED 4 -"),
    ("red", "", "-~", "- -", "continue nothing_differs"),
    ("red", "", "-~+", "- -", "NEEDS_REVIEW 2 unclear"),
    ("red", "W", "W~ -~", "W W -", "continue green_outside_room"),
    // A baseline that passed.
    ("green", "W", "W+", "W", "gate_passed 0 unbroken"),
    ("green", "WA", "WA+", "WA", "gate_passed 0 unbroken"),
    ("green", "WT", "W+ T~ WT+", "W T WT", "gate_passed 0 tested"),
    ("green", "WAT", "WA+ AT~ WAT+", "WA AT WAT", "gate_passed 0 tested"),
    ("green", "WAT", "WA+ AT+", "WA AT", "gate_passed 0 unbroken"),
    ("green", "AT", "A+ T~ AT+", "A T AT", "gate_passed 0 tested"),
    ("green", "WT", "W+ T+", "W T", "gate_passed 0 unbroken"),
    ("green", "T", "", "", "gate_passed 0 unbroken"),
    ("green", "WTc", "W+", "W", "gate_passed 0 unbroken"),
    ("green", "ATd", "A+", "A", "gate_passed 0 unbroken"),
    ("green", "Wd", "W+", "W", "gate_passed 0 unbroken"),
    ("green", "WT", "W~ WT+", "W WT W", "NEEDS_REVIEW 2 revised"),
    ("green", "WT", "W~+ WT+ T~", "W WT W T T", "gate_passed 0 tested"),
    ("green", "WTl", "W~ WT+ T~", "W WT W T", "gate_passed 0 tested"),
    // Red in the room, green in the workspace: the room lacks something if the baseline fails there, too.
    ("green", "W", "W~ -~", "W W -", "gate_passed 0 unbroken"),
    ("green", "W", "W~ -+", "W W -", "continue green_outside_room"),
    ("green", "WT", "W~ WT~ -~ view+", "W WT WT - view", "gate_passed 0 unbroken"),
    ("green", "WT", "W~ WT~ -~ view~", "W WT WT - view", "NEEDS_REVIEW 2 revised"),
    ("green", "WT", "W~ WT~ -+", "W WT WT -", "continue green_outside_room"),
    ("green", "WT", "W+ T~ WT~ -+", "W T WT WT -", "continue green_outside_room"),
    // No tests before the run.
    ("red", "WTn", "WT+ T~", "WT T", "gate_passed 0 tested"),
    ("red", "WATn", "WAT+ AT~", "WAT AT", "gate_passed 0 tested"),
    ("red", "WTn", "WT+ T+", "WT T", "gate_passed 0 unbroken"),
    ("red", "Tn", "T+", "T", "gate_passed 0 unbroken"),
    ("red", "Wn", "W+", "W", "gate_passed 0 proven"),
    ("red", "WTn", "WT~ -~", "WT WT -", "continue green_outside_room"),
];

#[test]
fn each_room_is_run_only_if_the_answer_needs_it() {
    for (baseline, changed, rooms, order, then) in TABLE {
        let mut journal = claimed(*baseline == "green", &compared(changed), |_| {});
        let ran = prove(&mut journal, rooms);
        assert_eq!(
            (ran.as_str(), follows(&journal).as_str()),
            (*order, *then),
            "{baseline} {changed} {rooms}"
        );
    }
}

/// Baseline, changed sets, rooms, and why nothing shows the work.
#[test]
fn an_unbroken_run_says_why_no_check_shows_its_change() {
    for (baseline, changed, rooms, why) in [
        ("green", "W", "W+", "the checks pass without the work, too; no test shows it"),
        ("green", "WT", "W+ T+", "the checks pass without the work, too; no test shows it"),
        ("red", "WTn", "WT+ T+", "the checks pass without the work, too; no test shows it"),
        ("green", "Wd", "W+", "only documentation changed, which no test can show"),
        ("green", "Ad", "A+", "only documentation changed, which no test can show"),
        ("green", "", "", "no file differs from before the run, so there is no work to show"),
        ("green", "T", "", "only tests or their configuration changed, so there is no work to show"),
        ("green", "Td", "", "only tests or their configuration changed, so there is no work to show"),
        ("red", "Tn", "T+", "only tests or their configuration changed, so there is no work to show"),
        ("green", "ATd", "A+", "only documentation and checks changed, so there is no work to show"),
    ] {
        let mut journal = claimed(baseline == "green", &compared(changed), |_| {});
        prove(&mut journal, rooms);
        assert_eq!(follows(&journal), "gate_passed 0 unbroken", "{changed}");
        let reasons: Vec<String> = journal.answer.reasons.iter().map(|reason| reason.say()).collect();
        assert!(reasons.iter().any(|said| said == why), "{baseline} {changed}: {reasons:?}");
    }
}

#[test]
fn edited_packages_and_configuration_outside_are_refused_without_a_run() {
    let outside = Compared { outside: vec!["~/.npmrc".into()], ..compared("W") };
    let edited = Compared { edited: vec!["node_modules/left-pad".into()], ..compared("W") };
    for (sets, code) in [(outside, "outside_changed"), (edited, "packages_edited")] {
        let mut journal = claimed(false, &sets, |_| {});
        assert_eq!(prove(&mut journal, ""), "");
        assert_eq!(follows(&journal), format!("continue {code}"));
        again(&mut journal, true);
        prove(&mut journal, "");
        assert_eq!(follows(&journal), "NEEDS_REVIEW 2 unclear", "the second time a person has to look");
    }
}

#[test]
fn an_oracle_written_while_the_checks_run_voids_them() {
    let mut journal = claimed(false, &compared("W"), |_| {});
    journal.compare();
    let mut verified = journal.verification(CheckOutcome::Passed, "");
    verified.room = Some(RoomSeen { rewritten: vec!["tests/test_a.py".into()], ..RoomSeen::default() });
    journal.see(Seen::Verified(verified));
    assert_eq!(prove(&mut journal, "-~"), "-", "does the suite write it anyway?");
    assert_eq!(follows(&journal), "continue oracle_rewritten");
}

#[test]
fn nothing_to_compare_with_is_for_a_person() {
    let lost = Compared { problem: Some("it was deleted".into()), ..Compared::default() };
    let mut journal = claimed(false, &lost, |_| {});
    prove(&mut journal, "");
    assert_eq!(follows(&journal), "NEEDS_REVIEW 2 unclear");
}

/// Something wrote to the workspace after the verification; what follows is the next decision.
fn written_to(journal: &mut Journal) -> String {
    journal.tree += 1;
    let sets = journal.sets.clone().unwrap();
    let changed_since = vec!["run.log".into()];
    journal.see(Seen::Compared(Box::new(Compared { tree: journal.tree, changed_since, ..sets })));
    follows(journal)
}

#[test]
fn files_that_changed_after_the_verification_are_verified_again() {
    let mut journal = claimed(false, &compared("W"), |_| {});
    assert!(written_to(&mut journal).contains("check: AsIs"), "{}", follows(&journal));
    journal.verified(CheckOutcome::Passed);
    assert_eq!((prove(&mut journal, "W+"), follows(&journal)), ("W".into(), "gate_passed 0 proven".into()));
}

#[test]
fn files_that_never_stay_the_same_are_for_a_person() {
    let mut journal = claimed(false, &compared("W"), |_| {});
    let mut times = 0;
    while written_to(&mut journal).contains("check: AsIs") {
        journal.verified(CheckOutcome::Passed);
        times += 1;
        assert!(times < 10, "{}", follows(&journal));
    }
    assert_eq!((times, follows(&journal)), (3, "NEEDS_REVIEW 2 unclear".into()));
    let said = journal.answer.reasons.iter().map(Objection::say).collect::<Vec<_>>().join("; ");
    assert!(said.contains("files keep changing while they are verified: run.log; stop"), "{said}");
}

#[test]
fn installed_packages_make_the_baseline_run_again() {
    let sets = Compared { installed: vec!["left-pad 1.0".into()], ..compared("WA") };
    for (rooms, ran, then) in
        [("W~ WA+ A~ -~", "W WA A -", "gate_passed 0 proven"), ("W+ -+", "W -", "NEEDS_REVIEW 2 unclear")]
    {
        let mut journal = claimed(false, &sets, |_| {});
        assert_eq!((prove(&mut journal, rooms), follows(&journal)), (ran.into(), then.into()));
        assert!(journal.answer.reasons.iter().any(|o| o.code() == "packages_installed"));
    }
}

#[test]
fn files_around_the_workspace_make_the_baseline_run_again_and_are_named() {
    let sets = Compared { around: vec!["../lib.py (Python source)".into()], ..compared("W") };
    for (green, rooms, ran, then) in [
        (false, "W+ -~", "W -", "gate_passed 0 proven"),
        (false, "W+ -+", "W -", "NEEDS_REVIEW 2 unclear"),
        // The room lacks something: nothing tells what the files around it have to do with the end.
        (false, "W~~ -+", "W W -", "NEEDS_REVIEW 2 unclear"),
    ] {
        let mut journal = claimed(green, &sets, |_| {});
        assert_eq!((prove(&mut journal, rooms), follows(&journal)), (ran.into(), then.into()), "{rooms}");
        assert!(journal.answer.reasons.iter().any(|o| o.code() == "around_changed"), "{rooms}");
    }
}

#[test]
fn what_was_put_back_outside_is_compared_again_without_a_change_in_the_workspace() {
    let outside = Compared { outside: vec!["../conftest.py".into()], ..compared("W") };
    let mut journal = claimed(false, &outside, |_| {});
    prove(&mut journal, "");
    assert_eq!(follows(&journal), "continue outside_changed");
    journal.sets = Some(compared("W"));
    again(&mut journal, false);
    assert_eq!(prove(&mut journal, "W+"), "W");
    assert_eq!(follows(&journal), "gate_passed 0 proven");
}

#[test]
fn a_repository_that_is_too_large_to_be_compared_is_said_to_be() {
    let sets = Compared { around_cut_short: true, ..compared("W") };
    let mut journal = claimed(false, &sets, |_| {});
    prove(&mut journal, "W+");
    assert_eq!(follows(&journal), "gate_passed 0 proven");
    assert!(journal.answer.reasons.iter().any(|o| o.code() == "around_cut_short"));
}

/// The kinds that failed with and without the work; `+` in the first place: the suite stays green.
fn canary(journal: &mut Journal, passes: bool, failed: &[&str]) {
    let how = if passes { CheckOutcome::Passed } else { CheckOutcome::Failed };
    let mut verified = journal.verification(how, "");
    let kinds = |names: &[&str]| names.iter().map(|n| (*n).to_string()).collect();
    let seen = CanarySeen { tried: kinds(&["eq", "raise"]), failed: kinds(failed) };
    verified.room = Some(RoomSeen { canary: Some(seen), ..RoomSeen::default() });
    journal.see(Seen::Verified(verified));
}

#[test]
fn a_canary_runs_where_nothing_else_shows_that_failures_are_noticed() {
    let with_canary = Compared { canary: true, ..compared("W") };
    let before = |sets: &Compared| {
        let mut journal = claimed(false, sets, |_| {});
        prove_counted(&mut journal);
        journal
    };
    assert_eq!(follows(&before(&with_canary)), "gate_passed 0 proven", "the counts show it");
    let sign =
        SignSeen { what: "ends the process".into(), path: "a.py".into(), line: 3, text: String::new() };
    let signed = Compared { signs: vec![sign], ..with_canary };

    let mut seen = before(&signed);
    canary(&mut seen, false, &["eq", "raise"]);
    assert_eq!(follows(&seen), "gate_passed 0 proven");
    assert!(seen.answer.reasons.iter().any(|o| o.code() == "signs_found"), "the sign is named");

    let mut silenced = before(&signed);
    canary(&mut silenced, true, &[]);
    canary(&mut silenced, false, &["eq"]);
    assert_eq!(follows(&silenced), "continue canary_survived");

    let mut does_not_fit = before(&signed);
    canary(&mut does_not_fit, true, &[]);
    canary(&mut does_not_fit, false, &[]);
    assert_eq!(follows(&does_not_fit), "gate_passed 0 proven", "it fails nowhere: not tried");

    let mut one_kind = before(&signed);
    canary(&mut one_kind, false, &["raise"]);
    canary(&mut one_kind, false, &["eq", "raise"]);
    assert_eq!(follows(&one_kind), "continue canary_survived");
}

/// The comparison and one passing room with test counts.
fn prove_counted(journal: &mut Journal) {
    journal.compare();
    let mut verified = journal.verification(CheckOutcome::Passed, "");
    verified.results[0].counts = Some(Counts::new(3, 0, 0));
    verified.room = Some(RoomSeen::default());
    journal.see(Seen::Verified(verified));
}

#[test]
fn below_tested_the_agent_is_asked_once_for_a_test() {
    let asks = |s: &mut RunStarted| s.policy.gate.ask_for_test = 1;
    let mut journal = claimed(true, &compared("W"), asks);
    prove(&mut journal, "W+");
    assert_eq!(follows(&journal), "continue ask_for_test");
    again(&mut journal, false);
    assert_eq!(follows(&journal), "gate_passed 0 unbroken", "the same files were proven already");
    let mut journal = claimed(true, &compared("W"), asks);
    prove(&mut journal, "W+");
    journal.sets = Some(compared("WT"));
    again(&mut journal, true);
    prove(&mut journal, "W+ T~ WT+");
    assert_eq!(follows(&journal), "gate_passed 0 tested");
    let mut docs = claimed(true, &compared("Ad"), asks);
    prove(&mut docs, "A+");
    assert_eq!(follows(&docs), "gate_passed 0 unbroken", "nobody tests documentation");
}

#[test]
fn the_policy_says_which_grade_is_enough() {
    for (require, green, changed, rooms, then) in [
        (Grade::Tested, true, "W", "W+", "continue ask_for_test"),
        (Grade::Tested, true, "WT", "W+ T~ WT+", "gate_passed 0 tested"),
        (Grade::Proven, true, "WT", "W+ T~ WT+", "NEEDS_REVIEW 2 tested"),
        (Grade::Proven, false, "W", "W+", "gate_passed 0 proven"),
        (Grade::Revised, true, "WT", "W~ WT+", "gate_passed 0 revised"),
        (Grade::Revised, false, "A", "A+", "NEEDS_REVIEW 2 unclear"),
        (Grade::Revised, false, "T", "-~ T+", "ORACLE_CHANGED 4 -"),
    ] {
        let mut journal = claimed(green, &compared(changed), |s| s.policy.gate.require = require);
        prove(&mut journal, rooms);
        assert_eq!(follows(&journal), then, "{require} {changed} {rooms}");
    }
    let mut journal = claimed(true, &compared("W"), |s| s.policy.gate.require = Grade::Tested);
    prove(&mut journal, "W+");
    again(&mut journal, false);
    assert_eq!(follows(&journal), "NEEDS_REVIEW 2 unbroken");
    let mut unverified = Journal::unverified(|s| s.policy.gate.require = Grade::Tested);
    unverified.iteration(&format!("All tests pass.\n\n{}", done()), true, None);
    assert_eq!(follows(&unverified), "NEEDS_REVIEW 2 unverified");
}

#[test]
fn a_person_accepts_or_sends_back() {
    let reviewed = || {
        let mut journal = claimed(true, &compared("WT"), |_| {});
        prove(&mut journal, "W~ WT+");
        journal.ended_with(Reason::NeedsReview, 2);
        journal
    };
    let mut accepted = reviewed();
    accepted.later(60_000).resume();
    accepted.ask(Request::Accept);
    accepted.verified(CheckOutcome::Passed);
    assert_eq!(follows(&accepted), "accepted 0 revised");

    let mut changed = reviewed();
    changed.later(60_000).resume();
    changed.ask(Request::Accept);
    changed.tree += 1;
    changed.verified(CheckOutcome::Passed);
    assert_eq!(prove(&mut changed, "W+ T~ WT+"), "W T WT", "other files are proven anew");
    assert_eq!(follows(&changed), "gate_passed 0 tested");

    let mut broken = reviewed();
    broken.later(60_000).resume();
    broken.ask(Request::Accept);
    broken.verified(CheckOutcome::Failed);
    assert_eq!(follows(&broken), "NEEDS_REVIEW 2 -", "nobody can accept what fails");

    let mut sent_back = reviewed();
    sent_back.later(60_000).resume();
    sent_back.verified(CheckOutcome::Passed);
    assert_eq!(follows(&sent_back), "continue earlier_tests_fail");
    again(&mut sent_back, true);
    prove(&mut sent_back, "W~ WT+");
    assert_eq!(follows(&sent_back), "NEEDS_REVIEW 2 revised");
}

#[test]
fn flag_reports_and_allow_does_not_even_compare() {
    for (oracle, rooms, then) in
        [(Oracle::Flag, "W~ WT+", "gate_passed 0 revised"), (Oracle::Allow, "", "gate_passed 0 unclear")]
    {
        let mut journal = claimed(false, &compared("WT"), |s| s.policy.oracle = oracle);
        prove(&mut journal, rooms);
        assert_eq!(follows(&journal), then, "{oracle:?}");
    }
}

#[test]
fn a_stop_ends_a_proof_and_resuming_continues_it() {
    let mut journal = claimed(true, &compared("WT"), |_| {});
    journal.compare();
    journal.stop();
    journal.ends_call(ralph_rules::next::Why::Person);
    journal.in_room(CheckOutcome::Interrupted);
    journal.ended_with(Reason::Interrupted, 130);
    journal.later(1_000).resume();
    journal.verified(CheckOutcome::Passed);
    assert_eq!(prove(&mut journal, "W+ T~ WT+"), "W T WT");
    assert_eq!(follows(&journal), "gate_passed 0 tested");
}

#[test]
fn fewer_tests_in_the_room_do_not_prove() {
    let mut journal = Journal::start(|_| {});
    journal.by_hand = true;
    let mut baseline = journal.verification(CheckOutcome::Failed, "");
    baseline.results[0].counts = Some(Counts::new(9, 1, 0));
    journal.see(Seen::Verified(baseline));
    journal.sets = Some(compared("W"));
    journal.admit();
    journal.says(&done());
    journal.inspected(true);
    let mut verified = journal.verification(CheckOutcome::Passed, "");
    verified.results[0].counts = Some(Counts::new(10, 0, 0));
    journal.see(Seen::Verified(verified));
    prove_counted(&mut journal);
    assert_eq!(follows(&journal), "continue fewer_tests");
}

#[test]
fn unfinished_work_needs_no_proof() {
    let mut journal = Journal::after_baseline(false, |_| {});
    journal.iteration(&more(), true, Some(CheckOutcome::Passed));
    journal.goes_on("explicit_continue");
}

#[test]
fn files_that_changed_before_a_room_was_made_are_named() {
    let mut journal = claimed(false, &compared("W"), |_| {});
    while journal.answer.next == Next::Do(Step::Compare) {
        journal.compare();
        let mut verified = journal.verification(CheckOutcome::NotRun, "");
        let changed_since = vec!["run.log".into()];
        verified.room = Some(RoomSeen { changed_since, ..RoomSeen::default() });
        journal.tree += 1;
        verified.tree = journal.tree;
        journal.see(Seen::Verified(verified));
    }
    let said = journal.answer.reasons.iter().map(Objection::say).collect::<Vec<_>>().join("; ");
    assert!(said.contains("files keep changing while they are verified: run.log; stop"), "{said}");
}
