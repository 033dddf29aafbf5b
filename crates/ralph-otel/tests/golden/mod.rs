//! The golden journals of the rules, of every number of the rules: whole runs to look at.
#![allow(dead_code)] // each test uses its own part

use ralph_rules::record::{Envelope, Record};
use std::path::{Path, PathBuf};

/// Every golden journal, with its name.
pub fn journals() -> Vec<(String, Vec<Record>)> {
    let mut files: Vec<PathBuf> = folders().iter().flat_map(|folder| entries(folder)).collect();
    files.sort();
    let name = |path: &Path| {
        let parts = [path.parent().unwrap().file_name(), path.file_stem()];
        parts.map(|part| part.unwrap().to_str().unwrap().to_string()).join("/")
    };
    files.iter().map(|path| (name(path), read(&std::fs::read_to_string(path).unwrap()))).collect()
}

/// One of them, such as `6/rate_limit`.
pub fn journal(name: &str) -> Vec<Record> {
    let found = journals().into_iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no journal {name}")).1
}

/// The records of JSON lines.
pub fn read(lines: &str) -> Vec<Record> {
    let record = |line| Record::try_from(serde_json::from_str::<Envelope>(line).unwrap()).unwrap();
    lines.lines().map(record).collect()
}

fn folders() -> Vec<PathBuf> {
    entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../ralph-rules/tests/journals"))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
