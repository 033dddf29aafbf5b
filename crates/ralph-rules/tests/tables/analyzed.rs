//! Feeds the rows of a decision table to a run and to `ralph analyze`: the responses of the run, analyzed one after the
//! other under the same policy, must lead to the same decision, the same word on being stuck and the same breaker.

use super::journal::Journal;
use super::read::{Row, read};
use super::walk::play;
use ralph_rules::analysis::{ExitDecision, Response, Trend};
use ralph_rules::breaker::{Breaker, breaker};
use ralph_rules::ending::Reason;
use ralph_rules::next::Next;
use ralph_rules::policy::Policy;
use ralph_rules::record::{CallEnded, Fact, Record, Seen};

/// What only a run sees. A row with one of these is not analyzed.
const ONLY_IN_A_RUN: [&str; 5] = ["verify", "plan", "protected", "marker", "workspace"];

/// Why analysis and run differ on a row that has no status block: nothing in the message says that no file changed.
pub const FILES: &str = "only a run sees that no file changed";

/// What is compared.
type Judged = (ExitDecision, bool, Breaker);

/// Compares every row that a response alone can decide. `differ` names the rows that must differ, with the reason; how
/// many rows agree.
pub fn agrees(text: &str, policy: &Policy, differ: &[(&str, &str)]) -> usize {
    let table = read(text);
    let (mut agree, mut differing) = (0, Vec::new());
    for row in table.rows.iter().filter(|row| is_analyzable(row)) {
        let journal = play(&table, row, policy);
        let (run, analyzed) = (judged_by_run(&journal), analyzed(&journal, row));
        match differ.iter().find(|(name, _)| *name == row.name) {
            None => {
                let place = format!("line {}: {} · {}", row.line, row.document, row.name);
                assert_eq!(analyzed, run, "{place}: analyze (left) and run (right) differ");
                agree += 1;
            }
            Some((name, _)) if analyzed != run => differing.push(*name),
            Some((name, why)) => panic!("`{name}` agrees, although {why}"),
        }
    }
    for (name, why) in differ {
        assert!(differing.contains(name), "no row `{name}` ({why})");
    }
    agree
}

fn is_analyzable(row: &Row) -> bool {
    !row.agent.iter().any(|iteration| ONLY_IN_A_RUN.iter().any(|key| iteration.contains_key(*key)))
}

/// How the run went. A guard or a limit that ends it is no word on whether the work is done.
fn judged_by_run(journal: &Journal) -> Judged {
    let state = &journal.state;
    let policy = &state.start.as_ref().unwrap().policy;
    let decision = match journal.answer.next {
        Next::Exit(ending) => match ending.reason {
            Reason::GatePassed | Reason::AlreadyComplete => ExitDecision::ProjectComplete,
            Reason::CompletionSignals => ExitDecision::CompletionSignals,
            Reason::Blocked => ExitDecision::Blocked,
            _ => ExitDecision::Continue,
        },
        _ => ExitDecision::Continue,
    };
    (decision, state.repeat.stuck(policy).is_some(), breaker(state, policy))
}

/// The same responses, as `ralph analyze --history` gets them.
fn analyzed(journal: &Journal, row: &Row) -> Judged {
    let policy = &journal.state.start.as_ref().unwrap().policy;
    let mut trend = Trend::default();
    let calls: Vec<&CallEnded> = journal.records.iter().filter_map(call).collect();
    assert_eq!(calls.len(), row.agent.len(), "line {}: {}", row.line, row.name);
    for (nth, call) in (1..).zip(&calls) {
        let failure = call.failure.as_ref().map(|failure| failure.message.as_str());
        let mut response =
            Response::read_reply(&call.text, call.status.as_ref(), &policy.gate.promise, failure);
        response.text_bytes = call.text_bytes;
        response.denials.clone_from(&call.denials);
        trend.add(&response, policy);
        let decision = trend.decision(policy);
        let early = nth < calls.len() && decision != ExitDecision::Continue;
        assert!(!early, "line {}: {}: {decision:?} after response {nth}", row.line, row.name);
    }
    (trend.decision(policy), trend.stuck(policy), trend.breaker(policy))
}

fn call(record: &Record) -> Option<&CallEnded> {
    match &record.fact {
        Fact::Seen(Seen::CallEnded(call)) => Some(call),
        _ => None,
    }
}
