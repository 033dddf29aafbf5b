//! Step Admit: is it safe to begin (disk, store), what does the prompt say, what is the tree before the call; then the
//! reservation is asked for, in the same commit as the fact. Closes with `Admitted` or `Refused`.

use crate::bench::Bench;
use crate::ledger;
use crate::told::Told;
use ralph_rules::money::Micro;
use ralph_rules::prompt::{Composed, composed};
use ralph_rules::record::{Admitted, Attempt, FileRef, Limits, Refused, Refuser, Seen};
use ralph_rules::state::State;
use ralph_store::{Store, disk_free};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// A walk this fresh is the tree before the call; after a wait the workspace is looked at again.
const FRESH: Duration = Duration::from_millis(500);

/// The fact, and the prompt to send.
pub fn admit(
    bench: &Bench,
    store: &dyn Store,
    state: &State,
    id: Attempt,
    amount: Micro,
    limits: &Limits,
) -> (Told, String) {
    if let Some((by, what)) = unsafe_now(bench, store) {
        let refused = Refused { by, total: 0, cap: 0, until: None, what };
        return (Seen::Refused(refused).into(), String::new());
    }
    let Composed { text: prompt, mistake } = composed(state);
    let kept = match keep_prompt(bench, id, &prompt) {
        Ok(kept) => kept,
        Err(error) => {
            let what = format!("the prompt cannot be kept in {}: {error}", bench.folder.display());
            let refused = Refused { by: Refuser::Disk, total: 0, cap: 0, until: None, what };
            return (Seen::Refused(refused).into(), String::new());
        }
    };
    let tree = bench.walked_within(FRESH).id();
    let template_failed = mistake.map(|m| m.to_string());
    let admitted = Admitted { id, grant: amount, prompt: kept, tree, template_failed };
    let reserve = ledger::reserve(&bench.books(), id, amount, limits);
    let told = Told { reserve: Some(reserve), ..Seen::Admitted(admitted).into() };
    (told, prompt)
}

/// What would make the next records unsafe.
fn unsafe_now(bench: &Bench, store: &dyn Store) -> Option<(Refuser, String)> {
    if let Err(error) = store.still_ours() {
        return Some((Refuser::Store, error.to_string()));
    }
    let free = disk_free(&bench.folder).ok()?;
    (!free.enough()).then(|| {
        let what = format!(
            "the disk of {} is nearly full: {} MB are free, {} MB are needed; free some space and resume",
            bench.folder.display(),
            free.free / 1_000_000,
            free.needed() / 1_000_000
        );
        (Refuser::Disk, what)
    })
}

fn keep_prompt(bench: &Bench, id: Attempt, prompt: &str) -> std::io::Result<FileRef> {
    let (name, path) = bench.file(id, "prompt.md");
    let redacted = bench.equipment.redactor.redact(prompt);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(redacted.as_bytes())?;
    Ok(FileRef {
        file: name,
        bytes: redacted.len() as u64,
        hash: blake3::hash(redacted.as_bytes()).to_hex().to_string(),
        cut: 0,
    })
}
