//! The inbox: what people ask of a run from another terminal. Any process may leave a row there; only the run's own
//! writer, through this thread, turns it into a fact.

use crate::event_source::EventSender;
use crate::home::Home;
use crate::observation::Observation;
use ralph_rules::record::{Asked, Request, Seen};
use ralph_store::{RequestId, Store};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How soon a request is noticed.
const LOOK: Duration = Duration::from_millis(150);

/// Reads the inbox until dropped.
pub struct InboxReader {
    _open: Sender<()>,
}

/// Begins to read the inbox of a run. Without a store of its own (none could be opened) nobody can ask.
pub fn read(home: &Home, run: &str, sender: EventSender) -> InboxReader {
    let (open, over) = channel::<()>();
    let (home, run) = (home.clone(), run.to_string());
    let _ = std::thread::Builder::new().name("inbox".into()).spawn(move || {
        let Ok(Some(store)) = home.store_if_any() else { return };
        let (mut last, mut version) = (RequestId(0), None);
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let now = store.changed().ok();
            if now.is_some() && now == version {
                continue;
            }
            version = now;
            last = deliver(&store, &run, &sender, last);
        }
    });
    InboxReader { _open: open }
}

fn deliver(store: &dyn Store, run: &str, sender: &EventSender, mut last: RequestId) -> RequestId {
    for request in store.requests(run).unwrap_or_default() {
        if request.id <= last {
            continue;
        }
        last = request.id;
        if let Ok(asked) = serde_json::from_str::<Request>(&request.body) {
            let observation =
                Observation { done: vec![request.id], ..Seen::Asked(Asked { request: asked }).into() };
            let _ = sender.send(observation);
        }
    }
    last
}

/// Requests to stop, to pause or to go on that nobody heard: whoever resumes the run wants it to go on. A hint is still
/// one.
pub fn outdated(store: &dyn Store, run: &str) -> Vec<RequestId> {
    let asked = store.requests(run).unwrap_or_default().into_iter();
    asked
        .filter(|r| !matches!(serde_json::from_str(&r.body), Ok(Request::Hint { .. })))
        .map(|r| r.id)
        .collect()
}
