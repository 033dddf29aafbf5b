//! `ralph doctor`: checks that change nothing. Each row is one check, its result, and how to fix it. `agents.rs` finds
//! agents, `credentials.rs` their logins, `hooks.rs` the plugin in their sessions, `verify.rs` the programs of the verify commands, `traces.rs` where traces are sent, `place.rs` checks disk, clock
//! and terminal, `sandbox.rs` tries the sandboxes, `database.rs` the database, `saved_contents.rs` the snapshots; `--repair` rebuilds the list of runs from the journals, `--full` compares the ledger
//! with them (`ledger.rs`), `--restore` replaces the database by a copy (`restore.rs`).

mod agents;
mod credentials;
mod database;
mod hooks;
mod ledger;
mod place;
mod restore;
mod sandbox;
mod saved_contents;
mod traces;
mod verify;

use super::Here;
use super::config::check::unusable;
use crate::config;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use crate::style::Style;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;

/// Arguments of `ralph doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Check every record, the ledger against the journals, and every saved content (slow if there are many).
    #[arg(long)]
    full: bool,
    /// Rebuild the lists of runs and iterations from the journals where they disagree.
    #[arg(long)]
    repair: bool,
    /// Replace the database by its newest copy, and count what was spent since then.
    #[arg(long)]
    restore: bool,
}

impl Args {
    /// The command's name if it changes the database: that is for people only.
    pub fn mends(&self) -> Option<&'static str> {
        match (self.restore, self.repair) {
            (true, _) => Some("doctor --restore"),
            (_, true) => Some("doctor --repair"),
            _ => None,
        }
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Fine.
    Ok,
    /// A run works, with a restriction.
    Warn,
    /// A run cannot work.
    Bad,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was checked.
    pub name: &'static str,
    /// Its result.
    pub state: Health,
    /// What was found.
    pub fact: String,
    /// How to fix it.
    pub remedy: Option<String>,
    /// The exit code a run would have, where it is bad.
    #[serde(skip)]
    pub code: Option<Code>,
}

impl Row {
    /// A check that passed.
    pub fn ok(name: &'static str, fact: impl Into<String>) -> Row {
        Row { name, state: Health::Ok, fact: fact.into(), remedy: None, code: None }
    }

    /// A check with a warning.
    pub fn warn(name: &'static str, fact: impl Into<String>, remedy: impl Into<String>) -> Row {
        Row { state: Health::Warn, remedy: Some(remedy.into()), ..Row::ok(name, fact) }
    }

    /// A run would fail with this code.
    pub fn bad(name: &'static str, code: Code, fact: impl Into<String>, remedy: impl Into<String>) -> Row {
        Row { state: Health::Bad, remedy: Some(remedy.into()), code: Some(code), ..Row::ok(name, fact) }
    }

    /// A check that failed with a problem.
    pub fn of(name: &'static str, problem: &Problem) -> Row {
        let fact = match problem.causes.first() {
            Some(cause) => format!("{}: {cause}", problem.message),
            None => problem.message.clone(),
        };
        let remedy = problem.hints.first().cloned().unwrap_or_else(|| "see `ralph help exit-codes`".into());
        Row::bad(name, problem.code, fact, remedy)
    }
}

/// Runs all checks. Exit code 0 unless one failed; then the code a run would exit with.
pub fn doctor(args: &Args, here: &Here) -> Result<u8, Problem> {
    if args.restore {
        restore::restore(here)?;
    }
    let repaired = if args.repair { Some(database::repair(here)?) } else { None };
    let mut rows = vec![settings(here)];
    rows.extend(agents::rows(here));
    rows.extend(hooks::rows(here));
    rows.extend(verify::rows(here));
    rows.extend(traces::rows(here));
    rows.extend(place::rows(here));
    rows.extend(database::rows(here, args.full));
    rows.extend(saved_contents::rows(here, args.full));
    rows.extend(place::system());
    rows.extend(sandbox::rows(here));
    rows.push(place::terminal(here));
    if args.json {
        print_json(&json!({"v": 1, "type": "doctor", "rows": rows, "repaired": repaired}))?;
    } else {
        print(&table(&rows, repaired.as_deref(), here.out_style()));
    }
    Ok(worst(rows.iter().filter_map(|row| row.code)))
}

/// What decides the exit code if several checks failed, the worst first: what could lose records, what keeps every
/// run from starting, then what concerns one agent or one file.
const WORST_FIRST: &[Code] =
    &[Code::Bug, Code::Journal, Code::Busy, Code::Config, Code::Unavailable, Code::Input, Code::Usage];

fn worst(codes: impl Iterator<Item = Code>) -> u8 {
    let rank = |code: &Code| WORST_FIRST.iter().position(|known| known == code).unwrap_or(usize::MAX);
    codes.min_by_key(rank).map_or(0, |code| code as u8)
}

/// The same check as `ralph config check`, in one row.
fn settings(here: &Here) -> Row {
    let sources = config::Sources::files(&here.workspace, here.env.config_home.as_deref());
    let checked = sources.variables(&here.env).check();
    let Some(config) = checked.config else {
        let count = checked.problems.len();
        let Some(problem) = checked.problems.first() else {
            return Row::bad("config", Code::Bug, "cannot be resolved", "`ralph config check` shows more");
        };
        let row = Row::of("config", problem);
        return match count {
            1 => row,
            _ => Row {
                fact: format!("{} (1 of {count} problems; `ralph config check` lists all)", row.fact),
                ..row
            },
        };
    };
    if let Some(problem) = unusable(&config, here).first() {
        return Row::of("config", problem);
    }
    if let Some(strange) = here.env.strange().into_iter().next() {
        return Row::warn("config", strange, "unset it, or correct its name");
    }
    let layers = match config.layers {
        1 => "1 layer".to_string(),
        n => format!("{n} layers"),
    };
    match (config.settings.max_iterations, config.settings.max_cost) {
        (Some(_), Some(_)) => Row::ok("config", format!("{layers}, valid")),
        _ => Row::warn(
            "config",
            "run.max_iterations or run.max_cost_usd is not set; every run needs both",
            "`ralph init` writes them, or use --max-iterations and --max-cost",
        ),
    }
}

fn table(rows: &[Row], repaired: Option<&[String]>, style: Style) -> String {
    let mut text = String::new();
    for row in rows {
        let state = match row.state {
            Health::Ok => style.good("ok  "),
            Health::Warn => style.warn("warn"),
            Health::Bad => style.bad("bad "),
        };
        let _ = writeln!(text, "{state}  {:<12} {}", row.name, plain(&row.fact));
        for remedy in row.remedy.iter() {
            let _ = writeln!(text, "      {:<12} {} {}", "", style.note("→"), plain(remedy));
        }
    }
    if let Some(runs) = repaired {
        let _ = match runs.len() {
            0 => writeln!(text, "\nNothing to repair."),
            n => writeln!(text, "\nRebuilt from the journal: {n} run{}.", if n == 1 { "" } else { "s" }),
        };
    }
    let count = |health| rows.iter().filter(|row| row.state == health).count();
    let _ = match (count(Health::Bad), count(Health::Warn)) {
        (0, 0) => writeln!(text, "\nReady to run."),
        (0, 1) => writeln!(text, "\nReady to run; 1 warning."),
        (0, n) => writeln!(text, "\nReady to run; {n} warnings."),
        (1, _) => writeln!(text, "\nNot ready to run: 1 problem to fix."),
        (n, _) => writeln!(text, "\nNot ready to run: {n} problems to fix."),
    };
    text
}
