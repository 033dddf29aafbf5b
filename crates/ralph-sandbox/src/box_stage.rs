//! The programs `ralph __box PLANFILE REPORTFD|stdin GATEFD CWD PROGRAM [ARG…]`, which the supervisor starts in a program's place,
//! and `ralph __init …`, which bubblewrap starts as the first process inside.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Plan;
use crate::report::Failure;

/// The exit code when a sandbox could not be built; the report says why.
pub const NOT_BUILT: i32 = 125;

/// In place of a descriptor: the report is written to stdin, and the program has none. For processes with several threads, where no
/// descriptor may be inheritable.
pub(crate) const REPORT_ON_STDIN: &str = "stdin";

/// What `__box` is told.
#[derive(Debug)]
pub(crate) struct BoxArgs {
    /// The file with the plan.
    pub plan: PathBuf,
    /// The rest.
    pub outer: OuterArgs,
}

/// What `__init` is told.
#[derive(Debug)]
pub(crate) struct InitArgs {
    /// The open file with the plan.
    pub plan: i32,
    /// Closed when the box is gone.
    pub life: i32,
    /// The program's stdin, stdout and stderr.
    pub stdio: [i32; 3],
    /// The rest, as `__box` got it.
    pub outer: OuterArgs,
}

/// What both are told.
#[derive(Debug)]
pub(crate) struct OuterArgs {
    /// Where the report is written to; 0 is stdin.
    pub report: i32,
    /// Where the gate's listeners are sent.
    pub gate: Option<i32>,
    /// What is run.
    pub program: ProgramArgs,
}

/// The program that runs inside.
#[derive(Debug)]
pub(crate) struct ProgramArgs {
    /// Its working directory.
    pub cwd: PathBuf,
    /// Looked for in PATH.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Runs as the box; `args` are those after `__box`. To be called before anything else in `main`.
#[must_use]
pub fn run_box(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let code = match BoxArgs::parse(&mut args.into_iter()) {
        Some(args) => crate::linux::run_box(&args),
        None => refuse("ralph __box is started by ralph itself and cannot be used by hand"),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Runs as the first process inside bubblewrap; `args` are those after `__init`. To be called before anything else in
/// `main`.
#[must_use]
pub fn run_init(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let code = match InitArgs::parse(&mut args.into_iter()) {
        Some(args) => crate::linux::run_init(&args),
        None => refuse("ralph __init is started by ralph itself and cannot be used by hand"),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

pub(crate) fn refuse(why: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{why}.");
    NOT_BUILT
}

impl BoxArgs {
    fn parse(args: &mut dyn Iterator<Item = OsString>) -> Option<BoxArgs> {
        Some(BoxArgs { plan: args.next()?.into(), outer: OuterArgs::parse(args)? })
    }
}

impl InitArgs {
    fn parse(args: &mut dyn Iterator<Item = OsString>) -> Option<InitArgs> {
        let mut next = || descriptor(&args.next()?);
        let (plan, life, stdio) = (next()?, next()?, [next()?, next()?, next()?]);
        Some(InitArgs { plan, life, stdio, outer: OuterArgs::parse(args)? })
    }
}

impl OuterArgs {
    fn parse(args: &mut dyn Iterator<Item = OsString>) -> Option<OuterArgs> {
        let report = args.next()?;
        let report = if report == REPORT_ON_STDIN { 0 } else { descriptor(&report)? };
        let gate = args.next()?;
        let gate = if gate == "-" { None } else { Some(descriptor(&gate)?) };
        let program = ProgramArgs { cwd: args.next()?.into(), program: args.next()?, args: args.collect() };
        Some(OuterArgs { report, gate, program })
    }
}

/// The standard ones are the program's.
fn descriptor(word: &OsString) -> Option<i32> {
    word.to_str()?.parse().ok().filter(|fd| *fd > 2)
}

/// Reads a plan.
pub(crate) fn read_plan(file: &Path) -> Result<Plan, Failure> {
    let opened = std::fs::File::open(file).map_err(|error| error.to_string());
    let plan = opened.and_then(|mut file| parse_plan(&mut file));
    plan.map_err(|why| Failure::sandbox(format!("plan {}: {why}", file.display()), 0))
}

/// Reads a plan from what is open.
pub(crate) fn parse_plan(from: &mut dyn Read) -> Result<Plan, String> {
    let mut text = Vec::new();
    from.read_to_end(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}
