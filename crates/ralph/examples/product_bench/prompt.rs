//! ralph's own words around the user's text, in the second iteration after a verification that failed.

use crate::place::{Place, TASK};
use ralph_testkit::{Limit, Table};
use std::path::Path;

const EVIDENCE: &str = "boom 4711";

/// Bytes of the second prompt that are neither the user's nor the verification's.
pub fn measure(binary: &Path, table: &mut Table) {
    let place = Place::new(binary, 20);
    let agent = place.script("agent.sh", "echo \"$RALPH_ITERATION\" > note.txt\n");
    place.finish(place.run(&[], 2, &[&format!("echo {EVIDENCE}; false")], &["bash", &agent]), 2);
    let prompt = std::fs::read_to_string(place.folder().join("002.a1.prompt.md")).unwrap();
    let rest = prompt.strip_prefix(TASK).expect("the user's text comes first");
    assert!(rest.contains(EVIDENCE), "the second prompt shows what failed");
    table.row(
        "own words in the second prompt",
        (rest.len() - EVIDENCE.len()) as f64,
        &Limit::Count(2048.0),
        "bytes",
    );
}
