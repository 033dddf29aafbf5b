//! The words for facts, numbers and receipts.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod golden;

use golden::journal;
use ralph_engine::outcome::{last_ending, outcome};
use ralph_rules::ending::{Ending, Reason};
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use ralph_rules::record::{Asked, Record};
use ralph_rules::record::{CallEnded, Fact, Inspected, PriceFrom, Request, Seen};
use ralph_rules::state::State;
use ralph_view::call_receipts::{self, call_receipts};
use ralph_view::explanation::{explanation, with_grounds};
use ralph_view::fact_text::{ago, clock_time, fact_words, money, seconds};
use ralph_view::run_receipt::receipt;
use ralph_view::style::Style;

fn seen<T>(name: &str, pick: impl Fn(&Seen) -> Option<T>) -> T {
    let found = journal(name).iter().find_map(|record| match &record.fact {
        Fact::Seen(seen) => pick(seen),
        Fact::Decided(_) => None,
    });
    found.unwrap()
}

fn call() -> CallEnded {
    let call = seen("completed_in_3", |seen| match seen {
        Seen::CallEnded(call) => Some((**call).clone()),
        _ => None,
    });
    CallEnded { ms: 600, charged: Micro(500_000), price: PriceFrom::Reported, ..call }
}

fn inspected() -> Inspected {
    seen("completed_in_3", |seen| match seen {
        Seen::Inspected(inspected) => Some(inspected.clone()),
        _ => None,
    })
}

#[test]
fn a_call_says_how_long_it_took_and_what_it_cost() {
    let table = [
        (call(), vec!["agent finished in 0.6s, $0.50"]),
        (
            CallEnded { price: PriceFrom::Computed, ..call() },
            vec!["agent finished in 0.6s, $0.50 (computed from tokens)"],
        ),
        (
            CallEnded { price: PriceFrom::Unpriced, ..call() },
            vec!["agent finished in 0.6s, cost unknown, counted as the $0.50 estimate"],
        ),
        (
            CallEnded { price: PriceFrom::Unpriced, model: Some("gpt-0".into()), ..call() },
            vec![
                "agent finished in 0.6s, cost unknown, counted as the $0.50 estimate",
                "the price of `gpt-0` is not known: set it in your config.toml, [prices.\"gpt-0\"]",
            ],
        ),
        (
            CallEnded { outlived: 2, denials: vec!["Bash".into(), "Web\x07".into()], ..call() },
            vec![
                "agent finished in 0.6s, $0.50",
                "2 leftover processes stopped",
                "permission denied: Bash, Web\\u{7}",
            ],
        ),
    ];
    for (call, words) in table {
        assert_eq!(fact_words(&Seen::CallEnded(Box::new(call))), words);
    }
}

#[test]
fn changed_files_are_counted_and_the_first_named() {
    let names = |n: usize| (1..=n).map(|n| format!("{n}.rs")).collect::<Vec<_>>();
    let table = [
        (0, "no files changed"),
        (1, "1 file changed: 1.rs"),
        (2, "2 files changed: 1.rs, 2.rs"),
        (7, "7 files changed: 1.rs, 2.rs, 3.rs, 4.rs, 5.rs, 6.rs, …"),
    ];
    for (files, words) in table {
        let fact = Inspected {
            files,
            changed: names(files as usize),
            obeyed: Vec::new(),
            plan: None,
            violations: Vec::new(),
            ..inspected()
        };
        assert_eq!(fact_words(&Seen::Inspected(fact)), [words]);
    }
}

#[test]
fn requests_are_named_as_a_person_made_them() {
    let table = [
        (Request::Stop { after: true, signal: 2 }, "a person asked to stop after this iteration"),
        (Request::Stop { after: false, signal: 2 }, "a person asked to stop"),
        (Request::Pause, "a person asked to pause"),
        (Request::Continue, "a person asked to continue"),
        (Request::Hint { text: "try a\nloop".into() }, "hint from a person: try a loop"),
    ];
    for (request, words) in table {
        assert_eq!(fact_words(&Seen::Asked(Asked { request })), [words]);
    }
}

#[test]
fn numbers_have_the_units_people_use() {
    let times = [(0, "0.0s"), (9_999, "9.9s"), (59_000, "59s"), (185_000, "3m05s"), (3_720_000, "1h02m")];
    for (ms, words) in times {
        assert_eq!(seconds(ms), words);
    }
    let agos = [(59_999, "just now"), (300_000, "5m ago"), (7_200_000, "2h ago"), (172_800_000, "2d ago")];
    for (ms, words) in agos {
        assert_eq!(ago(ms), words);
    }
    assert_eq!((money(1_500_000, true), money(1_500_000, false)), ("$1.50".into(), "~$1.50".into()));
    assert_eq!(clock_time(1_794_700_800_000, "no such zone"), clock_time(1_794_700_800_000, "UTC"));
}

fn closing(records: &[Record]) -> String {
    let state = State::of(records);
    let (ending, reasons) = last_ending(records).unwrap();
    receipt(&outcome(&state, ending, reasons), &state, Style::default())
}

#[test]
fn a_receipt_says_how_it_ended_and_what_to_type_next() {
    let table = [
        ("completed_in_3", "COMPLETED, proven", ""),
        (
            "unverified",
            "COMPLETED, unverified",
            "no verify command: completion cannot be verified (add --verify)",
        ),
        ("stall", "STOPPED: STALL", "allow new runs here, once the cause is fixed"),
        ("stall", "STOPPED: STALL", "ralph logs 567890ab -i 4            what the agent did last"),
        ("stall", "STOPPED: STALL", "ralph resume 567890ab --hint \"…\""),
        ("blocked", "STOPPED: BLOCKED", "answer the agent, and continue"),
        ("budget", "STOPPED: COST_LIMIT", "continue, with twice the limit"),
        ("prohibited_path", "STOPPED: PROHIBITED_PATH", "see the agent's version of the protected paths"),
    ];
    for (name, first, next) in table {
        let text = closing(&journal(name));
        assert_eq!(text.lines().next(), Some(first), "{name}");
        assert!(text.contains(next), "{name}: {next:?} is not in:\n{text}");
        assert!(
            text.contains("  sandbox     none\n") && text.contains("why each decision was made"),
            "{text}"
        );
    }
}

/// The receipt of a run of Claude Code that ended when its first call had failed with this class.
fn failed_with(class: Class, reason: Reason) -> String {
    let mut records = journal("rate_limit");
    let failed = records.iter().position(|record| matches!(record.fact, Fact::Seen(Seen::CallEnded(_))));
    records.truncate(failed.unwrap() + 1);
    for record in &mut records {
        match &mut record.fact {
            Fact::Seen(Seen::RunStarted(start)) => start.agent.name = "claude".into(),
            Fact::Seen(Seen::CallEnded(call)) => call.failure.as_mut().unwrap().class = class,
            _ => {}
        }
    }
    let state = State::of(&records);
    receipt(&outcome(&state, Ending::new(reason, true), &[]), &state, Style::default())
}

#[test]
fn after_a_limit_the_time_to_come_back_is_named_and_after_a_missing_login_the_command() {
    let limited = failed_with(Class::UsageLimit, Reason::RateLimit);
    assert!(limited.contains("continue at 01:0"), "{limited}");
    assert!(!limited.contains("log in"), "{limited}");
    let login = failed_with(Class::Auth, Reason::AgentUnavailable);
    let (log_in, resume) = (login.find("log in to Claude Code"), login.find("then continue from here"));
    assert!(login.contains("  claude   ") && log_in.is_some() && log_in < resume, "{login}");
}

#[test]
fn the_receipts_of_calls_add_up() {
    let records = journal("completed_in_3");
    let start = State::of(&records).start.unwrap();
    let receipts = call_receipts(&records, &start, &[]);
    let table = call_receipts::table(&receipts, Style::default());
    assert_eq!(receipts.len(), 3);
    assert!(table.contains("CHARGED") && table.contains("all calls"), "{table}");
    assert_eq!(call_receipts::table(&[], Style::default()), "");
}

#[test]
fn an_explanation_begins_with_how_it_ended() {
    let first = |records: &[Record], alive| {
        explanation(records, alive, Style::default()).lines().next().map(str::to_owned)
    };
    let records = journal("completed_in_3");
    let (half, _) = records.split_at(records.len() / 2);
    assert!(first(&records, false).unwrap().starts_with("COMPLETED, proven, after 3 iterations: "));
    assert!(first(half, true).unwrap().starts_with("RUNNING: "));
    assert!(first(half, false).unwrap().starts_with("CRASHED after "));
    let text = explanation(&records, false, Style::default());
    assert!(text.contains("\nIteration 3\n") && text.contains("  → call the agent, iteration 1\n"), "{text}");
    let explained = with_grounds(&records);
    assert_eq!(explained.len(), records.len());
    assert!(explained.iter().any(|record| record.grounds.is_some()));
}
