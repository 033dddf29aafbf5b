//! `ralph diff`: what one run changed, and nothing else: from the files before the run to the files as it left them, or
//! to the files now while it is not over. It needs no git and looks the same on a tree with other changes.

use super::undo::list;
use super::undo::plan::tree_of;
use super::{Here, runs, secrets};
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::snapshots::Snapshots;
use ralph_rules::counting::counted;
use ralph_rules::record::ChangeMap;
use ralph_rules::state::State;
use ralph_store::RunRow;
use ralph_tree::{Index, shown};
use ralph_view::change_data::ChangeData;
use ralph_view::plain::plain;
use ralph_view::workspace_diff::{ChangedFile, Contents, Moments, Shown, changed_files, diff as write_diff};
use std::fmt::Write as _;
use std::io::{BufWriter, ErrorKind, IsTerminal, stdout};
use std::path::Path;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Show only how many lines changed in each file.
    #[arg(long, conflicts_with_all = ["name_only", "json"])]
    stat: bool,
    /// Show only the names of the files.
    #[arg(long, conflicts_with = "json")]
    name_only: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A run's change: the files before it, and those it left.
pub struct RunChange {
    /// The run.
    pub row: RunRow,
    /// Its state.
    pub state: State,
    /// Its snapshots.
    pub snapshots: Snapshots,
    /// Before and after.
    pub moments: Moments,
    /// The later moment is now, because the run is not over or was cut short.
    pub until_now: bool,
}

/// Prints the change.
pub fn diff(args: &Args, here: &Here) -> Result<u8, Problem> {
    let change = RunChange::of(args.run.as_deref(), here)?;
    let workspace = Path::new(&change.row.workspace);
    let redactor = secrets::redactor_anyway(workspace, here);
    let live = change.until_now.then_some(workspace);
    let contents = Contents { blobs: change.snapshots.store().blobs(), live, redactor: &redactor };
    if args.json {
        print_json(&ChangeData::of(&change.row.id, &change.moments, contents, usize::MAX))?;
        return Ok(0);
    }
    say(&change.headline());
    if args.name_only {
        let names = changed_files(&change.moments).map(|file| shown(file.path()) + "\n");
        print(&names.collect::<String>());
        return Ok(0);
    }
    if args.stat {
        print(&change.stat(contents));
        return Ok(0);
    }
    // A map is about the files as the run left them.
    let of_these = |map: &&ChangeMap| map.tree == change.moments.tree;
    let map = change.state.proof.map().filter(of_these);
    let how = Shown { contents, style: here.out_style(), raw: !stdout().is_terminal(), map };
    match write_diff(BufWriter::with_capacity(64 * 1024, stdout().lock()), &change.moments, how) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Problem::new(Code::Journal, "stdout could not be written").cause(&error))
        }
        _ => Ok(0),
    }
}

impl RunChange {
    /// The change of the run that `wanted` names.
    pub fn of(wanted: Option<&str>, here: &Here) -> Result<RunChange, Problem> {
        let home = here.home()?;
        let store = runs::store(&home)?;
        let row = runs::find(&store, wanted, here)?;
        let workspace = Path::new(&row.workspace);
        let state = State::of(&runs::records(&store, &row.id)?);
        let snapshots = Snapshots::of(&home, workspace, &row.id);
        let Some(before) = snapshots.after(0) else {
            return Err(nothing_saved(&row, &state));
        };
        let (after, until_now) = files_after(&row, &state, &snapshots, &home)?;
        let moments = Moments::of(workspace, before, after, snapshots.store().blobs());
        Ok(RunChange { row, state, snapshots, moments, until_now })
    }

    fn headline(&self) -> String {
        let short = runs::short(&self.row.id);
        let until = match (self.until_now, self.state.ending.is_some()) {
            (false, _) => "to the files as it left them; later changes are not included",
            (true, false) if self.row.pid.is_some() => "to the files now: the run is not over",
            (true, _) => "to the files now: the run was cut short, so later changes are included",
        };
        let files = changed_files(&self.moments).count();
        let files = match files {
            0 => "no file".to_owned(),
            n => counted(n, "file"),
        };
        let mut text = format!("Run {short} changed {files}, from the files before it {until}.\n");
        let left_out = self.moments.left_out.iter().map(|(path, why)| format!("not shown: {path}: {why}"));
        list(&mut text, left_out);
        text
    }

    fn stat(&self, contents: Contents<'_>) -> String {
        let rows: Vec<(String, String)> = changed_files(&self.moments)
            .map(|file| (plain(&shown(file.path())), counts(&file, contents)))
            .collect();
        let width = rows.iter().map(|(path, _)| path.chars().count()).max().unwrap_or(0);
        rows.iter().fold(String::new(), |mut text, (path, counts)| {
            let _ = writeln!(text, " {path:<width$} | {counts}");
            text
        })
    }
}

/// The files as the run left them; those in the workspace now, and true, while it is not over or if it was cut short.
pub fn files_after(
    row: &RunRow,
    state: &State,
    snapshots: &Snapshots,
    home: &Home,
) -> Result<(Index, bool), Problem> {
    if !runs::is_running(row, home) && !snapshots.was_cut_short() {
        return Ok((snapshots.last().unwrap_or_default(), false));
    }
    let tree = tree_of(row, state.start.as_deref(), home)?;
    let known = Index::load(&home.index(Path::new(&row.workspace)));
    let walked = tree.walk(known.as_ref());
    let walked = walked.map_err(|e| Problem::new(Code::Busy, "the workspace cannot be read").cause(&e))?;
    Ok((walked, true))
}

fn counts(file: &ChangedFile<'_>, contents: Contents<'_>) -> String {
    match file.lines(contents) {
        Ok(lines) if file.how() == "modified" => format!("+{} -{}", lines.added, lines.removed),
        Ok(lines) => format!("+{} -{} ({})", lines.added, lines.removed, file.how()),
        Err(why) => format!("{}: {why}", file.how()),
    }
}

fn nothing_saved(row: &RunRow, state: &State) -> Problem {
    let short = runs::short(&row.id);
    match state.trees.no_snapshot.get(&1) {
        Some(why) => {
            let message = format!("the files before run {short} were not saved: {why}");
            Problem::new(Code::Usage, message)
                .hint(format!("`ralph logs {short} -i N --diff` shows iterations that have a snapshot"))
        }
        None => Problem::new(Code::Usage, format!("run {short} has no snapshots"))
            .hint("it never called an agent, is older than this version, or was pruned"),
    }
}
