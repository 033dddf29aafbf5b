//! The second half of a proof: the same commands on the same work with the baseline's oracle put back, at the
//! workspace's own path where the system permits it. Closes with `Verified` like any verification.

use super::verify::{BYTECODE, Site, file_name, run};
use crate::observation::Observation;
use crate::oracle::view::Shown;
use crate::oracle::{copy, diff, of_run};
use crate::step_context::StepContext;
use ralph_rules::record::{Attempt, Check, CheckOutcome, CheckResult, FileRef, Ms, PutBack, Seen, Verified};
use std::io;
use std::path::PathBuf;

/// Where the view's own files lie in the run's folder.
const VIEW: &str = "view";

/// The fact.
pub fn prove(ctx: &StepContext, deadline: Ms, id: Attempt) -> Observation {
    let now = ctx.walk();
    let changed = of_run::changed_now(ctx, &now);
    let dir = ctx.folder.join(VIEW);
    let redactor = &ctx.deps.redactor;
    let (shown, diff) = {
        let base = ctx.oracle();
        let sources = of_run::sources(ctx);
        let none =
            || Err(io::Error::new(io::ErrorKind::NotFound, "the baseline's tests are not kept any more"));
        let shown = base.as_ref().map_or_else(none, |base| Shown::of(&changed, base, sources));
        (shown, base.as_ref().map_or_else(String::new, |base| diff::diff(&changed, base, sources)))
    };
    let mut contained = "layer";
    let results = match shown.map(|shown| (shown.layer(&ctx.workspace, &dir).map(Site::Layer), shown)) {
        Ok((site, shown)) => {
            let mut place = Place { ctx, shown: &shown, dir: &dir, site };
            let results = place.commands(deadline, id);
            contained = place.name();
            results
        }
        Err(why) => ctx.start.verify.iter().map(|command| not_run(command, &why)).collect(),
    };
    // What a crash or a stubborn test leaves behind is removed before the next view is made.
    let _ = copy::remove(&dir);
    let _ = copy::remove(&dir.with_file_name(format!("{VIEW}.{BYTECODE}")));
    let interrupted = ctx.under_way.interrupted_by().is_some();
    let after = ctx.walk();
    let files = changed.iter().map(|one| redactor.redact(&one.to_string()).into_owned()).collect();
    let diff = redactor.redact(&diff).into_owned();
    let oracle = Some(PutBack { contained: contained.into(), files, diff });
    let violations = crate::protection::found(ctx, &now, &after);
    let check = Check::WithBaselineOracle;
    Seen::Verified(Verified { check, results, interrupted, tree: after.id(), violations, oracle }).into()
}

/// Where the commands are run.
struct Place<'a> {
    ctx: &'a StepContext,
    shown: &'a Shown,
    dir: &'a PathBuf,
    site: io::Result<Site>,
}

impl Place<'_> {
    fn name(&self) -> &'static str {
        if matches!(self.site, Ok(Site::Layer(_))) { "layer" } else { "copy" }
    }

    fn commands(&mut self, deadline: Ms, id: Attempt) -> Vec<CheckResult> {
        let mut results = Vec::new();
        for (n, command) in (1..).zip(&self.ctx.start.verify) {
            if self.ctx.under_way.interrupted_by().is_some() {
                break;
            }
            results.push(self.command(
                command,
                deadline,
                &file_name(Check::WithBaselineOracle, id, n),
                id.iteration,
            ));
        }
        results
    }

    fn command(&mut self, command: &str, deadline: Ms, file: &str, iteration: u32) -> CheckResult {
        if self.site.is_err() {
            self.copy();
        }
        for _ in 0..2 {
            let site = match &self.site {
                Ok(site) => site,
                Err(why) => return not_run(command, why),
            };
            match run(self.ctx, command, deadline, file, iteration, site) {
                Some(result) => return result,
                // No view for this user: the copy serves, at another path.
                None => self.copy(),
            }
        }
        not_run(command, &io::Error::other("neither a view nor a copy of the workspace could be had"))
    }

    fn copy(&mut self) {
        self.site = self.shown.copy(&self.ctx.workspace, self.dir).map(Site::Copy);
    }
}

fn not_run(command: &str, why: &io::Error) -> CheckResult {
    CheckResult {
        command: command.into(),
        how: CheckOutcome::NotRun,
        exit: None,
        ms: 0,
        tail: format!("the baseline's tests could not be put back: {why}"),
        output: FileRef::default(),
        counts: None,
    }
}
