//! Whether the hooks that were installed in a client still run. A run does not need them, so nothing here is worse than a
//! warning.

use super::Row;
use crate::cli::Here;
use crate::cli::hook::{CLIENTS, Word, standing, was_installed};

/// A row for each client that the plugin was installed in.
pub fn rows(here: &Here) -> Vec<Row> {
    let asked = CLIENTS.into_iter().filter(|client| was_installed(*client, here));
    let row = |client| {
        let found = match standing(client, here) {
            Ok(found) => found,
            Err(problem) => return Row::of("hooks", &problem),
        };
        let fact = format!("{}: {}, {}", found.title, found.state.shown(), found.fact);
        match (found.state, found.fix) {
            (Word::Installed, _) | (_, None) => Row::ok("hooks", fact),
            (_, Some(fix)) => Row::warn("hooks", fact, fix),
        }
    };
    asked.map(row).collect()
}
