//! Steps of a proof that run commands: in a room made of the baseline and chosen changes, or in the workspace with the
//! baseline's tests. Both close with `Verified`.

use super::compare::names_of_changes;
use super::verify::{run_commands, runner, verified};
use crate::observation::Observation;
use crate::proof::{RoomResult, RoomRun, token};
use crate::step_context::StepContext;
use crate::verification::{Room, not_run};
use ralph_rules::record::{Attempt, Check, CheckResult, Ms, PutBack, RoomSeen, RoomSets};
use std::collections::BTreeMap;
use std::io;

/// Name of the directory of the workspace's view in the run's folder.
const VIEW: &str = "view";

/// Verifies in a room; `again` if it was tried before.
pub fn in_room(ctx: &StepContext, (sets, again): (RoomSets, bool), deadline: Ms, id: Attempt) -> Observation {
    let check = Check::InRoom(sets);
    let compared = ctx.index();
    let now = ctx.walk();
    let result = ctx.comparison(&now).and_then(|comparison| {
        ctx.with_site(&now, |site| {
            let run = RoomRun {
                sets,
                replaced: BTreeMap::new(),
                again,
                setup: &ctx.start.setup,
                dir: &ctx.rooms,
                output: &|n| Some(ctx.folder.join(file_name(sets, id, n))),
                token: &token(),
            };
            let around = ctx.look_around();
            let mut result = run.run(site, &comparison, &runner(ctx, deadline, id), &mut |_| ())?;
            result.seen.rewritten.extend(ctx.rewritten_around(around.as_ref(), (site, &comparison)));
            Ok(result)
        })
    });
    let RoomResult { results, seen } = result.unwrap_or_else(|| Err(lost())).unwrap_or_else(|why| {
        let why = format!("the room could not be made: {why}");
        let seen = RoomSeen { problem: Some(why.clone()), ..RoomSeen::default() };
        RoomResult { results: none_ran(ctx, &why), seen }
    });
    let clean = |text: String| ctx.deps.redactor.redact(&text).into_owned();
    let rewritten = seen.rewritten.into_iter().map(clean).collect();
    let changed_since = names_of_changes(ctx, &compared, &now);
    let seen = RoomSeen { rewritten, problem: seen.problem.map(clean), changed_since, ..seen };
    verified(ctx, check, results, &now, (None, Some(seen)))
}

/// Verifies the workspace with the baseline's tests.
pub fn with_baseline_oracle(ctx: &StepContext, deadline: Ms, id: Attempt) -> Observation {
    let check = Check::WithBaselineOracle;
    let now = ctx.walk();
    let dir = ctx.folder.join(VIEW);
    let outcome = ctx.comparison(&now).and_then(|comparison| {
        ctx.with_site(&now, |site| -> io::Result<(Vec<CheckResult>, PutBack)> {
            let replacements = comparison.baseline_oracle(site)?.hiding(ctx.own_dir.as_ref());
            let mut room = Room::with_replacements(&ctx.workspace, &replacements, &dir)?;
            let results = run_commands(ctx, check, deadline, id, &mut room)?;
            let put_back = comparison.put_back(room.kind(), &ctx.deps.redactor);
            Ok((results, put_back))
        })
    });
    let (results, put_back) = outcome.unwrap_or_else(|| Err(lost())).unwrap_or_else(|why| {
        (none_ran(ctx, &format!("the tests before the run could not be restored: {why}")), PutBack::default())
    });
    verified(ctx, check, results, &now, (Some(put_back), None))
}

fn lost() -> io::Error {
    io::Error::other("what was kept of the files before the run is gone")
}

fn none_ran(ctx: &StepContext, why: &str) -> Vec<CheckResult> {
    ctx.commands().iter().map(|command| not_run(command, why)).collect()
}

/// `001.a1.room-work-oracle.1.out`
fn file_name(sets: RoomSets, id: Attempt, n: usize) -> String {
    let names = [
        (sets.work, "-work"),
        (sets.ambiguous, "-ambiguous"),
        (sets.oracle, "-oracle"),
        (sets.canary, "-canary"),
    ];
    let names: String = names.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
    format!("{id}.room{names}.{n}.out")
}
