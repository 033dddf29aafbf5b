//! The box as a program of its own, for tests; ralph's binary calls the same functions.
//! As `run PLAN CWD PROGRAM [ARG…]` it plays the supervisor: it runs a program as planned, prints the report to stderr as
//! `report: …`, and exits with the program's code, 128 and its signal, or 125 if the sandbox could not be built.
//! As `probe PLAN` it prints what a plan holds here.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, ExitCode};

use ralph_sandbox::report::{End, Line};
use rustix::io::FdFlags;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(|word| word.to_str()) {
        Some("__box") => ralph_sandbox::run_box(args),
        Some("__init") => ralph_sandbox::run_init(args),
        Some("__probe") => ralph_sandbox::run_probe(args),
        Some("probe") => probe(args).unwrap_or_else(|error| say(&error.to_string())),
        Some("run") => run(args).unwrap_or_else(|error| say(&error.to_string())),
        _ => say("usage: ralph-sandbox-test run PLAN CWD PROGRAM [ARG…] | probe PLAN"),
    }
}

fn say(text: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{text}");
    ExitCode::from(2)
}

/// Prints what held, or exits with 125 and the reason.
fn probe(mut args: impl Iterator<Item = OsString>) -> std::io::Result<ExitCode> {
    let Some(plan) = args.next() else { return Ok(say("a plan is missing")) };
    let plan = serde_json::from_slice(&std::fs::read(plan)?)?;
    match ralph_sandbox::probe(&std::env::current_exe()?, &plan) {
        Ok(held) => {
            let promises: Vec<String> = held.promises.iter().map(ToString::to_string).collect();
            writeln!(std::io::stdout(), "held: {}", promises.join(", "))?;
            for note in held.notes {
                writeln!(std::io::stdout(), "note: {note}")?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            writeln!(std::io::stdout(), "not held: {why}")?;
            Ok(ExitCode::from(125))
        }
    }
}

fn run(mut args: impl Iterator<Item = OsString>) -> std::io::Result<ExitCode> {
    let Some(plan) = args.next() else { return Ok(say("a plan is missing")) };
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let (gate, sent) = std::os::unix::net::UnixStream::pair()?;
    for fd in [writer.as_fd(), sent.as_fd()] {
        rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
    }
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("__box")
        .arg(plan)
        .arg(writer.as_raw_fd().to_string())
        .arg(sent.as_raw_fd().to_string())
        .args(args);
    let mut child = command.spawn()?;
    drop((writer, sent));
    let mut code = 125;
    for line in BufReader::new(std::fs::File::from(reader)).lines() {
        let line = line?;
        writeln!(std::io::stderr(), "report: {line}")?;
        match Line::parse(&line) {
            Some(Line::Ended(End::Code(ended))) => code = ended,
            Some(Line::Ended(End::Signal(signal))) => code = 128 + signal,
            _ => {}
        }
    }
    child.wait()?;
    drop(gate);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}
