//! The supervisor as a program of its own, for this crate's tests; ralph's binary calls `tend` the same way.
//! As `drive SCRIPT` it plays ralph: it supervises a shell and can be killed, to test what happens to the process tree.
//! As `__box` it stands for a sandbox: it contains nothing but has the processes and reports of one. Its plan says what it does.
//! As `adopt PROGRAM [ARG…]` it keeps the orphans of a program away from the test, which would end them.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ralph_supervisor::{Launch, Sink};

struct Stdout;

impl Sink for Stdout {
    fn stdout(&mut self, chunk: &[u8]) {
        let _ = std::io::stdout().write_all(chunk);
    }
    fn stderr(&mut self, chunk: &[u8]) {
        let _ = std::io::stderr().write_all(chunk);
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(word) if word == "__supervise" => ralph_supervisor::supervise(args),
        Some(word) if word == "drive" => {
            let Ok(me) = std::env::current_exe() else { return ExitCode::FAILURE };
            let mut launch = Launch::new(me, "sh", ".");
            launch.args = std::iter::once("-c".into()).chain(args).collect();
            match ralph_supervisor::start(launch) {
                Ok((_tended, pump)) => {
                    pump.run(&mut Stdout);
                    ExitCode::SUCCESS
                }
                Err(_) => ExitCode::FAILURE,
            }
        }
        Some(word) if word == "adopt" => adopt(args),
        Some(word) if word == "__box" => outer(args.collect()).unwrap_or(ExitCode::FAILURE),
        Some(word) if word == "inner" => inner(&args.collect::<Vec<_>>()).unwrap_or(ExitCode::FAILURE),
        _ => ralph_supervisor::supervise(None),
    }
}

/// Runs a program and stays until all that it leaves has ended.
fn adopt(mut args: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let (Some(program), Ok(())) = (args.next(), ralph_os::adopt_orphans()) else { return ExitCode::FAILURE };
    let started = std::process::Command::new(program).args(args).spawn();
    while rustix::process::wait(rustix::process::WaitOptions::empty()).is_ok() {}
    if started.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `__box PLAN REPORTS GATE CWD PROGRAM [ARG…]`, the outer process. The plan is `run`, `silent` for one that dies at once,
/// `apart FILE` for one whose program a daemon would run, or its report of a failure.
fn outer(args: Vec<OsString>) -> std::io::Result<ExitCode> {
    let [plan, reports, gate, ..] = args.as_slice() else { return Ok(ExitCode::FAILURE) };
    let mut reports = open(reports)?;
    let plan = std::fs::read_to_string(plan)?;
    if plan.starts_with("failed") {
        writeln!(reports, "{plan}")?;
    }
    if gate != "-" {
        // A socket cannot be opened by its number, but a shell writes to it.
        let script = format!("echo listeners >&{}", gate.display());
        Command::new("sh").arg("-c").arg(script).status()?;
    }
    if let Some(file) = plan.strip_prefix("apart ") {
        let asked = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&asked))?;
        writeln!(reports, "started 0")?;
        writeln!(std::io::stdout(), "on")?;
        while !asked.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::fs::write(file, "ended")?;
    }
    if plan == "run" {
        let me = std::env::current_exe()?;
        Command::new(me).arg("inner").args(args).process_group(0).spawn()?.wait()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The first process inside: it outlives a TERM, and tells what became of the program.
fn inner(args: &[OsString]) -> std::io::Result<ExitCode> {
    let [_, reports, _, cwd, program, args @ ..] = args else { return Ok(ExitCode::FAILURE) };
    let mut reports = open(reports)?;
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::new(AtomicBool::new(false)))?;
    ralph_os::adopt_orphans()?;
    match Command::new(program).args(args).current_dir(cwd).process_group(0).spawn() {
        Err(error) => writeln!(reports, "failed program {}", error.raw_os_error().unwrap_or(0))?,
        Ok(mut child) => {
            writeln!(reports, "started\nnote no layer over /a b")?;
            let status = child.wait()?;
            match status.code() {
                Some(code) => writeln!(reports, "ended code {code}")?,
                None => writeln!(reports, "ended signal {}", status.signal().unwrap_or(0))?,
            }
            let left = ralph_os::descendants(rustix::process::getpid());
            for process in &left {
                let _ = rustix::process::kill_process(process.pid, rustix::process::Signal::KILL);
            }
            while rustix::process::wait(rustix::process::WaitOptions::empty()).is_ok() {}
            writeln!(reports, "outlived {}", left.len())?;
        }
    }
    Ok(ExitCode::from(77))
}

fn open(descriptor: &OsString) -> std::io::Result<File> {
    OpenOptions::new().append(true).open(std::path::Path::new("/dev/fd").join(descriptor))
}
