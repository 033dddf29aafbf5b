//! The scripted agent as a program of its own, for tests that have no `ralph` binary at hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ralph_sim::main(std::env::args_os().skip(1), &|name| std::env::var_os(name)))
}
