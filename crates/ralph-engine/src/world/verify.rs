//! Step Verify: runs the user's commands on the workspace as it is, after the agent's processes are dead, then looks at
//! the workspace again. Closes with `Verified`.

use crate::observation::Observation;
use crate::protection;
use crate::sandbox::VerifySandbox;
use crate::step_context::StepContext;
use crate::verification::{BYTECODE, ProgramSearch, Room, Runner, VerifyCommand};
use crate::world::analyze;
use ralph_rules::record::{
    AnalyzerResult, Attempt, Check, CheckOutcome, CheckResult, Ms, PutBack, RoomSeen, SandboxSeen, Seen,
    Verified,
};
use ralph_tree::Index;
use serde_json::Value;
use std::io;

/// Verifies the workspace as it is; `about` is what the user's own checks are told.
pub fn verify(
    ctx: &StepContext,
    check: Check,
    deadline: Ms,
    id: Attempt,
    about: Option<Value>,
) -> Observation {
    let before = ctx.index();
    let mut room = Room::unchanged(&ctx.workspace, ctx.folder.join(BYTECODE));
    let mut results = run_commands(ctx, check, deadline, id, &mut room).unwrap_or_default();
    if check == Check::Baseline {
        let elsewhere = ctx.verify_sandbox.as_ref().is_some_and(VerifySandbox::is_container);
        let path = ctx.deps.places.path.as_deref().filter(|_| !elsewhere);
        let search = ProgramSearch { directory: &ctx.workspace, path };
        for result in &mut results {
            result.missing = search.missing_after(result);
            // A pipeline passes whatever its first program does.
            if result.missing.is_some() && result.how == CheckOutcome::Passed {
                result.how = CheckOutcome::NotRun;
            }
        }
    }
    let analyzers = analyze::asked(ctx, about, &results, id);
    with_analyzers(verified(ctx, check, results, &before, (None, None)), analyzers)
}

fn with_analyzers(observation: Observation, analyzers: Vec<AnalyzerResult>) -> Observation {
    let mut observation = observation;
    if let Seen::Verified(verified) = &mut observation.seen {
        verified.analyzers = analyzers;
    }
    observation
}

/// What the sandbox refused the commands and analyzers of the step.
fn refused(ctx: &StepContext) -> Option<Box<SandboxSeen>> {
    ctx.verify_sandbox.as_ref().and_then(VerifySandbox::take_seen)
}

/// Runs commands for a step of the run.
pub(super) fn runner(ctx: &StepContext, deadline: Ms, id: Attempt) -> Runner<'_> {
    let sandbox = ctx.verify_sandbox.as_ref();
    if let Some(sandbox) = sandbox {
        sandbox.set_places(ctx.read_only_places());
    }
    Runner {
        launch: ctx.launch("sh", id.iteration),
        deadline,
        until: None,
        after_failure: true,
        clock: &ctx.clock,
        redactor: &ctx.deps.redactor,
        under_way: &ctx.under_way,
        sandbox,
        run: Some(&ctx.start.run),
    }
}

/// Runs the run's verify commands in a room; the output of each goes into a file of the run's folder.
pub(super) fn run_commands(
    ctx: &StepContext,
    check: Check,
    deadline: Ms,
    id: Attempt,
    room: &mut Room<'_>,
) -> io::Result<Vec<CheckResult>> {
    let output = |n| Some(ctx.folder.join(file_name(check, id, n)));
    let lines = ctx.commands();
    let numbered = (1..).zip(lines.iter());
    let commands: Vec<_> = numbered.map(|(n, line)| VerifyCommand { line, output: output(n) }).collect();
    runner(ctx, deadline, id).run(&commands, room, &mut |_, _| ())
}

/// The closing fact, with what the commands changed in the workspace.
pub(super) fn verified(
    ctx: &StepContext,
    check: Check,
    results: Vec<CheckResult>,
    before: &Index,
    (oracle, room): (Option<PutBack>, Option<RoomSeen>),
) -> Observation {
    let interrupted = ctx.under_way.interrupted_by().is_some();
    ctx.commands_ended();
    let after = ctx.walk();
    ctx.step_ended_around();
    let violations = protection::found(ctx, before, &after);
    let tree = after.id();
    Seen::Verified(Verified {
        check,
        results,
        interrupted,
        tree,
        violations,
        oracle,
        room,
        analyzers: Vec::new(),
        sandbox: refused(ctx),
    })
    .into()
}

fn file_name(check: Check, id: Attempt, n: u32) -> String {
    match check {
        Check::Baseline if id.iteration == 0 => format!("000.verify{n}.out"),
        Check::Baseline => format!("{id}.story{n}.out"),
        Check::AsIs | Check::InRoom(_) => format!("{id}.verify{n}.out"),
        Check::WithBaselineOracle => format!("{id}.oracle{n}.out"),
    }
}
