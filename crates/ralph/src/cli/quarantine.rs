//! `ralph quarantine`: changes at protected paths that were saved before the paths were restored. ralph never deletes
//! them. `restore` writes such content back if the user asks for it; what it replaces is quarantined first, as a new case.

use super::{Here, examples, runs};
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::quarantine::{self, Case, Found};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

mod act;
mod difference;
mod restore;

/// Arguments of `ralph quarantine`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the cases in this workspace, oldest first.
    #[command(before_help = examples::QUARANTINE_LIST)]
    List {
        /// Cases in all workspaces.
        #[arg(long)]
        all: bool,
    },
    /// Show one case in full.
    #[command(before_help = examples::QUARANTINE_SHOW)]
    Show {
        /// Case name, as shown by `list` (default: the latest case here).
        case: Option<String>,
    },
    /// Write quarantined content back to where it was found.
    #[command(before_help = examples::QUARANTINE_RESTORE)]
    Restore {
        /// Case name, as shown by `list`.
        case: String,
        /// Restore only this path (repeatable).
        #[arg(long, value_name = "PATH")]
        path: Vec<String>,
        /// Show what would be done without doing it.
        #[arg(long)]
        dry_run: bool,
        /// Do not ask for confirmation.
        #[arg(long, short)]
        yes: bool,
    },
}

/// A case with its folder and its name.
pub struct Kept {
    name: String,
    folder: PathBuf,
    case: Case,
}

/// Lists, shows or restores.
pub fn quarantine(args: &Args, here: &Here) -> Result<u8, Problem> {
    match args.what.as_ref().unwrap_or(&What::List { all: false }) {
        What::List { all } => list(*all, args.json, here),
        What::Show { case } => show(case.as_deref(), args.json, here),
        What::Restore { case, path, dry_run, yes } => {
            let order =
                restore::RestoreRequest { paths: path, dry_run: *dry_run, yes: *yes, json: args.json };
            restore::restore(&find(Some(case), here)?, &order, here)
        }
    }
}

/// Every case, named by the end of its run's id and the time: `1a2b3c4d/003.1`.
fn cases(here: &Here) -> Result<Vec<Kept>, Problem> {
    let all = quarantine::all(&here.home()?.quarantine());
    let name = |folder: &Path, case: &Case| {
        let time = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{}/{time}", runs::short(&case.run))
    };
    Ok(all.into_iter().map(|(folder, case)| Kept { name: name(&folder, &case), folder, case }).collect())
}

fn is_here(kept: &Kept, here: &Here) -> bool {
    Path::new(&kept.case.workspace) == here.workspace
}

fn find(wanted: Option<&str>, here: &Here) -> Result<Kept, Problem> {
    let all = cases(here)?;
    let Some(wanted) = wanted else {
        let newest = all.into_iter().rfind(|kept| is_here(kept, here));
        return newest.ok_or_else(|| {
            Problem::new(Code::Usage, "the quarantine has no case from this workspace")
                .hint("`ralph quarantine list --all` lists the cases of all workspaces")
        });
    };
    let fits = |kept: &&Kept| {
        kept.name == wanted || kept.case.run.ends_with(wanted) || kept.folder == Path::new(wanted)
    };
    let mut found: Vec<&Kept> = all.iter().filter(fits).collect();
    match (found.pop(), found.is_empty()) {
        (Some(kept), true) => {
            Ok(Kept { name: kept.name.clone(), folder: kept.folder.clone(), case: kept.case.clone() })
        }
        (Some(_), false) => Err(Problem::new(Code::Usage, format!("`{wanted}` matches more than one case"))
            .hint("use a full name from `ralph quarantine list`, such as 1a2b3c4d/003.1")),
        _ => Err(Problem::new(Code::Usage, format!("no case `{wanted}` in the quarantine"))
            .hint("`ralph quarantine list --all` lists the cases of all workspaces")),
    }
}

fn list(all: bool, json: bool, here: &Here) -> Result<u8, Problem> {
    let cases: Vec<Kept> = cases(here)?.into_iter().filter(|kept| all || is_here(kept, here)).collect();
    if json {
        let value: Vec<Value> = cases.iter().map(as_json).collect();
        print_json(&Value::Array(value))?;
        return Ok(0);
    }
    if cases.is_empty() {
        say("The quarantine is empty.\n");
    }
    for kept in &cases {
        let Case { iteration, at, found, .. } = &kept.case;
        let names: Vec<&str> = found.iter().take(4).map(|found| found.path.as_str()).collect();
        let more = if found.len() > 4 { format!(" and {} more", found.len() - 4) } else { String::new() };
        print(&format!("{}  {}  iteration {iteration}  {}{more}\n", kept.name, when(*at), names.join(", ")));
    }
    Ok(0)
}

fn show(wanted: Option<&str>, json: bool, here: &Here) -> Result<u8, Problem> {
    let kept = find(wanted, here)?;
    if json {
        print_json(&as_json(&kept))?;
        return Ok(0);
    }
    let Kept { name, folder, case } = &kept;
    let mut text = format!(
        "Case {name}, {}\n  run        {}, iteration {}\n  workspace  {}\n  folder     {}\n",
        when(case.at),
        runs::short(&case.run),
        case.iteration,
        case.workspace,
        folder.display()
    );
    for found in &case.found {
        let _ = writeln!(text, "  {}", line(found));
    }
    if !case.commits.is_empty() {
        text.push_str(COMMITS);
    }
    let differences = difference::differences(&kept, here);
    if !differences.is_empty() {
        let _ = write!(text, "\n{differences}");
    }
    print(&text);
    let is_restored = |found: &Found| found.file.is_some() || found.gone || found.directory;
    if case.found.iter().any(|found| is_restored(found) && found.commit.is_none()) {
        say(&format!("\nTo restore this content: ralph quarantine restore {name}\n"));
    }
    Ok(0)
}

/// What the user can do about commits.
const COMMITS: &str = "
These commits are in your repository. ralph does not rewrite history: inspect them (git show COMMIT), then remove them
yourself, for example with git rebase, git branch -D or git update-ref -d. Replace any secret that was committed.
";

fn line(found: &Found) -> String {
    let commit = found.commit.as_deref().and_then(|commit| commit.get(..10)).unwrap_or_default();
    let how = if commit.is_empty() { found.how.clone() } else { format!("{} {commit}", found.how) };
    match &found.file {
        Some(file) => format!("{} ({how}), saved as {file}", found.path),
        None => format!("{} ({how})", found.path),
    }
}

fn when(at: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
    time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn as_json(kept: &Kept) -> Value {
    let mut value = json!(kept.case);
    if let Some(map) = value.as_object_mut() {
        map.insert("case".into(), json!(kept.name));
        map.insert("folder".into(), json!(kept.folder.display().to_string()));
    }
    value
}
