//! The first process inside: starts the program, reaps everyone, and reports how it ended.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, WaitStatus, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};

use super::failure::{Step as _, errno_of};
use super::limits::{dump_no_core, limit_processes};
use super::seccomp::{self, Allowed};
use super::stage::Inherited;
use super::{capabilities, landlock, sys};
use crate::box_stage::{NOT_BUILT, ProgramArgs};
use crate::report::{End, Failure, Line, Reporter, Stage};
use crate::{Network, Plan};

/// The program's stdin, stdout and stderr.
#[derive(Debug)]
pub(super) enum ProgramStdio {
    /// This process's own.
    Own,
    /// These.
    These([OwnedFd; 3]),
}

/// Ends when the box ends, whatever the reason.
pub(super) fn die_with_box(life: &OwnedFd) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).step("die with parent")?;
    // It may have died before that: then nobody holds the other end.
    let mut fds = [PollFd::new(life, PollFlags::empty())];
    poll(&mut fds, Some(&rustix::time::Timespec::default())).step("die with parent")?;
    if fds.iter().any(|fd| fd.revents().contains(PollFlags::HUP)) {
        sys::exit_now(NOT_BUILT);
    }
    Ok(())
}

impl ProgramStdio {
    /// How many processes of the box stand above the program: the box, this one, and in between bubblewrap, which passes
    /// the streams on.
    fn levels(&self) -> usize {
        match self {
            ProgramStdio::Own => 2,
            ProgramStdio::These(_) => 3,
        }
    }
}

/// Gives up every right, runs the program and stays until everybody is dead. Returns the exit code.
pub(super) fn run(plan: &Plan, program: &ProgramArgs, stdio: ProgramStdio, inherited: &mut Inherited) -> i32 {
    let levels = stdio.levels();
    match start(plan, program, stdio, inherited) {
        Ok(pid) => {
            inherited.report.send(&Line::Started(levels));
            release_stdio(&inherited.null);
            let end = wait_for(pid);
            inherited.report.send(&Line::Ended(end));
            inherited.report.send(&Line::Outlived(kill_the_rest()));
            match end {
                End::Code(code) => code,
                End::Signal(signal) => 128 + signal,
            }
        }
        Err(failure) => {
            inherited.report.send(&Line::Failed(failure));
            NOT_BUILT
        }
    }
}

/// Listens where the gate is to be reached, before the program could, and gives the sockets to ralph.
fn hand_out_gate(plan: &Plan, inherited: &Inherited) -> Result<(), Failure> {
    let Network::Gate { forward } = &plan.network else { return Ok(()) };
    let Some(gate) = &inherited.gate else {
        return Err(Failure::sandbox("the plan has a gate, but there is no descriptor for it", 0));
    };
    crate::gate::hand_out(gate, forward).map_err(|error| Failure::sandbox(error.to_string(), 0))
}

/// Capabilities, privileges of what is executed, the controlling terminal, core dumps.
pub(super) fn give_up_rights(plan: &Plan) -> Result<(), Failure> {
    // Refused only where it leads a session already.
    let _ = rustix::process::setsid();
    capabilities::drop_all_but(plan.ids).step("capabilities")?;
    rustix::thread::set_no_new_privs(true).step("no new privileges")?;
    dump_no_core().step("limits")
}

/// Until the box has put this process where its limits hold.
pub(super) fn wait_until_admitted(life: &OwnedFd) -> Result<(), Failure> {
    match rustix::io::read(life, &mut [0; 1]) {
        Ok(1) => Ok(()),
        _ => sys::exit_now(NOT_BUILT),
    }
}

fn start(
    plan: &Plan,
    program: &ProgramArgs,
    stdio: ProgramStdio,
    inherited: &mut Inherited,
) -> Result<Pid, Failure> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("undumpable")?;
    hand_out_gate(plan, inherited)?;
    give_up_rights(plan)?;
    if plan.processes > 0 {
        limit_processes(plan.processes).step("limits")?;
    }
    if plan.network == Network::Open && !landlock::scope_abstract_sockets() {
        let note = "abstract sockets: not contained, they need Linux 6.12 with Landlock on or a network of their own";
        inherited.report.send(&Line::Note(note.to_owned()));
    }
    seccomp::restrict(Allowed { namespaces: plan.nested, internet: true })?;
    let failed = |stage, error: &io::Error| Failure { stage, errno: errno_of(error), detail: String::new() };
    std::env::set_current_dir(&program.cwd).map_err(|error| failed(Stage::Cwd, &error))?;
    let mut command = Command::new(&program.program);
    // A group of its own: the common `kill 0` of a script is for itself.
    command.args(&program.args).process_group(0);
    if let ProgramStdio::These([stdin, stdout, stderr]) = stdio {
        command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    }
    let child = command.spawn().map_err(|error| failed(Stage::Program, &error))?;
    Ok(Pid::from_child(&child))
}

/// The reader of the program's streams must see their end when the program is gone, so nobody else may hold them.
pub(super) fn release_stdio(null: &OwnedFd) {
    let _ = rustix::stdio::dup2_stdin(null);
    let _ = rustix::stdio::dup2_stdout(null);
    let _ = rustix::stdio::dup2_stderr(null);
}

/// Reaps everyone until the program has ended.
pub(super) fn wait_for(program: Pid) -> End {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                if let Some(end) = end_of(status) {
                    return end;
                }
            }
            Err(rustix::io::Errno::CHILD) => return End::Signal(libc::SIGKILL),
            _ => {}
        }
    }
}

/// How a process ended, if it has.
pub(super) fn end_of(status: WaitStatus) -> Option<End> {
    status.exit_status().map(End::Code).or_else(|| status.terminating_signal().map(End::Signal))
}

/// The exit code of a child, or 128 and its signal, as shells have it.
pub(super) fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(NOT_BUILT)
}

/// Kills whoever is left, and counts them. Those who had died by themselves are not counted.
fn kill_the_rest() -> u64 {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    let mut killed = 0;
    sys::kill_everyone();
    loop {
        let reaped = match wait(WaitOptions::NOHANG) {
            // Somebody may have been born while the others were killed.
            Ok(None) => {
                sys::kill_everyone();
                wait(WaitOptions::empty())
            }
            other => other,
        };
        match reaped {
            Ok(Some((_, status))) => killed += u64::from(status.terminating_signal() == Some(libc::SIGKILL)),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return killed,
        }
    }
}

/// Whether whoever reads the report is gone.
pub(super) fn nobody_reads(report: &Reporter) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(report.pipe().as_fd(), PollFlags::empty())];
    let _ = poll(&mut fds, Some(&rustix::time::Timespec::default()));
    fds.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}
