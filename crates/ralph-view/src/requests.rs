//! Leaves a request for a run in its inbox and waits until the run has recorded it. Only then is it reported as received.

use crate::run_state::is_running;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_rules::record::Request;
use ralph_store::{RequestId, RunRow, Store, StoreError};
use std::time::{Duration, Instant};

/// How long to wait for an answer. A run reads its inbox several times a second, unless it is suspended (Ctrl-Z).
const PATIENCE: Duration = Duration::from_secs(2);
/// How often to look for the answer.
const LOOK: Duration = Duration::from_millis(25);

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The run has recorded it.
    Recorded,
    /// It waits in the inbox: the run may be suspended or busy.
    Waiting,
    /// A hint for a run that is not active: it is used when the run is resumed, or at the next prompt of its session.
    Kept,
    /// The run is not active, or ended before it recorded the request.
    NotActive,
}

/// Sends a request, with secrets removed by `redact`, and waits a moment for it to be recorded.
pub fn send(
    store: &dyn Store,
    home: &Home,
    row: &RunRow,
    request: &Request,
    redact: &dyn Fn(&str) -> String,
) -> Result<Sent, StoreError> {
    let keeps = matches!(request, Request::Hint { .. }) && row.resumable;
    if !is_running(row, home) && !keeps {
        return Ok(Sent::NotActive);
    }
    let body = serde_json::to_string(request).unwrap_or_default();
    let id = store.ask(&row.id, &redact(&body), utc())?;
    if !is_running(row, home) && keeps {
        return Ok(Sent::Kept);
    }
    await_recorded(store, home, row, id)
}

/// Whether the request was recorded: it leaves the inbox in the commit that writes it to the journal.
fn await_recorded(store: &dyn Store, home: &Home, row: &RunRow, id: RequestId) -> Result<Sent, StoreError> {
    let since = Instant::now();
    loop {
        // Checked first: a run that ends now may have received the request just before.
        let running = is_running(row, home);
        if !store.requests(&row.id)?.iter().any(|request| request.id == id) {
            return Ok(Sent::Recorded);
        }
        if !running {
            return Ok(Sent::NotActive);
        }
        if since.elapsed() > PATIENCE {
            return Ok(Sent::Waiting);
        }
        std::thread::sleep(LOOK);
    }
}
