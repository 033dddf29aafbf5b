//! The breaker of a workspace whose loop is a script: what the script reports, and what follows from it.

use super::{Change, OpenBreaker, Unusable, history, kept, open_key, remember, still_open};
use crate::clock::utc;
use ralph_rules::breaker::Breaker;
use ralph_rules::loop_results::{Judged, LoopResult, LoopResults};
use ralph_rules::objection::Objection;
use ralph_rules::policy::Policy;
use ralph_store::{Store, StoreError};
use std::path::Path;

/// The outcome that an open breaker has where a script recorded what opened it.
const REASON: &str = "CIRCUIT_OPEN";

/// What a script reports.
#[derive(Clone, Debug)]
pub enum Reported {
    /// How a loop went, and the error as it was given.
    Loop(LoopResult, Option<String>),
    /// The agent needs a person. It is remembered, and counts as nothing.
    Blocked(String),
}

pub(super) fn loops_key(workspace: &str) -> String {
    format!("breaker-loops/{workspace}")
}

/// What was recorded since the breaker was last closed.
pub fn loop_results(store: &dyn Store, workspace: &Path) -> Result<LoopResults, StoreError> {
    let memo = store.memo(&loops_key(&workspace.to_string_lossy()))?;
    Ok(memo.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Records what a script reports, and says what follows. An open breaker stays open until it is reset or has cooled down.
/// The caller holds the workspace's lock.
pub fn record(
    store: &dyn Store,
    workspace: &Path,
    reported: Reported,
    policy: &Policy,
) -> Result<Judged, Unusable> {
    let open = still_open(store, workspace, policy.breaker.cooldown)?;
    let mut results = loop_results(store, workspace)?;
    let before = if open.is_some() { Breaker::Open } else { results.judge(policy).state };
    let (blocked, error) = match reported {
        Reported::Loop(result, error) => {
            results.add(result, policy);
            (None, error)
        }
        Reported::Blocked(why) => (Some(why), None),
    };
    let judged = results.judge(policy);
    let state = if open.is_some() { Breaker::Open } else { judged.state };
    let change = Change {
        at: utc(),
        run: None,
        iteration: Some(results.count),
        from: before,
        to: state,
        code: "blocked".into(),
        why: String::new(),
    };
    let change = match blocked {
        Some(why) => Some(Change { why, ..change }),
        None if state != before => {
            let reason = judged.reason.clone().unwrap_or(Objection::ProgressAgain);
            Some(Change { code: reason.code(), why: reason.say(), ..change })
        }
        None => None,
    };
    let name = workspace.to_string_lossy();
    let mut memo = vec![(loops_key(&name), serde_json::to_string(&results).ok())];
    if let Some(change) = change {
        if before != Breaker::Open && state == Breaker::Open {
            memo.push((open_key(&name), serde_json::to_string(&opened(&change, error)).ok()));
        }
        let mut all = history(store, &name)?;
        all.push(change);
        memo.push(kept(&name, all));
    }
    remember(store, memo)?;
    Ok(Judged { state, ..judged })
}

fn opened(change: &Change, error: Option<String>) -> OpenBreaker {
    OpenBreaker {
        reason: REASON.into(),
        why: change.why.clone(),
        at: change.at,
        error,
        ..OpenBreaker::default()
    }
}
