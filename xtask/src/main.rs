//! The chores, one command each: `cargo xtask test|lint|bench|live|picture|long`. Each installs what it needs and says what it does.

mod agents;
mod bench;
mod lint;
mod live;
mod picture;
mod shell;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test     everything CI checks: format, lints, all tests, simulation, kill matrix, real agents, the demo
cargo xtask lint     format and lints only
cargo xtask bench    the figures, each beside its floor from the same run
cargo xtask live     the tests with real agent CLIs alone; `live all` with those of the long campaigns too
cargo xtask picture  docs/demo.svg, from what `ralph demo` prints
cargo xtask long     long campaigns: 100 million simulated steps, the full kill matrix, more real agents
";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let done = match chore.as_str() {
        "test" => test::test(),
        "lint" => lint::lint(),
        "bench" => bench::bench(),
        "live" if std::env::args().nth(2).as_deref() == Some("all") => live::all(),
        "live" => live::live(agents::Tier::First),
        "picture" => picture::picture(),
        "long" => test::long(),
        _ => {
            shell::say(HELP);
            return ExitCode::from(if matches!(chore.as_str(), "help" | "--help" | "-h") { 0 } else { 64 });
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            shell::say(&format!("\nxtask: {why}\n"));
            ExitCode::FAILURE
        }
    }
}
