//! `ralph run` and `ralph analyze` judge the same messages alike: every row of the decision tables that needs neither a
//! verification nor the files is fed to both. The presets' own tables are compared by the binary's tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "tables/analyzed.rs"]
mod analyzed;
mod journal;
#[path = "tables/read.rs"]
mod read;
#[path = "tables/walk.rs"]
mod walk;

use analyzed::{FILES, agrees};
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;

fn strict(text: &str, differ: &[(&str, &str)], at_least: usize) {
    let rows = agrees(text, &Policy::strict(20, Micro(50_000_000)), differ);
    assert!(rows >= at_least, "only {rows} rows");
}

#[test]
fn the_gate() {
    let cut_short = ("… one that is cut short while it works does not", "only a run sees that files changed");
    let exit =
        ("an agent that says nothing of it and ends with a failing exit", "only a run sees how it exited");
    strict(include_str!("tables/gate.txt"), &[cut_short, exit], 22);
}

#[test]
fn ralph_analyzer_skill() {
    strict(include_str!("tables/analyzer_skill.txt"), &[], 30);
}

#[test]
fn response_analyzer_specification() {
    strict(include_str!("tables/response_analyzer.txt"), &[], 15);
}

#[test]
fn ralph_status_reporting() {
    strict(include_str!("tables/status_reporting.txt"), &[], 17);
}

#[test]
fn ralph_loop_wrapper() {
    let differ = [
        ("5 consecutive iterations with zero progress: STALL", FILES),
        ("5 consecutive iterations with zero progress, escalating: one more with another approach", FILES),
        ("5 iterations with zero progress by ralph's own numbers", FILES),
        ("Stall detected: STALL", FILES),
    ];
    strict(include_str!("tables/loop_wrapper.txt"), &differ, 8);
}

#[test]
fn ralph_architecture() {
    strict(include_str!("tables/architecture.txt"), &[], 15);
}

#[test]
#[should_panic(expected = "analyze (left) and run (right) differ")]
fn a_row_can_differ() {
    strict("document d\nsection s\nrow r\nagent files=0 times=4\nthen STALL", &[], 0);
}
