//! Step Admit: is it safe to begin (disk, store, provider), what does the prompt say, what is the tree before the call;
//! then the reservation is asked for, in the same commit as the fact. Closes with `Admitted` or `Refused`.

use crate::clock::utc;
use crate::ledger;
use crate::observation::Observation;
use crate::oracle::run_oracle;
use crate::provider::{self, Answer};
use crate::step_context::StepContext;
use ralph_rules::money::Micro;
use ralph_rules::prompt::{Composed, composed_for};
use ralph_rules::record::{Admitted, Attempt, FileRef, Limits, Refused, Refuser, Seen};
use ralph_rules::state::State;
use ralph_store::{Store, disk_free};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A walk this fresh is the tree before the call; after a wait the workspace is looked at again.
const FRESH: Duration = Duration::from_millis(500);

/// What is asked for.
pub struct AdmitRequest<'a> {
    /// Reservation and attempt.
    pub id: Attempt,
    /// How much to reserve; less where the day has less left.
    pub amount: Micro,
    /// Against what.
    pub limits: &'a Limits,
    /// Which rung of the ladder will be called.
    pub rung: u32,
    /// Whatever other runs know of the provider.
    pub anyway: bool,
}

/// What is said of it.
pub struct Admission {
    /// The fact.
    pub observation: Observation,
    /// The prompt to send.
    pub prompt: String,
    /// What the day has left for all runs, this call included.
    pub rest: Option<Micro>,
}

/// Looks at everything that must be so before a call, and asks for its money.
pub fn admit(ctx: &StepContext, store: &dyn Store, state: &State, request: &AdmitRequest<'_>) -> Admission {
    let no =
        |refused| Admission { observation: Seen::Refused(refused).into(), prompt: String::new(), rest: None };
    if let Some((by, what)) = unsafe_now(ctx, store) {
        return no(Refused::unsafe_now(by, what));
    }
    let agent = ctx.start.rung(request.rung);
    let tries = match provider::ask(store, agent, &ctx.start.run, utc()) {
        Answer::Held(refused) if !request.anyway => return no(refused),
        Answer::Try(limit) if !request.anyway => Some(limit),
        _ => None,
    };
    ctx.trying.store(tries.is_some() || request.anyway, Ordering::Relaxed);
    let Composed { text: prompt, mistake } = composed_for(state, &ctx.start);
    let kept = match keep_prompt(ctx, request.id, &prompt) {
        Ok(kept) => kept,
        Err(error) => {
            let what = format!("the prompt cannot be kept in {}: {error}", ctx.folder.display());
            return no(Refused::unsafe_now(Refuser::Disk, what));
        }
    };
    let before = ctx.index();
    let now = ctx.walked_within(FRESH);
    run_oracle::user_changed(ctx, &before, &now);
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

/// What would make the next records unsafe.
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
