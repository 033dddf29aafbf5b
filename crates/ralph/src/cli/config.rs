//! `ralph config`: what holds and who said so (`show`), what a key does (`explain`), the schema for editors, and editing
//! with a check afterwards. The keys themselves are in `config/keys.rs`.

mod edit;
mod explain;

use super::{Here, examples};
use crate::config::effective::{self, Setting};
use crate::config::{self, Layers};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use crate::style::Style;
use serde_json::{Value, json};
use std::fmt::Write;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show what holds here, and where each setting comes from.
    #[command(before_help = examples::CONFIG)]
    Show {
        /// Only what somebody set.
        #[arg(long)]
        set: bool,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain a key: what it does, what it may hold, what holds now and who said so.
    #[command(before_help = examples::CONFIG)]
    Explain {
        /// The key, like run.max_iterations; a section, like run; left out: all keys.
        key: Option<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of a config file, for editors.
    #[command(before_help = examples::CONFIG)]
    Schema,
    /// Open a config file in your editor ($VISUAL, $EDITOR), then check it.
    #[command(before_help = examples::CONFIG)]
    Edit(edit::Args),
}

/// Answers.
pub fn config(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.what {
        What::Show { set, json } => show(*set, *json, here),
        What::Explain { key, json } => explain::explain(key.as_deref(), *json, here),
        What::Schema => {
            print(&config::schema_text());
            Ok(0)
        }
        What::Edit(args) => edit::edit(args, here),
    }
}

/// The layers as `ralph run` would have them without flags.
fn layers(here: &Here) -> Result<Layers, Problem> {
    config::load(&here.workspace, here.env.config_home.as_deref())?.under(&here.env)?.over(None)
}

fn show(only_set: bool, json: bool, here: &Here) -> Result<u8, Problem> {
    let layers = layers(here)?;
    let all = effective::settings(&layers, &here.workspace);
    let shown: Vec<&Setting> = all.iter().filter(|s| !only_set || !s.said.is_empty()).collect();
    let mut warnings: Vec<String> = all.iter().filter_map(|setting| setting.lowered.clone()).collect();
    warnings.extend(here.env.strange());
    let files = effective::files(&layers, &here.workspace, here.env.config_home.as_deref());
    if json {
        let files: Vec<Value> = files
            .iter()
            .map(|(layer, path, there)| json!({"layer": layer, "path": path, "exists": there}))
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
    if let Some((_, path, _)) = files.iter().find(|(layer, _, there)| *layer == "project" && !there) {
        say(&format!("\nThere is no {}; `ralph init` writes one.\n", plain(&path.display().to_string())));
    }
    Ok(0)
}

/// One setting, for scripts.
fn as_json(setting: &Setting) -> Value {
    let said: Vec<Value> = setting
        .said
        .iter()
        .map(|(layer, place, value)| json!({"layer": layer, "place": place, "value": value}))
        .collect();
    let layer = setting.said.first().map_or("built-in", |(layer, _, _)| layer);
    json!({
        "key": setting.name, "value": setting.value, "layer": layer, "from": setting.from(), "layers": said,
        "lowered": setting.lowered,
    })
}

fn table(settings: &[&Setting], style: Style) -> String {
    let mut text = String::new();
    for setting in settings {
        let value = setting.value.as_ref().map_or("-".to_string(), |value| plain(&value.to_string()));
        let from = match setting.said.is_empty() {
            true => style.faint("built-in"),
            false => plain(&setting.from()),
        };
        let _ = writeln!(text, "{:<26} {value:<28} {from}", setting.name);
    }
    if text.is_empty() {
        text.push_str("Nothing is set: ralph's own numbers hold.\n");
    }
    text
}
