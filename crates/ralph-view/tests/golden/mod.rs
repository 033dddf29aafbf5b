//! The golden journals of the rules: whole runs to look at.

use ralph_rules::record::{Envelope, Record};
use std::path::Path;

/// The records of a golden journal.
pub fn journal(name: &str) -> Vec<Record> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ralph-rules/tests/journals/4");
    let text = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
    let record = |line| Record::try_from(serde_json::from_str::<Envelope>(line).unwrap()).unwrap();
    text.lines().map(record).collect()
}
