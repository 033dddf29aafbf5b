//! The breaker of a workspace, which outlives runs: an open one keeps new runs from starting until somebody resets it
//! or its cool-down has passed. What changed it is remembered, the latest 20 changes over all runs. Written in the same
//! commit as the decision that ends a run (`run.rs`), asked before one begins (`open.rs`).

mod recorded;

pub use recorded::{Reported, loop_results, record};

use self::recorded::loops_key;
use crate::clock::utc;
use crate::run::Unwritable;
use ralph_rules::breaker::{Breaker, HISTORY, Transition};
use ralph_rules::ending::Ending;
use ralph_rules::objection::Objection;
use ralph_rules::record::Ms;
use ralph_rules::state::State;
use ralph_store::{Batch, CommitError, Store, StoreError};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An open breaker, remembered for the workspace until it is reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenBreaker {
    /// The run that opened it; none where a script recorded what did.
    #[serde(default)]
    pub run: Option<String>,
    /// The outcome's name.
    pub reason: String,
    /// Why, in words.
    pub why: String,
    /// When, UTC milliseconds.
    pub at: i64,
    /// The error the last iteration ended with.
    #[serde(default)]
    pub error: Option<String>,
    /// Where the run's prompt came from: a file, or `argument`.
    #[serde(default)]
    pub prompt: String,
    /// What verified the run.
    #[serde(default)]
    pub verify: Vec<String>,
    /// The last call, such as `004.a1`: its output lies in the run's folder.
    #[serde(default)]
    pub call: String,
}

/// A change of the workspace's breaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When, UTC milliseconds.
    pub at: i64,
    /// In which run; none where a person or the clock closed it.
    pub run: Option<String>,
    /// After which iteration.
    pub iteration: Option<u32>,
    /// From this.
    pub from: Breaker,
    /// To this.
    pub to: Breaker,
    /// The objection's code, `reset` or `cooldown`.
    pub code: String,
    /// Why, in words.
    pub why: String,
}

fn open_key(workspace: &str) -> String {
    format!("breaker/{workspace}")
}

fn history_key(workspace: &str) -> String {
    format!("breaker-history/{workspace}")
}

/// What the workspace remembers of this ending, for the commit that holds it.
pub(crate) fn memos(
    store: &dyn Store,
    state: &State,
    ending: Ending,
    reasons: &[Objection],
) -> Vec<(String, Option<String>)> {
    let Some(start) = state.start.as_deref() else { return Vec::new() };
    let mut memos = Vec::new();
    if ending.opens_breaker() {
        let error = state.faults.last.as_ref().map(|f| f.message.clone());
        let open = OpenBreaker {
            run: Some(start.run.clone()),
            reason: ending.name().into(),
            why: reasons.first().map(Objection::say).unwrap_or_default(),
            at: state.at,
            error: error.or_else(|| state.checks.error().map(|e| e.head)),
            prompt: start.prompt_from.clone(),
            verify: start.verify.clone(),
            call: state.calls.id.to_string(),
        };
        memos.push((open_key(&start.workspace), serde_json::to_string(&open).ok()));
    }
    let run = changes_of(state);
    if !run.is_empty() {
        let before = history(store, &start.workspace).unwrap_or_default();
        let before = before.into_iter().filter(|change| change.run.as_deref() != Some(&start.run));
        memos.push(kept(&start.workspace, before.chain(run).collect()));
    }
    memos
}

/// The changes of one run.
pub fn changes_of(state: &State) -> Vec<Change> {
    let run = state.start.as_ref().map(|s| s.run.clone());
    let change = |t: &Transition| Change {
        at: t.at,
        run: run.clone(),
        iteration: Some(t.iteration),
        from: t.from,
        to: t.to,
        code: t.reason.as_ref().map(Objection::code).unwrap_or_default(),
        why: t.reason.as_ref().map(Objection::say).unwrap_or_default(),
    };
    state.circuit.history.iter().map(change).collect()
}

fn kept(workspace: &str, mut all: Vec<Change>) -> (String, Option<String>) {
    let old = all.len().saturating_sub(HISTORY);
    all.drain(..old);
    (history_key(workspace), serde_json::to_string(&all).ok())
}

/// The latest changes, oldest first.
pub fn history(store: &dyn Store, workspace: &str) -> Result<Vec<Change>, StoreError> {
    let memo = store.memo(&history_key(workspace))?;
    Ok(memo.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// The workspace's breaker, where a run left it open.
pub fn open_breaker(store: &dyn Store, workspace: &Path) -> Result<Option<OpenBreaker>, StoreError> {
    let memo = store.memo(&open_key(&workspace.to_string_lossy()))?;
    Ok(memo.and_then(|text| serde_json::from_str(&text).ok()))
}

/// The same, unless its cool-down has passed: then it is closed, and that is written down.
pub(crate) fn still_open(
    store: &dyn Store,
    workspace: &Path,
    cooldown: Option<Ms>,
) -> Result<Option<OpenBreaker>, Unusable> {
    let Some(open) = open_breaker(store, workspace)? else { return Ok(None) };
    if !cooled(&open, cooldown, utc()) {
        return Ok(Some(open));
    }
    close(store, workspace, "cooldown", "its cool-down has passed")?;
    Ok(None)
}

/// An open breaker closes by itself after its cool-down; a clock that was set back prolongs it.
pub fn cooled(open: &OpenBreaker, cooldown: Option<Ms>, now: Ms) -> bool {
    cooldown.is_some_and(|after| now.saturating_sub(open.at) >= after)
}

/// Why the workspace's breaker could not be read or closed.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It cannot be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
}

/// Closes the workspace's breaker; true where it was open.
pub fn reset_breaker(store: &dyn Store, workspace: &Path) -> Result<bool, Unusable> {
    let was_open = open_breaker(store, workspace)?.is_some();
    if was_open {
        close(store, workspace, "reset", "a person reset it")?;
    } else if loop_results(store, workspace)?.count > 0 {
        remember(store, vec![(loops_key(&workspace.to_string_lossy()), None)])?;
    }
    Ok(was_open)
}

fn close(store: &dyn Store, workspace: &Path, code: &str, why: &str) -> Result<(), Unusable> {
    let name = workspace.to_string_lossy();
    let mut all = history(store, &name)?;
    all.push(Change {
        at: utc(),
        run: None,
        iteration: None,
        from: Breaker::Open,
        to: Breaker::Closed,
        code: code.into(),
        why: why.into(),
    });
    remember(store, vec![(open_key(&name), None), (loops_key(&name), None), kept(&name, all)])
}

fn remember(store: &dyn Store, memo: Vec<(String, Option<String>)>) -> Result<(), Unusable> {
    match store.commit(&Batch { memo, now: utc(), ..Batch::default() }) {
        Ok(_) => Ok(()),
        Err(CommitError::Store(error)) => Err(error.into()),
        Err(other) => Err(Unwritable::Conflict(other.to_string()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cool_down_is_waited_for_and_none_never_ends() {
        let open = OpenBreaker { at: 1_000, ..OpenBreaker::default() };
        for (cooldown, now, closes) in [
            (None, i64::MAX, false),
            (Some(500), 1_499, false),
            (Some(500), 1_500, true),
            (Some(0), 1_000, true),
            (Some(500), 0, false),
        ] {
            assert_eq!(cooled(&open, cooldown, now), closes, "{cooldown:?} at {now}");
        }
    }

    #[test]
    fn a_breaker_of_an_older_ralph_is_still_one() {
        let text = r#"{"run":"r","reason":"STALL","why":"no progress","at":5}"#;
        let open: OpenBreaker = serde_json::from_str(text).unwrap();
        assert_eq!((open.reason.as_str(), open.error), ("STALL", None));
    }
}
