//! How small and how quick to start.

use crate::floors::spawn;
use crate::stats::p50;
use ralph_testkit::{Limit, Table};
use std::path::Path;

const TIMES: usize = 100;

/// `--version` beside `true`, and the size of the binary.
pub fn measure(binary: &Path, table: &mut Table) {
    // Turn by turn, so that a busy moment meets both.
    let pairs: Vec<(f64, f64)> =
        (0..TIMES).map(|_| (spawn(binary, &["--version"]), spawn("true", &[]))).collect();
    let (ours, floor): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let (ours, floor) = (p50(&ours), p50(&floor));
    table.row("--version, p50, beside `true`", ours, &Limit::Beside(floor), "ms");
    table.row("--version minus `true`", ours - floor, &Limit::Most(2.0), "ms");
    let bytes = std::fs::metadata(binary).unwrap().len();
    table.row("binary", bytes as f64 / 1e6, &Limit::Most(12.0), "MB");
}
