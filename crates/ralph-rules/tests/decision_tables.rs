//! Every decision row of the documents ralph comes from, as data in `tables/`: exit logic, status decisions, EXIT_SIGNAL
//! decisions, stuck indicators, thresholds, transitions. Each row names its document; where ralph settles otherwise, the
//! row says so. The presets' own tables are walked by the face's tests, which know the fragments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod journal;
#[path = "tables/read.rs"]
mod read;
#[path = "tables/walk.rs"]
mod walk;

use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;
use walk::walk;

fn strict(text: &str, at_least: usize) {
    let rows = walk(text, &Policy::strict(20, Micro(50_000_000)));
    assert!(rows >= at_least, "only {rows} rows");
}

#[test]
fn the_gate() {
    strict(include_str!("tables/gate.txt"), 24);
}

#[test]
fn ralph_analyzer_skill() {
    strict(include_str!("tables/analyzer_skill.txt"), 22);
}

#[test]
fn response_analyzer_specification() {
    strict(include_str!("tables/response_analyzer.txt"), 12);
}

#[test]
fn ralph_status_reporting() {
    strict(include_str!("tables/status_reporting.txt"), 22);
}

#[test]
fn ralph_loop_wrapper() {
    strict(include_str!("tables/loop_wrapper.txt"), 14);
}

#[test]
fn ralph_architecture() {
    strict(include_str!("tables/architecture.txt"), 16);
}

#[test]
#[should_panic(expected = "expected [\"gate_passed\"]")]
fn a_row_can_fail() {
    walk(
        "document d\nsection s\nrow r\nagent exit=false\nthen gate_passed",
        &Policy::strict(3, Micro(1_000_000)),
    );
}
