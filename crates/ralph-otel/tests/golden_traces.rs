//! Traces of whole runs, as they are on disk: what holds for every trace, and some of them in full.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![allow(missing_docs, clippy::disallowed_methods)] // traces know no files; their tests read journals

mod golden;
mod trace_checks;

use golden::{journal, journals};
use ralph_rules::record::Record;
use std::fmt::Write;
use trace_checks::{Received, check};

#[test]
fn every_golden_journal_has_a_sound_trace() {
    let all = journals();
    assert!(all.len() >= 77, "{}", all.len());
    for (name, records) in &all {
        println!("{name}");
        check(records);
    }
}

/// A process may be killed after any record, and the trace be asked for then.
#[test]
fn every_beginning_of_a_journal_has_a_sound_trace_with_the_same_ids() {
    for (name, records) in journals().iter().filter(|(name, _)| name.starts_with("6/")) {
        println!("{name}");
        let whole: Vec<String> = check(records).into_iter().map(|span| span.id).collect();
        for end in 1..records.len() {
            let part = check(&records[..end]);
            for span in part {
                assert!(whole.contains(&span.id) || is_open_wait(&span, &records[end..]), "{span:?}");
            }
        }
    }
}

/// The same wait may have begun with nothing but an answer of the rules behind it.
fn is_open_wait(span: &Received, rest: &[Record]) -> bool {
    span.name == "wait" && rest.first().is_some_and(|next| next.at == span.to)
}

/// The tree as lines: what, from and to in seconds since the start, and the attributes.
fn drawn(records: &[Record], keys: &[&str]) -> String {
    let spans = check(records);
    let mut text = String::new();
    draw(&spans, &spans[0], 0, keys, &mut text);
    text
}

fn draw(spans: &[Received], span: &Received, depth: usize, keys: &[&str], text: &mut String) {
    let seconds = |at: i64| (at - spans[0].from) / 1_000;
    let _ = write!(text, "{:depth$}{} {}-{}", "", span.name, seconds(span.from), seconds(span.to));
    for key in keys.iter().filter(|key| !span.get(key).is_empty()) {
        let _ = write!(text, " {}={}", key.rsplit('.').next().unwrap(), span.get(key));
    }
    text.push('\n');
    let mut children: Vec<&Received> =
        spans.iter().filter(|child| child.parent.as_ref() == Some(&span.id)).collect();
    children.sort_by_key(|child| (child.from, child.to));
    children.iter().for_each(|child| draw(spans, child, depth + 2, keys, text));
}

#[test]
fn a_usage_limit_is_a_wait_between_two_attempts() {
    let keys = ["ralph.call.attempt", "ralph.wait.reason", "ralph.verification.check", "error.type"];
    assert_eq!(
        drawn(&journal("6/rate_limit"), &keys),
        "invoke_workflow ralph 0-3751
  verification 0-0 check=baseline
  iteration 0-3751
    invoke_agent claude 0-0 attempt=1 type=usage_limit
    wait 0-3629 reason=usage_limit
    wait 3629-3689 reason=calls_per_hour
    invoke_agent claude 3690-3750 attempt=2
    verification 3750-3751 check=as_is
    verification 3751-3751 check=in_room
"
    );
}

#[test]
fn a_killed_run_that_was_resumed_is_one_trace() {
    let keys = [
        "ralph.iteration.number",
        "ralph.iteration.verified",
        "ralph.iteration.files_changed",
        "ralph.verification.passed",
        "error.type",
    ];
    assert_eq!(
        drawn(&journal("6/crash_and_resume"), &keys),
        "invoke_workflow ralph 0-3732
  verification 0-0 passed=false
  iteration 0-62 number=1 verified=false files_changed=1
    invoke_agent claude 1-61 number=1
    verification 61-62 number=1 passed=false
  iteration 62-3664 number=2 verified=false files_changed=1
    invoke_agent claude 63-63 number=2 type=lost
    verification 3664-3664 number=2 type=lost
    verification 3664-3664 number=2 passed=false
  iteration 3664-3732 number=3 verified=true files_changed=1
    invoke_agent claude 3671-3731 number=3
    verification 3731-3732 number=3 passed=true
    verification 3732-3732 number=3 passed=true
"
    );
}

#[test]
fn the_runs_span_says_how_it_ended() {
    let spans = check(&journal("6/crash_and_resume"));
    let run = |key: &str| spans[0].get(&format!("ralph.run.{key}"));
    assert_eq!(run("id"), "0198c1d2-aaaa-7bbb-8ccc-1234567890ab");
    assert_eq!([run("status"), run("reason"), run("grade")], ["COMPLETED", "gate_passed", "proven"]);
    assert_eq!([run("verified"), run("iterations"), run("files_changed")], ["true", "3", "1"]);
    assert_eq!([run("cost_usd"), run("resumed"), run("agent")], ["0.7", "2", "claude"]);
    assert_eq!(spans[0].get("ralph.decision.codes"), "claim_and_proof proven_by_work");
    assert_eq!(
        [spans[0].get("gen_ai.operation.name"), spans[0].get("gen_ai.workflow.name")],
        ["invoke_workflow", "ralph"]
    );
    assert_eq!(spans[0].get("ralph.unfinished"), "");
}

#[test]
fn only_what_went_wrong_is_an_error() {
    for (name, error) in [
        ("6/completed_in_3", ""),
        ("6/stall", ""),
        ("6/budget", ""),
        ("6/blocked", ""),
        ("6/prohibited_path", ""),
        ("6/workspace_lost", "WORKSPACE_LOST"),
    ] {
        assert_eq!(check(&journal(name))[0].get("error.type"), error, "{name}");
    }
    // A check that fails is what verifications are for.
    let failed = check(&journal("6/completed_in_3")).into_iter().filter(|span| span.name == "verification");
    let failed: Vec<Received> =
        failed.filter(|span| span.get("ralph.verification.passed") == "false").collect();
    assert!(failed.len() >= 3 && failed.iter().all(|span| !span.is_error), "{failed:?}");
}

#[test]
fn the_rungs_of_a_ladder_and_a_reviewer_are_named() {
    let calls = |name: &str| -> Vec<[String; 5]> {
        let keys = ["agent.name", "provider.name", "request.model"].map(|key| format!("gen_ai.{key}"));
        let spans = check(&journal(name));
        let calls = spans.iter().filter(|span| span.name.starts_with("invoke_agent"));
        calls
            .map(|span| {
                let [agent, provider, model] = keys.clone().map(|key| span.get(&key));
                [agent, provider, model, span.get("ralph.call.rung"), span.get("ralph.call.review")]
            })
            .collect()
    };
    let ladder = calls("6/ladder");
    assert!(ladder.contains(&["claude", "anthropic", "", "0", ""].map(Into::into)), "{ladder:?}");
    assert!(ladder.contains(&["claude", "anthropic", "opus", "1", ""].map(Into::into)), "{ladder:?}");
    assert!(ladder.contains(&["codex", "openai", "", "2", ""].map(Into::into)), "{ladder:?}");
    let reviewed = calls("6/reviewed");
    assert!(reviewed.iter().any(|call| call[4] == "true"), "{reviewed:?}");
}
