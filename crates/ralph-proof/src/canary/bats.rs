//! bats.

use super::commands::Commands;
use super::{Canary, directory, ended, file_name};
use crate::files::Files;
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

static RUNNER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bbats\b"));

const STYLES: [(&str, &str); 3] =
    [("false", "false"), ("equal", "[ 1 = 2 ]"), ("run", "run false\n  [ \"$status\" -eq 0 ]")];

pub fn canary(room: &Files<'_>, commands: &Commands, token: &str) -> Option<Canary> {
    if !RUNNER.is_match(&commands.text) {
        return None;
    }
    let names: Vec<_> = STYLES.iter().map(|(style, _)| format!("ralph_{token}_{style}")).collect();
    let tests =
        STYLES.iter().zip(&names).map(|((_, line), name)| format!("\n@test \"{name}\" {{\n  {line}\n}}\n"));
    let tests: String = tests.collect();
    let file = match commands.named_tests(is_test).next() {
        Some(path) => (path.to_vec(), format!("{}{tests}", ended(&room.text(path)?))),
        None => {
            let beside = *commands.tests(room, is_test).first()?;
            let path = [directory(beside), format!("ralph_{token}.bats").as_bytes()].concat();
            (path, format!("#!/usr/bin/env bats\n{tests}"))
        }
    };
    Some(Canary { files: vec![(file.0, file.1.into_bytes())], names })
}

fn is_test(path: &[u8]) -> bool {
    file_name(path).ends_with(b".bats")
}
