//! Advice on written tasks (`*` fits every kind or risk) and on real commit subjects of this repository, as data; and that no text makes it panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use proptest::prelude::*;
use ralph_rules::advice::{Level, Reading, Verdict, read, verdict};

/// The paths that are protected by default.
fn protects(path: &str) -> bool {
    let path = path.trim_start_matches("./");
    ["src/auth", "src/payments", "secrets/", ".env"].iter().any(|dir| path.starts_with(dir))
        || path.split('/').any(|part| part == "migrations")
}

fn reading(task: &str) -> Reading {
    read(task, &protects)
}

fn rows(table: &'static str) -> Vec<Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('\t').collect()).collect()
}

#[test]
fn every_written_task_gets_the_advice_of_its_row() {
    let rows = rows(include_str!("tables/advice_tasks.tsv"));
    assert!(rows.len() >= 70, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        let [expected, kind, risk, task] = row[..] else { panic!("{row:?}") };
        let found = reading(&task.replace("\\n", "\n"));
        let known = |expected: &'static str, found: &'static str| if expected == "*" { "*" } else { found };
        let (named, level) = (known(kind, found.kind.name()), known(risk, found.risk.level.name()));
        let said = [verdict(&found, true).name(), named, level];
        if said != [expected, kind, risk] {
            wrong.push(format!("{said:?} instead of {:?}: {task}\n    {found:?}", [expected, kind, risk]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn nothing_critical_is_looped_and_nothing_unverifiable() {
    for row in rows(include_str!("tables/advice_tasks.tsv")) {
        let found = reading(&row[3].replace("\\n", "\n"));
        for verifiable in [true, false] {
            let said = verdict(&found, verifiable);
            assert!(found.risk.level < Level::High || said == Verdict::Person, "{row:?}");
            assert!(verifiable || said != Verdict::Loop, "{row:?}");
        }
    }
}

/// Commits say less than tasks and are never acts: few may be taken for vague, none for dangerous.
#[test]
fn the_subjects_of_real_commits_are_looped() {
    let subjects: Vec<&str> =
        rows(include_str!("tables/advice_subjects.txt")).iter().map(|row| row[0]).collect();
    assert!(subjects.len() >= 60);
    let mut others = Vec::new();
    for subject in &subjects {
        let found = reading(subject);
        assert!(found.risk.level < Level::Critical, "{subject}: {found:?}");
        if verdict(&found, true) != Verdict::Loop {
            others.push(*subject);
        }
    }
    assert!(others.len() * 100 <= subjects.len() * 15, "{others:#?}");
}

/// Labelled subjects of other repositories, which this repository does not hold: a file of `set, verdict, kind,
/// repository, subject`; `any` fits every verdict, kinds are separated by `|`. Prints how many of each set are right.
#[test]
#[ignore = "needs RALPH_SUBJECTS, a file of labelled commit subjects"]
#[allow(clippy::disallowed_methods)] // a measurement, not a rule
fn labelled_subjects_of_other_repositories() {
    let path = std::env::var("RALPH_SUBJECTS").expect("RALPH_SUBJECTS names the file");
    let table = std::fs::read_to_string(path).unwrap();
    let mut sets: std::collections::BTreeMap<&str, [usize; 4]> = std::collections::BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [set, expected, kinds, _, subject] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let found = reading(subject);
        let said = verdict(&found, true).name();
        let right =
            [expected == "any" || expected == said, kinds.split('|').any(|kind| kind == found.kind.name())];
        let count = sets.entry(set).or_default();
        *count = [
            count[0] + 1,
            count[1] + usize::from(right[0]),
            count[2] + usize::from(right[1]),
            count[3] + usize::from(right == [true, true]),
        ];
        if set == "tune" && right != [true, true] {
            println!(
                "{said} {} {} instead of {expected} {kinds}: {subject}",
                found.kind.name(),
                found.risk.level.name()
            );
        }
    }
    for (set, [all, verdicts, kinds, both]) in sets {
        println!("{set}: of {all}, verdict {verdicts}, kind {kinds}, both {both}");
        assert!(both * 100 >= all * 85, "{set}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(task in any::<String>()) {
        reading(&task);
    }

    #[test]
    fn no_text_of_marks_and_phrases_panics(parts in prop::collection::vec(piece(), 0..40)) {
        let task = parts.concat();
        let found = reading(&task);
        prop_assert!(found.risk.level < Level::High || verdict(&found, true) == Verdict::Person);
    }

    /// What stands before an act does not hide it.
    #[test]
    fn an_act_in_a_sentence_of_its_own_is_never_looped(before in "[a-zA-Z ,.;:`\"'()#*-]{0,60}", quoted in any::<bool>()) {
        prop_assume!(!before.contains("```"));
        let task = format!("{before}\n\n{}", if quoted { "Then deploy it to production." } else { "Deploy to production." });
        prop_assert_eq!(verdict(&reading(&task), true), Verdict::Person, "{}", task);
    }
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "`",
        "```\n",
        "~~~",
        "\n",
        "\n\n",
        "- [ ] ",
        "# Task",
        "\"",
        "“",
        "’",
        " ",
        ", ",
        ". ",
        "? ",
        ": ",
        "#",
        "--",
        "*",
        "deploy",
        "in production",
        "do not ",
        "src/auth/",
        "fix",
        "tests",
        " to ",
        " and ",
        "release 2.0",
        "é",
        "\u{feff}",
        "add ",
        "improve",
        "why",
        "(",
        ")",
        "/",
        ".",
        "90 %",
        "the code",
    ];
    prop::sample::select(fixed.to_vec()).prop_map(str::to_owned)
}
