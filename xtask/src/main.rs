//! The chores, one command each: `cargo xtask test|lint|bench|browser|live|picture|long`. Each installs what it needs, says what
//! it does, and ends with the time of every stage and the counts of the tests.

mod agents;
mod bench;
mod browser;
mod deny;
mod lint;
mod live;
mod picture;
mod shell;
mod summary;
mod tally;
mod test;

use std::process::ExitCode;
use summary::Summary;

const HELP: &str = "\
cargo xtask test     everything CI checks: format, lints, dependencies, all tests, simulation, kill matrix, real agents, the demo
cargo xtask lint     format, lints and dependencies only
cargo xtask bench    the figures, each beside its floor from the same run
cargo xtask browser  the tests of the page alone, in Chromium
cargo xtask live     the tests with real agent CLIs alone; `live all` with those of the long campaigns too
cargo xtask picture  docs/demo.svg, from what `ralph demo` prints
cargo xtask long     long campaigns: 100 million simulated steps, the full kill matrix, every control of the
                     sandbox's attacks, more real agents
";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let mut summary = Summary::new(Box::new(std::io::stdout()), Box::new(std::io::stderr()));
    let done = match chore.as_str() {
        "test" => test::test(&mut summary),
        "lint" => lint::lint(&mut summary),
        "bench" => bench::bench(&mut summary),
        "live" if std::env::args().nth(2).as_deref() == Some("all") => live::all(&mut summary),
        "live" => live::live(&mut summary, agents::Tier::First),
        "browser" => test::browser(&mut summary),
        "picture" => picture::picture(),
        "long" => test::long(&mut summary),
        _ => {
            shell::say(HELP);
            return ExitCode::from(if matches!(chore.as_str(), "help" | "--help" | "-h") { 0 } else { 64 });
        }
    };
    if let Err(why) = &done {
        shell::say(&format!("\nxtask: {why}\n"));
    }
    // Last, so that the counts are the last line whatever happened.
    summary.print();
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
