//! The read model's rows, written in the same commit as the records they sum up: what `list` and `status` show, and
//! what metrics, reports and estimates count, without folding a journal.

use crate::journal;
use crate::run_state::RunState;
use ralph_rules::account::RunAccount;
use ralph_rules::ending::Ending;
use ralph_rules::fingerprint::Fingerprint;
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::prompt::head;
use ralph_rules::record::{Attempt, Check, Decision, Fact, Record, Seen, Verified};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::{AccountFilter, AccountRow, IterationRow, Row, RunRow, Store, StoreError};
use serde::Serialize;

/// The most of a reason that a row keeps.
const WHY: usize = 240;

/// What the rows need to remember between commits: the attempt under way, and why the run continues or ended.
#[derive(Clone)]
pub struct Memory {
    run: String,
    attempt: Option<IterationRow>,
    account: RunAccount,
    why: Option<String>,
}

/// Which rows a record changed.
pub(crate) struct Added {
    pub(crate) account: bool,
    pub(crate) attempt: bool,
}

impl Memory {
    /// Of a run whose journal is read from its beginning.
    pub fn new(run: &str) -> Memory {
        Memory { run: run.into(), attempt: None, account: RunAccount::default(), why: None }
    }

    /// The attempt that was under way when the journal ended, if any, and the account so far.
    pub fn of(run: &str, store: &dyn Store) -> Memory {
        let attempt = store.latest_iteration(run).ok().flatten();
        let account = account(store, run).or_else(|| Some(RunAccount::of(&journal::read(store, run).ok()?)));
        let why = store.run(run).ok().flatten().and_then(|row| row.why);
        Memory { run: run.into(), attempt, account: account.unwrap_or_default(), why }
    }

    /// The rows after these records. `state` has the facts applied, but not yet the decision.
    pub fn rows<'r>(&mut self, state: &State, records: impl Iterator<Item = &'r Record> + Clone) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut counted = false;
        for record in records.clone() {
            let added = self.add(state, record);
            counted |= added.account;
            if added.attempt {
                rows.extend(self.attempt().cloned().map(Row::Iteration));
            }
        }
        rows.extend(self.run_row(state, records).map(|run| Row::Run(Box::new(run))));
        if counted {
            rows.extend(account_row(state, &self.account).map(Row::Account));
        }
        rows
    }

    /// Adds one record; `state` as for [`Memory::rows`].
    pub(crate) fn add(&mut self, state: &State, record: &Record) -> Added {
        if let Fact::Decided(decision) = &record.fact
            && let Some(why) = judgement(decision)
        {
            self.why = Some(head(&words(decision, why), WHY));
        }
        Added { account: self.account.follow(state, record), attempt: self.follow(state, record) }
    }

    /// The row of the latest attempt.
    pub(crate) fn attempt(&self) -> Option<&IterationRow> {
        self.attempt.as_ref()
    }

    /// The account so far.
    pub(crate) fn account(&self) -> &RunAccount {
        &self.account
    }

    /// The run's row after these records; `state` as for [`Memory::rows`].
    pub(crate) fn run_row<'r>(
        &self,
        state: &State,
        records: impl Iterator<Item = &'r Record>,
    ) -> Option<RunRow> {
        let (mut ending, mut newest, mut now) = (state.ending, state.seq, None);
        for record in records {
            newest = record.seq;
            if let Fact::Decided(Decision { next, .. }) = &record.fact {
                now = Some(RunState::after(state, next));
                if let Next::Exit(end) = next {
                    ending = Some(*end);
                }
            }
        }
        let now = now.unwrap_or_else(|| RunState::of(state));
        let row = run_row(&self.run, state, (now, ending), newest)?;
        Some(RunRow { why: self.why.clone(), failing_before: self.account.failing_before, ..row })
    }

    /// True when the attempt's row changed.
    fn follow(&mut self, state: &State, record: &Record) -> bool {
        let changed = self.follow_step(state, record);
        self.note_wait(state, record) || changed
    }

    /// Before a wait no step is decided on, and the iteration is over nevertheless: the wait stands for the decision until
    /// there is one.
    fn note_wait(&mut self, state: &State, record: &Record) -> bool {
        let is_open = |row: &&mut IterationRow| {
            row.decision.is_empty() && row.failure.is_none() && row.progress.is_some()
        };
        let Some(row) = self.attempt.as_mut().filter(is_open) else { return false };
        row.decision = match (&record.fact, RunState::of(state)) {
            (Fact::Seen(_), now @ (RunState::Paused | RunState::Waiting { .. })) => now.name().to_lowercase(),
            _ => return false,
        };
        row.error = work_error(state);
        true
    }

    fn follow_step(&mut self, state: &State, record: &Record) -> bool {
        // A review is no attempt of the agent that works.
        if let Fact::Decided(Decision {
            next: Next::Do(Step::Call { id, rung, review: false, .. }), ..
        }) = &record.fact
        {
            self.attempt = Some(IterationRow {
                run: self.run.clone(),
                n: id.iteration,
                attempt: id.attempt,
                at: record.at,
                rung: *rung,
                cost_unknown: true,
                ..IterationRow::default()
            });
            return true;
        }
        let Some(row) = &mut self.attempt else { return false };
        let its_own = |id: Attempt| (id.iteration, id.attempt) == (row.n, row.attempt);
        match &record.fact {
            Fact::Seen(Seen::CallEnded(call)) if !its_own(call.id) => return false,
            Fact::Seen(Seen::CallLost(lost)) if !its_own(lost.id) => return false,
            Fact::Seen(Seen::CallEnded(call)) => {
                row.dur_ms = call.ms;
                row.cost_micro = call.charged.0;
                row.cost_unknown = !call.price.is_exact();
                row.failure = call.failure.as_ref().map(|f| name(&f.class));
            }
            Fact::Seen(Seen::CallLost(lost)) => {
                row.cost_micro = lost.charged.0;
                row.failure = Some("lost".into());
            }
            Fact::Seen(Seen::Inspected(seen)) => {
                row.files = seen.files;
                row.progress = Some(state.trees.progress);
            }
            Fact::Seen(Seen::Restored(_)) => row.progress = Some(state.trees.progress),
            // The one before another story says nothing about this attempt.
            Fact::Seen(Seen::Verified(verified)) if verified.check == Check::Baseline => return false,
            Fact::Seen(Seen::Verified(verified)) => {
                row.verified = Some(state.checks.passed());
                row.failing = failing(verified, row.failing);
            }
            Fact::Decided(decision) => match judgement(decision) {
                Some(why) => {
                    row.decision = why.code();
                    // A failed call has its class instead, and leaves the error of the work as it was.
                    row.error = work_error(state).filter(|_| row.failure.is_none());
                }
                None => return false,
            },
            Fact::Seen(_) => return false,
        }
        true
    }
}

/// Why a run continues or ends, if this decides it; other decisions begin or end a step within an iteration.
pub fn judgement(decision: &Decision) -> Option<&Objection> {
    let judged = matches!(
        decision.next,
        Next::Do(Step::Admit { review: false, .. } | Step::Plan { .. }) | Next::Exit(_)
    );
    decision.reasons.first().filter(|_| judged)
}

/// The judgement in words; what ended the run is named if no person did.
fn words(decision: &Decision, why: &Objection) -> String {
    match &decision.next {
        Next::Exit(ending) if ending.outside_signal().is_some() => ending.why(&decision.reasons),
        _ => why.say(),
    }
}

/// What the error of the work is known by in other runs: its fingerprint. Checks that fail without a word share one; they
/// are told apart by their commands.
fn work_error(state: &State) -> Option<String> {
    let hash = &state.first_error.as_ref()?.hash;
    match (hash == Fingerprint::SILENT, state.checks.failing()) {
        (false, _) => Some(hash.clone()),
        (true, failing) => failing.map(|result| format!("silent:{}", result.command)),
    }
}

/// Failing tests after one more verification. Weakened tests are not fixed tests: with those of the baseline more may fail.
fn failing(verified: &Verified, before: Option<u32>) -> Option<u32> {
    let counted = verified.counts().map(|counts| counts.failed);
    match verified.check {
        Check::AsIs if verified.passed() => Some(0),
        Check::AsIs => counted,
        Check::WithBaselineOracle if !verified.passed() => counted,
        _ => before,
    }
}

/// The row of an account.
pub(crate) fn account_row(state: &State, account: &RunAccount) -> Option<AccountRow> {
    let start = state.start.as_ref()?;
    let RunAccount { agent, model, skill, started, .. } = account;
    Some(AccountRow {
        run: start.run.clone(),
        workspace: start.workspace.clone(),
        started: *started,
        key: RunAccount::key(agent, model.as_deref(), skill.as_deref()),
        body: serde_json::to_string(account).unwrap_or_default(),
    })
}

/// A run's account as it was written last.
pub fn account(store: &dyn Store, run: &str) -> Option<RunAccount> {
    let filter = AccountFilter { run: Some(run.into()), ..AccountFilter::default() };
    accounts(store, &filter).ok()?.into_iter().next()
}

/// Accounts of runs, newest first; one in a shape that this version does not know is left out.
pub fn accounts(store: &dyn Store, filter: &AccountFilter) -> Result<Vec<RunAccount>, StoreError> {
    let rows = store.accounts(filter)?;
    Ok(rows.iter().filter_map(|row| serde_json::from_str(&row.body).ok()).collect())
}

fn run_row(
    id: &str,
    state: &State,
    (now, ending): (RunState, Option<Ending>),
    head_seq: u64,
) -> Option<RunRow> {
    let start = state.start.as_ref()?;
    let task = task_title(&start.prompt);
    Some(RunRow {
        id: id.into(),
        workspace: start.workspace.clone(),
        task: head(task.trim(), 120),
        agent: start.agent.name.clone(),
        started: state.started_at,
        updated: state.at,
        status: now.name().into(),
        reason: ending.map(|e| e.name().into()),
        exit_code: ending.map(|e| i32::from(e.exit_code())),
        iterations: state.calls.done,
        cost_micro: state.budget.spent.0,
        cost_complete: state.budget.unpriced == 0,
        verified: state.checks.last.as_ref().map(|_| state.checks.passed()),
        proof: ending.and_then(|e| e.grade).map(|grade| grade.name().into()),
        head: head_seq,
        pid: ending.is_none().then(std::process::id),
        resumable: ending.is_none_or(|e| e.resumable()),
        model: state.caller(start).model.clone(),
        max_iterations: start.policy.max_iterations,
        max_cost_micro: start.policy.max_cost.0,
        max_ms: start.policy.max_time,
        until: match now {
            RunState::Waiting { until } => until,
            _ => None,
        },
        breaker: Some(state.circuit.now.name().into()),
        live_micro: state.budget.live.0,
        ..RunRow::default()
    })
}

/// The first line of a task that says something: a heading alone does not.
pub fn task_title(prompt: &str) -> &str {
    let mut lines = prompt.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines.clone().next().unwrap_or_default();
    lines.find(|line| !line.starts_with('#')).unwrap_or(heading)
}

/// The name a value has in JSON.
fn name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
