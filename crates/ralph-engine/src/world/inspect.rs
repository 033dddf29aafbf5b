//! Step Inspect: examines the workspace after a call: protected paths, then changes, then the plan. Git runs only if
//! commits were made (`protection.rs`). Closes with `Inspected`.

use crate::bound_files;
use crate::observation::Observation;
use crate::protection;
use crate::step_context::StepContext;
use crate::story_plan::StoryPlan;
use ralph_rules::record::{Inspected, ObeyedChange, Seen};
use ralph_sandbox::policy::is_obeyed;
use ralph_tree::{Entry, Index, Kind, TreePath, changes, git_facts, side_by_side, way};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Most file names kept in the record.
const NAMES: usize = 100;

/// Inspects the workspace.
pub fn inspect(ctx: &StepContext) -> Observation {
    let before = ctx.index();
    ctx.commands_ended();
    let after = ctx.walk();
    ctx.step_ended_around();
    let changed = changes(&before, &after);
    let facts = git_facts(&ctx.workspace);
    let redactor = &ctx.deps.redactor;
    Seen::Inspected(Inspected {
        tree: after.id(),
        files: u32::try_from(changed.len()).unwrap_or(u32::MAX),
        changed: changed.paths().take(NAMES).map(|p| redactor.redact(&p.to_string()).into_owned()).collect(),
        test_only: changed.only_tests(),
        violations: protection::found(ctx, &before, &after),
        head: facts.head,
        commits: facts.recent.iter().map(|c| redactor.redact(c).into_owned()).collect(),
        oracle: Vec::new(),
        marker: marker(ctx),
        plan: ctx.start.plan.as_ref().map(|given| bound_files::seen(given, redactor)),
        obeyed: obeyed(ctx, &before, &after),
    })
    .into()
}

/// What changed of the settings by which other programs run something. A walk has no files that git ignores.
fn obeyed(ctx: &StepContext, before: &Index, after: &Index) -> Vec<ObeyedChange> {
    let is_file = |entry: &Entry<'_>| entry.kind != Kind::Directory;
    let linked: BTreeSet<Vec<u8>> =
        [before, after].into_iter().flat_map(|index| linked(ctx, index)).collect();
    let is_in = |path: &[u8]| {
        path.split_inclusive(|byte| *byte == b'/')
            .scan(0, |at, part| {
                *at += part.len();
                Some(*at)
            })
            .any(|end| {
                path.get(..end).is_some_and(|dir| linked.contains(dir.strip_suffix(b"/").unwrap_or(dir)))
            })
    };
    let change = |(old, new): (Option<Entry<'_>>, Option<Entry<'_>>)| {
        let (old, new) = (old.filter(is_file), new.filter(is_file));
        let path = new.or(old).map(|entry| entry.path).filter(|path| is_obeyed(path) || is_in(path))?;
        let same = old.map(|it| (it.kind, it.hash)) == new.map(|it| (it.kind, it.hash));
        let path = ctx.deps.redactor.redact(&TreePath::from(path).to_string()).into_owned();
        (!same).then_some(ObeyedChange { path, gone: new.is_none() })
    };
    side_by_side(before, after).filter_map(change).take(NAMES).collect()
}

/// What such settings lead to in the workspace, where they are links.
fn linked(ctx: &StepContext, index: &Index) -> Vec<Vec<u8>> {
    let links = index.entries().filter(|entry| entry.kind == Kind::Symlink && is_obeyed(entry.path));
    let ends = links.filter_map(|entry| way(&ctx.workspace.join(OsStr::from_bytes(entry.path))).pop());
    let inside =
        ends.filter_map(|end| Some(end.strip_prefix(&ctx.workspace).ok()?.as_os_str().as_bytes().to_vec()));
    inside.filter(|path| !path.is_empty()).collect()
}

/// Whether the marker file exists and changed during the run: a marker left by an earlier run does not count.
fn marker(ctx: &StepContext) -> bool {
    let file = ctx.start.policy.gate.marker_file.as_deref();
    let now = file.and_then(|file| bound_files::marker(&ctx.workspace, file));
    let of_story = ctx.stories.as_ref().and_then(StoryPlan::marker);
    now.is_some() && now != of_story.unwrap_or_else(|| ctx.start.marker_before.clone())
}
