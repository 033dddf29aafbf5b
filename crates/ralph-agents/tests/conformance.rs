//! The suite as a whole: every agent shows the cases that can be shown with it, each read right (`captures.rs` checks
//! the reading), and the table in `docs/agents.md` is what the suite says. `RALPH_BLESS=1` writes the table.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::disallowed_methods)] // tests read files

mod support;

use ralph_agents::registry::{AGENTS, find};
use ralph_agents::{Abilities, AgentInfo, ReaderEvent};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use support::{captures, recorded};

/// What a recorded call may show, in the order of the table.
const CASES: &[&str] = &[
    "success",
    "edit",
    "commit",
    "cost",
    "resume",
    "big_output",
    "denial",
    "auth",
    "no_credentials",
    "billing",
    "rate_limited",
    "usage_limit",
    "outage",
    "overloaded",
    "network",
    "context_too_long",
    "bad_request",
    "bad_flag",
    "refusal",
    "truncated",
    "cut",
    "garbage",
    "empty",
    "max_turns",
    "budget",
    "background",
    "interrupted",
    "killed",
];

/// Without these an adapter is not proven at all.
const NEEDED: &[&str] = &["success", "auth"];

const PERMISSIONS: &str = "\n## What each may do without asking\n\n\
    The arguments that ralph gives it by default. Your own arguments after `--`, or `agents.NAME.args` in ralph.toml, \
    replace them.\n\n| `--agent` | it may | arguments |\n|---|---|---|\n";

const FOOTPRINT: &str = "\n## Credentials, files and hosts\n\n\
    `ralph doctor` looks whether one of the credentials exists; it never reads them. Files are relative to your home \
    directory. Hosts are those a default installation contacts for its model and its login; your own configuration may \
    name others.\n\n| `--agent` | credentials: variables, files | settings and state | hosts |\n|---|---|---|---|\n";

/// Agents that run as programs of their own, so that there is something to record.
fn native() -> Vec<&'static str> {
    AGENTS.iter().filter(|info| info.program.is_some()).map(|info| info.name).collect()
}

fn shown() -> BTreeMap<&'static str, BTreeMap<String, u32>> {
    let mut all = BTreeMap::new();
    for agent in recorded() {
        let cases: &mut BTreeMap<String, u32> = all.entry(agent).or_default();
        for case in captures(agent).into_iter().filter_map(|capture| capture.case) {
            assert!(CASES.contains(&case.as_str()), "{agent}: no case is called {case}");
            *cases.entry(case).or_default() += 1;
        }
    }
    all
}

#[test]
fn every_agent_was_recorded_in_the_cases_that_matter_most() {
    let shown = shown();
    for agent in native() {
        let cases = shown.get(agent).unwrap_or_else(|| panic!("{agent} was never recorded"));
        for case in NEEDED {
            assert!(cases.contains_key(*case), "{agent} shows no {case}");
        }
    }
}

#[test]
fn what_an_agent_cannot_report_it_never_does() {
    for agent in recorded() {
        let can = find(agent).unwrap().abilities;
        for capture in captures(agent) {
            let (events, reply) = capture.read();
            if !can.cost {
                assert_eq!(reply.cost, None, "{agent}: {}", capture.file);
            }
            if !can.live_usage {
                let live = events.iter().any(|event| matches!(event, ReaderEvent::Spent(_)));
                assert!(!live || reply.finished, "{agent}: usage before the end in {}", capture.file);
            }
        }
    }
}

#[test]
fn the_table_in_the_docs_is_what_the_suite_shows() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let table = table();
    if std::env::var_os("RALPH_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == table, "docs/agents.md is not what the suite shows; RALPH_BLESS=1 writes it anew");
}

fn table() -> String {
    let mut text = String::from(
        "# Agents\n\nMade by the conformance suite (`cargo test -p ralph-agents --test conformance`); do not edit.\n\n\
         ## What each can report\n\n",
    );
    abilities(&mut text);
    text.push_str(
        "\n*Usage while it works*: ralph ends a call that would pass the budget. Without it the bound is one call, and the\n\
         banner and the receipt say so. *Cost*: in dollars, by the agent itself; else ralph prices the tokens, or calls the\n\
         call unpriced.\n\n## Installing and models\n\n",
    );
    facts(&mut text);
    text.push_str(
        "\n## What was recorded and is read right\n\n\
         Real calls of the real programs, good and bad: how many of each are in the suite. A dash: that case is not in the\n\
         recordings, or the agent has no such thing.\n\n",
    );
    cases(&mut text);
    text
}

fn abilities(text: &mut String) {
    type Column = (&'static str, fn(&Abilities) -> bool);
    let columns: &[Column] = &[
        ("usage while it works", |can| can.live_usage),
        ("cost", |can| can.cost),
        ("tool starts", |can| can.shows_tool_start),
        ("own budget", |can| can.native_budget),
        ("system prompt", |can| can.system_prompt),
        ("resumes", |can| can.resumes),
    ];
    let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    let _ = writeln!(text, "| agent | `--agent` | transport | tried with | {} |", heads.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len() + 4));
    for info in AGENTS {
        let yes = |has: &fn(&Abilities) -> bool| if has(&info.abilities) { "yes" } else { "-" };
        let cells: Vec<&str> = columns.iter().map(|(_, has)| yes(has)).collect();
        let (transport, cells) = (info.transport(), cells.join(" | "));
        let _ =
            writeln!(text, "| {} | `{}` | {transport} | {} | {cells} |", info.title, info.name, info.tried);
    }
}

/// A list in a table's cell.
fn list(items: &[&str]) -> String {
    if items.is_empty() { "-".into() } else { format!("`{}`", items.join("` `")) }
}

fn hosts(info: &AgentInfo) -> String {
    match (info.hosts, info.any_provider) {
        ([], true) => "those of the configured provider".into(),
        (hosts, true) => format!("{}, those of the configured provider", list(hosts)),
        (hosts, false) => list(hosts),
    }
}

fn facts(text: &mut String) {
    let _ = writeln!(text, "| `--agent` | install | tested with | model flag | model known from |");
    let _ = writeln!(text, "|{}", "---|".repeat(5));
    for info in AGENTS {
        let flag = list(info.model.flags.get(..1).unwrap_or_default());
        let (install, tier) = (info.install(), info.tier.words());
        let _ = writeln!(text, "| `{}` | {install} | {tier} | {flag} | {} |", info.name, info.model.reported);
    }
    text.push_str(PERMISSIONS);
    for info in AGENTS {
        let args: Vec<&str> = info.permissions.defaults.iter().flat_map(|p| p.args).copied().collect();
        let args = if args.is_empty() { "-".into() } else { format!("`{}`", args.join(" ")) };
        let _ = writeln!(text, "| `{}` | {} | {args} |", info.name, info.permissions.summary);
    }
    text.push_str(FOOTPRINT);
    for info in AGENTS.iter().filter(|info| info.program.is_some()) {
        let credentials: Vec<&str> =
            info.credentials.env.iter().chain(info.credentials.files).copied().collect();
        let (credentials, state, hosts) = (list(&credentials), list(info.state_dirs), hosts(info));
        let _ = writeln!(text, "| `{}` | {credentials} | {state} | {hosts} |", info.name);
    }
}

fn cases(text: &mut String) {
    let shown = shown();
    let seen: BTreeSet<&str> = shown.values().flat_map(|cases| cases.keys().map(String::as_str)).collect();
    let agents = native();
    let _ = writeln!(text, "| case | {} |", agents.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(agents.len() + 1));
    for case in CASES.iter().filter(|case| seen.contains(**case)) {
        let count = |agent: &&str| shown.get(*agent).and_then(|cases| cases.get(*case)).map(u32::to_string);
        let cells: Vec<String> =
            agents.iter().map(|agent| count(agent).unwrap_or_else(|| "-".into())).collect();
        let _ = writeln!(text, "| {} | {} |", case.replace('_', " "), cells.join(" | "));
    }
}
