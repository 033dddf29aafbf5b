//! Systems where only containers are run.

use std::fs::File;
use std::path::Path;

use crate::box_stage::{BoxArgs, InitArgs, NOT_BUILT, read_plan, refuse};
use crate::probe::{Attack, NotHeld, Tasks};
use crate::report::{Failure, Line, Reporter};
use crate::{Backend, Plan, container};

const ONLY_LINUX: &str = "sandboxes are built on Linux only";

pub(crate) fn run_box(args: &BoxArgs) -> i32 {
    let report = File::options().write(true).open(format!("/dev/fd/{}", args.outer.report));
    let Ok(report) = report else { return refuse("the report's descriptor cannot be written to") };
    let mut report = Reporter::new(report.into());
    let failure = match read_plan(&args.plan) {
        Ok(plan) => match &plan.backend {
            Backend::Container(it) => return container::run(&plan, it, &args.outer.program, &mut report),
            _ => Failure::sandbox(ONLY_LINUX, 0),
        },
        Err(failure) => failure,
    };
    report.send(&Line::Failed(failure));
    NOT_BUILT
}

pub(crate) fn run_init(_: &InitArgs) -> i32 {
    refuse(ONLY_LINUX)
}

pub(crate) fn try_plan(_: &Path, _: &Plan) -> Result<(Vec<Attack>, Vec<String>), NotHeld> {
    Err(NotHeld::NotBuilt(Failure::sandbox(ONLY_LINUX, 0)))
}

pub(crate) fn attack(_: &Tasks) -> Vec<Attack> {
    Vec::new()
}
