//! What holds for every message: no panic, a written block is read back, a block at the end is always found,
//! and the time grows with the length only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
// The last test takes the time of a whole reading: the rules themselves know no clock.
#![allow(clippy::disallowed_types)]

use proptest::prelude::*;
use ralph_rules::claim::{
    Claim, Exit, Facts, Malformed, Progress, ReportedStatus, Status, Tests, WorkType, read, read_reply,
    render,
};
use ralph_rules::fingerprint::fingerprint;

fn status() -> impl Strategy<Value = Status> {
    let progress = prop_oneof![Just(Progress::InProgress), Just(Progress::Complete), Just(Progress::Blocked)];
    let tests = prop_oneof![Just(Tests::Passing), Just(Tests::Failing), Just(Tests::NotRun)];
    let work = prop_oneof![
        Just(WorkType::Implementation),
        Just(WorkType::Testing),
        Just(WorkType::Documentation),
        Just(WorkType::Refactoring),
    ];
    // A byte order mark at either end is trimmed like white space.
    let words =
        "[^<\\[\u{feff}]{0,60}".prop_map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    (progress, any::<u64>(), any::<u64>(), tests, work, any::<bool>(), words).prop_map(
        |(status, tasks, files, tests, work, exit_signal, words)| Status {
            status: Some(status),
            tasks_completed: Some(tasks),
            files_modified: Some(files),
            tests: Some(tests),
            work_type: Some(work),
            exit_signal: Some(exit_signal),
            recommendation: words,
        },
    )
}

/// Every combination of facts, with this recommendation.
fn facts(recommendation: &str) -> Vec<Facts> {
    let mut all = Vec::new();
    for tasks_remaining in [None, Some(0), Some(2)] {
        for tests in [None, Some(Tests::Passing), Some(Tests::Failing), Some(Tests::NotRun)] {
            for (errors, work_remains) in [(false, false), (false, true), (true, false), (true, true)] {
                for blocker in [None, Some("a key is missing".to_owned()), Some(" ".to_owned())] {
                    all.push(Facts {
                        tasks_remaining,
                        files_modified: Some(3),
                        tests,
                        errors,
                        work_remains,
                        blocker,
                        recommendation: recommendation.into(),
                        ..Facts::default()
                    });
                }
            }
        }
    }
    all
}

/// Text made of the pieces that matter to the reader, and of anything else.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---RALPH_STATUS---\n".to_owned()),
        Just("---END_RALPH_STATUS---\n".to_owned()),
        Just("RALPH_STATUS:\n".to_owned()),
        Just("EXIT_SIGNAL: true\n".to_owned()),
        Just("STATUS: COMPLETE\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~~yaml\n".to_owned()),
        Just("> ".to_owned()),
        Just("**".to_owned()),
        Just("\r\n\r\n".to_owned()),
        Just("<promise>COMPLETE</promise>\n".to_owned()),
        Just("<promise>".to_owned()),
        Just("all tests pass ".to_owned()),
        Just("“not’ \"".to_owned()),
        Just("- [ ] ".to_owned()),
        "\\PC{0,12}",
        any::<String>(),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The fields of a JSON reply, with good values and others.
fn reported() -> impl Strategy<Value = ReportedStatus> {
    let words = |words: &'static [&'static str]| {
        prop::option::of(prop::sample::select(words).prop_map(str::to_owned))
    };
    let malformed = (any::<bool>(), any::<bool>()).prop_map(|(stopped, text_cut)| Malformed {
        what: "line 1".into(),
        stopped,
        text_cut,
    });
    (
        words(&["COMPLETE", "in_progress", "blocked", "success", ""]),
        words(&["true", "False", "true and false", "1"]),
        words(&["PASSING", "failing", "NOT_RUN", "green"]),
        any::<bool>(),
        prop::option::of(malformed),
    )
        .prop_map(|(status, exit_signal, tests_status, has_errors, malformed)| ReportedStatus {
            status,
            exit_signal,
            tests_status,
            has_errors,
            malformed,
            ..ReportedStatus::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_panics(text in nasty(), promise in any::<String>()) {
        let claim = read(&text, &promise);
        prop_assert!(claim.lints.len() <= 64);
        prop_assert!(claim.exit != Exit::True || claim.promise || claim.block.is_some());
        prop_assert!(!claim.attempted || (claim.evidence.is_empty() && claim.exit == Exit::False));
        fingerprint(&text);
    }

    /// `ralph block emit` prints nothing that `ralph block check`, given the same facts, objects to.
    #[test]
    fn a_block_from_facts_passes_the_check_of_the_same_facts(words in prop_oneof![
        "[a-z]{2,9}( [a-z]{2,9}){0,4}", Just("Next: the parser".to_owned()), Just(String::new()), "\\PC{0,40}",
    ]) {
        let plain = words.len() > 1 && words.bytes().all(|b| b == b' ' || b.is_ascii_lowercase());
        for facts in facts(&words) {
            let text = facts.block();
            prop_assert!(text.is_ok() || !plain, "refused: {text:?} from {facts:?}");
            let Ok(text) = text else { continue };
            let claim = read(&text, "COMPLETE");
            prop_assert_eq!(&claim.lints, &[], "{}", &text);
            let block = claim.block.unwrap();
            prop_assert_eq!(facts.against(&block, 1), [], "{}", &text);
        }
    }

    /// Fields are worth what they say; in doubt they say no.
    #[test]
    fn fields_of_a_reply_never_say_more_than_they_do(text in nasty(), reported in reported()) {
        let (claim, alone) = (read_reply(&text, Some(&reported), "COMPLETE"), read(&text, "COMPLETE"));
        let said = reported.exit_signal.as_deref() == Some("true");
        prop_assert!(claim.exit != Exit::True || said || alone.exit == Exit::True);
        prop_assert!(!claim.attempted || (claim.evidence.is_empty() && claim.exit == Exit::False));
        prop_assert!(!reported.has_errors || claim.evidence.is_empty());
        let malformed = reported.malformed.clone().unwrap_or_default();
        if malformed.text_cut && !said {
            prop_assert!(claim.exit != Exit::True);
        }
        if malformed.stopped && reported.exit_signal.is_none() && alone.block.is_none() {
            prop_assert_eq!(claim.exit, Exit::False);
        }
        let block = claim.block.filter(|_| alone.block.is_none());
        let given = (reported.status.is_some(), reported.tests_status.is_some());
        prop_assert!(block.is_none_or(|block| (block.status.is_some(), block.tests.is_some()) == given));
        let json = serde_json::to_string(&reported).unwrap();
        prop_assert_eq!(serde_json::from_str::<ReportedStatus>(&json).unwrap(), reported);
    }

    #[test]
    fn a_written_block_is_read_back(status in status()) {
        let claim = read(&render(&status), "COMPLETE");
        prop_assert_eq!(claim.block.as_ref(), Some(&status));
        prop_assert_eq!(claim.exit == Exit::True, status.exit_signal == Some(true));
        prop_assert!(claim.lints.iter().all(|lint| !lint.detail.is_empty()));
    }

    #[test]
    fn a_block_at_the_end_is_always_found(before in nasty(), status in status()) {
        let claim = read(&format!("{before}\n{}", render(&status)), "COMPLETE");
        prop_assert_eq!(claim.block.as_ref(), Some(&status));
    }

    #[test]
    fn the_promise_alone_never_beats_a_block(before in nasty(), status in status()) {
        let text = format!("{before}\n{}\n<promise>COMPLETE</promise>", render(&status));
        let claim = read(&text, "COMPLETE");
        prop_assert_eq!(claim.exit == Exit::True, status.exit_signal == Some(true));
    }

    #[test]
    fn a_claim_survives_json(text in nasty()) {
        let claim = read(&text, "COMPLETE");
        let json = serde_json::to_string(&claim).unwrap();
        prop_assert_eq!(serde_json::from_str::<Claim>(&json).unwrap(), claim);
    }
}

/// A quadratic reader would need minutes for some of these, a linear one a moment: the bound leaves room for a slow,
/// busy machine and an unoptimised build.
#[test]
fn hostile_text_is_read_in_linear_time() {
    let ticks: String = (1..500).map(|n| format!("{} ", "`".repeat(n))).collect();
    let pieces = [
        "---RALPH_STATUS---\n",
        "---RALPH_STATUS---\n---END_RALPH_STATUS---\n",
        "RALPH_STATUS:\n",
        "RALPH_STATUS:\nSTATUS: COMPLETE\n",
        "---END_RALPH_STATUS---\n",
        "== RALPH STATUS\n\n\n",
        "EXIT_SIGNAL: true\n",
        "```\n",
        "````\n```\n",
        "\"",
        "\" “ « ‘ ' ` `` ~~ <!-- <promise> ",
        "x' ",
        " 'x",
        "‘x’y ",
        "all tests pass ",
        "if all tests pass ",
        "all done, ",
        "all all all all ",
        "nothing nothing is is ",
        "project is is is is ",
        "should i ",
        "let me know if you ",
        "a.",
        ".*",
        "\n",
        "a\n",
        "*",
        "_",
        "> a\n",
        "<promise>COMPLETE</promise>\n",
        "error 0x1f /a/b/c 12:34 ",
        "/",
        "1.",
        "error: a1b2c3d\r",
        "\x1b[",
        "\x1b]",
        "é",
        ticks.as_str(),
    ];
    for piece in pieces {
        let text = piece.repeat(((1 << 17) / piece.len()).max(1));
        let start = std::time::Instant::now();
        read(&text, "COMPLETE");
        fingerprint(&text);
        let took = start.elapsed();
        assert!(took.as_secs() < 20, "{:?} took {took:?}", &piece[..piece.len().min(40)]);
    }
}
