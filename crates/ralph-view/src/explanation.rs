//! Explains a run: every decision with the facts and reasons behind it, and why it stopped.

use crate::fact_text::{
    clock_time, clock_until, decision_words, ending_words, fact_words, reason_words, review_title,
};
use crate::plain::plain;
use crate::style::Style;
use ralph_engine::outcome::last_ending;
use ralph_engine::run_state::{RunState, is_between_steps};
use ralph_rules::ending::{Reason, Status};
use ralph_rules::grounds::{Grounds, grounds};
use ralph_rules::next::{Next, Wake, next};
use ralph_rules::record::{Envelope, Fact, Record, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use serde::Serialize;
use std::fmt::Write;

/// A record, and the grounds of a judgement.
#[derive(Debug, Serialize)]
pub struct ExplainedRecord {
    /// The record as scripts read it.
    #[serde(flatten)]
    pub record: Envelope,
    /// What the judgement stood on, where the record is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grounds: Option<Grounds>,
}

/// The records, each judgement with its grounds.
pub fn with_grounds(records: &[Record]) -> Vec<ExplainedRecord> {
    let mut state = State::default();
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        let decided = matches!(record.fact, Fact::Decided(_));
        let grounds = grounds(&state).filter(|_| decided);
        state.apply(record);
        all.push(ExplainedRecord { record: Envelope::from(record), grounds });
    }
    all
}

/// Every fact and decision of a run in order, below one line that says how it ended or what state it is in. `alive` says
/// whether a process works on it.
pub fn explanation(records: &[Record], alive: bool, style: Style) -> String {
    let state = State::of(records);
    let zone = state.start.as_ref().map_or("UTC", |s| s.zone.as_str());
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", style.strong(headline(records, &state, alive)));
    let mut then = State::default();
    for record in records {
        let time = style.faint(clock_time(record.at, zone));
        let woke = is_between_steps(&then) && matches!(record.fact, Fact::Seen(Seen::Woke));
        match &record.fact {
            Fact::Seen(seen) => {
                for line in fact_words(seen) {
                    let _ = writeln!(text, "{time}    {line}");
                }
                if let Seen::Admitted(admitted) = seen {
                    let saved =
                        format!("prompt saved: {}, {} bytes", admitted.prompt.file, admitted.prompt.bytes);
                    let _ = writeln!(text, "{time}    {}", style.faint(plain(&saved)));
                }
            }
            Fact::Decided(decision) => {
                if let Next::Do(Step::Call { review: true, .. }) = &decision.next {
                    let _ = writeln!(text, "\n{}", style.strong(review_title(&then)));
                } else if let Next::Do(Step::Call { id, .. }) = &decision.next {
                    let again =
                        if id.attempt > 1 { format!(", attempt {}", id.attempt) } else { String::new() };
                    let _ =
                        writeln!(text, "\n{}", style.strong(format!("Iteration {}{again}", id.iteration)));
                }
                let _ = writeln!(text, "{time}  {} {}", style.note("→"), decision_words(&decision.next));
                for reason in &decision.reasons {
                    let code = style.faint(format!("[{}]", reason.code()));
                    let _ = writeln!(text, "{:8}      because {} {code}", "", reason_words(reason));
                }
                for line in grounds(&then).iter().flat_map(Grounds::lines) {
                    let _ = writeln!(text, "{:8}      {}", "", style.faint(format!("· {}", plain(&line))));
                }
            }
        }
        then.apply(record);
        // Waiting is not recorded as a decision: the state says it by itself.
        if let (false, Fact::Seen(_), Next::Wait { wake: Wake { at: Some(at), .. } }) =
            (woke, &record.fact, next(&then).next)
        {
            let until = clock_until(at, record.at, zone);
            let _ = writeln!(text, "{time}  {} wait until {until}", style.note("→"));
        }
    }
    text
}

/// The first line: how it ended and why, or the state it is in.
fn headline(records: &[Record], state: &State, alive: bool) -> String {
    let done = match state.calls.done {
        1 => "1 iteration".to_string(),
        n => format!("{n} iterations"),
    };
    match state.ending.and(last_ending(records)) {
        Some((ending, reasons)) => {
            let words = ending_words(&ending, reasons);
            let words = words.trim_end_matches('.');
            let again = match ending.reason {
                Reason::NeedsReview => " `ralph accept` completes it, `ralph resume` sends it back.",
                Reason::WorkspaceLost => {
                    " `ralph resume` continues once it is back, `ralph resume -C DIR` where it is now."
                }
                _ if ending.needs_answer() => " `ralph resume --hint \"…\"` answers and continues it.",
                _ if ending.resumable() => " `ralph resume` continues from here.",
                _ => "",
            };
            let status = match ending.status() {
                Status::Completed => match ending.grade {
                    Some(grade) => &format!("COMPLETED, {grade},"),
                    // Journals of older rules have no grades.
                    None if ending.verified => "COMPLETED, verified,",
                    None => "COMPLETED, unverified,",
                },
                Status::Interrupted => "INTERRUPTED",
                Status::Aborted | Status::Error => &format!("STOPPED by {}", ending.name()),
            };
            format!("{status} after {done}: {words}.{again}")
        }
        None => match RunState::of(state).alive(alive) {
            RunState::Crashed => format!(
                "CRASHED after {done}: its process ended without recording a result. `ralph resume` continues from here."
            ),
            RunState::Ended(_) => format!(
                "INTERRUPTED after {done}: ended by force before its last work was inspected. `ralph resume` continues from here."
            ),
            open => format!("{}: {done} so far.", open.name()),
        },
    }
}
