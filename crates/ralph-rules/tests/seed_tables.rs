//! The tables of the seeds that speak of one response or several: each row, by the name of its document. What a whole run
//! does is in `gate_table.rs` and `next_table.rs`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod journal;

use ralph_rules::analysis::shape::Analysis;
use ralph_rules::analysis::{ExitDecision, Response, Trend};
use ralph_rules::breaker::Breaker;
use ralph_rules::claim::{Code, Facts, Progress, Status, Tests, WorkType, read, render};
use ralph_rules::money::Micro;
use ralph_rules::objection::Objection;
use ralph_rules::policy::{Decline, Policy};

fn strict() -> Policy {
    Policy::strict(10, Micro(1))
}

/// The analyzer seed's own gate: an explicit signal needs no evidence.
fn analyzer() -> Policy {
    let mut policy = strict();
    policy.gate.explicit_alone = true;
    policy
}

fn status(status: Progress, tests: Tests, exit_signal: bool) -> Status {
    Status {
        status: Some(status),
        tasks_completed: Some(1),
        files_modified: Some(3),
        tests: Some(tests),
        work_type: Some(WorkType::Implementation),
        exit_signal: Some(exit_signal),
        recommendation: "Shipped".into(),
    }
}

fn trend(texts: &[&str], policy: &Policy) -> Trend {
    let mut trend = Trend::default();
    for text in texts {
        trend.add(&Response::read(text, "COMPLETE", None), policy);
    }
    trend
}

/// ralph-status, Phase 2: STATUS Decision Table.
#[test]
fn status_follows_from_the_facts() {
    let facts = |completed, remaining, tests| Facts {
        tasks_completed: completed,
        tasks_remaining: Some(remaining),
        tests: Some(tests),
        ..Facts::default()
    };
    let blocked = Facts { blocker: Some("a key".into()), ..facts(0, 1, Tests::Passing) };
    let error = Facts { errors: true, ..facts(1, 0, Tests::Passing) };
    let more = Facts { work_remains: true, ..facts(1, 0, Tests::Passing) };
    for (condition, facts, progress, exit) in [
        ("tasks remain, work completed", facts(1, 2, Tests::Passing), Progress::InProgress, false),
        ("tasks remain, no work completed", facts(0, 2, Tests::NotRun), Progress::InProgress, false),
        ("cannot proceed", blocked, Progress::Blocked, false),
        ("all complete, tests pass", facts(1, 0, Tests::Passing), Progress::Complete, true),
        ("all complete, tests failing", facts(1, 0, Tests::Failing), Progress::InProgress, false),
        ("all complete, tests not run", facts(1, 0, Tests::NotRun), Progress::InProgress, false),
        ("all complete, an error unresolved", error, Progress::InProgress, false),
        ("all complete, other work remains", more, Progress::InProgress, false),
    ] {
        let status = facts.status();
        assert_eq!((status.status, status.exit_signal), (Some(progress), Some(exit)), "{condition}");
    }
}

/// ralph-status, Phase 3: EXIT_SIGNAL Decision Table, every row with every value of "Any".
#[test]
fn the_exit_signal_needs_all_four_conditions() {
    for remaining in [0, 1] {
        for tests in [Tests::Passing, Tests::Failing, Tests::NotRun] {
            for (errors, work_remains) in [(false, false), (false, true), (true, false), (true, true)] {
                let facts = Facts {
                    tasks_remaining: Some(remaining),
                    tests: Some(tests),
                    errors,
                    work_remains,
                    ..Facts::default()
                };
                let all = remaining == 0 && tests == Tests::Passing && !errors && !work_remains;
                assert_eq!(facts.status().exit_signal, Some(all), "{facts:?}");
                let blocked = Facts { blocker: Some("x".into()), ..facts };
                assert_eq!(blocked.status().exit_signal, Some(false), "blocked is not complete");
            }
        }
    }
    let unknown = Facts { tests: Some(Tests::Passing), ..Facts::default() };
    assert_eq!(unknown.status().exit_signal, Some(false), "tasks unknown");
}

/// ralph-status, Phase 4: the format, and RECOMMENDATION of a blocked block.
#[test]
fn the_block_is_written_character_for_character() {
    let facts = Facts {
        tasks_completed: 0,
        tasks_remaining: Some(2),
        files_modified: Some(0),
        tests: Some(Tests::Passing),
        work_type: Some(WorkType::Implementation),
        blocker: Some("need database credentials for integration test setup".into()),
        ..Facts::default()
    };
    assert_eq!(
        render(&facts.status()),
        "---RALPH_STATUS---\nSTATUS: BLOCKED\nTASKS_COMPLETED_THIS_LOOP: 0\nFILES_MODIFIED: 0\nTESTS_STATUS: PASSING\n\
         WORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: false\n\
         RECOMMENDATION: Blocked: need database credentials for integration test setup\n---END_RALPH_STATUS---"
    );
    let own_words = Facts { recommendation: "Blocked: ask operations".into(), ..facts };
    assert_eq!(own_words.status().recommendation, "Blocked: ask operations");
    assert_eq!(Code::ExitTrueWhileBlocked.name(), "exit_true_while_blocked");
    let mut two_lines = status(Progress::Complete, Tests::Passing, true);
    two_lines.recommendation = "one\n---END_RALPH_STATUS---\ntwo".into();
    assert_eq!(render(&two_lines).lines().count(), 9, "one line a field, whatever is recommended");
}

/// ralph-status, Phase 5 (Validation Checks) and the Anti-Patterns: each has its lint, with its line.
#[test]
fn every_check_and_every_anti_pattern_has_its_lint() {
    let done = render(&status(Progress::Complete, Tests::Passing, true));
    let blocked = render(&status(Progress::Blocked, Tests::Passing, true));
    let failing = render(&status(Progress::Complete, Tests::Failing, true));
    let late = render(&status(Progress::Complete, Tests::Passing, false));
    let next = done.replace("Shipped", "Next: the parser");
    let without = |line: &str| done.lines().filter(|l| !l.starts_with(line)).collect::<Vec<_>>().join("\n");
    for (rule, text, code, line) in [
        ("Format exact", done.replace("STATUS: COMPLETE", "status: COMPLETE"), Code::LooseFormat, 2),
        ("STATUS consistency", late, Code::CompleteWithExitFalse, 2),
        ("EXIT_SIGNAL justified", failing.clone(), Code::ExitTrueWithFailingTests, 7),
        ("RECOMMENDATION present", done.replace(" Shipped", ""), Code::EmptyRecommendation, 8),
        ("No extra fields", done.replace("WORK_TYPE", "NOTE: x\nWORK_TYPE"), Code::ExtraField, 6),
        ("Omitting the status block", "I did it.".into(), Code::NoBlock, 0),
        ("EXIT_SIGNAL true with failing tests", failing, Code::CompleteWithFailingTests, 2),
        (
            "Multi-line RECOMMENDATION",
            done.replace("Shipped", "Shipped\nmore"),
            Code::MultiLineRecommendation,
            9,
        ),
        ("STATUS: COMPLETE with tasks remaining", next, Code::CompleteWithNextTask, 8),
        ("Skipping RECOMMENDATION", without("RECOMMENDATION"), Code::MissingField, 1),
        ("EXIT_SIGNAL: true when BLOCKED", blocked, Code::ExitTrueWhileBlocked, 7),
        ("Changing the delimiter format", done.replace("---RALPH", "--RALPH"), Code::ChangedDelimiter, 1),
        ("Template left as it was", done.replace(": 3", ": <number>"), Code::TemplateValues, 4),
    ] {
        let lints = read(&text, "COMPLETE").lints;
        assert!(lints.iter().any(|lint| (lint.code, lint.line) == (code, line)), "{rule}: {lints:?}");
    }
    let both = read("--RALPH_STATUS--\nSTATUS: COMPLETE\n\n---RALPH_STATUS---\nSTATUS: COMPLETE", "COMPLETE");
    let places: Vec<_> = both.lints.iter().map(|lint| (lint.code, lint.line)).collect();
    assert_eq!(places, [(Code::UnterminatedBlock, 4), (Code::ChangedDelimiter, 1)], "one of each kind");
    let claim = read(&format!("Done.\n\n{done}"), "COMPLETE");
    assert_eq!((claim.lints, claim.block_lines), (vec![], Some((3, 11))));
    assert_eq!(read("Done.", "COMPLETE").block_lines, None);
}

/// The checks that need facts: "matches reality", "without running tests", "tasks remaining", "guessing FILES_MODIFIED".
#[test]
fn a_block_is_checked_against_what_is_known() {
    let done = status(Progress::Complete, Tests::Passing, true);
    let codes = |facts: &Facts| facts.against(&done, 4).iter().map(|l| (l.code, l.line)).collect::<Vec<_>>();
    assert_eq!(codes(&Facts::default()), [], "what is not known is not judged");
    let same = Facts {
        tests: Some(Tests::Passing),
        files_modified: Some(3),
        tasks_remaining: Some(0),
        ..Facts::default()
    };
    assert_eq!(codes(&same), []);
    let other = Facts {
        tests: Some(Tests::NotRun),
        files_modified: Some(4),
        tasks_remaining: Some(2),
        ..Facts::default()
    };
    let all = [Code::CompleteWithTasksRemaining, Code::TestsStatusNotAsRun, Code::FilesModifiedNotAsCounted];
    assert_eq!(codes(&other), all.map(|code| (code, 4)));
    let unresolved = Facts { errors: true, work_remains: true, ..Facts::default() };
    let both = [Code::CompleteWithErrors, Code::CompleteWithWorkRemaining];
    assert_eq!(codes(&unresolved), both.map(|code| (code, 4)));
    let working = status(Progress::InProgress, Tests::Passing, false);
    assert_eq!(Facts { tasks_remaining: Some(2), ..unresolved }.against(&working, 1), []);
}

/// Analyzer: Dual-Condition Exit Logic, and the table of its error handling.
#[test]
fn the_exit_logic_of_the_analyzer() {
    let yes = render(&status(Progress::Complete, Tests::Passing, true));
    let not_run = render(&status(Progress::Complete, Tests::NotRun, true));
    let no = render(&status(Progress::InProgress, Tests::Passing, false));
    let blocked = render(&status(Progress::Blocked, Tests::Passing, false));
    let phrases = "All tests pass. The project is complete.";
    let unclear = yes.replace("EXIT_SIGNAL: true", "EXIT_SIGNAL: perhaps");
    for (row, text, strictly, seed) in [
        (
            "indicators >= 2 and true",
            format!("{phrases}\n{yes}"),
            ExitDecision::ProjectComplete,
            ExitDecision::ProjectComplete,
        ),
        (
            "indicators >= 2 and false",
            format!("{phrases}\n{no}"),
            ExitDecision::Continue,
            ExitDecision::Continue,
        ),
        ("true alone", yes.clone(), ExitDecision::Continue, ExitDecision::ProjectComplete),
        ("true without a test run", not_run, ExitDecision::Continue, ExitDecision::Continue),
        ("BLOCKED", blocked, ExitDecision::Blocked, ExitDecision::Blocked),
        ("otherwise", "I changed a line.".into(), ExitDecision::Continue, ExitDecision::Continue),
        ("status missing: heuristics, once", phrases.into(), ExitDecision::Continue, ExitDecision::Continue),
        ("EXIT_SIGNAL ambiguous", unclear, ExitDecision::Continue, ExitDecision::Continue),
        (
            "several blocks: the last",
            format!("{yes}\n\n{no}"),
            ExitDecision::Continue,
            ExitDecision::Continue,
        ),
    ] {
        assert_eq!(trend(&[&text], &strict()).decision(&strict()), strictly, "{row}, strict");
        assert_eq!(trend(&[&text], &analyzer()).decision(&analyzer()), seed, "{row}, analyzer");
    }
    for (progress, tests) in [(Progress::InProgress, Tests::Passing), (Progress::Complete, Tests::Failing)] {
        let text = format!("{phrases}\n{}", render(&status(progress, tests, true)));
        let decision = trend(&[&text], &analyzer()).decision(&analyzer());
        assert_eq!(decision, ExitDecision::Continue, "a contradiction: {progress:?} {tests:?}");
    }
    let mut classic = strict();
    classic.gate.done_signals = 2;
    let twice = trend(&[phrases, phrases], &classic);
    assert_eq!(twice.decision(&classic), ExitDecision::CompletionSignals);
    assert_eq!(twice.decision(&strict()), ExitDecision::Continue, "phrases alone");
    let between = trend(&[phrases, &no, phrases], &classic);
    assert_eq!(between.decision(&classic), ExitDecision::Continue, "not running");
}

/// Analyzer: Stuck Loop Detection, each indicator at its threshold and one before.
#[test]
fn the_stuck_indicators_of_the_analyzer() {
    let policy = strict();
    let idle =
        render(&Status { files_modified: Some(0), ..status(Progress::InProgress, Tests::NotRun, false) });
    assert_eq!(trend(&[idle.as_str(); 2], &policy).breaker(&policy), Breaker::Closed);
    assert_eq!(trend(&[idle.as_str(); 3], &policy).breaker(&policy), Breaker::HalfOpen);
    assert_eq!(trend(&[idle.as_str(); 4], &policy).breaker(&policy), Breaker::Open);

    let codes = |texts: &[&str], policy: &Policy| -> Vec<String> {
        trend(texts, policy).objections(policy).iter().map(Objection::code).collect()
    };
    assert_eq!(codes(&[idle.as_str(); 2], &policy), Vec::<String>::new());
    assert_eq!(codes(&[idle.as_str(); 3], &policy), ["no_progress"]);
    let mut off = strict();
    off.breaker.half_open_after = 0;
    assert_eq!(trend(&[idle.as_str(); 9], &off).breaker(&off), Breaker::Closed, "0 turns it off");
    assert_eq!(codes(&[idle.as_str(); 9], &off), Vec::<String>::new());

    let error = |line: u32| format!("It fails.\n\nerror: no such file, line {line}");
    let errors: Vec<String> = (1..=5).map(error).collect();
    let of = |count: usize| trend(&errors[..count].iter().map(String::as_str).collect::<Vec<_>>(), &policy);
    assert_eq!((of(2).stuck(&policy), of(3).stuck(&policy)), (false, true));
    assert_eq!((of(4).breaker(&policy), of(5).breaker(&policy)), (Breaker::Closed, Breaker::Open));
    let other = trend(&[&errors[0], &errors[1], "error: something else"], &policy);
    assert!(!other.stuck(&policy), "another error");
    let recovered = trend(&[&errors[0], &errors[1], "It works.", &errors[2]], &policy);
    assert!(!recovered.stuck(&policy), "not running");

    let said = |texts: &[&str]| codes(texts, &policy);
    let tested = render(&Status {
        work_type: Some(WorkType::Testing),
        ..status(Progress::InProgress, Tests::Passing, false)
    });
    assert_eq!(
        (said(&[tested.as_str(); 2]), said(&[tested.as_str(); 3])),
        (vec![], vec!["test_only".into()])
    );
    let long = "I changed another line of the parser. ".repeat(10);
    assert_eq!(said(&[&long, &long, &long, &long[..150]]), Vec::<String>::new(), "40 %");
    let shrinks = [&long, &long, &long, &long[..100]];
    assert_eq!(said(&shrinks), ["output_decline"], "under 30 %");
    assert_eq!(trend(&shrinks, &policy).breaker(&policy), Breaker::Closed, "a warning only");
    let mut classic = strict();
    classic.breaker.decline = Decline::Open;
    assert_eq!(trend(&shrinks, &classic).breaker(&classic), Breaker::Open, "the architecture opens");
    assert_eq!(trend(&[long.as_str(); 4], &classic).breaker(&classic), Breaker::Closed);
}

/// A call that failed claims nothing; its error is the one that may repeat.
#[test]
fn failures_claim_nothing_and_repeat() {
    let policy = strict();
    let done = render(&status(Progress::Complete, Tests::Passing, true));
    let failed = Response::read(&done, "COMPLETE", Some("API Error: 401 req_12345678"));
    assert_eq!((failed.claim.block.is_none(), failed.errors.len()), (true, 1));
    let mut trend = Trend::default();
    for _ in 0..3 {
        trend.add(&failed, &policy);
    }
    assert_eq!((trend.decision(&policy), trend.stuck(&policy)), (ExitDecision::Continue, true));
    assert_eq!(trend.breaker(&policy), Breaker::Closed, "a failed call is nobody's idleness");
    assert_eq!(Analysis::of(&failed, &trend, &policy).confidence, 0);
    let phrases = "All tests pass. The project is complete.";
    let mut trend = Trend::default();
    for failure in [None, Some("API Error: 529")] {
        trend.add(&Response::read(phrases, "COMPLETE", failure), &policy);
    }
    assert_eq!(trend.decision(&policy), ExitDecision::Continue, "a failed call gives no signal");
}

/// Refused tools in three idle responses running open the breaker.
#[test]
fn refusals_without_progress_open_the_breaker() {
    let policy = strict();
    let idle = Status { files_modified: Some(0), ..status(Progress::InProgress, Tests::NotRun, false) };
    let mut refused = Response::read(&render(&idle), "COMPLETE", None);
    refused.denials = vec!["Bash".into()];
    let mut trend = Trend::default();
    for (breaker, codes) in [
        (Breaker::Closed, vec![]),
        (Breaker::Closed, vec![]),
        (Breaker::Open, vec!["no_progress".to_owned(), "denied".to_owned()]),
    ] {
        trend.add(&refused, &policy);
        assert_eq!(trend.breaker(&policy), breaker);
        assert_eq!(trend.objections(&policy).iter().map(Objection::code).collect::<Vec<_>>(), codes);
    }
}

/// Architecture, Data Flow: the confidence of its examples; and the arithmetic beside them.
#[test]
fn confidence_is_the_documented_sum() {
    let done = render(&status(Progress::Complete, Tests::Passing, true));
    let work = render(&status(Progress::InProgress, Tests::NotRun, false));
    let stuck = render(&status(Progress::Blocked, Tests::NotRun, false));
    for (text, confidence) in [
        (work.clone(), 20),
        (done.clone(), 100),
        ("All tasks complete. The project is ready.".into(), 100),
        ("All tasks complete.".into(), 50),
        ("I changed a line.".into(), 0),
        (stuck, 0),
        (done.replace("---END_RALPH_STATUS---", ""), 0),
        (format!("All tests pass. All tasks complete.\n{work}"), 20),
        ("<promise>COMPLETE</promise>".into(), 80),
        (done.replace("PASSING", "FAILING"), 40),
        (done.replace("STATUS: COMPLETE", "status: COMPLETE"), 95),
        (format!("Should I rename it?\n{done}"), 90),
    ] {
        assert_eq!(read(&text, "COMPLETE").confidence(), confidence, "{text}");
    }
}

/// S03: work type and test-only, with and without a block.
#[test]
fn the_kind_of_work_is_told_or_read_from_words() {
    let testing = render(&Status {
        work_type: Some(WorkType::Testing),
        ..status(Progress::Complete, Tests::Passing, true)
    });
    for (text, work) in [
        (testing.as_str(), Some(WorkType::Testing)),
        ("I ran `x`. Running the tests: cargo test is green.", Some(WorkType::Testing)),
        ("pytest passes.", Some(WorkType::Testing)),
        ("npm run test is green.", Some(WorkType::Testing)),
        ("I fixed the parser and ran the tests.", None),
        ("I read the code.", None),
    ] {
        assert_eq!(read(text, "COMPLETE").work, work, "{text}");
    }
}

/// The block that ralph's own prompt shows is a template in each of its fields: none may be left as it was.
#[test]
fn no_field_of_the_shown_template_counts() {
    let shown = ralph_rules::prompt::protocol(&journal::given());
    let from = shown.find("---RALPH_STATUS---").unwrap();
    let to = shown.find("---END_RALPH_STATUS---").unwrap();
    let good = render(&status(Progress::Complete, Tests::Passing, true));
    for (line, filled) in shown[from..to].lines().zip(good.lines()).skip(1) {
        let claim = read(&good.replace(&format!("\n{filled}\n"), &format!("\n{line}\n")), "COMPLETE");
        assert!(claim.attempted && claim.block.is_none(), "{line}");
    }
}
