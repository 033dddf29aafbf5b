//! The inbox: requests to a run from another terminal (`ralph stop`, `ralph hint` and others). Any process may add a row;
//! this thread of the run's own process turns it into an observation.

use crate::event_source::EventSender;
use crate::home::Home;
use crate::observation::Observation;
use ralph_diagnostics::Discard;
use ralph_rules::record::{Asked, Request, Seen};
use ralph_store::{RequestId, Store};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often the inbox is read.
const LOOK: Duration = Duration::from_millis(150);

/// Reads the inbox until dropped.
pub struct InboxReader {
    _open: Sender<()>,
}

/// Starts reading the inbox of a run, after the request that was `taken` already. If the store cannot be opened again,
/// requests stay unanswered.
pub fn read(home: &Home, run: &str, taken: Option<RequestId>, sender: EventSender) -> InboxReader {
    let (open, over) = channel::<()>();
    let (home, run) = (home.clone(), run.to_string());
    let poll = move || {
        let Ok(Some(store)) = home.store_if_any() else { return };
        let (mut last, mut version) = (taken.unwrap_or(RequestId(0)), None);
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let now = store.changed().ok();
            if now.is_some() && now == version {
                continue;
            }
            version = now;
            last = deliver(&store, &run, &sender, last);
        }
    };
    std::thread::Builder::new()
        .name("inbox".into())
        .spawn(poll)
        .discard("start the thread that reads the inbox");
    InboxReader { _open: open }
}

fn deliver(store: &dyn Store, run: &str, sender: &EventSender, mut last: RequestId) -> RequestId {
    for request in store.requests(run).unwrap_or_default() {
        if request.id <= last {
            continue;
        }
        last = request.id;
        if let Ok(asked) = serde_json::from_str::<Request>(&request.body) {
            let _ = sender.send(observation(request.id, asked));
        }
    }
    last
}

fn observation(id: RequestId, request: Request) -> Observation {
    Observation { done: vec![id], ..Seen::Asked(Asked { request }).into() }
}

/// Hints that wait for the run: whoever resumes it takes them at once, so that they are in its first prompt.
pub fn hints(store: &dyn Store, run: &str) -> Vec<Observation> {
    let asked = store.requests(run).unwrap_or_default().into_iter();
    let hint = |body: &str| serde_json::from_str(body).ok().filter(|r| matches!(r, Request::Hint { .. }));
    asked.filter_map(|request| Some(observation(request.id, hint(&request.body)?))).collect()
}

/// Unanswered requests to stop, pause or continue: whoever resumes the run wants it to continue. Hints stay valid.
pub fn outdated(store: &dyn Store, run: &str) -> Vec<RequestId> {
    let asked = store.requests(run).unwrap_or_default().into_iter();
    asked
        .filter(|r| !matches!(serde_json::from_str(&r.body), Ok(Request::Hint { .. })))
        .map(|r| r.id)
        .collect()
}
