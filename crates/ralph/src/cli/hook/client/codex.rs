//! Codex's `plugin` command. It knows one place only: the user's.

use super::ask::Refused;
use super::{Found, Registration, Scope};
use crate::cli::hook::plugin::{ID, NAME};
use serde_json::Value;
use std::path::PathBuf;

pub fn marketplace(client: &Found) -> Result<Option<PathBuf>, Refused> {
    let list = client.ask(&["plugin", "marketplace", "list", "--json"])?.0;
    let ours = list
        .get("marketplaces")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|one| one["name"] == NAME);
    Ok(ours.and_then(|one| one["root"].as_str().map(PathBuf::from)))
}

pub fn registrations(client: &Found) -> Result<Vec<Registration>, Refused> {
    let list = client.ask(&["plugin", "list", "--json"])?.0;
    let registration = |one: &Value| Registration {
        scope: Scope::User,
        project: None,
        version: one["version"].as_str().unwrap_or_default().to_owned(),
        enabled: one["enabled"].as_bool().unwrap_or(false),
    };
    let ours = list
        .get("installed")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|one| one["pluginId"] == ID);
    Ok(ours.map(registration).collect())
}

pub fn add(client: &Found) -> Result<(), Refused> {
    client.ask(&["plugin", "add", ID, "--json"]).map(drop)
}

pub fn remove(client: &Found) -> Result<(), Refused> {
    client.ask(&["plugin", "remove", ID, "--json"]).map(drop)
}
