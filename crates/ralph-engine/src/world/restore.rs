//! Step Restore: put protected paths back as they were before the step that touched them. What is there now goes into
//! the quarantine first; only the offending paths are touched. Can be repeated: what a crash cut short is simply done
//! again. Closes with `Restored`.

use crate::bench::{BEFORE, Bench};
use crate::clock::utc;
use crate::quarantine::{self, Case};
use crate::told::Told;
use ralph_keep::{Act, Back, Wanted, back};
use ralph_rules::record::{Restored, Seen, Violation};
use ralph_tree::{Index, violations};
use std::io;
use std::path::PathBuf;

/// The fact.
pub fn restore(bench: &Bench, paths: &[Violation], iteration: u32) -> Told {
    let Some(before) = Index::load(&bench.folder.join(BEFORE)) else { return left_alone(bench, paths) };
    let quarantine = match put_back(bench, &before, iteration) {
        Ok(quarantine) => quarantine,
        // What is there could not be put aside, so it is not touched.
        Err(_) => return left_alone(bench, paths),
    };
    let after = bench.walk();
    let still: Vec<String> = violations(&before, &after).iter().map(|v| v.path.to_string()).collect();
    let restored = paths.iter().map(|v| v.path.clone()).filter(|path| !still.contains(path)).collect();
    let quarantine = quarantine.map(|folder| folder.display().to_string());
    Seen::Restored(Restored { restored, left: still, tree: after.id(), quarantine }).into()
}

fn put_back(bench: &Bench, before: &Index, iteration: u32) -> io::Result<Option<PathBuf>> {
    let now = bench.walk();
    let touched = violations(before, &now);
    if touched.is_empty() {
        return Ok(None);
    }
    let taken = bench.snapshots.take_durably(&now)?;
    let case = Case {
        run: bench.start.run.clone(),
        iteration,
        at: utc(),
        workspace: bench.start.workspace.clone(),
        found: Vec::new(),
    };
    let blobs = bench.snapshots.keep().blobs();
    let kept: Vec<_> = touched
        .iter()
        .filter(|v| !taken.missed.iter().any(|missed| missed.path == v.path))
        .cloned()
        .collect();
    let folder = quarantine::put(bench.snapshots.quarantine(), case, &kept, &now, blobs)?;
    let wanted = Wanted { target: before, left: &now, now: &now, newer_too: true };
    let mut plan = back(wanted, blobs);
    plan.acts.retain(|act| kept.iter().any(|v| concerns(act, v.path.as_bytes())));
    Back { acts: plan.acts, ..Back::default() }.apply(&bench.workspace, blobs)?;
    Ok(Some(folder))
}

/// An act on the path itself, or one that removes what stands in its way: a link in the place of a directory above it.
fn concerns(act: &Act, path: &[u8]) -> bool {
    let on = act.path().as_bytes();
    on == path
        || (matches!(act, Act::Remove { .. })
            && path.strip_prefix(on).is_some_and(|rest| rest.starts_with(b"/")))
}

fn left_alone(bench: &Bench, paths: &[Violation]) -> Told {
    let left = paths.iter().map(|v| v.path.clone()).collect();
    Seen::Restored(Restored { restored: Vec::new(), left, tree: bench.index().id(), quarantine: None }).into()
}
