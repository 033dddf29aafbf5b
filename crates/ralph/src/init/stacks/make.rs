//! Make and just: only the targets that are there.

use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;

const TEST: [&str; 4] = ["test", "tests", "check", "ci"];
const LINT: [&str; 3] = ["lint", "clippy", "vet"];
const BUILD: [&str; 2] = ["build", "all"];

/// A makefile.
pub fn make(look: &Look) -> Option<Found> {
    let by = look.first(&["GNUmakefile", "makefile", "Makefile"])?;
    Some(found(Stack::Make, by, "make", &targets(&look.text(by), false)))
}

/// A justfile.
pub fn just(look: &Look) -> Option<Found> {
    let by = look.first(&["justfile", "Justfile", ".justfile", "JUSTFILE"])?;
    Some(found(Stack::Just, by, "just", &targets(&look.text(by), true)))
}

fn found(stack: Stack, by: &str, tool: &str, targets: &[String]) -> Found {
    let first = |names: &[&str]| {
        let name = names.iter().find(|name| targets.iter().any(|target| target == *name));
        name.map(|name| format!("{tool} {name}"))
    };
    Found::new(stack, by)
        .check(Use::Test, first(&TEST))
        .check(Use::Lint, first(&LINT))
        .check(Use::Build, first(&BUILD))
}

/// The names at the start of `name …:` lines. An assignment is none, neither is a recipe that wants arguments.
fn targets(text: &str, recipes: bool) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with([' ', '\t', '#', '.', '[']));
    let heads = lines.filter_map(|line| {
        let (head, rest) = line.split_once(':')?;
        let assigned = rest.starts_with('=') || rest.starts_with(":=") || head.contains(['=', '$', '"']);
        (!assigned).then_some(head)
    });
    let names = heads.flat_map(|head| {
        let words: Vec<&str> = head.split_whitespace().collect();
        match recipes {
            true if words.len() == 1 => words.iter().map(|w| w.trim_start_matches('@').to_string()).collect(),
            true => Vec::new(),
            false => words.iter().map(ToString::to_string).collect::<Vec<String>>(),
        }
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_targets_count() {
        let make = "CC := gcc\ntest = 1\n.PHONY: check\nall build: x\n\techo test:\nlint:\n\ttrue\nX::=2\n";
        assert_eq!(targets(make, false), ["all", "build", "lint"]);
        let just = "set shell := [\"sh\"]\nversion := \"1\"\n@test:\n  true\nrelease tag:\n  true\n# lint:\nlint: test\n";
        assert_eq!(targets(just, true), ["test", "lint"]);
    }
}
