//! Opens the run of a session again, in the process of a hook.

use crate::cli::refused::{can_be_recorded, refused};
use crate::cli::{Here, agent, diagnostics, notify, runs, secrets};
use crate::config;
use crate::problem::{Code, Problem};
use crate::views::Views;
use ralph_engine::home::Home;
use ralph_engine::open::{self, Departure};
use ralph_engine::run_deps::RunDeps;
use ralph_engine::session::{SessionPort, SessionTurn, stays_as_read};
use ralph_engine::watch::Watcher;
use ralph_rules::policy::Policy;
use ralph_rules::record::{Fact, Record, Request, Seen};
use ralph_rules::state::{Phase, State};
use ralph_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run that is to be opened.
pub struct SessionRun {
    /// Its id.
    pub id: String,
    /// What its journal tells.
    pub state: State,
    records: Vec<Record>,
}

/// The run, if there is one and it is not over.
pub fn find(home: &Home, id: &str) -> Result<Option<SessionRun>, Problem> {
    let Some(store) = home.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(None) };
    if store.run(id).map_err(|e| runs::broken(&e))?.is_none() {
        return Ok(None);
    }
    let records = runs::records(&store, id)?;
    let state = State::of(&records);
    let open = state.start.is_some() && state.phase != Phase::Over;
    Ok(open.then(|| SessionRun { id: id.into(), state, records }))
}

impl SessionRun {
    /// Whether this is what closed the last call, told once more: the client repeats itself, or the hook that was told
    /// first was killed before it could answer. Nothing was written to the transcript since; an agent that says the same
    /// in the next iteration is told apart by its new message, which the client may write a moment after the hook began.
    pub fn was_told(&self, message: &str, transcript: &str) -> bool {
        let last = self.records.iter().rev().find_map(|record| match &record.fact {
            Fact::Seen(Seen::CallEnded(call)) => Some(call.text.as_str()),
            _ => None,
        });
        let same =
            last.is_some_and(|last| !last.trim().is_empty() && message.trim_end().ends_with(last.trim()));
        let read = self.state.session_mark.read.get(transcript).copied();
        same && read.is_some_and(|read| stays_as_read(Path::new(transcript), read))
    }
}

/// Whether the database has the run at all.
pub fn is_recorded(home: &Home, id: &str) -> Result<bool, Problem> {
    let Some(store) = home.store_if_any().map_err(|e| runs::broken(&e))? else { return Ok(false) };
    Ok(store.run(id).map_err(|e| runs::broken(&e))?.is_some())
}

/// Opens the run and drives it on: `turn` is what the session did, `requests` are made at once.
pub fn open(
    run: SessionRun,
    turn: Option<SessionTurn>,
    requests: Vec<Request>,
    here: &Here,
) -> Result<Departure, Problem> {
    let SessionRun { id, state, records } = run;
    let home = here.home()?;
    can_be_recorded(&home)?;
    let start = state.start.ok_or_else(|| {
        Problem::new(Code::Journal, format!("the journal of run {} has no start record", runs::short(&id)))
    })?;
    let workspace = PathBuf::from(&start.workspace);
    let config = config::load_files(&workspace, &here.env)?;
    let redactor = secrets::redactor(&config.settings, &workspace, here)?;
    let start = secrets::whole(*start, &redactor, None);
    let given = (&start.agent, start.ladder.as_slice(), start.review.as_ref());
    let mut deps = agent::deps(given, &config.settings, redactor, here)?;
    let views = config.settings.views.clone().only(&start.own_files);
    deps.metrics = views.metrics.clone();
    deps.session = Some(Arc::new(SessionPort::new(turn)));
    let watchers: Vec<Box<dyn Watcher>> =
        vec![Box::new(Views::new(&workspace, views, &records, &home, None))];
    let _log = diagnostics::keep_log(&home.run(&id), &deps.redactor, here);
    let change = |policy: &Policy| {
        let mut policy = policy.clone();
        let _ = config.cap(&mut policy);
        policy
    };
    let whole = |start, deps: &RunDeps| secrets::whole(start, &deps.redactor, None);
    let which = (id.as_str(), Some(workspace.as_path()), records);
    let notes = notify::background(&home, here);
    let departure = open::resume(&home, which, (change, requests), |_| deps, whole, watchers);
    // The client waits for its hook: only the end of a run is worth that.
    if matches!(departure, Ok(Departure::Ended(_))) {
        notes.finish();
    }
    departure.map_err(|error| refused(&error, &id, here))
}
