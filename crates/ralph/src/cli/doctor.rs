//! `ralph doctor`: a check-up that changes nothing. Each row is one fact, whether it is well, and what to do about it.
//! `agents.rs` looks for agents, `credentials.rs` whether they could log in, `place.rs` at disk, clock and terminal,
//! `database.rs` at the truth; `--repair` makes the read model anew from the journals.

mod agents;
mod credentials;
mod database;
mod place;

use super::{Here, examples};
use crate::config;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use crate::style::Style;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(before_help = examples::DOCTOR)]
pub struct Args {
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Read the whole database and check every record; takes as long as it is large.
    #[arg(long)]
    full: bool,
    /// Make the lists of runs and iterations anew from the journals, where they disagree. Nothing else is touched.
    #[arg(long)]
    repair: bool,
}

/// How a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Well.
    Ok,
    /// A run works, but know this.
    Warn,
    /// A run cannot work.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What.
    pub name: &'static str,
    /// How it is.
    pub state: Health,
    /// The fact.
    pub fact: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// The exit code a run would have, where it is bad.
    #[serde(skip)]
    pub code: Option<Code>,
}

impl Row {
    /// All is well.
    pub fn ok(name: &'static str, fact: impl Into<String>) -> Row {
        Row { name, state: Health::Ok, fact: fact.into(), remedy: None, code: None }
    }

    /// Worth knowing.
    pub fn warn(name: &'static str, fact: impl Into<String>, remedy: impl Into<String>) -> Row {
        Row { state: Health::Warn, remedy: Some(remedy.into()), ..Row::ok(name, fact) }
    }

    /// A run would fail with this code.
    pub fn bad(name: &'static str, code: Code, fact: impl Into<String>, remedy: impl Into<String>) -> Row {
        Row { state: Health::Bad, remedy: Some(remedy.into()), code: Some(code), ..Row::ok(name, fact) }
    }

    /// What a problem comes to.
    pub fn of(name: &'static str, problem: &Problem) -> Row {
        let fact = match problem.causes.first() {
            Some(cause) => format!("{}: {cause}", problem.message),
            None => problem.message.clone(),
        };
        let remedy =
            problem.hints.first().cloned().unwrap_or_else(|| "`ralph help exit-codes` tells more".into());
        Row::bad(name, problem.code, fact, remedy)
    }
}

/// Looks at everything. Exit 0 unless something is bad: then the code that a run would have.
pub fn doctor(args: &Args, here: &Here) -> Result<u8, Problem> {
    let repaired = if args.repair { Some(database::repair(here)?) } else { None };
    let mut rows = vec![settings(here)];
    rows.extend(agents::rows(here));
    rows.extend(place::rows(here));
    rows.extend(database::rows(here, args.full));
    rows.extend(place::system());
    rows.push(place::sandbox(here));
    rows.push(place::terminal(here));
    if args.json {
        print_json(&json!({"v": 1, "type": "doctor", "rows": rows, "repaired": repaired}))?;
    } else {
        print(&table(&rows, repaired.as_deref(), here.out_style()));
    }
    Ok(rows.iter().find_map(|row| row.code).map_or(0, |code| code as u8))
}

fn settings(here: &Here) -> Row {
    let layers = config::load(&here.workspace, here.env.config_home.as_deref());
    let layers = match layers.and_then(|layers| layers.under(&here.env)) {
        Ok(layers) => layers,
        Err(problem) => return Row::of("config", &problem),
    };
    if let Some(strange) = here.env.strange().into_iter().next() {
        return Row::warn("config", strange, "unset it, or spell it right");
    }
    let layers_set = match layers.sources().len() {
        1 => "1 layer".to_string(),
        n => format!("{n} layers"),
    };
    match layers.limits() {
        (Some(_), Some(_)) => Row::ok("config", format!("{layers_set}, all in order")),
        _ => Row::warn(
            "config",
            "max_iterations or max_cost_usd is not set, which every run needs",
            "`ralph init` writes them, or give --max-iterations and --max-cost",
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
            0 => writeln!(text, "\nNothing had to be repaired."),
            n => writeln!(
                text,
                "\nMade anew from the journal: the rows of {n} run{}.",
                if n == 1 { "" } else { "s" }
            ),
        };
    }
    let count = |health| rows.iter().filter(|row| row.state == health).count();
    let _ = match (count(Health::Bad), count(Health::Warn)) {
        (0, 0) => writeln!(text, "\nAll is well."),
        (0, n) => writeln!(text, "\nRuns can start; {n} to know about."),
        (n, _) => writeln!(text, "\n{n} to mend before a run can start."),
    };
    text
}
