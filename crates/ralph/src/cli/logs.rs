//! `ralph logs`: what the agent said and did, in a run that ended or still runs.

use super::{Here, runs, secrets};
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::outcome::{last_ending, outcome};
use ralph_engine::snapshots::Snapshots;
use ralph_rules::record::ChangeMap;
use ralph_rules::state::State;
use ralph_store::{Database, RunRow};
use ralph_view::log_json::LogJson;
use ralph_view::log_lines::LogLines;
use ralph_view::log_raw::LogRaw;
use ralph_view::run_state::RunState;
use ralph_view::story::{Story, StoryError, StoryVisitor};
use ralph_view::workspace_diff::{Contents, Moments, Shown, diff};
use std::io::{BufWriter, ErrorKind, IsTerminal, StdoutLock, Write, stdout};
use std::path::Path;

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // switches of a command line
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Follow the run until it ends.
    #[arg(short, long)]
    follow: bool,
    /// Show only this iteration.
    #[arg(short, long, value_name = "N")]
    iteration: Option<u32>,
    /// Show the arguments and results of tools.
    #[arg(long)]
    tools: bool,
    /// Show what changed as a diff: in one iteration with --iteration, otherwise in the whole run.
    #[arg(long, conflicts_with_all = ["follow", "tools", "json"])]
    diff: bool,
    /// Print the agent's raw output; with --diff, unescaped file contents (secrets stay redacted).
    #[arg(long, conflicts_with_all = ["tools", "json"])]
    raw: bool,
    /// Print records and activities as JSON lines, as `run --json` does.
    #[arg(long, conflicts_with = "tools")]
    json: bool,
}

/// Prints what was said and done.
pub fn logs(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    if let Some(n) = args.iteration.filter(|n| *n == 0 || *n > row.iterations + 1) {
        return Err(no_iteration(n, &row));
    }
    if args.diff {
        return changed(args, &row, &store, here);
    }
    let running = || runs::is_running(&row, &home);
    let story = Story {
        store: &store,
        run: &row.id,
        folder: home.run(&row.id),
        iteration: args.iteration,
        running: &running,
    };
    let told = if args.json {
        let mut json = LogJson::new(buffered_stdout());
        story.walk(args.follow, &mut json).and_then(|state| result(&state, &store, &row, args, &mut json))
    } else if args.raw {
        story.walk(args.follow, &mut LogRaw::new(buffered_stdout(), stdout().is_terminal())).map(drop)
    } else {
        let mut lines = LogLines::new(buffered_stdout(), here.out_style(), args.tools);
        story.walk(args.follow, &mut lines).map(|state| still(&state, &row, &home, args))
    };
    told.or_else(|ended| gone(ended, &row))?;
    Ok(0)
}

/// Stdout for output of any size.
fn buffered_stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(64 * 1024, stdout().lock())
}

/// A reader that went away is not a failure.
fn gone(ended: StoryError, row: &RunRow) -> Result<(), Problem> {
    match ended {
        StoryError::Output(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        StoryError::Output(error) => {
            Err(Problem::new(Code::Journal, "stdout could not be written").cause(&error))
        }
        StoryError::Store(error) => Err(runs::broken(&error)),
        StoryError::Unreadable(why) => {
            let message = format!("the journal of run {} cannot be read", runs::short(&row.id));
            Err(Problem { causes: vec![why], ..Problem::new(Code::Journal, message) })
        }
    }
}

/// The result comes last, where the run has one.
fn result<W: Write>(
    state: &State,
    store: &Database,
    row: &RunRow,
    args: &Args,
    json: &mut LogJson<W>,
) -> Result<(), StoryError> {
    if state.ending.is_none() || args.iteration.is_some() {
        return Ok(());
    }
    let records = runs::records(store, &row.id).unwrap_or_default();
    if let Some((ending, reasons)) = last_ending(&records) {
        let result = serde_json::to_value(outcome(state, ending, reasons)).unwrap_or_default();
        json.value(&result)?;
    }
    Ok(json.caught_up()?)
}

/// Says why the log of a run has no ending.
fn still(state: &State, row: &RunRow, home: &Home, args: &Args) {
    if state.ending.is_some() || args.iteration.is_some() {
        return;
    }
    let short = runs::short(&row.id);
    let state = RunState::of(state).alive(runs::is_running(row, home));
    say(&match state {
        RunState::Crashed => {
            format!("\nRun {short} crashed: its process is gone. `ralph resume {short}` continues it.\n")
        }
        RunState::Ended(_) => {
            format!("\nRun {short} was ended by force. `ralph resume {short}` continues it.\n")
        }
        RunState::Paused => format!("\nRun {short} is paused; `ralph continue` continues it.\n"),
        _ => format!("\nRun {short} is still running; `ralph logs -f` follows it.\n"),
    });
}

fn no_iteration(n: u32, row: &RunRow) -> Problem {
    let message = format!("run {} has no iteration {n}", runs::short(&row.id));
    Problem::new(Code::Usage, message).hint(match row.iterations {
        0 => "it has not started an iteration yet".into(),
        1 => "it has one iteration: --iteration 1".into(),
        last => format!("it has iterations 1 to {last}"),
    })
}

/// Prints the diff of an iteration, or of the whole run.
fn changed(args: &Args, row: &RunRow, store: &Database, here: &Here) -> Result<u8, Problem> {
    let home = &here.home()?;
    let snapshots = Snapshots::of(home, Path::new(&row.workspace), &row.id);
    let begun = snapshots.iterations();
    let last = begun.last().copied().unwrap_or(0);
    let (from, to) = args.iteration.map_or((0, last), |n| (n.saturating_sub(1), n));
    if to == last && runs::is_running(row, home) && args.iteration.is_some() {
        let message = format!("iteration {to} is still running; its changes are known when it ends");
        return Err(Problem::new(Code::Usage, message));
    }
    let state = State::of(&runs::records(store, &row.id).unwrap_or_default());
    let no_snapshot = args.iteration.and_then(|n| {
        let taken = &state.trees.no_snapshot;
        [n, n.saturating_add(1)].into_iter().find_map(|n| Some((n, taken.get(&n)?)))
    });
    if let Some((n, why)) = no_snapshot {
        let message =
            format!("no snapshot was taken before iteration {n} of run {}: {why}", runs::short(&row.id));
        return Err(
            Problem::new(Code::Usage, message).hint("without --iteration, all changes of the run are shown")
        );
    }
    let missing = || {
        let what = args.iteration.map_or(String::new(), |n| format!(" of iteration {n}"));
        Problem::new(Code::Usage, format!("run {} has no snapshots{what}", runs::short(&row.id)))
            .hint("it never called an agent, is older than this version, or was pruned")
    };
    let before = snapshots.after(from).ok_or_else(missing)?;
    let after = if args.iteration.is_some() { snapshots.after(to) } else { snapshots.last() };
    let (workspace, after) = (Path::new(&row.workspace), after.ok_or_else(missing)?);
    let moments = Moments::of(workspace, before, after, snapshots.store().blobs());
    let raw = args.raw && !stdout().is_terminal();
    // The map is about the files as the run left them, and about all of the run's changes.
    let of_these = |map: &&ChangeMap| map.tree == moments.tree && from == 0;
    let map = state.proof.map().filter(of_these);
    let redactor = secrets::redactor_anyway(workspace, here);
    let contents = Contents { blobs: snapshots.store().blobs(), live: None, redactor: &redactor };
    let shown = Shown { contents, style: here.out_style(), raw, map };
    match diff(buffered_stdout(), &moments, shown) {
        Ok(0) => say("No changes.\n"),
        Ok(_) => {}
        Err(error) => gone(StoryError::Output(error), row)?,
    }
    Ok(0)
}
