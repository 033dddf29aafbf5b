//! `ralph attach`: the panel of a run that another process works on, with its keys. What the panel shows is read from the
//! journal and the transcript, what its keys ask for goes through the inbox; leaving it does not stop the run.

use super::watchers::{calls_last_hour, screen};
use super::{Here, runs, secrets};
use crate::print::{RunOutput, say};
use crate::problem::{Code, Problem};
use crate::show::{TerminalLines, Verbosity};
use ralph_agents::ReaderEvent;
use ralph_engine::signals;
use ralph_engine::watch::Watcher;
use ralph_rules::record::{Attempt, Record};
use ralph_rules::state::State;
use ralph_store::RunRow;
use ralph_view::run_lines::RunLines;
use ralph_view::run_state::RunState;
use ralph_view::story::{Story, StoryError, StoryVisitor};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
}

/// Shows the run until it ends or the person leaves; the exit code is the run's if it ended.
pub fn attach(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    if !runs::is_running(&row, &home) {
        return Err(not_active(&row));
    }
    let records = runs::records(&store, &row.id)?;
    let out = RunOutput::new(Arc::new(secrets::redactor_anyway(Path::new(&row.workspace), here)));
    let left = Arc::new(AtomicBool::new(false));
    let (screen, guard) = screen(&row.id, true, Some(Arc::clone(&left)), &out, &home, here);
    let short = runs::short(&row.id).to_string();
    signals::before_forced_exit(move || say(&detached(&short)));
    let lines = RunLines::new(&[], here.err_style()).of_another_process();
    let mut lines = TerminalLines::new(Verbosity::Normal, screen, calls_last_hour(&home), lines, out);
    lines.catch_up(&records);
    let running = || !left.load(Ordering::Relaxed) && runs::is_running(&row, &home);
    let folder = home.run(&row.id);
    let story = Story { store: &store, run: &row.id, folder, iteration: None, running: &running };
    let mut panel = Panel(lines);
    let followed = story.follow_after(&records, &mut panel);
    drop(panel);
    drop(guard);
    ended(&followed.map_err(|error| unreadable(error, &row))?, &row, left.load(Ordering::Relaxed))
}

/// A person left, the run ended, or its process is gone.
fn ended(state: &State, row: &RunRow, left: bool) -> Result<u8, Problem> {
    let short = runs::short(&row.id);
    if let Some(ending) = state.ending {
        return Ok(ending.exit_code());
    }
    say(&match RunState::of(state).alive(left) {
        RunState::Crashed | RunState::Ended(_) => {
            format!("Run {short} has no process any more. `ralph resume {short}` continues it.\n")
        }
        _ => detached(short),
    });
    Ok(if left { 0 } else { Code::Journal as u8 })
}

fn detached(short: &str) -> String {
    format!("Run {short} continues in the background; `ralph attach {short}` shows it again.\n")
}

fn not_active(row: &RunRow) -> Problem {
    let short = runs::short(&row.id);
    let message = format!("run {short} is not active (status: {})", row.status);
    let problem = Problem::new(Code::Usage, message);
    let problem = match row.resumable {
        true => problem.hint(format!("resume it with `ralph resume {short}`")),
        false => problem,
    };
    problem.hint(format!("see what it did: `ralph status {short}`, `ralph logs {short}`"))
}

fn unreadable(error: StoryError, row: &RunRow) -> Problem {
    match error {
        StoryError::Store(error) => runs::broken(&error),
        StoryError::Output(error) => {
            Problem::new(Code::Journal, "the run's output cannot be read").cause(&error)
        }
        StoryError::Unreadable(why) => {
            let message = format!("the journal of run {} cannot be read", runs::short(&row.id));
            Problem { causes: vec![why], ..Problem::new(Code::Journal, message) }
        }
    }
}

/// Passes a run's story to the lines and the panel of a terminal.
struct Panel(TerminalLines);

impl StoryVisitor for Panel {
    fn record(&mut self, record: &Record, _state: &State) -> io::Result<()> {
        self.0.record(record);
        Ok(())
    }

    fn transcript_line(&mut self, _id: Attempt, _line: &[u8], events: &[ReaderEvent]) -> io::Result<()> {
        for event in events {
            match event {
                ReaderEvent::Activity(activity) => self.0.activity(activity),
                ReaderEvent::Spent(spent) if !spent.guessed => self.0.spent(spent.total),
                _ => {}
            }
        }
        Ok(())
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.0.tick();
        Ok(())
    }
}
