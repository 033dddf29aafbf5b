//! `ralph explain`: every decision of a run with the facts behind it, and why it stopped.

use super::{Here, runs};
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::show::{clock_time, decision_words, fact_words, reason_words};
use ralph_engine::outcome::last_ending;
use ralph_rules::ending::Status;
use ralph_rules::next::Next;
use ralph_rules::record::{Envelope, Fact, Record};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use std::fmt::Write;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run; the newest of this workspace if left out.
    run: Option<String>,
    /// The records as JSON, one array.
    #[arg(long)]
    json: bool,
}

/// Prints the story of a run.
pub fn explain(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let records = runs::records(&store, &row.id)?;
    if args.json {
        let all: Vec<Envelope> = records.iter().map(Envelope::from).collect();
        return print_json(&all).map(|()| 0);
    }
    print(&story(&records, runs::is_running(&row, &home), here));
    Ok(0)
}

fn story(records: &[Record], running: bool, here: &Here) -> String {
    let style = here.out_style();
    let state = State::of(records);
    let zone = state.start.as_ref().map_or("UTC", |s| s.zone.as_str());
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", style.strong(why(records, &state, running)));
    for record in records {
        let time = style.faint(clock_time(record.at, zone));
        match &record.fact {
            Fact::Seen(seen) => {
                for line in fact_words(seen) {
                    let _ = writeln!(text, "{time}    {line}");
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
                for reason in &decision.because {
                    let code = style.faint(format!("[{}]", reason.code()));
                    let _ = writeln!(text, "{:8}      because {} {code}", "", reason_words(reason));
                }
            }
        }
    }
    text
}

/// The first line: how it ended and why, or what is under way.
fn why(records: &[Record], state: &State, running: bool) -> String {
    let done = match state.calls.done {
        1 => "1 iteration".to_string(),
        n => format!("{n} iterations"),
    };
    match state.ending.and(last_ending(records)) {
        Some((ending, because)) => {
            let mut words: Vec<String> = because.iter().map(reason_words).collect();
            words.dedup();
            let words = words.join("; ");
            let words = words.trim_end_matches('.');
            let again = if ending.resumable() { " `ralph resume` goes on from here." } else { "" };
            let status = match ending.status() {
                Status::Completed if ending.verified => "COMPLETED, proven,",
                Status::Completed => "COMPLETED, unverified,",
                Status::Interrupted => "INTERRUPTED",
                Status::Aborted | Status::Error => &format!("STOPPED by {}", ending.name()),
            };
            format!("{status} after {done}: {words}.{again}")
        }
        None if running => format!("Under way: {done} done so far."),
        None => format!(
            "CRASHED after {done}: its process is gone and wrote no end. `ralph resume` goes on from here."
        ),
    }
}
