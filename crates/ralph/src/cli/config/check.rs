//! `ralph config check`: every problem in the config files and variables, each with its place.

use crate::cli::Here;
use crate::config::{Checked, Sources};
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use serde_json::{Value, json};

/// Checks every layer but the flags. Exits with 0 if all is valid, otherwise with 78.
pub fn check(as_data: bool, here: &Here) -> Result<u8, Problem> {
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let Checked { config, problems, files } = sources.variables(&here.env).check();
    let mut warnings = config.map(|config| config.warnings()).unwrap_or_default();
    warnings.extend(here.env.strange());
    let code = if problems.is_empty() { 0 } else { Code::Config as u8 };
    if as_data {
        let files: Vec<Value> = files
            .iter()
            .map(|file| json!({"layer": file.layer, "path": file.path, "exists": file.exists}))
            .collect();
        let problems: Vec<Value> = problems
            .iter()
            .map(|problem| json!({"message": problem.message, "causes": problem.causes, "hints": problem.hints}))
            .collect();
        let valid = problems.is_empty();
        print_json(&json!({
            "v": 1, "type": "config_check", "valid": valid, "files": files, "problems": problems,
            "warnings": warnings,
        }))?;
        return Ok(code);
    }
    let style = here.err_style();
    for problem in &problems {
        say(&format!("{}\n", problem.render(style)));
    }
    for warning in &warnings {
        say(&format!("{} {}\n", style.warn("warning:"), crate::plain::plain(warning)));
    }
    let found = files.iter().filter(|file| file.exists).count();
    match problems.len() {
        0 => print(&format!("The configuration is valid ({}).\n", counted(found, "file"))),
        n => say(&format!("{} in the configuration\n", counted(n, "problem"))),
    }
    Ok(code)
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
