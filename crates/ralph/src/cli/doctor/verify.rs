//! Whether the verify commands can start: their first program must be installed. What it starts in turn is not known
//! before it runs.

use super::Row;
use crate::cli::{Here, sandbox};
use crate::config;
use crate::problem::Code;

/// One row: the commands can start, or which program is missing.
pub fn rows(here: &Here) -> Vec<Row> {
    let Ok(config) = config::load(&here.workspace, &here.env) else { return Vec::new() };
    let commands = &config.settings.verify;
    if commands.is_empty() {
        let remedy = "set verify.commands in ralph.toml, or use --verify 'your test command'";
        return vec![Row::warn("verify", "no verify command: completion cannot be verified", remedy)];
    }
    let search = sandbox::programs(&config.settings, here);
    let row = |line: &String| {
        let missing = search.missing_before(line)?;
        let fact = format!("`{line}` cannot run: {}", missing.what_is_wrong());
        let remedy = format!("{}, or change verify.commands in ralph.toml", missing.remedy());
        Some(Row::bad("verify", Code::Config, fact, remedy))
    };
    let rows: Vec<Row> = commands.iter().filter_map(row).collect();
    if rows.is_empty() { vec![Row::ok("verify", commands.join(" && "))] } else { rows }
}
