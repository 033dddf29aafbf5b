//! `__box` and `__init` on Linux.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getppid, set_dumpable_behavior,
    set_parent_process_death_signal, waitpid,
};

use super::failure::Step as _;
use super::init::{self, ProgramStdio, end_of, release_stdio};
use super::limits::{Limits, counted_in_namespaces};
use super::namespaces::Born;
use super::stale_work::WorkDirs;
use super::{bwrap, capabilities, landlocked, namespaces, sys};
use crate::box_stage::{BoxArgs, InitArgs, NOT_BUILT, ProgramArgs, parse_plan, read_plan};
use crate::report::{End, Failure, Line, Reporter};
use crate::{Backend, Plan, container};

/// What the box and the first process inside have in common.
pub(super) struct Inherited {
    pub report: Reporter,
    pub gate: Option<OwnedFd>,
    pub null: OwnedFd,
}

impl Inherited {
    /// Takes over the named descriptors and closes all others.
    fn take(report: i32, gate: Option<i32>, more: &[i32]) -> Result<Inherited, Failure> {
        let named: Vec<i32> = [report].into_iter().chain(gate).chain(more.iter().copied()).collect();
        sys::close_others(&named).step("inherited descriptors")?;
        let null = File::options().read(true).write(true).open("/dev/null").step("/dev/null")?.into();
        let report = if report == 0 { taken_from_stdin(&null) } else { sys::inherited(report) };
        let report = Reporter::new(report.step("report descriptor")?);
        let gate = gate.map(sys::inherited).transpose().step("gate descriptor")?;
        Ok(Inherited { report, gate, null })
    }
}

/// What stdin is, which is empty from then on.
fn taken_from_stdin(null: &OwnedFd) -> std::io::Result<OwnedFd> {
    let taken = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    rustix::stdio::dup2_stdin(null)?;
    Ok(taken)
}

/// Builds the plan, starts the first process inside and stays until it is dead.
pub(crate) fn run_box(args: &BoxArgs) -> i32 {
    let parent = getppid();
    sys::take_signals();
    let mut inherited = match Inherited::take(args.outer.report, args.outer.gate, &[]) {
        Ok(inherited) => inherited,
        Err(failure) => return crate::box_stage::refuse(&failure.to_string()),
    };
    let plan = read_plan(&args.plan);
    let bound = match &plan {
        // Its box has to remove the container when its parent is gone.
        Ok(Plan { backend: Backend::Container(_), .. }) => Ok(()),
        _ => set_parent_process_death_signal(Some(Signal::KILL)).step("die with parent"),
    };
    // The supervisor may have died before that.
    if getppid() != parent || init::nobody_reads(&inherited.report) {
        return NOT_BUILT;
    }
    let started = bound.and(plan).and_then(|plan| start(&plan, args, &mut inherited));
    match started {
        Ok(code) => code,
        Err(failure) => {
            inherited.report.send(&Line::Failed(failure));
            NOT_BUILT
        }
    }
}

fn start(plan: &Plan, args: &BoxArgs, inherited: &mut Inherited) -> Result<i32, Failure> {
    // What the supervisor passes on is for this process alone: bubblewrap refuses to begin with capabilities.
    capabilities::pass_on_none().step("capabilities")?;
    match &plan.backend {
        Backend::Namespaces => in_namespaces(plan, &args.outer.program, inherited),
        Backend::Landlock => landlocked::run(plan, &args.outer.program, inherited),
        Backend::Bwrap(program) => bwrap::run(program, plan, args, inherited),
        Backend::Container(it) => Ok(container::run(plan, it, &args.outer.program, &mut inherited.report)),
    }
}

fn in_namespaces(plan: &Plan, program: &ProgramArgs, inherited: &mut Inherited) -> Result<i32, Failure> {
    let (limits, unlimited) = Limits::prepare(plan, counted_in_namespaces());
    for note in unlimited {
        inherited.report.send(&Line::Note(note));
    }
    let work_dirs = WorkDirs::of(plan);
    let forked = fork_first(plan, program, inherited);
    let (first, held) = match forked {
        Ok(forked) => forked,
        Err(failure) => {
            limits.remove();
            return Err(failure);
        }
    };
    inherited.gate = None;
    release_stdio(&inherited.null);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // While the first process builds the plan: moving a process takes the kernel milliseconds.
    let admitted = limits.admit(first);
    if rustix::io::write(&held, b"!").is_err() || admitted.is_err() {
        let _ = rustix::process::kill_process(first, Signal::KILL);
    }
    work_dirs.clean();
    let end = loop {
        match waitpid(Some(first), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                if let Some(end) = end_of(status) {
                    break end;
                }
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break End::Signal(libc::SIGKILL),
        }
    };
    limits.remove();
    admitted.step("limit group")?;
    match end {
        End::Code(code) => Ok(code),
        // Everybody inside dies with the first process; usually the kernel killed it for want of memory.
        End::Signal(signal) => {
            inherited.report.send(&Line::Ended(End::Signal(signal)));
            Ok(128 + signal)
        }
    }
}

/// Forks the first process of the pid namespace; also returns what must be held as long as it lives.
fn fork_first(
    plan: &Plan,
    program: &ProgramArgs,
    inherited: &mut Inherited,
) -> Result<(Pid, OwnedFd), Failure> {
    let (life, held) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("pipe")?;
    let born = namespaces::before_fork(plan)?;
    match sys::fork().step("fork")? {
        Some(first) => Ok((first, held)),
        None => {
            drop(held);
            sys::exit_now(first_process(plan, program, inherited, &life, born))
        }
    }
}

/// As the first process of the pid namespace.
fn first_process(
    plan: &Plan,
    program: &ProgramArgs,
    inherited: &mut Inherited,
    life: &OwnedFd,
    born: Born,
) -> i32 {
    let mut ready = || -> Result<(), Failure> {
        init::die_with_box(life)?;
        for note in namespaces::enter(plan, born)? {
            inherited.report.send(&Line::Note(note));
        }
        // A user namespace may have taken it away.
        init::die_with_box(life)?;
        init::wait_until_admitted(life)
    };
    match ready() {
        Ok(()) => init::run(plan, program, ProgramStdio::Own, inherited),
        Err(failure) => {
            inherited.report.send(&Line::Failed(failure));
            NOT_BUILT
        }
    }
}

/// Runs as the first process inside bubblewrap.
pub(crate) fn run_init(args: &InitArgs) -> i32 {
    sys::take_signals();
    let outer = &args.outer;
    let [stdin, stdout, stderr] = args.stdio;
    let mut inherited =
        match Inherited::take(outer.report, outer.gate, &[args.plan, args.life, stdin, stdout, stderr]) {
            Ok(inherited) => inherited,
            Err(failure) => return crate::box_stage::refuse(&failure.to_string()),
        };
    let ready = || -> Result<(Plan, [OwnedFd; 3]), Failure> {
        let own = |fd: i32| sys::inherited(fd).step("inherited descriptor");
        let (life, mut plan) = (own(args.life)?, File::from(own(args.plan)?));
        init::die_with_box(&life)?;
        init::wait_until_admitted(&life)?;
        let plan = parse_plan(&mut plan).map_err(|why| Failure::sandbox(format!("plan: {why}"), 0))?;
        Ok((plan, [own(stdin)?, own(stdout)?, own(stderr)?]))
    };
    match ready() {
        Ok((plan, stdio)) => init::run(&plan, &outer.program, ProgramStdio::These(stdio), &mut inherited),
        Err(failure) => {
            inherited.report.send(&Line::Failed(failure));
            NOT_BUILT
        }
    }
}
