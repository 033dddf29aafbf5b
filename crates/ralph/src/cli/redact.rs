//! `ralph redact`: removes the secrets known today from past runs' files (prompts, transcripts, verification output).
//! Active runs are skipped. Journals are never rewritten; records with a secret are counted.

use super::{Here, runs, secrets};
use crate::config;
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::cleaning::{self, Cleaned};
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_engine::redact::Redactor;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_tree::{LockError, WorkspaceLock};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Arguments of `ralph redact`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// All runs in all workspaces.
    #[arg(long, conflicts_with = "run")]
    all: bool,
    /// Show what would be redacted without changing anything.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What was done for one run.
struct Done {
    run: String,
    files: Vec<Cleaned>,
    /// Number of text files searched.
    looked: usize,
    /// Number of journal records with a secret.
    journal: usize,
    /// Why the run, or one of its files, was skipped.
    left: Option<Problem>,
}

/// Redacts.
pub fn redact(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let rows = match args.all {
        true => store.runs(&RunFilter::default()).map_err(|e| runs::broken(&e))?,
        false => vec![runs::find(&store, args.run.as_deref(), here)?],
    };
    let mut all = Vec::new();
    for row in &rows {
        let (mut files, mut looked) = (Vec::new(), 0);
        let left = clean(row, args.dry_run, &home, here, &mut files, &mut looked).err();
        let journal = secrets_in_journal(&store, row, here);
        all.push(Done { run: row.id.clone(), files, looked, journal, left });
    }
    match args.json {
        true => print_json(&as_json(&all, args.dry_run))?,
        false => say(&summary(&all, args.dry_run)),
    }
    if !args.all
        && let Some(problem) = all.pop().and_then(|done| done.left)
    {
        // A script has read why already.
        return if args.json { Ok(problem.code as u8) } else { Err(problem) };
    }
    let failed = all.iter().filter_map(|done| done.left.as_ref()).any(|why| why.code != Code::Busy);
    Ok(if failed { Code::Journal as u8 } else { 0 })
}

fn clean(
    row: &RunRow,
    only_look: bool,
    home: &Home,
    here: &Here,
    done: &mut Vec<Cleaned>,
    looked: &mut usize,
) -> Result<(), Problem> {
    let redactor = redactor(row, here)?;
    let _lock = lock(row, home)?;
    let folder = home.run(&row.id);
    let unreadable = |e: &std::io::Error| {
        Problem::new(Code::Journal, format!("cannot redact the files of run {}", runs::short(&row.id)))
            .cause(e)
    };
    for path in cleaning::files(&folder).map_err(|e| unreadable(&e))? {
        *looked += 1;
        let cleaned = cleaning::clean(&path, &redactor, utc(), only_look).map_err(|e| unreadable(&e))?;
        done.extend(cleaned);
    }
    Ok(())
}

fn redactor(row: &RunRow, here: &Here) -> Result<Redactor, Problem> {
    let workspace = Path::new(&row.workspace);
    let config = config::load_files(workspace, &here.env)?;
    secrets::redactor(&config.settings, workspace, here)
}

/// Keeps runs from being active in the workspace meanwhile. If it no longer exists, none can be.
fn lock(row: &RunRow, home: &Home) -> Result<Option<WorkspaceLock>, Problem> {
    let workspace = Path::new(&row.workspace);
    if !workspace.exists() {
        return Ok(None);
    }
    let cannot = |e: &(dyn std::error::Error + 'static), why: String| Problem::new(Code::Busy, why).cause(e);
    Home::create_private_dir(&home.locks())
        .map_err(|e| cannot(&e, "cannot create the folder for locks".into()))?;
    let who = format!("redact, process {}", std::process::id());
    WorkspaceLock::take(&home.locks(), workspace, &who).map(Some).map_err(|error| {
        let why = format!(
            "a run is active in the workspace of run {}, so its files were skipped",
            runs::short(&row.id)
        );
        let held = matches!(error, LockError::Held { .. });
        let problem = cannot(&error, why);
        if held { problem.hint("try again when that run has ended") } else { problem }
    })
}

fn secrets_in_journal(store: &dyn Store, row: &RunRow, here: &Here) -> usize {
    let redactor = secrets::redactor_anyway(Path::new(&row.workspace), here);
    let entries = store.read(&ralph_engine::run::stream_of(&row.id), 0).unwrap_or_default();
    entries.iter().filter(|entry| matches!(redactor.redact(&entry.body), Cow::Owned(_))).count()
}

fn summary(all: &[Done], only_look: bool) -> String {
    let mut text = String::new();
    for done in all.iter().filter(|done| !done.files.is_empty() || done.journal > 0 || done.left.is_some()) {
        let _ = writeln!(text, "Run {}:", runs::short(&done.run));
        for file in &done.files {
            let _ = writeln!(text, "  {:<22} {}", file.file, count(file.found, "secret"));
        }
        if done.journal > 0 {
            let records = count(done.journal as u64, "record");
            let _ = writeln!(
                text,
                "  {:<22} {records} with a secret, kept unchanged; redacted whenever shown",
                "journal"
            );
        }
        if let Some(why) = &done.left {
            let _ = writeln!(text, "  skipped: {}", why.message);
        }
    }
    let files: usize = all.iter().map(|done| done.files.len()).sum();
    let found: u64 = all.iter().flat_map(|done| &done.files).map(|file| file.found).sum();
    let looked: usize = all.iter().map(|done| done.looked).sum();
    let runs = count(all.len() as u64, "run");
    let files = count(files as u64, "file");
    let _ = match (found, only_look) {
        (0, _) => writeln!(text, "No secrets found in {} of {runs}.", count(looked as u64, "file")),
        (_, true) => {
            writeln!(text, "Would redact {} in {files}; nothing was changed.", count(found, "secret"))
        }
        (_, false) => writeln!(text, "Redacted {} in {files}.", count(found, "secret")),
    };
    text
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn as_json(all: &[Done], only_look: bool) -> Value {
    let run = |done: &Done| {
        json!({
            "runId": done.run,
            "files": done.files,
            "journalRecords": done.journal,
            "leftAlone": done.left.as_ref().map(|why| &why.message),
        })
    };
    json!({"v": 1, "dryRun": only_look, "runs": all.iter().map(run).collect::<Vec<_>>()})
}
