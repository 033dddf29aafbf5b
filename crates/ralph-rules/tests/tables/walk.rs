//! Walks a decision table: every row is a run of its own, iteration by iteration, judged by the rules; what they answer at
//! its end must be what the row says. Every run is also written as text, read back and decided again (`journal`).
#![allow(dead_code)] // each table uses its own part

use super::journal::{Journal, bound, plan};
use super::read::{Row, Table, Words, read};
use ralph_rules::breaker::breaker;
use ralph_rules::claim::{Malformed, Progress, ReportedStatus, Status, Tests, WorkType, render};
use ralph_rules::money::Micro;
use ralph_rules::next::Next;
use ralph_rules::policy::{Decline, Policy, Until};
use ralph_rules::prompt::compose;
use ralph_rules::record::{
    CallEnded, CheckOutcome, Failure, How, PlanSeen, Restored, Seen, Unusable, Violation, WorkspaceUnusable,
};
use ralph_rules::step::Step;
use ralph_rules::suite::Counts;
use std::collections::BTreeSet;

/// Sentences of distinct families, for `phrases=N`.
const PHRASES: [&str; 4] =
    ["All tests pass.", "All stories are complete.", "The project is complete.", "Nothing is left to do."];

/// Walks every row under these numbers; how many there are.
pub fn walk(text: &str, policy: &Policy) -> usize {
    let table = read(text);
    for row in &table.rows {
        let said = said(&play(&table, row, policy));
        let missing: Vec<&String> = row.then.iter().filter(|word| !said.contains(*word)).collect();
        assert!(
            missing.is_empty(),
            "line {}: {} · {} · {}: expected {missing:?}, but {said:?}",
            row.line,
            row.document,
            row.section,
            row.name
        );
    }
    table.rows.len()
}

/// The run of a row, up to what follows its last iteration.
pub fn play(table: &Table, row: &Row, policy: &Policy) -> Journal {
    let mut journal = begin(row, policy);
    for (nth, iteration) in (1..).zip(&row.agent) {
        while matches!(journal.answer.next, Next::Wait { .. }) {
            journal.later(60_000).see(Seen::Woke);
        }
        assert!(
            matches!(journal.answer.next, Next::Do(Step::Admit { .. })),
            "line {}: {} ended before iteration {nth}: {:?}",
            row.line,
            row.name,
            journal.answer
        );
        call(&mut journal, table, iteration, nth);
    }
    while matches!(journal.answer.next, Next::Wait { .. }) {
        journal.later(60_000).see(Seen::Woke);
    }
    journal
}

/// Everything that can be said of it then.
fn said(journal: &Journal) -> BTreeSet<String> {
    let mut said: BTreeSet<String> = journal.answer.reasons.iter().map(|o| o.code()).collect();
    // ConversationTotals once, in the iteration that came near it.
    said.extend(journal.state.alerts.told.iter().map(|(_, alert)| alert.code()));
    said.insert(match journal.answer.next {
        Next::Exit(ending) => ending.name().into(),
        _ => "continue".into(),
    });
    if let Next::Exit(ending) = journal.answer.next {
        said.insert(format!("exit={}", ending.exit_code()));
        said.insert(format!("verified={}", ending.verified));
        said.insert(format!("remembered={}", ending.opens_breaker()));
    }
    let policy = &journal.state.start.as_ref().unwrap().policy;
    let state = serde_json::to_value(breaker(&journal.state, policy)).unwrap();
    said.insert(state.as_str().unwrap().into());
    said.insert(format!("indicators={}", journal.state.signals.last.last().map_or(0, |s| s.indicators)));
    said.insert(format!("iterations={}", journal.state.calls.done));
    let check = &journal.state.claim_check;
    said.insert(format!("claims={}/{}", check.held, check.made));
    let lies = journal.answer.reasons.iter().filter(|o| o.is_lie()).count();
    said.insert(format!("lies={lies}"));
    for lint in &check.lints {
        said.insert(format!("says={}", lint.code.name()));
    }
    // The next prompt line by line, a word each.
    let prompt = compose(&journal.state);
    said.extend(prompt.lines().map(|line| format!("prompt={}", line.replace(' ', "_"))));
    for lint in &journal.state.claim.lints {
        said.insert(format!("lint={}", serde_json::to_value(lint.code).unwrap().as_str().unwrap()));
    }
    said
}

fn begin(row: &Row, policy: &Policy) -> Journal {
    let verifies = row.agent.iter().any(|iteration| iteration.contains_key("verify"));
    let planned = row.agent.iter().find_map(|iteration| iteration.get("plan"));
    let mut journal = Journal::start(|start| {
        start.policy = Policy { max_iterations: 20, ..policy.clone() };
        number(&mut start.policy, &row.policy);
        if !verifies {
            start.verify.clear();
        }
        start.plan = planned.and_then(|_| bound(plan(0, 9)));
    });
    if verifies {
        let green = row.policy.get("baseline").is_some_and(|b| b == "green");
        journal.verified(if green { CheckOutcome::Passed } else { CheckOutcome::Failed });
    }
    journal
}

/// Numbers that a row sets otherwise.
fn number(policy: &mut Policy, row: &Words) {
    for (key, value) in row {
        let n = || value.parse::<u32>().unwrap_or_else(|_| panic!("{key}={value}"));
        match key.as_str() {
            "max_iterations" => policy.max_iterations = n(),
            "max_cost" => policy.max_cost = Micro(i64::from(n())),
            "explicit_alone" => policy.gate.explicit_alone = true,
            "exit_signals" => policy.gate.exit_signals = n(),
            "done_signals" => policy.gate.done_signals = n(),
            "block_as_one" => policy.gate.block_as_one = value != "false",
            "stuck" => policy.breaker.stuck = n(),
            "decline_below" => policy.breaker.decline_below = n(),
            "half_open_after" => policy.breaker.half_open_after = n(),
            "open_after" => policy.breaker.open_after = n(),
            "decline" => policy.breaker.decline = if value == "open" { Decline::Open } else { Decline::Warn },
            "until" => policy.gate.until = if value == "verified" { Until::Verified } else { Until::Claimed },
            "baseline" => {}
            _ => panic!("`{key}` is no number of a policy"),
        }
    }
}

fn call(journal: &mut Journal, table: &Table, iteration: &Words, nth: usize) {
    let get = |key: &str| iteration.get(key).map(String::as_str);
    journal.later(1_000).admit();
    let text = message(table, iteration);
    let mut call: CallEnded = journal.closing(&text);
    call.failure = get("fails").map(failure);
    call.exit = get("exits").map_or(call.exit, |n| Some(n.parse().unwrap()));
    call.text_bytes = get("bytes").map_or(call.text_bytes, |n| n.parse().unwrap());
    call.status = get("json").map(|_| reported(iteration));
    call.denials = get("denied").into_iter().map(Into::into).collect();
    journal.later(60_000).see(Seen::CallEnded(Box::new(call)));
    if let Some(how) = get("workspace") {
        let how = if how == "lost" { Unusable::Lost } else { Unusable::Unwritable };
        journal.see(Seen::WorkspaceUnusable(WorkspaceUnusable { how, what: "gone".into() }));
        return;
    }
    let files: u32 = get("files").map_or(1, |n| n.parse().unwrap());
    journal.tree += u128::from(files > 0);
    let mut inspected = journal.inspection(files);
    inspected.test_only = get("tests_only").is_some();
    inspected.marker = get("marker").is_some();
    inspected.plan = get("plan").map(counted);
    if let Some(path) = get("protected") {
        inspected.violations = vec![Violation::new(path, How::Modified)];
    }
    journal.see(Seen::Inspected(inspected));
    if let Next::Do(Step::Restore { paths }) = journal.answer.next.clone() {
        let restored = paths.into_iter().map(|v| v.path).collect();
        let restored = Restored { restored, left: Vec::new(), tree: journal.tree, quarantine: None };
        journal.see(Seen::Restored(restored));
    }
    if !matches!(journal.answer.next, Next::Do(Step::Verify { .. })) {
        return;
    }
    let how = match get("verify") {
        Some("pass") => CheckOutcome::Passed,
        Some("hung") => CheckOutcome::TimedOut,
        _ => CheckOutcome::Failed,
    };
    // The same error comes with other numbers each time.
    let error = get("error").unwrap_or("mismatched types");
    let mut verified = journal.verification(how, &format!("error: {error} at line {nth}7"));
    if let (Some(result), Some((passed, failed))) =
        (verified.results.first_mut(), get("counts").and_then(|counts| counts.split_once('/')))
    {
        result.counts = Some(Counts::new(passed.parse().unwrap(), failed.parse().unwrap(), 0));
    }
    journal.see(Seen::Verified(verified));
    journal.prove();
}

/// The agent's own failure; its message has other numbers each time.
fn failure(class: &str) -> Failure {
    let class = serde_json::from_value(class.into()).unwrap_or_else(|_| panic!("fails={class}"));
    Failure { class, message: "API Error 500: internal".into(), reset_at: None }
}

fn counted(text: &str) -> PlanSeen {
    let (done, pending) = text.split_once('/').expect("plan=done/open");
    plan(done.parse().unwrap(), pending.parse().unwrap())
}

/// What the agent says last.
fn message(table: &Table, iteration: &Words) -> String {
    let get = |key: &str| iteration.get(key).map(String::as_str);
    if let Some(name) = get("text") {
        return table.texts.get(name).unwrap_or_else(|| panic!("no text {name}")).clone();
    }
    let phrases: usize = get("phrases").map_or(0, |n| n.parse().unwrap());
    let says = get("says").into_iter().flat_map(|says| says.split(','));
    let sentences = says.map(|words| format!("{}.", words.replace('_', " ")));
    let mut parts: Vec<String> =
        PHRASES.iter().take(phrases).map(ToString::to_string).chain(sentences).collect();
    if get("json").is_none() && (get("exit").is_some() || get("status").is_some()) {
        parts.push(format!("\n{}", status(iteration)));
    }
    if let Some(promise) = get("promise") {
        let inner = if promise.is_empty() { "COMPLETE" } else { promise };
        parts.push(format!("\n<promise>{inner}</promise>"));
    }
    parts.join("\n")
}

/// The fields of a JSON reply: only those that the row names.
fn reported(iteration: &Words) -> ReportedStatus {
    let get = |key: &str| iteration.get(key).cloned();
    ReportedStatus {
        status: get("status"),
        tests_status: get("tests"),
        work_type: get("work"),
        exit_signal: get("exit"),
        has_errors: get("errors").is_some(),
        malformed: get("malformed").map(|how| Malformed {
            what: "line 1, column 9: a key without quotes".into(),
            stopped: how == "stopped",
            text_cut: how == "stopped",
        }),
        ..ReportedStatus::default()
    }
}

fn status(iteration: &Words) -> String {
    let get = |key: &str| iteration.get(key).map_or("", String::as_str);
    let exit_signal = get("exit") == "true";
    // As it is, unless the row is about the claim itself.
    let number = |key: &str| Some(iteration.get(key).map_or(1, |n| n.parse().unwrap()));
    render(&Status {
        status: Some(match get("status") {
            "blocked" => Progress::Blocked,
            "complete" => Progress::Complete,
            _ => Progress::InProgress,
        }),
        tasks_completed: number("claims_tasks"),
        files_modified: number(if iteration.contains_key("claims_files") { "claims_files" } else { "files" }),
        tests: Some(match get("tests") {
            "passing" => Tests::Passing,
            "failing" => Tests::Failing,
            _ => Tests::NotRun,
        }),
        work_type: Some(match get("work") {
            "testing" => WorkType::Testing,
            "documentation" => WorkType::Documentation,
            _ => WorkType::Implementation,
        }),
        exit_signal: Some(exit_signal),
        recommendation: match get("recommends") {
            "" => "The parser is mended".into(),
            words => words.replace('_', " "),
        },
    })
}
