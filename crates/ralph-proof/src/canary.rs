//! A canary: tests that must fail, added to a room for runners that are known. If the verification stays green, or does
//! not name them, it could not have noticed a failing test.

use crate::files::Files;

/// Tests that must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    /// Files to write into the room, with their whole content.
    pub files: Vec<(Vec<u8>, Vec<u8>)>,
    /// Their names as the runner shows them; each style of assertion has its own.
    pub names: Vec<String>,
}

impl Canary {
    /// The canary for these commands in a room with these files; `token` makes its names unpredictable. None where no
    /// runner is known.
    pub fn new(_room: &Files<'_>, _commands: &[String], _token: &str) -> Option<Canary> {
        None
    }

    /// The names that this output reports as failed.
    pub fn seen<'a>(&'a self, _output: &str) -> Vec<&'a str> {
        Vec::new()
    }
}
