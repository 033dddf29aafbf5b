//! Step Admit: is it safe to begin (disk, store, provider), what does the prompt say, what is the tree before the call;
//! then the reservation is asked for, in the same commit as the fact. Closes with `Admitted` or `Refused`.

use crate::clock::utc;
use crate::ledger;
use crate::observation::Observation;
use crate::oracle::of_run;
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
pub struct Order<'a> {
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
pub struct Said {
    /// The fact.
    pub observation: Observation,
    /// The prompt to send.
    pub prompt: String,
    /// What the day has left for all runs, this call included.
    pub rest: Option<Micro>,
}

/// Looks at everything that must be so before a call, and asks for its money.
pub fn admit(ctx: &StepContext, store: &dyn Store, state: &State, order: &Order<'_>) -> Said {
    let no = |refused| Said { observation: Seen::Refused(refused).into(), prompt: String::new(), rest: None };
    if let Some((by, what)) = unsafe_now(ctx, store) {
        return no(Refused::unsafe_now(by, what));
    }
    let agent = ctx.start.rung(order.rung);
    let tries = match provider::ask(store, agent, &ctx.start.run, utc()) {
        Answer::Held(refused) if !order.anyway => return no(refused),
        Answer::Try(limit) if !order.anyway => Some(limit),
        _ => None,
    };
    ctx.trying.store(tries.is_some() || order.anyway, Ordering::Relaxed);
    let Composed { text: prompt, mistake } = composed_for(state, &ctx.start);
    let kept = match keep_prompt(ctx, order.id, &prompt) {
        Ok(kept) => kept,
        Err(error) => {
            let what = format!("the prompt cannot be kept in {}: {error}", ctx.folder.display());
            return no(Refused::unsafe_now(Refuser::Disk, what));
        }
    };
    let before = ctx.index();
    let now = ctx.walked_within(FRESH);
    of_run::user_changed(ctx, &before, &now);
    let tree = now.id();
    let template_failed = mistake.map(|m| m.to_string());
    let books = ctx.books();
    let rest = books.rest(store, order.limits);
    let grant = rest.map_or(order.amount, |rest| rest.min(order.amount));
    let day = books.day().into();
    let admitted = Admitted { id: order.id, grant, prompt: kept, tree, template_failed, day };
    let mut reserve = ledger::reserve(&books, order.id, grant, order.limits);
    reserve.against.extend(tries);
    Said {
        observation: Observation { reserve: Some(reserve), ..Seen::Admitted(admitted).into() },
        prompt,
        rest,
    }
}

/// What would make the next records unsafe.
fn unsafe_now(ctx: &StepContext, store: &dyn Store) -> Option<(Refuser, String)> {
    if let Err(error) = store.still_ours() {
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
