//! Checks of the sandboxes: every backend is tried, and what is missing is named with its remedy.

use super::Row;
use crate::cli::{Here, agent, resolve, sandbox as cli_sandbox};
use crate::config;
use crate::problem::Code;
use ralph_agents::registry;
use ralph_diagnostics::Discard;
use ralph_engine::home::Home;
use ralph_engine::sandbox::{CalledAgent, NoSandbox, Site, Trial, choose, trials};
use ralph_engine::verification::tree_copy;
use ralph_rules::record::CONTAINER;
use ralph_sandbox::policy::Mode;
use std::sync::Arc;

/// What contains a run here first, then what each backend holds.
pub fn rows(here: &Here) -> Vec<Row> {
    let Ok(config) = config::load(&here.workspace, &here.env) else { return Vec::new() };
    let Ok(mut request) = cli_sandbox::request(&config.settings, false, here) else { return Vec::new() };
    // What a trial needs goes away with it: doctor leaves nothing in the state directory.
    let Ok(scratch) = tempfile::tempdir() else { return Vec::new() };
    Arc::make_mut(&mut request.surroundings).state = Home::at(scratch.path());
    let places = cli_sandbox::places(&resolve::protect(&config.settings), here);
    // Of an image it is not known what is in it.
    let is_container = request.settings.mode == Mode::Container;
    let chosen = is_container.then(|| agent::choose(&[], &config.settings, here).ok()).flatten();
    let called = chosen.as_ref().and_then(|chosen| {
        Some(CalledAgent { info: registry::find(&chosen.name).ok()?, program: &chosen.program })
    });
    let site = Site { workspace: &here.workspace, places: &places, agent: called };
    let remedies = match is_container {
        true => "change sandbox.container in your own config.toml (`ralph config edit --user`)".to_owned(),
        false => cli_sandbox::remedies().join("; or "),
    };
    let chosen = match choose(&request, &site) {
        Ok(choice) if choice.given.missing.is_empty() => Row::ok("sandbox", choice.given.words()),
        Ok(_) if request.settings.mode == Mode::Off => Row::warn(
            "sandbox",
            "none: the agent can do anything you can",
            "it is switched off: remove sandbox.mode from your own config.toml (`ralph config edit --user`), or RALPH_SANDBOX",
        ),
        Ok(choice) => Row::warn("sandbox", choice.given.words(), remedy(&remedies)),
        Err(why @ NoSandbox::Workspace { .. }) => {
            Row::bad("sandbox", Code::Config, why.to_string(), cli_sandbox::REPAIR)
        }
        Err(why) => Row::bad("sandbox", Code::Config, why.to_string(), remedy(&remedies)),
    };
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let tried = trials(&request, &site).into_iter().map(|trial| row(trial, &kernel));
    let rows = std::iter::once(chosen).chain(tried).collect();
    // Layers leave directories that nobody may read, which the temporary directory could not delete by itself.
    tree_copy::remove(scratch.path()).discard("remove what trials of sandboxes left");
    rows
}

fn remedy(known: &str) -> String {
    match known {
        "" => "run it in a container or as a separate user, where it cannot damage anything important".into(),
        known => known.to_owned(),
    }
}

/// One backend: that it cannot be used is no fault while another one can.
fn row(Trial { backend, result }: Trial, kernel: &str) -> Row {
    match result {
        Ok(given) => Row::ok(backend, given.words()),
        Err(why) if backend == CONTAINER => Row::ok(backend, format!("not possible here: {why}")),
        Err(why) => Row::ok(backend, format!("not possible here (Linux {kernel}): {why}")),
    }
}
