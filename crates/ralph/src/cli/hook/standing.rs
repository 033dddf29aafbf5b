//! How hook mode stands with one client: what `hook status` and `doctor` show, and what `install` and `uninstall` begin
//! with.

use super::client::{Client, Found, Hooks, Registration};
use super::plugin::{self, Plugin};
use crate::cli::Here;
use crate::problem::Problem;
use serde::Serialize;
use std::path::PathBuf;

/// One word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The client itself is not there.
    NoClient,
    /// The plugin is not registered, at least not for this directory.
    NotInstalled,
    /// Hooks run.
    Installed,
    /// The plugin is of another version of ralph, or was changed.
    Stale,
    /// The client waits for its user to trust the hooks.
    Untrusted,
    /// The plugin or all hooks are switched off.
    Disabled,
    /// The client cannot be asked.
    Unknown,
}

impl Word {
    /// As a person reads it.
    pub fn shown(self) -> &'static str {
        match self {
            Word::NoClient => "no client",
            Word::NotInstalled => "not installed",
            Word::Installed => "installed",
            Word::Stale => "stale",
            Word::Untrusted => "untrusted",
            Word::Disabled => "disabled",
            Word::Unknown => "unknown",
        }
    }
}

/// How it stands.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The client.
    pub client: &'static str,
    /// Its title.
    #[serde(skip)]
    pub title: &'static str,
    /// In one word.
    pub state: Word,
    /// Where the plugin is on, for this directory.
    pub scopes: Vec<&'static str>,
    /// The version that the client has.
    pub version: Option<String>,
    /// Other projects where it is on.
    pub elsewhere: Vec<PathBuf>,
    /// What was found, in a sentence.
    pub fact: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// Asks a client.
pub fn standing(client: Client, here: &Here) -> Result<Standing, Problem> {
    let info = client.info();
    let blank = Standing {
        client: info.name,
        title: info.title,
        state: Word::NoClient,
        scopes: Vec::new(),
        version: None,
        elsewhere: Vec::new(),
        fact: format!("{} is not installed", info.title),
        fix: Some(info.install()),
    };
    let Ok(found) = client.found(here) else { return Ok(blank) };
    let all = match found.registrations() {
        Ok(all) => all,
        Err(refused) => {
            let fact = format!("`{}`: {}", refused.typed, refused.why);
            let fix = Some(format!("fix what {} says, or update it", info.title));
            return Ok(Standing { state: Word::Unknown, fact, fix, ..blank });
        }
    };
    let ours = found.here(&all);
    let elsewhere = all.iter().filter_map(|one| one.project.clone()).filter(|dir| *dir != here.workspace);
    let about = Standing {
        scopes: ours.iter().map(|one| one.scope.name()).collect(),
        version: ours.first().map(|one| one.version.clone()),
        elsewhere: elsewhere.collect(),
        ..blank
    };
    judged(&about, &found, &ours, here)
}

fn judged(about: &Standing, found: &Found, ours: &[Registration], here: &Here) -> Result<Standing, Problem> {
    let install = format!("ralph hook install {}", about.client);
    let with =
        |state: Word, fact: String, fix: Option<String>| Ok(Standing { state, fact, fix, ..about.clone() });
    let Some(first) = ours.first() else {
        return with(Word::NotInstalled, "its sessions do not call ralph".into(), Some(install));
    };
    if let Some(lost) = program_problem(here) {
        return with(Word::Disabled, lost, Some("put ralph on PATH where the client is started".into()));
    }
    if ours.iter().all(|one| !one.enabled) {
        let fact = format!("the plugin is switched off in {}", about.title);
        return with(Word::Disabled, fact, Some(install));
    }
    let plugin = Plugin::current();
    if first.version != plugin.version || !plugin.is_at(&plugin::root(&here.home()?, about.client)) {
        let fact = "the plugin is not the one of this ralph".to_owned();
        return with(Word::Stale, fact, Some(install));
    }
    let scopes = about.scopes.join(" and ");
    match found.hooks(here) {
        Hooks::Run => with(Word::Installed, format!("on, scope {scopes}"), None),
        Hooks::Off(by) => with(
            Word::Disabled,
            format!("hooks are switched off by {by}"),
            Some("switch them on there".into()),
        ),
        Hooks::Untrusted => {
            let fact = "Codex skips hooks that you have not trusted, without a word".to_owned();
            with(Word::Untrusted, fact, Some("start `codex`, type /hooks and trust ralph's two hooks".into()))
        }
        Hooks::Unknown(why) => with(Word::Installed, format!("on, scope {scopes}; {why}"), None),
    }
}

/// Whether the plugin was ever installed in a client, so that it is worth asking: that starts the client.
pub fn was_installed(client: Client, here: &Here) -> bool {
    here.home().is_ok_and(|home| plugin::root(&home, client.info().name).exists())
}

/// The hook lines start `ralph` as a shell finds it.
pub fn program_problem(here: &Here) -> Option<String> {
    let found = here.env.which("ralph", &here.workspace);
    found.is_none().then(|| "`ralph` is not on PATH, so a hook cannot start it".to_owned())
}
