//! `ralph explain`: every decision of a run with the facts behind it, and why it stopped.

use super::{Here, print, print_json, runs};
use crate::problem::Problem;
use crate::show::{clock_time, decision_words, fact_words};
use ralph_engine::outcome::last_ending;
use ralph_rules::objection::Objection;
use ralph_rules::record::{Envelope, Fact, Record, Seen};
use ralph_rules::state::State;
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
    let store = runs::store(&here.home()?)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let records = runs::records(&store, &row.id)?;
    if args.json {
        let all: Vec<Envelope> = records.iter().map(Envelope::from).collect();
        return print_json(&all).map(|()| 0);
    }
    print(&story(&records, here));
    Ok(0)
}

fn story(records: &[Record], here: &Here) -> String {
    let style = here.out_style();
    let state = State::of(records);
    let zone = state.start.as_ref().map_or("UTC", |s| s.zone.as_str());
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", style.strong(why(records, &state)));
    for record in records {
        let time = style.faint(clock_time(record.at, zone));
        match &record.fact {
            Fact::Seen(seen) => {
                if let Seen::CallEnded(call) = seen {
                    let _ = writeln!(text, "\n{}", style.strong(format!("iteration {}", call.id.iteration)));
                }
                for line in fact_words(seen) {
                    let _ = writeln!(text, "{time}  {line}");
                }
            }
            Fact::Decided(decision) => {
                let _ = writeln!(text, "{time}  {} {}", style.note("→"), decision_words(&decision.next));
                for reason in &decision.because {
                    let _ = writeln!(text, "{:10}  because {} {}", "", reason.say(), style.faint(format!("[{}]", reason.code())));
                }
            }
        }
    }
    text
}

/// The first line: how it ended and why, or what is under way.
fn why(records: &[Record], state: &State) -> String {
    let iterations = state.calls.done;
    match state.ending.and(last_ending(records)) {
        Some((ending, because)) => {
            let words = because.iter().map(Objection::say).collect::<Vec<_>>().join("; ");
            let again = if ending.resumable() { " `ralph resume` goes on from here." } else { "" };
            format!("{} after {iterations} iteration{}: {words}.{again}", ending.name(), if iterations == 1 { "" } else { "s" })
        }
        None => format!("Not ended: {iterations} iterations are done. If no ralph works on it now, `ralph resume` goes on."),
    }
}
