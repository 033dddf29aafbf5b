//! `ralph accept`: a person takes a run's work. If the run left it for review, the checks run once more; what fails, or
//! what changed since, is not accepted unseen. Then exactly the run's change is committed, and nothing else
//! (`accept/commit.rs`).

use super::diff::RunChange;
use super::resolve::Changes;
use super::resume::go_on;
use super::run::Output;
use super::undo::list;
use super::{Here, moved, runs};
use crate::print::{print, say};
use crate::problem::{Code, Problem};
use commit::Committed;
use ralph_rules::counting::counted;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::next::Next;
use ralph_rules::record::{Fact, Record, Request};
use ralph_rules::step::Step;
use ralph_store::RunRow;
use ralph_view::run_state::{RunState, was_cut_off};
use serde_json::{Value, json};
use std::fmt::Write as _;
use taken_back::refuse_taken_back;

mod commit;
mod decide;
mod git;
mod git_error;
mod message;
mod objects;
mod taken_back;

/// Arguments of `ralph accept`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Accept work that was left for review without committing it.
    #[arg(long)]
    no_commit: bool,
    #[command(flatten)]
    pub output: Output,
}

/// Accepts the run's work.
pub fn accept(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let waits = row.reason.as_deref() == Some(Reason::NeedsReview.name());
    let cut_short = !waits && row.resumable && was_left_for_review(&runs::records(&store, &row.id)?);
    if waits || cut_short {
        drop(store);
        // A run without snapshots cannot be taken back.
        if let Ok(change) = RunChange::of(Some(&row.id), here) {
            refuse_taken_back(&change, here)?;
        }
        let which = (row.id.as_str(), moved::needed(args.run.as_ref()));
        let code = go_on(which, &Changes::default(), None, vec![Request::Accept], args.output, here)?;
        if code != 0 || args.no_commit {
            return Ok(code);
        }
    } else if args.no_commit {
        return Err(nothing_to_accept(&row));
    } else if !is_over(&row) {
        return Err(not_over(&row, runs::is_running(&row, &home)));
    }
    commit_change(&row, args.output, here)
}

fn commit_change(row: &RunRow, output: Output, here: &Here) -> Result<u8, Problem> {
    let change = RunChange::of(Some(&row.id), here)?;
    if change.until_now {
        return Err(not_over(row, false));
    }
    let made = commit::commit(&change, here)?;
    if output.json {
        print(&(as_json(&made, row).to_string() + "\n"));
    } else {
        say(&words(&made, row));
    }
    Ok(0)
}

fn words(made: &Committed, row: &RunRow) -> String {
    let short = runs::short(&row.id);
    let mut text = match (&made.commit, made.why_not) {
        (Some(commit), _) => {
            let on = made.branch.as_ref().map_or_else(|| "a detached HEAD".to_owned(), Clone::clone);
            let (files, commit) = (counted(made.files.len(), "file"), commit.get(..12).unwrap_or(commit));
            format!("Committed run {short}'s change to {on}: {commit} {}, {files}.\n", made.subject)
        }
        (None, why) => format!("Run {short}: nothing to commit: {}.\n", why.unwrap_or_default()),
    };
    if let Some(reason) = made.commit.as_ref().and(unfinished(row)) {
        let _ = writeln!(text, "The run ended with {reason} and did not prove this change.");
    }
    list(&mut text, made.left_out.iter().map(|(path, why)| format!("not committed: {path}: {why}")));
    list(
        &mut text,
        made.staged_without.iter().map(|path| {
            format!("staged without the run's change, so your next commit would take it back: {path}")
        }),
    );
    if !made.hooks.is_empty() {
        let hooks = made.hooks.join(", ");
        let _ = writeln!(text, "Git hooks were not run ({hooks}): an agent can change what they execute.");
    }
    text
}

/// Why the run ended, if neither verification nor a person has approved its work.
fn unfinished(row: &RunRow) -> Option<&str> {
    let completed = RunState::named(&row.status) == Some(RunState::Ended(Status::Completed));
    row.reason.as_deref().filter(|reason| !completed && *reason != Reason::NeedsReview.name())
}

fn as_json(made: &Committed, row: &RunRow) -> Value {
    let left_out: Vec<Value> =
        made.left_out.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
    json!({
        "v": 1,
        "type": "commit",
        "runId": row.id,
        "commit": made.commit,
        "branch": made.branch,
        "subject": made.subject,
        "files": made.files,
        "leftOut": left_out,
        "stagedWithout": made.staged_without,
        "hooksNotRun": made.hooks,
        "whyNot": made.why_not,
    })
}

fn nothing_to_accept(row: &RunRow) -> Problem {
    let ended = row.reason.as_deref().map_or("is not over".into(), |reason| format!("ended with {reason}"));
    let message = format!("run {} was not left for review: it {ended}", runs::short(&row.id));
    Problem::new(Code::Usage, message)
        .hint("without --no-commit, `ralph accept` commits what the run changed")
}

/// Whether the run itself wrote how it ended. One that was ended by force did not: an undo of it must not make its last
/// work look inspected.
fn is_over(row: &RunRow) -> bool {
    let ended = |state| matches!(state, RunState::Ended(_)) && !was_cut_off(state, row);
    RunState::named(&row.status).is_some_and(ended)
}

fn not_over(row: &RunRow, running: bool) -> Problem {
    let short = runs::short(&row.id);
    if running {
        return Problem::new(Code::Busy, format!("run {short} is still active"))
            .hint("wait until it ends, or stop it: ralph stop");
    }
    Problem::new(Code::Usage, format!("run {short} was cut short, and nobody inspected what it did last"))
        .hint(format!("`ralph resume {short}` continues it; `ralph reject {short}` takes its change back"))
}

/// Whether nobody worked since the run was left for review: an acceptance that was cut short may be repeated.
fn was_left_for_review(records: &[Record]) -> bool {
    let decisions = records.iter().rev().filter_map(|record| match &record.fact {
        Fact::Decided(decision) => Some(&decision.next),
        Fact::Seen(_) => None,
    });
    let last = decisions
        .into_iter()
        .find(|next| matches!(next, Next::Do(Step::Call { .. } | Step::Admit { .. }) | Next::Exit(_)));
    matches!(last, Some(Next::Exit(ending)) if ending.reason == Reason::NeedsReview)
}
