//! Which completion criteria of a skill count as checked by a command: `tables/criteria.txt`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod journal;

use ralph_rules::criteria::{is_checked, not_checked};
use ralph_rules::prompt::{compose, protocol};
use ralph_rules::record::{AgentChoice, Fact, Prompting, Record, RunStarted, Seen, SkillGiven};
use ralph_rules::state::State;

#[test]
fn every_row_of_the_table() {
    let rows = include_str!("tables/criteria.txt")
        .lines()
        .filter(|line| line.contains('|') && !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let [verdict, commands, criterion] = row.splitn(3, '|').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let passed: Vec<&str> =
            commands.split(';').map(str::trim).filter(|command| !command.is_empty()).collect();
        let expected = match verdict.trim() {
            "checked" => true,
            "open" => false,
            other => panic!("{other}"),
        };
        assert_eq!(is_checked(criterion.trim(), &passed), expected, "{row}");
        count += 1;
    }
    assert_eq!(count, 30);
}

fn started(system_prompt: bool) -> RunStarted {
    let skill = SkillGiven {
        name: "tdd".into(),
        text: "Red, green, refactor.".into(),
        criteria: vec!["All tests pass".into()],
        ..SkillGiven::default()
    };
    let given = journal::given();
    let agent = AgentChoice { system_prompt, ..given.agent.clone() };
    RunStarted { agent, skill: Some(skill), ..given }
}

fn state(start: RunStarted) -> State {
    let record = Record { seq: 1, at: 1, ran: 0, fact: Fact::Seen(Seen::RunStarted(Box::new(start))) };
    State::of([&record])
}

#[test]
fn the_method_goes_where_the_protocol_goes_whatever_the_templates_say() {
    for own in [None, Some("Report.")] {
        let templates = own.map(|text| ("protocol.j2".to_owned(), text.to_owned())).into_iter().collect();
        let prompting = Prompting { context: true, templates };
        let with_system = RunStarted { prompting: prompting.clone(), ..started(true) };
        assert!(protocol(&with_system).contains("skill `tdd`:\n\nRed, green, refactor.\n"));
        assert!(!compose(&state(with_system)).contains("Red, green, refactor."));
        let without = RunStarted { prompting, ..started(false) };
        assert!(compose(&state(without)).contains("Red, green, refactor.\n"));
    }
    assert!(!protocol(&journal::given()).contains("skill"));
}

#[test]
fn without_a_verification_every_criterion_is_open() {
    assert_eq!(not_checked(&state(started(true))), ["All tests pass"]);
    assert!(not_checked(&state(journal::given())).is_empty());
}
