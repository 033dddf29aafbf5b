//! The backend `bwrap`: bubblewrap builds the plan and starts the same first process inside.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{Pid, Signal};

use super::bwrap_args::{Arguments, INIT};
use super::failure::Step as _;
use super::init::release_stdio;
use super::limits::{Limits, counted_in_user_namespace};
use super::stage::Inherited;
use super::sys;
use crate::box_stage::BoxArgs;
use crate::report::{End, Failure, Line};
use crate::{Mount, Plan};

/// Runs the program in bubblewrap and stays until everybody is dead. Returns the exit code.
pub(super) fn run(
    bwrap: &Path,
    plan: &Plan,
    args: &BoxArgs,
    inherited: &mut Inherited,
) -> Result<i32, Failure> {
    let me = std::env::current_exe().step("own program")?;
    let has_layers = plan.mounts.iter().any(|mount| matches!(mount, Mount::Layer { .. }));
    let overlays = has_layers && makes_overlays(bwrap)?;
    let null = inherited.null.try_clone().step("/dev/null")?;
    let (words, arguments) = Arguments::of(plan, &me, overlays, &null)?;
    let (limits, unlimited) = Limits::prepare(plan, counted_in_user_namespace());
    for note in arguments.notes.into_iter().chain(unlimited) {
        inherited.report.send(&Line::Note(note));
    }
    let started = start(bwrap, words, args, inherited);
    let result = match started {
        Ok(mut started) => {
            let code = watch(&mut started, &limits);
            code.and_then(|code| judge(code, &mut started, inherited))
        }
        Err(failure) => Err(failure),
    };
    limits.remove();
    result
}

/// Whether it knows the option. Looked for in the program, because asking it takes as long as building a plan with it.
fn makes_overlays(bwrap: &Path) -> Result<bool, Failure> {
    const OPTION: &[u8] = b"--overlay-src";
    let program = std::fs::read(bwrap).at("read", bwrap)?;
    Ok(program.windows(OPTION.len()).any(|bytes| bytes == OPTION))
}

/// bubblewrap, and the pipes to it and the first process inside.
struct Started {
    bwrap: Child,
    /// Says the first process's pid.
    info: File,
    /// Kept open as long as this process lives.
    life: OwnedFd,
}

fn start(
    bwrap: &Path,
    words: Vec<OsString>,
    args: &BoxArgs,
    inherited: &Inherited,
) -> Result<Started, Failure> {
    let mut passed: Vec<OwnedFd> = Vec::new();
    let mut pass = |fd: OwnedFd| -> Result<OsString, Failure> {
        fcntl_setfd(&fd, FdFlags::empty()).step("descriptors")?;
        let number = fd.as_raw_fd().to_string().into();
        passed.push(fd);
        Ok(number)
    };
    let mut command = Command::new(bwrap);
    command.args(words);
    let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("pipe");
    let ((info, told), (seen, life)) = (pipe()?, pipe()?);
    command.arg("--info-fd").arg(pass(told)?).arg("--").arg(INIT).arg("__init");
    command.arg(pass(File::open(&args.plan).at("plan", &args.plan)?.into())?).arg(pass(seen)?);
    let copy = |fd: std::os::fd::BorrowedFd<'_>| fcntl_dupfd_cloexec(fd, 3).step("descriptors");
    for stream in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        command.arg(pass(copy(stream)?)?);
    }
    command.arg(pass(copy(inherited.report.pipe().as_fd())?)?);
    command.arg(match &inherited.gate {
        Some(gate) => pass(copy(gate.as_fd())?)?,
        None => "-".into(),
    });
    command.arg(&args.outer.program.cwd).arg(&args.outer.program.program).args(&args.outer.program.args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Inherited by bubblewrap, which would end by them; the first process inside sets its own.
    sys::ignore_end_signals();
    let bwrap = command.spawn().at("run", bwrap)?;
    release_stdio(&inherited.null);
    Ok(Started { bwrap, info: info.into(), life })
}

/// Lets the first process go once its limits hold, and waits for bubblewrap. Returns its exit code.
fn watch(started: &mut Started, limits: &Limits) -> Result<i32, Failure> {
    let mut told = String::new();
    let _ = started.info.read_to_string(&mut told);
    let admitted = first_process(&told).map_or(Ok(()), |first| limits.admit(first));
    let go = rustix::io::write(&started.life, b"!");
    if admitted.is_err() || go.is_err() {
        let _ = rustix::process::kill_process(Pid::from_child(&started.bwrap), Signal::KILL);
    }
    let status = started.bwrap.wait().step("wait for bubblewrap")?;
    admitted.step("limit group")?;
    Ok(super::init::code_of(status))
}

/// The number after `"child-pid":`.
fn first_process(info: &str) -> Option<Pid> {
    let number = info.split_once("\"child-pid\":")?.1.trim_start();
    let end = number.find(|it: char| !it.is_ascii_digit()).unwrap_or(number.len());
    Pid::from_raw(number.get(..end)?.parse().ok()?)
}

/// What an exit code of bubblewrap means. It is the first process's, whose own report came before this one and counts.
fn judge(code: i32, started: &mut Started, inherited: &mut Inherited) -> Result<i32, Failure> {
    let mut said = String::new();
    if let Some(stderr) = started.bwrap.stderr.as_mut() {
        let _ = stderr.take(4096).read_to_string(&mut said);
    }
    if code == 1 && !said.is_empty() {
        return Err(Failure::sandbox(said.trim(), 0));
    }
    if code > 128 {
        inherited.report.send(&Line::Ended(End::Signal(code - 128)));
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_is_read_from_what_bubblewrap_says() {
        let info = "{\n    \"child-pid\": 4711,\n    \"ipc-namespace\": 4026532281\n}\n";
        assert_eq!(first_process(info), Pid::from_raw(4711));
        assert_eq!(first_process(""), None);
    }
}
