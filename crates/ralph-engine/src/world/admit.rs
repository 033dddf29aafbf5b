//! Step Admit: checks that a call may start (disk, store, provider), composes the prompt, walks the workspace, takes a
//! snapshot of it, and asks for the reservation in the same commit as the fact. The reservation comes last, so that
//! whoever stops or kills ralph before it has spent nothing. Closes with `Admitted` or `Refused`.

use crate::clock::utc;
use crate::ledger;
use crate::observation::Observation;
use crate::provider::{self, Answer};
use crate::receipt::ReceiptMap;
use crate::step_context::StepContext;
use ralph_rules::money::Micro;
use ralph_rules::prompt::{Change, Composed, composed_for, review_for};
use ralph_rules::record::{Admitted, Attempt, FileRef, Limits, Refused, Refuser, Seen};
use ralph_rules::state::State;
use ralph_store::{Limit, Store, disk_free};
use ralph_tree::Index;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A walk older than this, such as after a wait, is repeated before the call.
const FRESH: Duration = Duration::from_millis(500);

/// Inputs of the step.
pub struct AdmitRequest {
    /// The attempt, which also names the reservation.
    pub id: Attempt,
    /// How much to reserve; less if the day has less left.
    pub amount: Micro,
    /// The limits it counts against.
    pub limits: Limits,
    /// The rung of the ladder that will be called.
    pub rung: u32,
    /// Call even if other runs found the provider failing.
    pub anyway: bool,
    /// For a review.
    pub review: bool,
    /// An agent was called in this iteration before.
    pub called: bool,
}

/// A request that nothing in the store speaks against, with what the rest of the step needs of it.
pub struct Checked {
    request: AdmitRequest,
    /// What is left of the day's budget, this call included.
    pub rest: Option<Micro>,
    tries: Option<Limit>,
    text: PromptText,
}

/// The prompt, or what a reviewer's is made from when the files have been walked.
enum PromptText {
    Ready(Composed),
    Review(Box<State>),
}

/// Asks the disk, the store and what is known of the provider.
pub fn checked(
    ctx: &StepContext,
    store: &dyn Store,
    state: &State,
    request: AdmitRequest,
) -> Result<Checked, Refused> {
    if let Some((by, what)) = unsafe_now(ctx, store) {
        return Err(Refused::unsafe_now(by, what));
    }
    let agent = ctx.start.caller(request.rung, request.review);
    let tries = match provider::ask(store, agent, &ctx.start.run, utc()) {
        Answer::Held(refused) if !request.anyway => return Err(refused),
        Answer::Try(limit) if !request.anyway => Some(limit),
        _ => None,
    };
    ctx.trying.store(tries.is_some() || request.anyway, Ordering::Relaxed);
    let rest = ctx.ledger_accounts().rest(store, &request.limits);
    let text = match request.review {
        true => PromptText::Review(Box::new(state.clone())),
        false => PromptText::Ready(composed_for(state, &ctx.start)),
    };
    Ok(Checked { request, rest, tries, text })
}

/// Prepares the call and asks for its money. Also returns the prompt to send.
pub fn admit(ctx: &StepContext, checked: Checked) -> Result<(Observation, String), Refused> {
    let Checked { request, rest, tries, text } = checked;
    let now = ctx.walk_before_call(FRESH);
    let Composed { text: prompt, mistake } = match text {
        PromptText::Ready(composed) => composed,
        PromptText::Review(state) => {
            let map = state.proof.map().map(|map| ReceiptMap::from(map).markdown()).unwrap_or_default();
            review_for(&state, &ctx.start, &Change { diff: ctx.change_text(&now), map })
        }
    };
    let kept = keep_prompt(ctx, request.id, &prompt).map_err(|error| {
        let what = format!("the prompt cannot be written to {}: {error}", ctx.folder.display());
        Refused::unsafe_now(Refuser::Disk, what)
    })?;
    let no_snapshot = if request.review { None } else { save_workspace(ctx, &request, &now)? };
    let grant = rest.map_or(request.amount, |rest| rest.min(request.amount));
    let accounts = ctx.ledger_accounts();
    let admitted = Admitted {
        id: request.id,
        grant,
        prompt: kept,
        tree: now.id(),
        template_failed: mistake.map(|m| m.to_string()),
        day: accounts.day().into(),
        no_snapshot,
    };
    let mut reserve = ledger::reserve(&accounts, request.id, grant, &request.limits);
    reserve.against.extend(tries);
    Ok((Observation { reserve: Some(reserve), ..Seen::Admitted(admitted).into() }, prompt))
}

/// Saves everything that the call may change; the result says why there is no snapshot, if there is none.
fn save_workspace(
    ctx: &StepContext,
    request: &AdmitRequest,
    now: &Arc<Index>,
) -> Result<Option<String>, Refused> {
    let stopped = || ctx.is_interrupted();
    let taken = ctx.snapshots.before(request.id.iteration, request.called, now, &stopped);
    if stopped() {
        return Err(Refused::by_person());
    }
    let no_snapshot = taken.err().map(|error| in_words(&error));
    if let Some(why) = no_snapshot.as_ref().filter(|_| ctx.start.policy.undo_required) {
        let what = format!(
            "no snapshot of the workspace could be taken ({why}), and undo.required is set; fix that and resume"
        );
        return Err(Refused::unsafe_now(Refuser::Disk, what));
    }
    ctx.protection.begin(ctx);
    ctx.begin_baseline();
    if stopped() { Err(Refused::by_person()) } else { Ok(no_snapshot) }
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => error.to_string(),
    }
}

/// A reason why the next records could not be written safely.
fn unsafe_now(ctx: &StepContext, store: &dyn Store) -> Option<(Refuser, String)> {
    if let Err(error) = store.check_in_place() {
        return Some((Refuser::Store, error.to_string()));
    }
    if let Some(what) = ctx.unsaved_output() {
        return Some((Refuser::Disk, what));
    }
    let lack = disk_free(&ctx.folder).ok()?.lack()?;
    let what =
        format!("the disk of {} is nearly full: {lack}; free some space and resume", ctx.folder.display(),);
    Some((Refuser::Disk, what))
}

fn keep_prompt(ctx: &StepContext, id: Attempt, prompt: &str) -> io::Result<FileRef> {
    let (name, path) = ctx.file(id, "prompt.md");
    let redacted = ctx.deps.redactor.redact(prompt);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(redacted.as_bytes())?;
    Ok(FileRef {
        file: name,
        bytes: redacted.len() as u64,
        hash: blake3::hash(redacted.as_bytes()).to_hex().to_string(),
        cut: 0,
    })
}
