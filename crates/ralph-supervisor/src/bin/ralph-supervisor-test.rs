//! The supervisor as a program of its own, for this crate's tests; ralph's binary calls `tend` the same way.
//! As `drive SCRIPT` it plays ralph: it supervises a shell and can be killed, to test what happens to the process tree.
//! As `adopt PROGRAM [ARG…]` it keeps the orphans of a program away from the test, which would end them.

use std::io::Write;
use std::process::ExitCode;

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
