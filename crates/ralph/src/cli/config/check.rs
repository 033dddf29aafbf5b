//! `ralph config check`: every problem in the config files and variables, each with its place, and in what they name.

use crate::cli::{Here, ladder, resolve, secrets, tasks, templates};
use crate::config::{Checked, Config, Sources};
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use ralph_rules::counting::counted;
use serde_json::{Value, json};

/// Checks every layer but the flags. Exits with 0 if all is valid, otherwise with the code that a run would have.
pub fn check(as_data: bool, here: &Here) -> Result<u8, Problem> {
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let Checked { config, mut problems, files } = sources.variables(&here.env).check();
    let mut warnings = Vec::new();
    if let Some(config) = &config {
        problems.extend(unusable(config, here));
        problems.extend(ladder::rotation(config).err());
        warnings.extend(config.warnings());
        // A flag of the run may still give one.
        warnings.extend(resolve::lacks_verify(&config.settings));
    }
    warnings.extend(here.env.strange());
    let code = problems.first().map_or(0, |problem| problem.code as u8);
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

/// What is wrong with files and paths that the settings name.
pub fn unusable(config: &Config, here: &Here) -> Vec<Problem> {
    let settings = &config.settings;
    let protect = resolve::protect(settings);
    [
        templates::prompting(settings, here).err(),
        secrets::redactor(settings, &here.workspace, here).err(),
        tasks::bound(settings, here).err(),
        resolve::views(settings, &protect, here).err(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
