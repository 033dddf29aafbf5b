//! Runs in every state, with texts that screens must survive.
#![allow(dead_code, clippy::unwrap_used)]

use ralph_monitor::model::Model;
use ralph_rules::ending::Status;
use ralph_rules::record::{Attempt, Ms};
use ralph_store::{IterationRow, RunRow};
use ralph_view::activity_line::{ActivityLine, LineKind, ToolState};
use ralph_view::board::{Doing, ShownCall};
use ralph_view::card::{Card, CardContext};
use ralph_view::conditions::{BreakerView, Condition, Fuse};
use ralph_view::listed_run::ListedRun;
use ralph_view::needs_you::Standing;
use ralph_view::overview::{Overview, Today};
use ralph_view::run_detail::{EndNote, Expected, IterationView, Meter, NextCommand, RunDetail};
use ralph_view::run_state::RunState;
use ralph_view::seen_before::SeenBefore;
use ralph_view::strip::BarOutcome;

/// 2026-11-17 06:42:10 UTC.
pub const NOW: Ms = 1_794_897_730_000;
const MINUTE: Ms = 60_000;
const HOUR: Ms = 60 * MINUTE;

/// One iteration: cents, files, progress, failing tests.
type Spent = (i64, u32, bool, Option<u32>);

pub struct Fake {
    pub id: &'static str,
    pub task: &'static str,
    pub workspace: &'static str,
    pub state: RunState,
    pub reason: Option<&'static str>,
    pub why: Option<&'static str>,
    pub proof: Option<&'static str>,
    pub doing: Option<&'static str>,
    pub spent: Vec<Spent>,
    pub failing_before: Option<u32>,
    pub age: Ms,
    pub max_iterations: u32,
}

impl Default for Fake {
    fn default() -> Fake {
        Fake {
            id: "0199-a",
            task: "Make the parser accept nested quotes",
            workspace: "/home/ada/parser",
            state: RunState::Running,
            reason: None,
            why: None,
            proof: None,
            doing: None,
            spent: Vec::new(),
            failing_before: None,
            age: MINUTE,
            max_iterations: 10,
        }
    }
}

impl Fake {
    fn row(&self) -> RunRow {
        let ended = matches!(self.state, RunState::Ended(_));
        RunRow {
            id: format!("0199f1c2-7a3b-7cde-8f01-{:0>12}", self.id),
            workspace: self.workspace.into(),
            task: self.task.into(),
            agent: "claude".into(),
            model: Some("sonnet".into()),
            started: NOW - 44 * MINUTE - self.age,
            updated: NOW - self.age,
            status: self.state.name().into(),
            reason: self.reason.map(Into::into),
            exit_code: ended.then(|| i32::from(self.state != RunState::Ended(Status::Completed))),
            iterations: u32::try_from(self.spent.len()).unwrap(),
            cost_micro: self.spent.iter().map(|spent| spent.0 * 10_000).sum(),
            cost_complete: true,
            proof: self.proof.map(Into::into),
            resumable: self.state != RunState::Ended(Status::Completed),
            max_iterations: self.max_iterations,
            max_cost_micro: 5_000_000,
            until: Some(NOW + 132 * MINUTE).filter(|_| matches!(self.state, RunState::Waiting { .. })),
            breaker: Some("closed".into()),
            why: self.why.map(Into::into),
            failing_before: self.failing_before,
            ..RunRow::default()
        }
    }

    fn iterations(&self) -> Vec<IterationRow> {
        let last = self.spent.len();
        let waits = matches!(self.state, RunState::Paused | RunState::Waiting { .. });
        let is_under_way = |at: usize| at + 1 == last && self.state.is_open() && !waits;
        let row = |(at, (cents, files, progress, failing)): (usize, &Spent)| IterationRow {
            run: self.row().id,
            n: u32::try_from(at + 1).unwrap(),
            attempt: 1,
            at: NOW - 40 * MINUTE + 5 * MINUTE * i64::try_from(at).unwrap(),
            dur_ms: 64_000 + 7_000 * i64::try_from(at).unwrap(),
            cost_micro: cents * 10_000,
            files: *files,
            verified: (!is_under_way(at)).then_some(false),
            decision: match at + 1 == last && waits {
                true => self.state.name().to_lowercase(),
                false if is_under_way(at) => String::new(),
                false => "continue".into(),
            },
            progress: Some(*progress),
            failing: *failing,
            ..IterationRow::default()
        };
        self.spent.iter().enumerate().map(row).collect()
    }

    pub fn card(&self) -> Card {
        let context = CardContext {
            state: self.state,
            standing: Standing::default(),
            doing: self.doing,
            now: NOW,
            zone: "UTC",
        };
        Card::of(ListedRun { row: self.row(), reserved_micro: 0 }, &self.iterations(), context)
    }

    pub fn detail(&self) -> RunDetail {
        let card = self.card();
        let row = card.run.row.clone();
        let iterations = card.strip.bars.iter().rev().map(|bar| IterationView {
            bar: bar.clone(),
            verified: (bar.outcome != BarOutcome::UnderWay).then_some(false),
            decision: "continue".into(),
            why: "the verify command fails: exit 101".into(),
            failure: None,
            who: None,
        });
        RunDetail {
            who: "claude (sonnet)".into(),
            verify: vec!["cargo test".into()],
            zone: "UTC".into(),
            ladder: Vec::new(),
            doing: self.doing.map(|text| Doing { text: text.into(), since: Some(NOW - 65_000) }),
            note: None,
            conditions: conditions(),
            limits: limits(&row),
            breaker: breaker(),
            iterations: iterations.collect(),
            expected: None,
            seen_before: Vec::new(),
            call: Some(ShownCall { id: Attempt { iteration: 1, attempt: 1 }, review: false }),
            lines: lines(),
            result: None,
            card,
        }
    }
}

fn conditions() -> Vec<Condition> {
    let one = |holds, what: &str, detail: &str| Condition { holds, what: what.into(), detail: detail.into() };
    vec![
        one(Some(true), "the agent claims it is done", "EXIT_SIGNAL true, 2 of 2 signs"),
        one(Some(false), "cargo test passes", "exit 101: 2 of 14 fail, 14 before"),
        one(None, "the original tests pass", "tried once they pass"),
        one(Some(true), "protected paths untouched", "5 patterns"),
        one(None, "fix_plan.md is done", "3 of 5 done"),
    ]
}

fn limits(row: &RunRow) -> Vec<Meter> {
    vec![
        Meter {
            name: "cost",
            used: row.cost_micro,
            limit: 5_000_000,
            held: 250_000,
            warn_at: 4_000_000,
            used_text: ralph_view::fact_text::money(row.cost_micro, true),
            limit_text: "$5.00".into(),
        },
        Meter {
            name: "iterations",
            used: row.iterations.into(),
            limit: row.max_iterations.into(),
            held: 0,
            warn_at: i64::from(row.max_iterations) * 8 / 10,
            used_text: row.iterations.to_string(),
            limit_text: row.max_iterations.to_string(),
        },
    ]
}

fn breaker() -> BreakerView {
    let fuse = |name, used, limit| Fuse { name, used, limit };
    let fuses = vec![
        fuse("no progress", 0, 3),
        fuse("same error", 2, 5),
        fuse("only tests", 0, 3),
        fuse("refused", 1, 3),
    ];
    BreakerView { state: "closed", fuses }
}

pub fn lines() -> Vec<ActivityLine> {
    let said = |n, at, text: &str| ActivityLine {
        n,
        at: Some(NOW - at),
        kind: LineKind::Said,
        name: String::new(),
        text: text.into(),
        tool: None,
    };
    let tool = |n, at, name: &str, text: &str, tool| ActivityLine {
        n,
        at: Some(NOW - at),
        kind: LineKind::Tool,
        name: name.into(),
        text: text.into(),
        tool: Some(tool),
    };
    vec![
        ActivityLine { kind: LineKind::Note, ..said(1, 70_000, "model claude-sonnet-4-5") },
        said(
            2,
            65_000,
            r#"The failing case is "a \"b\" c": the lexer closes the string at the first quote it meets"#,
        ),
        tool(3, 58_000, "Read", "src/lexer.rs", ToolState::Done),
        tool(4, 50_000, "Grep", "escape in src/", ToolState::Done),
        said(
            5,
            39_000,
            "日本語のテスト 🎉 with e\u{301}\u{301}\u{301} marks, עברית, and \\u{1b}[31m that was made plain",
        ),
        tool(6, 26_000, "Edit", "src/lexer.rs", ToolState::Done),
        tool(7, 18_000, "Bash", "cargo test quotes", ToolState::Failed),
        said(8, 9_000, "Two remain,\nboth with an escape at the end of the input."),
        tool(9, 2_000, "Edit", "src/lexer.rs", ToolState::Runs),
    ]
}

/// The run that works.
pub fn working() -> Fake {
    Fake {
        id: "7ebeed4a",
        doing: Some("Edit src/lexer.rs"),
        spent: vec![
            (33, 2, true, Some(11)),
            (55, 3, true, Some(9)),
            (14, 0, false, Some(9)),
            (38, 2, true, Some(2)),
            (20, 1, true, None),
        ],
        failing_before: Some(14),
        ..Fake::default()
    }
}

/// Runs in every group.
pub fn all() -> Vec<Fake> {
    vec![
        working(),
        Fake {
            id: "d0c5",
            task: "Write the reference for every command",
            workspace: "/home/ada/docs",
            state: RunState::Verifying,
            doing: Some("verifying: mdbook test"),
            spent: vec![(31, 4, true, None), (21, 2, true, None)],
            age: 14_000,
            ..Fake::default()
        },
        Fake {
            id: "3ca1ab1e",
            task: "日本語の名前を持つとても長いタスクで、画面の幅を超えるまで続きます 👩\u{200d}👩\u{200d}👧 e\u{301}\u{302}\u{303}",
            workspace: "/home/ada/ワーカー",
            doing: Some("Bash cargo bench --bench start"),
            spent: vec![(9, 1, true, None), (8, 1, true, None), (5, 0, false, None), (88, 9, true, None)],
            ..Fake::default()
        },
        Fake {
            id: "5c4ed",
            task: "Schedule jobs across midnight",
            workspace: "/home/ada/sched",
            state: RunState::Waiting { until: Some(NOW + 132 * MINUTE) },
            spent: vec![(43, 2, true, None), (40, 2, true, None)],
            ..Fake::default()
        },
        Fake {
            id: "9a05ed",
            task: "תיקון הבדיקות (right to left)",
            workspace: "/home/ada/rtl",
            state: RunState::Paused,
            spent: vec![(12, 1, true, None)],
            ..Fake::default()
        },
    ]
    .into_iter()
    .chain(over())
    .collect()
}

/// Runs that are over, in every way.
fn over() -> Vec<Fake> {
    vec![
        Fake {
            id: "0a07",
            task: "Rotate the signing key",
            workspace: "/home/ada/vault",
            state: RunState::Ended(Status::Aborted),
            reason: Some("PROHIBITED_PATH"),
            why: Some("touched src/auth/k.rs, which is protected"),
            spent: vec![(30, 2, true, None), (31, 1, true, None)],
            age: 3 * HOUR,
            ..Fake::default()
        },
        Fake {
            id: "b10c",
            task: "Send mail through the new gateway",
            workspace: "/home/ada/mailer",
            state: RunState::Ended(Status::Aborted),
            reason: Some("BLOCKED"),
            why: Some("there is no key for the gateway"),
            spent: vec![(14, 0, false, None)],
            age: 5 * HOUR,
            ..Fake::default()
        },
        Fake {
            id: "c4a5",
            task: "Crashed while it worked",
            workspace: "/home/ada/crash",
            state: RunState::Crashed,
            spent: vec![(22, 1, true, None)],
            age: 26 * HOUR,
            ..Fake::default()
        },
        completed("1a", "Import the old CSV exports", "/home/ada/importer", "proven"),
        completed("1b", "Round invoices to the cent", "/home/ada/billing", "tested"),
        completed("1c", "Tidy the change log", "/home/ada/docs2", "unbroken"),
        completed("1d", "Rename the crate", "/home/ada/crate", "revised"),
        completed("1e", "Speed up the start", "/home/ada/start", "unclear"),
        completed("1f", "Write a tutorial", "/home/ada/tutorial", "unverified"),
        Fake {
            id: "e0d",
            task: "Stopped by a person",
            workspace: "/home/ada/old",
            state: RunState::Ended(Status::Interrupted),
            reason: Some("INTERRUPTED"),
            why: Some("a person asked to stop"),
            age: 50 * HOUR,
            ..Fake::default()
        },
    ]
}

fn completed(id: &'static str, task: &'static str, workspace: &'static str, proof: &'static str) -> Fake {
    Fake {
        id,
        task,
        workspace,
        state: RunState::Ended(Status::Completed),
        reason: Some("PROJECT_COMPLETE"),
        proof: Some(proof),
        spent: vec![(40, 4, true, Some(5)), (37, 2, true, Some(1)), (20, 1, true, Some(0))],
        failing_before: Some(12),
        age: 2 * HOUR,
        ..Fake::default()
    }
}

pub fn overview(fakes: &[Fake]) -> Overview {
    let today = Today {
        spent_micro: 6_420_000,
        held_micro: 500_000,
        cap_micro: Some(50_000_000),
        calls: 23,
        calls_cap: Some(100),
    };
    Overview::of(fakes.iter().map(Fake::card).collect(), 7, NOW, today)
}

/// All runs, with the run that works selected.
pub fn model(size: (u16, u16)) -> Model {
    let mut model = Model::new(None, size, NOW);
    model.set_overview(overview(&all()));
    model.set_detail(Some(working().detail()));
    model
}

/// The run that works, with a ladder, an estimate and an error that was seen before.
pub fn rich() -> RunDetail {
    let mut detail = working().detail();
    detail.ladder = vec!["claude (sonnet)".into(), "claude (opus)".into()];
    detail.expected = Some(Expected {
        runs: 12,
        iterations_p50: 4,
        iterations_p90: 9,
        cost_p50_micro: 1_200_000,
        cost_p90_micro: 3_900_000,
    });
    detail.seen_before = vec![SeenBefore {
        run: "x".into(),
        short: "4f0c21aa".into(),
        iteration: 3,
        gone_after: Some(4),
        changed: vec!["src/lexer.rs".into()],
        text: "run 4f0c21aa had this error in iteration 3; it was gone after src/lexer.rs was changed".into(),
    }];
    if let Some(bar) = detail.card.strip.bars.last_mut() {
        bar.rung = 1;
    }
    detail
}

/// A run that ended so, opened.
pub fn ended(fake: &Fake, size: (u16, u16)) -> Model {
    let mut model = Model::new(Some(fake.card().run.row.id), size, NOW);
    model.set_overview(overview(&all()));
    let mut detail = fake.detail();
    let card = detail.card.clone();
    let next = |command: &str, what: &str| NextCommand { command: command.into(), what: what.into() };
    detail.note = Some(EndNote {
        tone: card.tone,
        title: format!("{} after {} iterations", card.word, card.iteration),
        text: format!("{}: the tests fail without this change and pass with it. {}", card.word, card.line),
        commands: vec![
            next(&format!("ralph diff {}", card.short), "see what the run changed, and nothing else"),
            next(&format!("ralph accept {}", card.short), "commit exactly that; nothing else is staged"),
            next(&format!("ralph explain {}", card.short), "why each decision was made"),
        ],
    });
    detail.lines.clear();
    model.set_detail(Some(detail));
    model
}
