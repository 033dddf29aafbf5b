//! A canary: tests that must fail, added to a room for runners that are known. If the verification stays green, or does
//! not name them, it could not have noticed a failing test.

mod bats;
mod cargo;
mod commands;
mod go;
mod node;
mod python;
#[cfg(test)]
mod tests;

use crate::failed_tests::failed_tests;
use crate::files::Files;
use commands::Commands;

/// Tests that must fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canary {
    /// Files to write into the room, with their whole content.
    pub files: Vec<(Vec<u8>, Vec<u8>)>,
    /// Their names as the runner shows them; each style of assertion has its own.
    pub names: Vec<String>,
}

impl Canary {
    /// The canary for these commands in a room with these files; `token` makes its names unpredictable. None where no
    /// runner is known.
    pub fn new(room: &Files<'_>, commands: &[String], token: &str) -> Option<Canary> {
        // The token becomes part of identifiers.
        let token: String = token.chars().filter(char::is_ascii_alphanumeric).collect();
        let commands = Commands::read(room, commands);
        let mut canary = Canary::default();
        for runner in [python::canary, cargo::canary, go::canary, node::canary, bats::canary] {
            if let Some(one) = runner(room, &commands, &token) {
                canary.files.extend(one.files);
                canary.names.extend(one.names);
            }
        }
        (!canary.files.is_empty()).then_some(canary)
    }

    /// The names that this output reports as failed.
    pub fn seen<'a>(&'a self, output: &str) -> Vec<&'a str> {
        let failed = failed_tests(output);
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| failed.iter().any(|failed| has_word(failed, name))).collect()
    }
}

/// Whether the name stands in the text, and not as a part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let after = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
        !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Test files that a canary is put beside or into. The first ones of each directory are enough.
const MOST_PLACES: usize = 24;

/// The directory of a path, with its slash.
fn directory(path: &[u8]) -> &[u8] {
    let length = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
    path.get(..length).unwrap_or_default()
}

fn file_name(path: &[u8]) -> &[u8] {
    path.get(directory(path).len()..).unwrap_or_default()
}

/// Whether a path lies among data or other people's code, where no test is collected.
fn is_foreign(path: &[u8]) -> bool {
    const NAMES: [&[u8]; 10] = [
        b"node_modules",
        b"vendor",
        b"third_party",
        b"testdata",
        b"fixtures",
        b"__fixtures__",
        b"__mocks__",
        b"__snapshots__",
        b".venv",
        b"venv",
    ];
    directory(path).split(|byte| *byte == b'/').any(|part| NAMES.contains(&part))
}

/// The text with a line end, ready for more lines.
fn ended(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}
