//! The inbox: what people ask of a run from another terminal. Any process may leave a row there; only the run's own
//! writer, through this thread, turns it into a fact.

use crate::bench::Bench;
use crate::home::Home;
use crate::told::Told;
use ralph_rules::record::{Asked, Request, Seen};
use ralph_store::{RequestId, Store};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How soon a request is noticed.
const LOOK: Duration = Duration::from_millis(150);

/// Reads the inbox until dropped.
pub struct Reading {
    _open: Sender<()>,
}

/// Begins to read the inbox of a run. Without a store of its own (none could be opened) nobody can ask.
pub fn read(home: &Home, bench: &Arc<Bench>) -> Reading {
    let (open, over) = channel::<()>();
    let (home, bench) = (home.clone(), Arc::clone(bench));
    let _ = std::thread::Builder::new().name("inbox".into()).spawn(move || {
        let Ok(Some(store)) = home.store_if_any() else { return };
        let (mut last, mut version) = (RequestId(0), None);
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let now = store.changed().ok();
            if now.is_some() && now == version {
                continue;
            }
            version = now;
            last = deliver(&store, &bench, last);
        }
    });
    Reading { _open: open }
}

fn deliver(store: &dyn Store, bench: &Bench, mut last: RequestId) -> RequestId {
    for request in store.requests(&bench.start.run).unwrap_or_default() {
        if request.id <= last {
            continue;
        }
        last = request.id;
        if let Ok(asked) = serde_json::from_str::<Request>(&request.body) {
            let told = Told { done: Some(request.id), ..Seen::Asked(Asked { request: asked }).into() };
            bench.tell(told);
        }
    }
    last
}
