//! `ralph watch`: the monitor, all runs of this user and one in depth; also what `run --watch` and `resume --watch` open.
//! It reads the store, so leaving it stops no run; keys reach a run through its inbox.

use super::diff_so_far::diff_so_far;
use super::{Here, board, notify, runs, secrets};
use crate::print::say;
use crate::problem::{Code, Problem};
use crate::style::Style;
use ralph_engine::home::Home;
use ralph_engine::outcome::{last_ending, outcome};
use ralph_engine::signals;
use ralph_monitor::{Texts, WatchError, WatchSettings, terminal};
use ralph_rules::state::State;
use ralph_store::{Database, RunRow, Store, StoreError};
use ralph_view::run_receipt::receipt;
use std::path::Path;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id to show first (default: the newest run that works, or the first that needs you).
    run: Option<String>,
}

/// Shows the monitor until the person leaves; the exit code is the named run's if it ended meanwhile.
pub fn watch(args: &Args, here: &Here) -> Result<u8, Problem> {
    needs_terminal(here)?;
    let home = here.home()?;
    let Some(wanted) = args.run.as_deref() else {
        show(None, &home, here)?;
        return Ok(0);
    };
    let row = runs::find(&store(&home)?, Some(wanted), here)?;
    match runs::is_running(&row, &home) {
        true => watch_started(&row.id, here),
        false => show(Some(row.id), &home, here).map(|()| 0),
    }
}

/// The store, to find a run in. One that another process has locked is waited for, which is said.
fn store(home: &Home) -> Result<Database, Problem> {
    if matches!(home.store_at_once(), Err(StoreError::Busy { .. })) {
        say("The database is locked by another process; waiting for it.\n");
    }
    runs::store(home)
}

/// Shows the monitor for a run that is active. Afterwards it is said how the run ended, or how to see it again.
pub fn watch_started(id: &str, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let short = runs::short(id).to_owned();
    signals::before_forced_exit(move || say(&continues(&short)));
    show(Some(id.to_owned()), &home, here)?;
    let store = runs::store(&home)?;
    let row = store.run(id).map_err(|e| runs::broken(&e))?;
    match row.as_ref().and_then(|row| row.exit_code) {
        Some(code) => {
            say(&ended(&store, id, here.err_style())?);
            Ok(u8::try_from(code).unwrap_or(Code::Bug as u8))
        }
        None if row.is_some_and(|row| runs::is_running(&row, &home)) => {
            say(&continues(runs::short(id)));
            Ok(0)
        }
        None => {
            let short = runs::short(id);
            say(&format!("Run {short} has no process any more. `ralph resume {short}` continues it.\n"));
            Ok(Code::Journal as u8)
        }
    }
}

/// The monitor needs a keyboard and a screen.
pub fn needs_terminal(here: &Here) -> Result<(), Problem> {
    if terminal::is_there() && !here.env.dumb {
        return Ok(());
    }
    let why = match here.env.dumb {
        true => "the monitor needs a terminal that can move its cursor (TERM is not set, or is dumb)",
        false => "the monitor needs a terminal, but stdin or stdout is not one",
    };
    Err(Problem::new(Code::Usage, why)
        .hint("`ralph list --all` lists the runs, `ralph status` shows one")
        .hint("`ralph logs -f` follows what the agent says and does"))
}

fn show(run: Option<String>, home: &Home, here: &Here) -> Result<(), Problem> {
    let colours = here.out_style().is_on();
    let settings = WatchSettings { board: board::of(here)?, colours, run, texts: texts(home, here) };
    // Notes that runs left, and crashes that nobody noted, go out while somebody watches.
    let _notes = notify::background(home, here);
    ralph_monitor::watch(settings).map_err(|error| match error {
        WatchError::Terminal(why) => {
            Problem::new(Code::Journal, "the terminal cannot be drawn on any more").cause(&why)
        }
        WatchError::Panicked => {
            Problem::new(Code::Bug, "the monitor had to close: a part of it failed, see the message above")
                .hint("the runs continue; `ralph watch` opens the monitor again")
        }
    })
}

/// Each text without the secrets that are known where its run works.
fn texts(home: &Home, here: &Here) -> Texts {
    let (there, state) = (here.clone(), home.clone());
    let diff = move |run: &str| {
        let workspace = state.store_if_any().ok().flatten().and_then(|store| store.run(run).ok().flatten());
        let workspace = workspace.map(|row: RunRow| row.workspace).unwrap_or_default();
        diff_so_far(&state, run, &secrets::redactor_anyway(Path::new(&workspace), &there))
    };
    let there = here.clone();
    let redact = move |workspace: &str, text: &str| {
        secrets::redactor_anyway(Path::new(workspace), &there).redact(text).into_owned()
    };
    Texts { diff: Box::new(diff), redact: Box::new(redact) }
}

fn ended(store: &dyn Store, id: &str, style: Style) -> Result<String, Problem> {
    let records = runs::records(store, id)?;
    let state = State::of(&records);
    let ended =
        last_ending(&records).map(|(ending, why)| receipt(&outcome(&state, ending, why), &state, style));
    Ok(ended.unwrap_or_default())
}

fn continues(short: &str) -> String {
    format!("Run {short} continues in the background; `ralph watch {short}` shows it again.\n")
}
