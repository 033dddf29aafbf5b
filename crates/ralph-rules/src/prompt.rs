//! What the prompt says. Iteration 1 is the user's text unchanged; from the second on a context section
//! follows: what changed, what verification said, what was objected to. The protocol travels as a system prompt
//! where the agent takes one, else as a footer. ralph's own words stay under 2 KB; evidence is bounded by itself.

use crate::failure::Class;
use crate::objection::Objection;
use crate::record::{Came, RunStarted, Verified};
use crate::state::State;
use std::fmt::Write;

/// Evidence that goes into one prompt, at most.
pub const EVIDENCE_BYTES: usize = 6 * 1024;
/// File names shown.
const NAMES: usize = 12;
/// Length of one shown line.
const LINE: usize = 200;

/// The prompt of the next call.
pub fn compose(state: &State) -> String {
    let Some(start) = state.start.as_deref() else { return String::new() };
    let mut text = start.prompt.clone();
    let hints = hints(state);
    if state.calls.done > 0 || state.calls.grants > 0 || !hints.is_empty() {
        text.push_str("\n\n---\n");
        if state.calls.done > 0 || state.calls.grants > 0 {
            text.push_str(&context(state, start));
        }
        text.push_str(&hints);
    }
    if !start.agent.system_prompt {
        text.push_str("\n\n---\n");
        text.push_str(&protocol(&start.policy.gate.promise));
    }
    text
}

/// How the agent reports: the status block, or the promise alone.
pub fn protocol(promise: &str) -> String {
    format!(
        "You work in a loop: after you stop, your work is verified by commands you do not control, and you are \
called again with what they said until it is proven done. Nobody reads your messages or answers questions: decide \
yourself. End your final message with exactly this block, one line a field, nothing after it:\n\n\
---RALPH_STATUS---\n\
STATUS: IN_PROGRESS | COMPLETE | BLOCKED\n\
TASKS_COMPLETED_THIS_LOOP: <number>\n\
FILES_MODIFIED: <number>\n\
TESTS_STATUS: PASSING | FAILING | NOT_RUN\n\
WORK_TYPE: IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING\n\
EXIT_SIGNAL: false | true\n\
RECOMMENDATION: <one line>\n\
---END_RALPH_STATUS---\n\n\
EXIT_SIGNAL is true only when everything asked for is done and tests pass. STATUS is BLOCKED, with EXIT_SIGNAL \
false, only when a person must act. Instead of the block, <promise>{promise}</promise> alone on the last line says \
that all is done.\n"
    )
}

fn context(state: &State, start: &RunStarted) -> String {
    let n = state.calls.done + 1;
    let max = start.policy.max_iterations;
    let mut text = format!("[Ralph Loop Context - Iteration {n}]\n\nThis is attempt #{n} of at most {max}. ");
    text.push_str("Your earlier work is in the files; look at it before you go on.\n\n");
    let _ = writeln!(text, "- Files changed last time: {}", files(state));
    let short = state.faults.last.as_ref().is_some_and(|f| f.class == Class::ContextTooLong);
    if let Some(verified) = state.checks.shown() {
        results(&mut text, verified, short);
    }
    if !state.trees.commits.is_empty() && !short {
        let _ = writeln!(text, "- Latest commits: {}", list(&state.trees.commits, 5));
    }
    remaining(&mut text, state, short);
    objections(&mut text, state);
    text
}

/// What is still open in the bound plan.
fn remaining(text: &mut String, state: &State, short: bool) {
    let Some(open) = state.tasks.pending().filter(|open| *open > 0) else { return };
    let named = state.tasks.remaining();
    let shown = if short { 1 } else { named.len() };
    let _ = writeln!(text, "- Still open in the plan {}: {open}", head(&state.tasks.file, LINE));
    for item in named.iter().take(shown) {
        let _ = writeln!(text, "  - {}", head(item, LINE));
    }
}

fn files(state: &State) -> String {
    let changed = &state.trees.changed;
    match state.trees.files {
        0 => "none".into(),
        n => format!("{n} ({})", list(changed, NAMES)),
    }
}

fn list(items: &[String], most: usize) -> String {
    let mut text = items.iter().take(most).map(|i| head(i, LINE)).collect::<Vec<_>>().join(", ");
    if items.len() > most {
        text.push_str(", …");
    }
    text
}

fn results(text: &mut String, verified: &Verified, short: bool) {
    let failing: Vec<_> = verified.results.iter().filter(|r| r.how != Came::Passed).collect();
    if failing.is_empty() {
        text.push_str("- Verification: passed\n");
        return;
    }
    let room = if short { 0 } else { EVIDENCE_BYTES / failing.len() };
    for result in failing {
        let objection = Objection::VerificationFailed {
            command: result.command.clone(),
            how: result.how,
            exit: result.exit,
            claimed: false,
        };
        let _ = writeln!(text, "- Verification: {}", objection.say());
        let end = tail(&result.tail, room);
        if !end.trim().is_empty() {
            let fence = fence(end);
            let _ = writeln!(text, "  The end of its output:\n{fence}\n{}\n{fence}", end.trim_end());
        }
    }
    text.push_str("Read the error, find its cause and mend that; do not change what the tests ask for.\n");
}

/// A fence longer than any in the text, so that output cannot break out of it.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn objections(text: &mut String, state: &State) {
    let said: Vec<String> = state
        .objections
        .iter()
        .filter(|o| !matches!(o, Objection::VerificationFailed { .. } | Objection::CostNearly { .. }))
        .map(Objection::say)
        .collect();
    if said.is_empty() {
        return;
    }
    text.push_str("\nWhat was not accepted:\n");
    for line in said {
        let _ = writeln!(text, "- {}", head(&line, LINE * 2));
    }
    for objection in &state.objections {
        match objection {
            Objection::HalfOpen { .. } => text
                .push_str("You are stuck. Say in one sentence what was tried, then take another approach.\n"),
            Objection::SameError { .. } => {
                text.push_str("This error keeps coming back: question your assumption.\n");
            }
            Objection::AsksPerson => text.push_str("Nobody will answer: choose the safest way and go on.\n"),
            _ => {}
        }
    }
}

fn hints(state: &State) -> String {
    if state.person.hints.is_empty() {
        return String::new();
    }
    let mut text = "\nFrom the person you work for:\n".to_string();
    for hint in &state.person.hints {
        let _ = writeln!(text, "- {}", head(hint, LINE * 10));
    }
    text
}

/// The first bytes of a text, at a character's border.
pub fn head(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.into();
    }
    let cut = (0..=bytes).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}…", text.get(..cut).unwrap_or_default())
}

/// The last bytes of a text, at a character's border.
pub fn tail(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}
