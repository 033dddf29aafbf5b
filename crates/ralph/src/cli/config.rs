//! `ralph config`: effective settings and where each comes from (`show`), one key in full (`explain`), every mistake in
//! the config files (`check`), the schema for editors, and an editor with a check afterwards (`edit`).

pub mod check;
mod edit;
mod explain;

use super::{Here, examples, named_skill};
use crate::config::{self, Setting};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use crate::style::Style;
use serde_json::{Value, json};
use std::fmt::Write;

/// Arguments of `ralph config`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the effective settings and where each comes from
    #[command(before_help = examples::CONFIG)]
    Show {
        /// Only settings that a layer sets
        #[arg(long)]
        set: bool,
        /// As `ralph run --skill NAME` would see them
        #[arg(long, value_name = "NAME")]
        skill: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain a key: what it does, its type, its value and where that comes from
    #[command(before_help = examples::CONFIG)]
    Explain {
        /// A key, such as run.max_iterations, or a section, such as run (default: all keys)
        key: Option<String>,
        /// As `ralph run --skill NAME` would see it
        #[arg(long, value_name = "NAME")]
        skill: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check all config files and variables, and list every problem
    #[command(before_help = examples::CONFIG)]
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of a config file, for editors
    #[command(before_help = examples::CONFIG)]
    Schema,
    /// Open a config file in your editor ($VISUAL, $EDITOR), then check it
    #[command(before_help = examples::CONFIG)]
    Edit(edit::Args),
}

impl Args {
    /// Whether a file is to be edited.
    pub fn edits(&self) -> bool {
        matches!(self.what, What::Edit(_))
    }
}

/// Runs the subcommand.
pub fn config(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.what {
        What::Show { set, skill, json } => show((*set, skill.as_deref()), *json, here),
        What::Explain { key, skill, json } => {
            explain::explain((key.as_deref(), skill.as_deref()), *json, here)
        }
        What::Check { json } => check::check(*json, here),
        What::Schema => {
            print(&config::schema_text());
            Ok(0)
        }
        What::Edit(args) => edit::edit(args, here),
    }
}

fn show((only_set, skill): (bool, Option<&str>), json: bool, here: &Here) -> Result<u8, Problem> {
    let config = named_skill::config_with(skill, here)?;
    let shown: Vec<&Setting> = config.rows.iter().filter(|row| is_shown(row, only_set)).collect();
    let mut warnings = config.warnings();
    warnings.extend(here.env.strange());
    if json {
        let files: Vec<Value> = config
            .files
            .iter()
            .map(|file| json!({"layer": file.layer, "path": file.path, "exists": file.exists}))
            .collect();
        let settings: Vec<Value> = shown.iter().map(|setting| as_json(setting)).collect();
        print_json(
            &json!({"v": 1, "type": "config", "files": files, "settings": settings, "warnings": warnings}),
        )?;
        return Ok(0);
    }
    print(&table(&shown, here.out_style()));
    let style = here.err_style();
    for warning in warnings {
        say(&format!("{} {}\n", style.warn("warning:"), plain(&warning)));
    }
    if let Some(file) = config.files.iter().find(|file| file.layer == "project" && !file.exists) {
        let path = plain(&file.path.display().to_string());
        say(&format!("\n{path} does not exist; `ralph init` creates it.\n"));
    }
    Ok(0)
}

/// All settings, or those that a layer sets.
fn is_shown(setting: &Setting, only_set: bool) -> bool {
    !only_set || !setting.said.is_empty()
}

/// One setting, for scripts.
fn as_json(setting: &Setting) -> Value {
    let said: Vec<Value> = setting
        .said
        .iter()
        .map(|said| json!({"layer": said.layer, "place": said.place, "value": setting.key.kind.shown(&said.value)}))
        .collect();
    json!({
        "key": setting.name, "value": setting.shown(), "layer": setting.layer, "from": setting.from,
        "layers": said, "lowered": setting.note,
    })
}

fn table(settings: &[&Setting], style: Style) -> String {
    let mut text = String::new();
    for setting in settings {
        let value = setting.shown().map_or("-".to_string(), |value| plain(&value.to_string()));
        let from = match setting.said.is_empty() {
            true => style.faint("built-in"),
            false => plain(&setting.from),
        };
        let _ = writeln!(text, "{:<26} {value:<28} {from}", setting.name);
    }
    if text.is_empty() {
        text.push_str("Nothing is set; every setting has its built-in value.\n");
    }
    text
}
