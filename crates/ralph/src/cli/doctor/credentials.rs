//! Whether an agent could log in: a variable that is set, or a file that exists. Neither is ever read.

use crate::cli::Here;
use ralph_agents::AgentInfo;
use std::path::Path;

/// Whether credentials were found.
pub enum Seen {
    /// This variable or file exists.
    Found(String),
    /// None of those known.
    Missing,
}

/// Looks for an agent's credentials; none where it has none of its own.
pub fn look_for(info: &AgentInfo, here: &Here) -> Option<Seen> {
    let credentials = &info.credentials;
    if credentials.env.is_empty() && credentials.files.is_empty() {
        return None;
    }
    let variable = credentials.env.iter().find(|name| here.env.is_set(name)).map(ToString::to_string);
    let exists = |file: &&&str| here.env.home.as_deref().is_some_and(|home: &Path| home.join(file).exists());
    let file = || credentials.files.iter().find(exists).map(|file| format!("~/{file}"));
    Some(variable.or_else(file).map_or(Seen::Missing, Seen::Found))
}
