//! Notes of runs that this process drives, and delivering them while it does.

use super::targets;
use crate::cli::{Here, resolve};
use crate::config::{self, Settings};
use ralph_engine::home::Home;
use ralph_engine::journal;
use ralph_engine::notes::NoteMaker;
use ralph_notify::{Deliverer, Loader, Notes, TraceMaker};
use ralph_store::Store;
use std::sync::Arc;
use std::time::Duration;

/// How long the end of a run waits for what is due.
const AT_THE_END: Duration = Duration::from_secs(5);

/// Makes the notes of a run, if anybody wants them.
pub fn maker(settings: &Settings, here: &Here) -> Option<Arc<dyn NoteMaker>> {
    Notes::of(&targets::config(settings, resolve::zone(here)))
        .map(|notes| Arc::new(notes) as Arc<dyn NoteMaker>)
}

/// Delivers notes while a command runs.
pub struct Background {
    deliverer: Deliverer,
    /// There were targets when it began.
    wanted: bool,
}

/// Starts to deliver: notes of this process, and what others left. Also where there is no target yet: one may be added
/// while the command runs. Until then nothing is opened.
pub fn background(home: &Home, here: &Here) -> Background {
    let (env, zone) = (here.env.clone(), resolve::zone(here));
    let load: Loader =
        Arc::new(move || Some(targets::config(&config::load_own(&env).ok()?.settings, zone.clone())));
    let wanted = load().is_some_and(|config| !config.targets.is_empty());
    Background { deliverer: Deliverer::start(home, load, traces()), wanted }
}

impl Background {
    /// The run is over: waits for what is due, but not for long.
    pub fn finish(self) {
        // A run that began without targets has left no notes.
        if self.wanted {
            self.deliverer.finish(AT_THE_END);
        }
    }
}

/// Makes the trace of a run from its journal.
pub fn traces() -> Option<TraceMaker> {
    let make = |store: &dyn Store, run: &str, seq: u64| match journal::read(store, run) {
        Ok(records) => {
            let over = records.last().is_none_or(|last| last.seq <= seq);
            Ok(ralph_otel::export(&records, over))
        }
        Err(error) => Err(error.to_string()),
    };
    Some(Arc::new(make))
}
