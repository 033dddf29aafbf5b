//! The receipt: what was proven, on which files, by which commands, for how much. JSON for programs, Markdown for people.
//! One of a run is bound to its journal by the head of the checksum chain.

mod map;
mod markdown;
mod skill;
mod stories;

pub use map::{ReceiptMap, mark};
pub use markdown::obeyed_words;
use ralph_agents::Client;
use ralph_rules::ending::{Ending, Reason};
use ralph_rules::grade::Grade;
use ralph_rules::objection::Objection;
use ralph_rules::policy::Oracle;
use ralph_rules::record::{CheckResult, RoomSets, SignSeen};
use ralph_rules::state::{ProofState, Review, RoomRun, State};
use ralph_rules::suite::Counts;
use ralph_store::{Head, IterationRow};
use ralph_tree::{Index, Kind, side_by_side};
use serde::{Deserialize, Serialize};
pub use skill::ReceiptSkill;
pub use stories::{ReceiptStory, stories_of};

/// A receipt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Receipt {
    /// Version of this shape.
    pub v: u32,
    /// Always `receipt`.
    pub r#type: String,
    /// The grade, or `oracle_changed`, `refused` or `failed`.
    pub verdict: String,
    /// What the verifications show; none if they do not come to a grade.
    pub proof: Option<Grade>,
    /// Why, in sentences.
    pub reasons: Vec<String>,
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
    /// The verifications behind the grade, each in a room made of the files before and some of the changes.
    pub rooms: Vec<ReceiptRoom>,
    /// The changes, in three sets.
    pub changes: ReceiptChanges,
    /// Lines of the work that deal with the check instead of the task.
    pub signs: Vec<SignSeen>,
    /// Which hunks of the change a check notices, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<ReceiptMap>,
    /// What reviewers said of the work, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<ReceiptReview>,
    /// guard, flag or allow.
    pub oracle: String,
    /// A verification passed after it had failed on the same files.
    pub flaky: bool,
    /// Dollars.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// A part of the cost is unknown.
    pub cost_is_complete: bool,
    /// What contained the agent.
    pub sandbox: String,
    /// Iterations before which no snapshot could be taken: `ralph undo` cannot return to those states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_snapshot: Vec<ReceiptNoSnapshot>,
    /// One line an iteration.
    pub iterations: Vec<ReceiptIteration>,
    /// The journal it stands on.
    pub chain: Option<JournalHead>,
    /// What the sandbox does not limit or could not do, although it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_held: Vec<String>,
    /// Hosts that the sandbox refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts_refused: Vec<String>,
    /// Settings by which other programs run something, as the run made or changed them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obeyed: Vec<String>,
    /// The client whose session did the work: it was alive while ralph verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The skill of the run, where it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<ReceiptSkill>,
    /// The stories of the plan, if it was taken story by story.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stories: Vec<ReceiptStory>,
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ReceiptCommand {
    pub command: String,
    /// `baseline`, `as_is` or `with_baseline_oracle`.
    pub check: String,
    pub passed: bool,
    pub exit: Option<i32>,
    pub ms: i64,
    pub counts: Option<Counts>,
}

/// The verifications in one room.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceiptRoom {
    /// Which changes it had.
    pub sets: RoomSets,
    /// How it was shown: `room`, at the workspace's path, or `copy`, at another.
    pub place: String,
    /// Every command passed.
    pub passed: bool,
    /// How often the commands ran.
    pub tries: u32,
    /// How long they took together.
    pub ms: i64,
    /// Tests, if the output has counts.
    pub counts: Option<Counts>,
    /// Names of failing tests.
    pub failed: Vec<String>,
}

/// One review.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceiptReview {
    /// Who reviewed.
    pub agent: String,
    /// Its model, where one was chosen.
    pub model: Option<String>,
    /// `SHIP` or `REVISE`; none if the answer could not be read.
    pub verdict: Option<String>,
    /// What it found.
    pub findings: Vec<String>,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The files it read, 32 hex digits.
    pub tree: String,
    /// Dollars.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
}

/// The changes since the baseline, in three sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReceiptChanges {
    /// Surely work.
    pub work: Vec<String>,
    /// May be either.
    pub ambiguous: Vec<String>,
    /// Tests and whatever else decides whether the work is right.
    pub oracle: Vec<String>,
    /// Packages that were installed or updated.
    pub installed: Vec<String>,
    /// Tests and configuration outside the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Other files in the repository around the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<String>,
}

/// One iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ReceiptIteration {
    pub iteration: u32,
    pub facts: serde_json::Value,
}

/// An iteration without a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReceiptNoSnapshot {
    /// The iteration whose call began without one.
    pub iteration: u32,
    /// Why.
    pub why: String,
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
    reasons: &[Objection],
) -> Receipt {
    let start = state.start.as_deref();
    let checks = &state.checks;
    let mut commands = checks.baseline.as_ref().map_or_else(Vec::new, |v| ran("baseline", &v.results));
    commands.extend(checks.last.iter().flat_map(|v| ran("as_is", &v.results)));
    commands.extend(checks.oracle.iter().flat_map(|v| ran("with_baseline_oracle", &v.results)));
    let changed = trees.0.map(|before| diff_hash(before, trees.1));
    Receipt {
        v: 1,
        r#type: "receipt".into(),
        verdict: verdict_of_run(state),
        proof: state.ending.and_then(|ending| ending.grade),
        reasons: reasons.iter().map(Objection::say).collect(),
        reason: state.ending.map(|e| e.name().into()),
        at: state.at,
        workspace: start.map(|s| s.workspace.clone()).unwrap_or_default(),
        base: start.and_then(|s| s.base.clone()),
        head: start.and_then(|s| ralph_tree::git_facts(std::path::Path::new(&s.workspace)).head),
        tree: format!("{:032x}", trees.1.id()),
        files_changed: changed.as_ref().map_or(0, |(_, files)| *files),
        diff_hash: changed.map(|(hash, _)| hash),
        commands,
        rooms: rooms_of(&state.proof),
        changes: changes_of(&state.proof),
        signs: state.proof.latest().map(|compared| compared.signs.clone()).unwrap_or_default(),
        map: state.proof.map().map(ReceiptMap::from),
        reviews: reviews_of(state),
        oracle: start.map(|s| oracle_name(s.policy.oracle)).unwrap_or_default().into(),
        flaky: checks.flaky || state.proof.rooms().any(|(_, run)| run.flaky),
        of_commit: false,
        cost_usd: state.budget.spent.usd(),
        cost_is_complete: state.budget.unpriced == 0,
        sandbox: start.map(|s| s.sandbox.clone()).unwrap_or_default(),
        not_held: not_held_of(state),
        hosts_refused: state.sandbox.hosts_refused.clone(),
        obeyed: state.trees.obeyed.iter().cloned().collect(),
        no_snapshot: no_snapshot_of(state),
        iterations: rows.iter().map(line).collect(),
        chain: start.zip(head).map(|(s, head)| JournalHead {
            run: s.run.clone(),
            seq: head.seq,
            hash: head.chain.to_string(),
        }),
        session: session_of(state),
        skill: ReceiptSkill::of(state),
        stories: stories_of(state),
    }
}

/// The client whose session did the work, if one did until the end.
pub fn session_of(state: &State) -> Option<String> {
    let session = state.start.as_ref()?.session.as_ref().filter(|_| state.in_session)?;
    Some(
        Client::of_agent(&session.client).map_or(session.client.as_str(), |client| client.title()).to_owned(),
    )
}

/// What a receipt says of a session.
pub fn session_words(client: &str) -> String {
    format!("the agent's session in {client} was alive while ralph verified, and could still change files")
}

fn not_held_of(state: &State) -> Vec<String> {
    let given = state.start.as_ref().and_then(|start| start.contained.as_deref());
    let notes = given.map(|given| given.notes_with(&state.sandbox));
    notes.unwrap_or_default().into_iter().map(ToOwned::to_owned).collect()
}

fn no_snapshot_of(state: &State) -> Vec<ReceiptNoSnapshot> {
    let one =
        |(iteration, why): (&u32, &String)| ReceiptNoSnapshot { iteration: *iteration, why: why.clone() };
    state.trees.no_snapshot.iter().map(one).collect()
}

fn line(row: &IterationRow) -> ReceiptIteration {
    ReceiptIteration { iteration: row.n, facts: serde_json::to_value(row).unwrap_or_default() }
}

/// How the setting is written.
pub fn oracle_name(oracle: Oracle) -> &'static str {
    match oracle {
        Oracle::Guard => "guard",
        Oracle::Flag => "flag",
        Oracle::Allow => "allow",
    }
}

fn verdict_of_run(state: &State) -> String {
    match state.ending {
        Some(ending) if ending.reason == Reason::OracleChanged => ORACLE_CHANGED.into(),
        Some(Ending { grade: Some(grade), .. }) => grade.name().into(),
        _ => FAILED.into(),
    }
}

/// The rooms of a proof.
pub fn rooms_of(proof: &ProofState) -> Vec<ReceiptRoom> {
    let room = |(sets, run): (&RoomSets, &RoomRun)| ReceiptRoom {
        sets: *sets,
        place: run.place.clone(),
        passed: run.passed,
        tries: run.tries,
        ms: run.ms,
        counts: run.counts,
        failed: run.failed.clone(),
    };
    proof.rooms().map(room).collect()
}

fn reviews_of(state: &State) -> Vec<ReceiptReview> {
    let Some(given) = state.start.as_deref().and_then(|start| start.review.as_ref()) else {
        return Vec::new();
    };
    let one = |review: &Review| ReceiptReview {
        agent: given.agent.name.clone(),
        model: given.agent.model.clone(),
        verdict: review.verdict.map(|verdict| verdict.name().into()),
        findings: review.findings.clone(),
        why: review.why.clone(),
        tree: format!("{:032x}", review.tree),
        cost_usd: review.cost.usd(),
    };
    state.reviews.made.iter().map(one).collect()
}

/// The three sets of a proof.
pub fn changes_of(proof: &ProofState) -> ReceiptChanges {
    let Some(compared) = proof.latest() else { return ReceiptChanges::default() };
    ReceiptChanges {
        work: compared.work.names.clone(),
        ambiguous: compared.ambiguous.names.clone(),
        oracle: compared.oracle.names.clone(),
        installed: compared.installed.clone(),
        outside: compared.outside.clone(),
        around: compared.around.clone(),
    }
}

/// The verdict of a verification that passes only with changed checks.
pub const ORACLE_CHANGED: &str = "oracle_changed";
/// The verdict of a passing verification that does not count.
pub const REFUSED: &str = "refused";
/// The verdict of a verification that failed, or of a run that did not come to one.
pub const FAILED: &str = "failed";

impl Receipt {
    /// The exit code of `ralph verify`, if at least this grade is required.
    pub fn exit_code(&self, required: Grade) -> u8 {
        match self.proof {
            Some(grade) if grade >= required => 0,
            Some(_) => 2,
            None if self.verdict == ORACLE_CHANGED => 4,
            None => 1,
        }
    }
}
