//! The receipt: what was proven, on which files, by which commands, for how much. JSON for programs, Markdown for people.
//! One of a run is bound to its journal by the head of the checksum chain.

use ralph_rules::record::{CheckResult, PutBack, Verified};
use ralph_rules::state::State;
use ralph_rules::suite::Counts;
use ralph_store::{Head, IterationRow};
use ralph_tree::{Index, Kind, side_by_side};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A receipt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// Version of this shape.
    pub v: u32,
    /// Always `receipt`.
    pub r#type: String,
    /// `proven`, `not_proven` or `oracle_changed`.
    pub verdict: String,
    /// How the run ended, where it was one.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Where.
    pub workspace: String,
    /// The commit it began with, and the one it ended on.
    pub base: Option<String>,
    /// The commit checked out now.
    pub head: Option<String>,
    /// A commit was verified, not the files of the workspace.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_commit: bool,
    /// The files' id, 32 hex digits: what counts as work, without times.
    pub tree: String,
    /// A hash over every file that differs from before, with both contents.
    pub diff_hash: Option<String>,
    /// How many differ.
    pub files_changed: u32,
    /// What was run.
    pub commands: Vec<ReceiptCommand>,
    /// What became of the tests.
    pub oracle: OracleVerdict,
    /// Dollars.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// A part of the cost is unknown.
    pub cost_is_complete: bool,
    /// What contained the agent.
    pub sandbox: String,
    /// One line an iteration.
    pub iterations: Vec<ReceiptIteration>,
    /// The journal it stands on.
    pub chain: Option<JournalHead>,
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ReceiptCommand {
    pub command: String,
    /// `as_is` or `with_baseline_oracle`.
    pub check: String,
    pub passed: bool,
    pub exit: Option<i32>,
    pub ms: i64,
    pub counts: Option<Counts>,
}

/// What became of the tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OracleVerdict {
    /// guard, flag or allow.
    pub mode: String,
    /// `unchanged`, `held`, `broken` or `not_tried`.
    pub verdict: String,
    /// How the tests of before were put back: `layer` or `copy`.
    pub contained: Option<String>,
    /// Files of the oracle that changed.
    pub files: Vec<String>,
    /// It passed after it had failed on the same files.
    pub flaky: bool,
}

/// One iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ReceiptIteration {
    pub iteration: u32,
    pub facts: serde_json::Value,
}

/// The head of a journal's chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct JournalHead {
    pub run: String,
    pub seq: u64,
    pub hash: String,
}

/// Results as they stand in a receipt.
pub fn ran(check: &str, results: &[CheckResult]) -> Vec<ReceiptCommand> {
    let one = |r: &CheckResult| ReceiptCommand {
        command: r.command.clone(),
        check: check.into(),
        passed: r.how == ralph_rules::record::CheckOutcome::Passed,
        exit: r.exit,
        ms: r.ms,
        counts: r.counts,
    };
    results.iter().map(one).collect()
}

/// A hash over what differs between two trees, and how many files that is.
pub fn diff_hash(before: &Index, after: &Index) -> (String, u32) {
    let (mut hasher, mut files) = (blake3::Hasher::new(), 0_u32);
    for (old, new) in side_by_side(before, after) {
        let work = |e: &ralph_tree::Entry<'_>| e.counts && e.kind != Kind::Directory;
        let (old, new) = (old.filter(work), new.filter(work));
        let seen = |e: &ralph_tree::Entry<'_>| (e.hash, e.executable(), e.kind == Kind::Symlink);
        if old.as_ref().map(seen) == new.as_ref().map(seen) {
            continue;
        }
        files += 1;
        let path = new.or(old).map(|e| e.path).unwrap_or_default();
        hasher.update(path).update(b"\0");
        for side in [&old, &new] {
            match side {
                Some(e) => hasher.update(&e.hash.to_le_bytes()).update(&[1, u8::from(e.executable())]),
                None => hasher.update(&[0]),
            };
        }
    }
    (hasher.finalize().to_hex().to_string(), files)
}

/// The receipt of a run.
pub fn of_run(
    state: &State,
    rows: &[IterationRow],
    head: Option<&Head>,
    trees: (Option<&Index>, &Index),
) -> Receipt {
    let start = state.start.as_deref();
    let checks = &state.checks;
    let mut commands = checks.last.as_ref().map_or_else(Vec::new, |v| ran("as_is", &v.results));
    commands.extend(checks.oracle.iter().flat_map(|v| ran("with_baseline_oracle", &v.results)));
    let changed = trees.0.map(|before| diff_hash(before, trees.1));
    let verdict = match state.ending.map(|e| e.name()) {
        Some("ORACLE_CHANGED") => "oracle_changed",
        _ if state.ending.is_some_and(|e| e.verified && e.exit_code() == 0) => "proven",
        _ => "not_proven",
    };
    Receipt {
        v: 1,
        r#type: "receipt".into(),
        verdict: verdict.into(),
        reason: state.ending.map(|e| e.name().into()),
        at: state.at,
        workspace: start.map(|s| s.workspace.clone()).unwrap_or_default(),
        base: start.and_then(|s| s.base.clone()),
        head: start.and_then(|s| ralph_tree::git_facts(std::path::Path::new(&s.workspace)).head),
        tree: format!("{:032x}", trees.1.id()),
        files_changed: changed.as_ref().map_or(0, |(_, files)| *files),
        diff_hash: changed.map(|(hash, _)| hash),
        commands,
        oracle: oracle_of(state, checks.oracle.as_ref()),
        of_commit: false,
        cost_usd: state.budget.spent.usd(),
        cost_is_complete: state.budget.unpriced == 0,
        sandbox: start.map(|s| s.sandbox.clone()).unwrap_or_default(),
        iterations: rows.iter().map(line).collect(),
        chain: start.zip(head).map(|(s, head)| JournalHead {
            run: s.run.clone(),
            seq: head.seq,
            hash: head.chain.to_string(),
        }),
    }
}

fn line(row: &IterationRow) -> ReceiptIteration {
    ReceiptIteration { iteration: row.n, facts: serde_json::to_value(row).unwrap_or_default() }
}

fn oracle_of(state: &State, tried: Option<&Verified>) -> OracleVerdict {
    let put_back: Option<&PutBack> = tried.and_then(|v| v.oracle.as_ref());
    let verdict = match (state.trees.oracle.is_empty(), state.checks.oracle_holds()) {
        (true, _) => "unchanged",
        (_, Some(true)) => "held",
        (_, Some(false)) => "broken",
        (_, None) => "not_tried",
    };
    let mode = state.start.as_ref().and_then(|s| serde_json::to_value(s.policy.oracle).ok());
    OracleVerdict {
        mode: mode.and_then(|m| m.as_str().map(str::to_owned)).unwrap_or_default(),
        verdict: verdict.into(),
        contained: put_back.map(|p| p.contained.clone()),
        files: state.trees.oracle.clone(),
        flaky: state.checks.flaky,
    }
}

impl Receipt {
    /// The exit code of `ralph verify`.
    pub fn exit_code(&self) -> u8 {
        match self.verdict.as_str() {
            "proven" => 0,
            "oracle_changed" => 4,
            _ => 1,
        }
    }

    /// For people.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Receipt: {}\n\n", self.verdict.replace('_', " "));
        let mut row = |name: &str, value: &str| {
            let _ = writeln!(text, "- **{name}**: {value}");
        };
        let some = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".into());
        row("ended", &some(&self.reason));
        row("base", &some(&self.base));
        row("head", &some(&self.head));
        row("tree", &self.tree);
        row("diff", &format!("{} ({} files)", some(&self.diff_hash), self.files_changed));
        let contained = self.oracle.contained.as_deref().map(|how| format!(", by {how}")).unwrap_or_default();
        let flaky = if self.oracle.flaky { ", flaky" } else { "" };
        row(
            "tests",
            &format!("{}{contained}{flaky} ({})", self.oracle.verdict.replace('_', " "), self.oracle.mode),
        );
        for file in &self.oracle.files {
            row("changed test", file);
        }
        let unknown = if self.cost_is_complete { "" } else { ", a part of it unknown" };
        row("cost", &format!("${:.4}{unknown}, {} iterations", self.cost_usd, self.iterations.len()));
        row("sandbox", &self.sandbox);
        if let Some(chain) = &self.chain {
            row("journal", &format!("run {}, record {}, {}", chain.run, chain.seq, chain.hash));
        }
        text.push_str("\n| command | check | passed | exit | seconds | tests |\n|---|---|---|---|---|---|\n");
        for ran in &self.commands {
            let exit = ran.exit.map_or_else(|| "–".into(), |code| code.to_string());
            let tests = ran.counts.map_or_else(|| "–".into(), |c| format!("{} of {}", c.passed, c.total));
            let command = ran.command.replace('|', "\\|");
            let (check, passed) = (&ran.check, if ran.passed { "yes" } else { "no" });
            let _ = writeln!(
                text,
                "| `{command}` | {check} | {passed} | {exit} | {}.{} | {tests} |",
                ran.ms / 1000,
                ran.ms % 1000 / 100
            );
        }
        text
    }
}
