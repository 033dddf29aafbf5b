//! Claude Code's `plugin` command, and the setting that switches all hooks off.

use super::ask::Refused;
use super::{Found, Hooks, Registration, Scope};
use crate::cli::Here;
use crate::cli::hook::plugin::{ID, NAME};
use crate::env::Env;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

pub fn marketplace(client: &Found) -> Result<Option<PathBuf>, Refused> {
    let list = client.ask(&["plugin", "marketplace", "list", "--json"])?.0;
    let ours = list.as_array().into_iter().flatten().find(|one| one["name"] == NAME);
    // One from elsewhere has no path, and is none of ours all the same.
    let place = |one: &Value| one["path"].as_str().or(one["source"].as_str()).map(PathBuf::from);
    Ok(ours.and_then(place))
}

pub fn registrations(client: &Found) -> Result<Vec<Registration>, Refused> {
    let list = client.ask(&["plugin", "list", "--json"])?.0;
    let registration = |one: &Value| {
        let scope = Scope::named(one["scope"].as_str()?)?;
        let text = |key: &str| one[key].as_str().map(str::to_owned);
        Some(Registration {
            scope,
            project: text("projectPath").map(PathBuf::from),
            version: text("version").unwrap_or_default(),
            enabled: one["enabled"].as_bool().unwrap_or(false),
        })
    };
    let ours = list.as_array().into_iter().flatten().filter(|one| one["id"] == ID);
    Ok(ours.filter_map(registration).collect())
}

/// Installs it, and has the version recorded again where an older one was installed.
pub fn add(client: &Found, scope: Scope, version: &str) -> Result<(), Refused> {
    client.ask(&["plugin", "install", ID, "--scope", scope.name(), "--json"])?;
    let stale = |one: &Registration| one.scope == scope && one.version != version;
    match client.here(&registrations(client)?).iter().any(stale) {
        true => client.ask(&["plugin", "update", ID, "--scope", scope.name(), "--json"]).map(drop),
        false => Ok(()),
    }
}

pub fn remove(client: &Found, scope: Scope) -> Result<(), Refused> {
    client.ask(&["plugin", "uninstall", ID, "--scope", scope.name(), "--json"]).map(drop)
}

/// Claude Code does not tell whether hooks run; what can switch them off is read from its settings files, the nearest
/// first. Settings that an organization manages are out of sight.
pub fn hooks(client: &Found, here: &Here) -> Hooks {
    let own = Env::variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let own = own.or_else(|| here.env.home.as_ref().map(|home| home.join(".claude")));
    let project = client.dir.join(".claude");
    let files = [
        Some(project.join("settings.local.json")),
        Some(project.join("settings.json")),
        own.map(|dir| dir.join("settings.json")),
    ];
    for file in files.into_iter().flatten() {
        let settings: Value =
            fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        match settings.get("disableAllHooks").and_then(Value::as_bool) {
            Some(true) => return Hooks::Off(format!("disableAllHooks in {}", file.display())),
            Some(false) => return Hooks::Run,
            None => {}
        }
    }
    Hooks::Run
}
