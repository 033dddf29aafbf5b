//! Step Admit: checks that a call may start (disk, store, provider), composes the prompt, walks the workspace, and asks
//! for the reservation in the same commit as the fact. Closes with `Admitted` or `Refused`.

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
use ralph_store::{Store, disk_free};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A walk older than this, such as after a wait, is repeated before the call.
const FRESH: Duration = Duration::from_millis(500);

/// Inputs of the step.
pub struct AdmitRequest<'a> {
    /// The attempt, which also names the reservation.
    pub id: Attempt,
    /// How much to reserve; less if the day has less left.
    pub amount: Micro,
    /// The limits it counts against.
    pub limits: &'a Limits,
    /// The rung of the ladder that will be called.
    pub rung: u32,
    /// Call even if other runs found the provider failing.
    pub anyway: bool,
    /// For a review.
    pub review: bool,
}

/// Result of the step.
pub struct Admission {
    /// The fact.
    pub observation: Observation,
    /// The prompt to send.
    pub prompt: String,
    /// What is left of the day's budget, this call included.
    pub rest: Option<Micro>,
}

/// Checks everything a call needs and reserves its money.
pub fn admit(ctx: &StepContext, store: &dyn Store, state: &State, request: &AdmitRequest<'_>) -> Admission {
    let no =
        |refused| Admission { observation: Seen::Refused(refused).into(), prompt: String::new(), rest: None };
    if let Some((by, what)) = unsafe_now(ctx, store) {
        return no(Refused::unsafe_now(by, what));
    }
    let agent = ctx.start.caller(request.rung, request.review);
    let tries = match provider::ask(store, agent, &ctx.start.run, utc()) {
        Answer::Held(refused) if !request.anyway => return no(refused),
        Answer::Try(limit) if !request.anyway => Some(limit),
        _ => None,
    };
    ctx.trying.store(tries.is_some() || request.anyway, Ordering::Relaxed);
    let now = ctx.walk_before_call(FRESH);
    let Composed { text: prompt, mistake } = match request.review {
        true => {
            let map = state.proof.map().map(|map| ReceiptMap::from(map).markdown()).unwrap_or_default();
            review_for(state, &ctx.start, &Change { diff: ctx.change_text(&now), map })
        }
        false => composed_for(state, &ctx.start),
    };
    let kept = match keep_prompt(ctx, request.id, &prompt) {
        Ok(kept) => kept,
        Err(error) => {
            let what = format!("the prompt cannot be written to {}: {error}", ctx.folder.display());
            return no(Refused::unsafe_now(Refuser::Disk, what));
        }
    };
    let tree = now.id();
    let template_failed = mistake.map(|m| m.to_string());
    let accounts = ctx.ledger_accounts();
    let rest = accounts.rest(store, request.limits);
    let grant = rest.map_or(request.amount, |rest| rest.min(request.amount));
    let day = accounts.day().into();
    let admitted = Admitted { id: request.id, grant, prompt: kept, tree, template_failed, day };
    let mut reserve = ledger::reserve(&accounts, request.id, grant, request.limits);
    reserve.against.extend(tries);
    Admission {
        observation: Observation { reserve: Some(reserve), ..Seen::Admitted(admitted).into() },
        prompt,
        rest,
    }
}

/// A reason why the next records could not be written safely.
fn unsafe_now(ctx: &StepContext, store: &dyn Store) -> Option<(Refuser, String)> {
    if let Err(error) = store.check_in_place() {
        return Some((Refuser::Store, error.to_string()));
    }
    let free = disk_free(&ctx.folder).ok()?;
    (!free.enough()).then(|| {
        let what = format!(
            "the disk of {} is nearly full: {} MB are free, {} MB are needed; free some space and resume",
            ctx.folder.display(),
            free.free / 1_000_000,
            free.needed() / 1_000_000
        );
        (Refuser::Disk, what)
    })
}

fn keep_prompt(ctx: &StepContext, id: Attempt, prompt: &str) -> std::io::Result<FileRef> {
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
