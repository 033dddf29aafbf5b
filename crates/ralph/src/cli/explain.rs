//! `ralph explain`: every decision in a run, and why it stopped.

use super::{Here, runs};
use crate::plain::{plain, plain_lines};
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use ralph_engine::outcome::last_ending;
use ralph_rules::ending::Status;
use ralph_rules::grounds::{Grounds, grounds};
use ralph_rules::next::Next;
use ralph_rules::record::{Envelope, Fact, Record, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_view::fact_text::{clock_time, decision_words, fact_words, reason_words};
use ralph_view::run_state::RunState;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Print the prompt of this iteration (default: the latest).
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0", conflicts_with = "json")]
    prompt: Option<u32>,
    /// Print the records as a JSON array; decisions about an iteration include their grounds.
    #[arg(long)]
    json: bool,
}

/// Prints the story of a run.
pub fn explain(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let records = runs::records(&store, &row.id)?;
    if let Some(iteration) = args.prompt {
        print(&prompt(&records, iteration, &home.run(&row.id))?);
        return Ok(0);
    }
    if args.json {
        return print_json(&with_grounds(&records)).map(|()| 0);
    }
    print(&story(&records, runs::is_running(&row, &home), here));
    Ok(0)
}

/// A prompt as it was saved beside the journal; of several attempts the last.
fn prompt(records: &[Record], iteration: u32, folder: &Path) -> Result<String, Problem> {
    let admitted = records.iter().rev().find_map(|record| match &record.fact {
        Fact::Seen(Seen::Admitted(a)) if iteration == 0 || a.id.iteration == iteration => Some(a),
        _ => None,
    });
    let admitted = admitted.ok_or_else(|| {
        let message = match iteration {
            0 => "the run has no prompt: no iteration started".into(),
            n => format!("the run has no iteration {n}"),
        };
        Problem::new(Code::Usage, message).hint("`ralph status` lists the iterations of a run")
    })?;
    let path = folder.join(&admitted.prompt.file);
    let text = std::fs::read(&path).map_err(|e| {
        Problem::new(Code::Input, format!("the prompt {} cannot be read", path.display())).cause(&e)
    })?;
    Ok(plain_lines(&String::from_utf8_lossy(&text)))
}

/// A record, and the grounds of a judgement.
#[derive(Debug, Serialize)]
struct ExplainedRecord {
    #[serde(flatten)]
    record: Envelope,
    #[serde(skip_serializing_if = "Option::is_none")]
    grounds: Option<Grounds>,
}

/// The records, each judgement with its grounds.
fn with_grounds(records: &[Record]) -> Vec<ExplainedRecord> {
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

fn story(records: &[Record], running: bool, here: &Here) -> String {
    let style = here.out_style();
    let state = State::of(records);
    let zone = state.start.as_ref().map_or("UTC", |s| s.zone.as_str());
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", style.strong(why(records, &state, running)));
    let mut then = State::default();
    for record in records {
        let time = style.faint(clock_time(record.at, zone));
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
                if let Next::Do(Step::Call { id, .. }) = &decision.next {
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
    }
    text
}

/// The first line: how it ended and why, or the state it is in.
fn why(records: &[Record], state: &State, running: bool) -> String {
    let done = match state.calls.done {
        1 => "1 iteration".to_string(),
        n => format!("{n} iterations"),
    };
    match state.ending.and(last_ending(records)) {
        Some((ending, reasons)) => {
            let mut words: Vec<String> = reasons.iter().map(reason_words).collect();
            words.dedup();
            let words = words.join("; ");
            let words = words.trim_end_matches('.');
            let again = if ending.resumable() { " `ralph resume` continues from here." } else { "" };
            let status = match ending.status() {
                Status::Completed if ending.verified => "COMPLETED, proven,",
                Status::Completed => "COMPLETED, unverified,",
                Status::Interrupted => "INTERRUPTED",
                Status::Aborted | Status::Error => &format!("STOPPED by {}", ending.name()),
            };
            format!("{status} after {done}: {words}.{again}")
        }
        None => match RunState::of(state).alive(running) {
            RunState::Crashed => format!(
                "CRASHED after {done}: its process is gone and wrote no ending. `ralph resume` continues from here."
            ),
            open => format!("{}: {done} so far.", open.name()),
        },
    }
}
