//! `ralph reject`: takes a run's change back, as `ralph undo` does, and keeps it in the quarantine, from where
//! `ralph quarantine restore` brings it back. What the user changed since the run is left alone.

use super::Here;
use super::undo::kept_case::{REJECTED, keep, kept, name};
use super::undo::plan::UndoPlan;
use super::undo::{CarriedOut, How, carry_out, list};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::quarantine::PathState;
use ralph_rules::counting::counted;
use ralph_snapshots::differences;
use ralph_tree::{Entry, Kind, TreePath};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

/// The exit code if files of the run were left alone: a person has to look at them.
const NOT_ALL: u8 = 2;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    #[command(flatten)]
    how: How,
}

/// What the run changed.
struct Rejected {
    /// The case that has it.
    case: Option<PathBuf>,
    /// The files, without directories.
    files: BTreeSet<Vec<u8>>,
}

/// Takes the change back.
pub fn reject(args: &Args, here: &Here) -> Result<u8, Problem> {
    let plan = UndoPlan::of((args.run.as_deref(), 0), false, "reject", here)?;
    let committed = commits_stay(&plan);
    let done = carry_out(plan, args.how, |plan| {
        Rejected::keep(plan).map_err(|e| {
            let message = "the run's work could not be quarantined, so nothing was changed";
            Problem::new(Code::Journal, message).cause(&e)
        })
    })?;
    let more = |case, files, left| [("case", case), ("files", files), ("notPutBack", left)];
    let Some(rejected) = &done.first else {
        if args.how.json {
            print_json(&done.as_json(more(Value::Null, Value::Null, Value::Null)))?;
        }
        return Ok(done.code());
    };
    let case = rejected.case.as_deref().map(|folder| name(&done.row, folder));
    let left = rejected.not_put_back(&done);
    if args.how.json {
        let each = left.iter().map(|(path, why)| json!({"path": path.to_string(), "why": why}));
        print_json(&done.as_json(more(json!(case), json!(rejected.files.len()), each.collect())))?;
    } else {
        say(&outcome(rejected.files.len(), &left, done.report.is_some()));
        say(&case.map(|case| kept("The run's work is kept", &case)).unwrap_or_default());
        say(&committed.filter(|_| done.report.is_some()).unwrap_or_default());
    }
    Ok(if done.code() == 0 && !left.is_empty() { NOT_ALL } else { done.code() })
}

impl Rejected {
    /// Keeps the whole change of the run in a case, unless all of it was taken back before.
    fn keep(plan: &UndoPlan) -> io::Result<Rejected> {
        let change = plan.change();
        let is_file = |entry: Option<Entry<'_>>| entry.is_some_and(|entry| entry.kind != Kind::Directory);
        let (mut states, mut files) = (Vec::new(), BTreeSet::new());
        for (path, before, after) in differences(&change.before, &change.after) {
            let how = match (before, after) {
                (None, _) => "added by the run, rejected",
                (_, None) => "deleted by the run, rejected",
                _ => "changed by the run, rejected",
            };
            let is_there = plan.now(path).map(|now| now.hash) == after.map(|after| after.hash);
            states.push(PathState { path, entry: after, is_there, how });
            if is_file(before) || is_file(after) {
                files.insert(path.to_vec());
            }
        }
        let left_alone = plan.restore.newer.iter().any(|path| files.contains(path.as_bytes()));
        let is_over = plan.restore.acts.is_empty() && !left_alone;
        let case = if is_over { None } else { keep(plan, REJECTED, &states)? };
        Ok(Rejected { case, files })
    }

    /// The run's files that are not as before it, and why.
    fn not_put_back<'a, T>(&self, done: &'a CarriedOut<T>) -> Vec<(&'a TreePath, &'a str)> {
        let newer = done.restore.newer.iter().map(|path| (path, "it changed after the run"));
        let failed = done.report.iter().flat_map(|report| &report.failed);
        let failed = done.restore.missing.iter().chain(failed);
        let all = newer.chain(failed.map(|problem| (&problem.path, problem.why.as_str())));
        all.filter(|(path, _)| self.files.contains(path.as_bytes())).collect()
    }
}

/// What was put back, and what was not.
fn outcome(files: usize, left: &[(&TreePath, &str)], applied: bool) -> String {
    if !applied && left.is_empty() {
        return String::new();
    }
    let back = files.saturating_sub(left.len());
    let mut text = format!("Put back {back} of {} that the run changed.\n", counted(files, "file"));
    if !left.is_empty() {
        text.push_str("Not put back:\n");
        list(&mut text, left.iter().map(|(path, why)| format!("{path}: {why}")));
    }
    text
}

/// Said where the agent committed: files only are taken back.
fn commits_stay(plan: &UndoPlan) -> Option<String> {
    let base = plan.start.as_ref()?.base.clone()?;
    let head = ralph_tree::git_facts(plan.workspace()).head?;
    let base_short = base.get(..12).unwrap_or(&base).to_owned();
    (head != base).then(|| {
        format!("Commits made since {base_short} stay in git; `git log {base_short}..HEAD` lists them.\n")
    })
}
