//! What all runs know about a provider, kept in the store: written in the same commit as the fact it follows from, read
//! before a call is admitted. While a provider fails, no run calls it; after its back-off one run tries, and the others
//! wait for the result (`ralph_rules::provider` has the rules).

use ralph_rules::failure::{Fault, Reaction};
use ralph_rules::policy::MINUTE;
use ralph_rules::provider::Provider;
use ralph_rules::record::{AgentChoice, CallEnded, Failure, Ms, Refused, Refuser, Seen};
use ralph_rules::state::State;
use ralph_store::{Limit, Store};
use std::collections::BTreeMap;

/// A run that tries has this long to show a sign of life; then another may try.
const TRIES: Ms = 2 * MINUTE;
/// The windows' names by which one run at a time tries.
pub(crate) const TRY: &str = "try/";

/// Whether a provider may be called.
#[derive(Debug)]
pub enum Answer {
    /// Yes.
    Free,
    /// It failed and its back-off is over: reserve this with the call, so that one run at a time tries.
    Try(Limit),
    /// Not yet.
    Held(Refused),
}

/// Whether this run may call its provider now.
pub fn ask(store: &dyn Store, agent: &AgentChoice, run: &str, now: Ms) -> Answer {
    let Some(known) = known(store, agent) else { return Answer::Free };
    match known.holds(run, now) {
        Some(until) => Answer::Held(refused(&known, until, run)),
        None => {
            let meter = format!("{TRY}{}#{}", key(agent), known.fails);
            Answer::Try(Limit::Window { meter, span: TRIES, cap: Some(1), add: 1 })
        }
    }
}

/// Another run tries just now.
pub(crate) fn tried_elsewhere(store: &dyn Store, state: &State, now: Ms) -> Option<Refused> {
    let start = state.start.as_deref()?;
    let known = known(store, state.caller(start))?;
    Some(refused(&known, Provider::look_again(&start.run, now), &start.run))
}

/// What a fact says of the provider, for the commit that holds it. `state` has the fact applied.
pub(crate) fn memos(store: &dyn Store, state: &State, seen: &Seen) -> Vec<(String, Option<String>)> {
    let Some(start) = state.start.as_deref() else { return Vec::new() };
    // A review that closed is no longer under way.
    let review = match seen {
        Seen::CallEnded(call) => state.reviews.made.last().filter(|review| review.id == call.id),
        _ => None,
    };
    let agent = start.caller(state.ladder.rung, review.is_some() || state.reviews.under_way());
    let admitted_at = review.map_or(state.calls.admitted_at, |review| review.admitted_at);
    let before = match seen {
        Seen::Spent(_) | Seen::CallEnded(_) => known(store, agent),
        _ => return Vec::new(),
    };
    let after = match seen {
        Seen::CallEnded(call) if says_nothing(call) => return Vec::new(),
        Seen::CallEnded(call) => call.failure.as_ref().and_then(|failure| {
            let Failure { class, message, reset_at } = failure.clone();
            let fault = Fault { class, message, reset_at, at: state.at, ran: state.ran };
            Provider::failed(before.as_ref(), &fault, &start.run)
        }),
        _ => None,
    };
    match (before, after) {
        (None, None) => Vec::new(),
        (_, Some(after)) => vec![(key(agent), serde_json::to_string(&after).ok())],
        // A call from before the failure proves nothing about a limit that was named since.
        (Some(before), None) if before.at > admitted_at && before.promised => Vec::new(),
        (Some(_), None) => vec![(key(agent), None)],
    }
}

/// What is known of an agent's provider; none while it works.
pub fn known(store: &dyn Store, agent: &AgentChoice) -> Option<Provider> {
    let memo = store.memo(&key(agent)).ok().flatten()?;
    serde_json::from_str(&memo).ok()
}

/// A call that crashed, or that ralph ended, does not say whether the provider works.
fn says_nothing(call: &CallEnded) -> bool {
    call.ended_by.is_some() || call.failure.as_ref().is_some_and(|f| f.class.reaction() == Reaction::Pause)
}

fn refused(known: &Provider, until: Ms, run: &str) -> Refused {
    let message = known.message.trim();
    let what = match known.run == run {
        true => message.to_string(),
        false => {
            let other = known.run.get(known.run.len().saturating_sub(8)..).unwrap_or(&known.run);
            format!("met by run {other}: {message}")
        }
    };
    let class = Some(known.class);
    Refused { by: Refuser::Provider, total: 0, cap: 0, until: Some(until), what, class }
}

/// One provider is one agent with one account, as far as the account shows.
fn key(agent: &AgentChoice) -> String {
    match agent.account.as_str() {
        "" => format!("provider/{}", agent.name),
        account => format!("provider/{}/{account}", agent.name),
    }
}

/// A short name for the account that these variables speak of; the keys themselves cannot be read from it. Two
/// terminals with different keys, addresses or logins are two accounts, and one's limit is not the other's.
pub fn account(program: Option<&str>, variables: impl IntoIterator<Item = (String, String)>) -> String {
    let tells = |name: &str| {
        ["_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN", "_BASE_URL", "_API_BASE"]
            .iter()
            .any(|end| name.ends_with(end))
            || ["HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"].contains(&name)
    };
    let settings: BTreeMap<String, String> = variables.into_iter().filter(|(name, _)| tells(name)).collect();
    let mut hash = blake3::Hasher::new();
    for (name, value) in
        settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).chain(program.map(|p| ("", p)))
    {
        hash.update(name.as_bytes()).update(&[0]).update(value.as_bytes()).update(&[0]);
    }
    hash.finalize().to_hex().chars().take(8).collect()
}
