//! Crashes that a command shows: whoever sees one first notes it. The note is delivered by the next process that delivers.

use super::targets;
use crate::cli::{Here, resolve};
use crate::config;
use ralph_diagnostics::Discard;
use ralph_engine::clock::utc;
use ralph_notify::{Notes, note_crashes};
use ralph_store::{RunRow, Store};
use ralph_view::run_state::RunState;

/// Notes crashes after a command has shown these runs, if one of them crashed and somebody is to be told. The command's
/// answer is out by then; nothing that goes wrong here changes it.
pub fn saw<'r>(mut rows: impl Iterator<Item = &'r RunRow>, store: &dyn Store, here: &Here) {
    if !rows.any(|row| RunState::named(&row.status) == Some(RunState::Crashed)) {
        return;
    }
    let settings = config::load_own(&here.env).map(|config| config.settings);
    let config = settings.ok().map(|settings| targets::config(&settings, resolve::zone(here)));
    if let (Some(notes), Ok(home)) = (config.as_ref().and_then(Notes::of), here.home()) {
        note_crashes(store, &home, &notes, utc()).discard("note a crash");
    }
}
