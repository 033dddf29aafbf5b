//! The product's figures, each beside its limit and a floor from the same run: machines differ and are shared, so
//! compare within one table. Runs the release binary as a user would, in a scratch place of its own.
//!
//! `cargo build --release -p ralph && cargo run --release -p ralph --example product_bench`
//! `RALPH_BIN` names another binary; `RALPH_BENCH_LONG=1` takes 1,000 iterations instead of 200 (10,000 instead of 2,000
//! for what grows), and a million files.
//! Times are only reported. Counts are the same on every machine: one over its limit is a failure.
//! Where other programs keep the machine busy, `chrt -f 10` before it (as root) tells ralph's time from theirs.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod analyze;
mod counts;
mod floors;
mod gap;
mod growth;
mod output;
mod place;
mod prompt;
mod sizes;
mod start;
mod stats;
mod talk;

use ralph_testkit::Table;
use std::process::ExitCode;

fn main() -> ExitCode {
    let binary = place::binary();
    println!("{}", binary.display());
    let mut table = Table::start();
    start::measure(&binary, &mut table);
    gap::measure(&binary, &mut table);
    counts::measure(&binary, &mut table);
    growth::measure(&binary, &mut table);
    output::measure(&binary, &mut table);
    prompt::measure(&binary, &mut table);
    analyze::measure(&binary, &mut table);
    sizes::measure(&binary, &mut table);
    if table.counts_hold() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
