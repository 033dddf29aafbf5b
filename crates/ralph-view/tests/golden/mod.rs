//! The golden journals of the rules: whole runs to look at.

use ralph_rules::record::{Envelope, Record};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ralph-rules/tests/journals/4")
}

fn read(path: &Path) -> Vec<Record> {
    let record = |line| Record::try_from(serde_json::from_str::<Envelope>(line).unwrap()).unwrap();
    std::fs::read_to_string(path).unwrap().lines().map(record).collect()
}

/// The records of a golden journal.
#[allow(dead_code)] // not every test program looks at a single one
pub fn journal(name: &str) -> Vec<Record> {
    read(&folder().join(format!("{name}.jsonl")))
}

/// Every golden journal.
#[allow(dead_code)]
pub fn journals() -> Vec<Vec<Record>> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).map(|path| read(&path)).collect()
}
