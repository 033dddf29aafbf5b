//! `ralph reject`: takes a run's change back, as `ralph undo` does, and keeps it in the quarantine, from where
//! `ralph quarantine restore` brings it back. What the user changed since the run is left alone.

use super::undo::plan::UndoPlan;
use super::undo::{How, carry_out, outcome};
use super::{Here, runs};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::clock::utc;
use ralph_engine::quarantine::{self, Case, Folder, Found, Item};
use ralph_os::{Links, read_regular};
use ralph_tree::TreePath;
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the quarantine says of each path.
const HOW: &str = "changed by the run, rejected";

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    #[command(flatten)]
    how: How,
}

/// Takes the change back.
pub fn reject(args: &Args, here: &Here) -> Result<u8, Problem> {
    let plan = UndoPlan::of((args.run.as_deref(), 0), false, "reject", here)?;
    let committed = commits_stay(&plan);
    let quarantine = here.home()?.quarantine();
    let done = carry_out(plan, args.how, |plan| {
        keep(plan, &quarantine).map_err(|e| {
            let message = "the run's work could not be quarantined, so nothing was changed";
            Problem::new(Code::Journal, message).cause(&e)
        })
    })?;
    let case = done.first.as_ref().and_then(Option::as_deref).and_then(Path::file_name);
    let case = case.map(|name| format!("{}/{}", runs::short(&done.row.id), name.to_string_lossy()));
    if args.how.json {
        print_json(&done.as_json(("case", json!(case))))?;
    } else if let Some(report) = &done.report {
        say(&outcome(report));
        if let Some(case) = case {
            say(&format!("The run's work is kept: ralph quarantine show {case}\n"));
        }
        say(&committed.unwrap_or_default());
    }
    Ok(done.code())
}

/// Copies what is about to be replaced or removed into a new case. Nothing is copied that an earlier case of this run has:
/// a rejection that was cut short goes on where it was. Returns the case that has the work.
fn keep(plan: &UndoPlan, dir: &Path) -> io::Result<Option<PathBuf>> {
    let run = dir.join(&plan.row.id);
    let rejected: Vec<(PathBuf, Case)> = quarantine::all(dir)
        .into_iter()
        .filter(|(folder, case)| folder.starts_with(&run) && case.found.iter().any(|found| found.how == HOW))
        .collect();
    let newest = rejected.last().map(|(folder, _)| folder.clone());
    let root = plan.workspace();
    let is_kept = |path: &TreePath| rejected.iter().any(|(folder, case)| has(folder, case, root, path));
    let has_content = |path: &TreePath| {
        let meta = root.join(path.as_path()).symlink_metadata();
        meta.is_ok_and(|meta| meta.is_file() || meta.is_symlink())
    };
    let acts = plan.restore.acts.iter().map(|act| (act.path().as_bytes(), act.path()));
    let mut open: BTreeMap<&[u8], &TreePath> = acts.collect();
    open.retain(|_, path| has_content(path) && !is_kept(path));
    if open.is_empty() {
        return Ok(newest);
    }
    let names = (1..).map(|n| run.join(format!("{:03}.x{n}", plan.row.iterations)));
    let free = names.into_iter().find(|path| !quarantine::is_complete(path)).unwrap_or_default();
    let case = Case {
        run: plan.row.id.clone(),
        iteration: plan.row.iterations,
        at: utc(),
        workspace: plan.row.workspace.clone(),
        ..Case::default()
    };
    let Some(mut folder) = Folder::open(free.clone(), case)? else { return Ok(Some(free)) };
    for path in open.into_values() {
        folder.put(&Item { root, name: "", path: path.clone(), how: HOW.into() })?;
    }
    folder.close().map(Some)
}

/// Whether a case has what is at a path now.
fn has(folder: &Path, case: &Case, root: &Path, path: &TreePath) -> bool {
    let now = root.join(path.as_path());
    let same = |found: &Found| -> Option<bool> {
        let kept = std::fs::read(folder.join(found.file.as_ref()?)).ok()?;
        Some(match found.link {
            true => std::fs::read_link(&now).is_ok_and(|to| to.as_os_str().as_bytes() == kept),
            false => read_regular(&now, kept.len() as u64, Links::RefuseLast).is_ok_and(|now| now == kept),
        })
    };
    case.found.iter().any(|found| found.how == HOW && found.path() == *path && same(found) == Some(true))
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
