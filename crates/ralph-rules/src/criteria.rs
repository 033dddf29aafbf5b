//! Which completion criteria of a skill a verify command checked. Only what is certain counts: a criterion that names a
//! command that passed, or that says nothing but that the tests pass, the linter is content, types are right or it builds,
//! if a command that does this passed. All others are listed in the receipt for a person to look at.

use crate::record::{CheckOutcome, SkillGiven};
use crate::state::State;

/// How a criterion ends that commands with one of these words check.
struct Checked {
    ends: &'static [&'static str],
    words: &'static [&'static str],
}

const TABLE: &[Checked] = &[
    Checked {
        ends: &[
            "tests pass",
            "tests are passing",
            "tests are green",
            "tests succeed",
            "test suite passes",
            "test suite is green",
            "suite passes",
        ],
        words: &[
            "test", "tests", "pytest", "unittest", "jest", "vitest", "mocha", "ava", "rspec", "phpunit",
            "tox", "nox", "ctest", "nextest", "bats",
        ],
    },
    Checked {
        ends: &[
            "linter reports nothing",
            "linter passes",
            "linter is clean",
            "lint passes",
            "lint is clean",
            "no lint errors",
            "no lint warnings",
            "no linter errors",
            "no linter warnings",
        ],
        words: &[
            "lint",
            "clippy",
            "eslint",
            "ruff",
            "flake8",
            "pylint",
            "rubocop",
            "phpstan",
            "stylelint",
            "biome",
            "checkstyle",
            "vet",
        ],
    },
    Checked {
        ends: &["no type errors", "no typescript errors", "type check passes", "types check"],
        words: &["tsc", "mypy", "pyright", "typecheck"],
    },
    Checked {
        ends: &["build passes", "build succeeds", "project builds", "code compiles", "project compiles"],
        words: &["build", "compile"],
    },
];

/// What may stand beside the name of a command that passes.
const PASSES: &[&str] = &[
    "passes", "pass", "succeeds", "runs", "is", "green", "clean", "exits", "exit", "returns", "with", "code",
    "0", "without", "errors", "the", "command",
];

/// The criteria of a run's skill that no command checked; none without a skill.
pub fn not_checked(state: &State) -> Vec<String> {
    let Some(skill) = skill(state) else { return Vec::new() };
    let valid = state.ending.is_none_or(|ending| ending.verified);
    let results = state.checks.last.iter().filter(|_| valid).flat_map(|verified| &verified.results);
    let passed: Vec<&str> =
        results.filter(|r| r.how == CheckOutcome::Passed).map(|r| r.command.as_str()).collect();
    skill.criteria.iter().filter(|criterion| !is_checked(criterion, &passed)).cloned().collect()
}

/// The skill of a run.
pub fn skill(state: &State) -> Option<&SkillGiven> {
    state.start.as_deref()?.skill.as_ref()
}

/// Whether one of these commands, which passed, checks the criterion.
pub fn is_checked(criterion: &str, passed: &[&str]) -> bool {
    passed.iter().any(|command| names(criterion, command)) || is_known(criterion, passed)
}

/// Whether the criterion says that this command passes, and nothing else.
fn names(criterion: &str, command: &str) -> bool {
    let (said, command) = (format!(" {} ", words(criterion)), format!(" {} ", words(command)));
    let Some((before, after)) = said.split_once(&command).filter(|_| command.trim() != "") else {
        return false;
    };
    let mut rest = before.split(' ').chain(after.split(' ')).filter(|word| !word.is_empty());
    rest.all(|word| PASSES.contains(&word))
}

/// Whether the criterion is one of the table, and a command of its row passed. A second condition may be another matter.
fn is_known(criterion: &str, passed: &[&str]) -> bool {
    let bare = words(criterion.split_once('(').map_or(criterion, |(before, _)| before));
    if criterion.contains([',', ';']) || bare.split(' ').any(|word| matches!(word, "and" | "or")) {
        return false;
    }
    TABLE.iter().any(|row| {
        let says = row.ends.iter().any(|end| bare == *end || bare.ends_with(&format!(" {end}")));
        let does = |command: &&str| words(command).split(' ').any(|word| row.words.contains(&word));
        says && passed.iter().any(does)
    })
}

/// The words of a text in lower case, one space apart.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
