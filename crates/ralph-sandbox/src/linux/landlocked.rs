//! Runs a program under Landlock. Without a pid namespace the box itself stays outside the rules and adopts what the program
//! leaves behind.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, WaitOptions, getpid, wait};

use super::failure::{Step as _, errno_of};
use super::init::{self, release_stdio};
use super::limits::{CountedBy, Limits};
use super::seccomp::{self, Allowed};
use super::stage::Inherited;
use super::{landlock, sys};
use crate::box_stage::{NOT_BUILT, ProgramArgs};
use crate::report::{End, Failure, Line, Reporter, Stage};
use crate::{Network, Plan};

/// Runs the program and stays until everybody below it is dead. Returns the exit code.
pub(super) fn run(plan: &Plan, program: &ProgramArgs, inherited: &mut Inherited) -> Result<i32, Failure> {
    ralph_os::adopt_orphans().step("adopt orphans")?;
    let (limits, notes) = Limits::prepare(plan, CountedBy::Cgroup);
    for note in notes {
        inherited.report.send(&Line::Note(note));
    }
    let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("pipe");
    let ((life, held), (failed, failing)) = (pipe()?, pipe()?);
    let Some(child) = sys::fork().step("fork")? else {
        drop((held, failed));
        let failure = become_program(plan, program, &mut inherited.report, &life);
        inherited.report.send(&Line::Failed(failure));
        // Told apart from an exec, which closes the pipe too.
        let _ = rustix::io::write(&failing, b"!");
        sys::exit_now(NOT_BUILT)
    };
    drop((life, failing));
    release_stdio(&inherited.null);
    let admitted = limits.admit(child).step("limit group");
    if admitted.is_err() || rustix::io::write(&held, b"!").is_err() {
        let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
    }
    if !matches!(rustix::io::read(&failed, &mut [0; 1]), Ok(0)) {
        let _ = init::wait_for(child);
        limits.remove();
        return Ok(NOT_BUILT);
    }
    if admitted.is_ok() {
        inherited.report.send(&Line::Started(1));
    }
    let end = init::wait_for(child);
    let outlived = kill_descendants();
    limits.remove();
    admitted?;
    inherited.report.send(&Line::Ended(end));
    inherited.report.send(&Line::Outlived(outlived));
    Ok(match end {
        End::Code(code) => code,
        End::Signal(signal) => 128 + signal,
    })
}

/// Gives up every right and executes the program; returns only if that failed.
fn become_program(plan: &Plan, program: &ProgramArgs, report: &mut Reporter, life: &OwnedFd) -> Failure {
    let mut prepare = || -> Result<(), Failure> {
        init::die_with_box(life)?;
        init::give_up_rights(plan)?;
        for note in landlock::restrict(plan)? {
            report.send(&Line::Note(note));
        }
        init::wait_until_admitted(life)?;
        seccomp::restrict(Allowed { namespaces: false, internet: plan.network == Network::Open })?;
        let cwd = std::env::set_current_dir(&program.cwd);
        cwd.map_err(|error| Failure { stage: Stage::Cwd, errno: errno_of(&error), detail: String::new() })
    };
    match prepare() {
        Err(failure) => failure,
        Ok(()) => {
            let error = Command::new(&program.program).args(&program.args).exec();
            Failure { stage: Stage::Program, errno: errno_of(&error), detail: String::new() }
        }
    }
}

/// Kills everybody below this process, and counts them.
fn kill_descendants() -> u64 {
    let mut killed: HashSet<Pid> = HashSet::new();
    loop {
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        let left = ralph_os::descendants(getpid());
        if left.is_empty() {
            return u64::try_from(killed.len()).unwrap_or(u64::MAX);
        }
        for process in left {
            // All are descendants of this process and die by its hand alone, so their ids are not given to others.
            if ralph_os::kill_if(process.pid, |_| true) {
                killed.insert(process.pid);
            }
        }
        let _ = wait(WaitOptions::empty());
    }
}
