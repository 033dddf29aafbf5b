//! A run's account: the figures behind metrics, reports and estimates, computed from its records as they are written and
//! stored as one row per run, so that reports need not read journals. `estimate.rs` and `report.rs` read many accounts;
//! `metrics.rs` turns one into the line that scripts read.

use crate::advice::Kind;
use crate::claim::{MisplacedPromise, WorkType};
use crate::ending::{Ending, Reason, Status};
use crate::failure::{Class, Reaction};
use crate::grade::Grade;
use crate::money::{Micro, Usage};
use crate::next::Next;
use crate::record::{
    CallEnded, CallLost, CallsFound, Check, Fact, Ms, Record, Refuser, RunStarted, Seen, StoryGrant, Verified,
};
use crate::state::{Phase, State};
use crate::step::Step;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The agent that does what a script says, for demos and tests: it spends no real money.
pub const SCRIPTED_AGENT: &str = "sim";
/// How many iterations an account lists the cost of: enough for percentiles.
const COSTS: usize = 100;
/// How many stories an account names.
const STORIES: usize = 50;

/// One run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunAccount {
    /// The run.
    pub run: String,
    /// When it began, UTC.
    pub started: Ms,
    /// When it ended last; none while it is active.
    pub ended: Option<Ms>,
    /// Active time.
    pub ran: Ms,
    /// Who was to work.
    pub agent: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The skill, where one was named.
    pub skill: Option<String>,
    /// What kind of task it seems to be.
    pub task_type: Kind,
    /// How it was left.
    pub status: Option<Status>,
    /// Why.
    pub reason: Option<Reason>,
    /// The verification passed at the end.
    pub verified: bool,
    /// What the verifications show; none in journals of older rules.
    pub grade: Option<Grade>,
    /// The completion promise was given.
    pub promise: bool,
    /// Files changed in all.
    pub files: u32,
    /// Failing tests before the first call, where they could be counted.
    pub failing_before: Option<u32>,
    /// Failing tests at the end.
    pub failing_after: Option<u32>,
    /// What each of the latest iterations cost, its attempts together. Bounded, because the account is written several
    /// times an iteration.
    pub costs: Vec<Micro>,
    /// Iterations before those.
    #[serde(skip_serializing_if = "is_zero")]
    pub earlier: u32,
    /// Iterations by the kind of work they report.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub work: BTreeMap<WorkType, u32>,
    /// What attempts cost that became no iteration yet.
    pub pending: Micro,
    /// Who was called, how often, and what that took.
    pub shares: Vec<Share>,
    /// Attempts that the provider's failures made necessary.
    pub retries: u32,
    /// What they cost.
    pub retry_cost: Micro,
    /// How often a limit held the run up.
    pub limits: u32,
    /// Iterations since the last one that brought something new.
    pub idle: u32,
    /// What those cost.
    pub idle_cost: Micro,
    /// Iterations at most.
    pub max_iterations: u32,
    /// Spend at most.
    pub max_cost: Micro,
    /// Spend of a day at most.
    pub daily_cost: Micro,
    /// Who works in the call under way: agent and the model asked for.
    pub working: (String, Option<String>),
    /// The share of the latest call.
    #[serde(skip_serializing_if = "is_zero")]
    pub latest: usize,
    /// The iteration whose claims were compared last.
    #[serde(skip_serializing_if = "is_zero")]
    pub compared: u32,
    /// Stories of the plan that were granted, the latest ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stories: Vec<StoryGrant>,
}

/// One agent with one model in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Share {
    /// The agent.
    pub agent: String,
    /// Its model, as reported by the agent or as requested.
    pub model: Option<String>,
    /// Calls.
    pub calls: u32,
    /// Calls whose cost is unknown.
    pub unpriced: u32,
    /// Tokens.
    pub usage: Usage,
    /// What they cost.
    pub cost: Micro,
    /// Claims that could be compared with what ralph saw.
    #[serde(skip_serializing_if = "is_zero")]
    pub claims: u32,
    /// Those that were true.
    #[serde(skip_serializing_if = "is_zero")]
    pub claims_held: u32,
    /// How often each kind of claim was not, by the lint's code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub differences: BTreeMap<String, u32>,
}

impl RunAccount {
    /// Whether only the scripted agent worked; such runs are no part of reports and totals.
    pub fn is_scripted(&self) -> bool {
        self.agent == SCRIPTED_AGENT && self.shares.iter().all(|share| share.agent == SCRIPTED_AGENT)
    }

    /// The account of a whole journal.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> RunAccount {
        let (mut account, mut state) = (RunAccount::default(), State::default());
        for record in records {
            state.apply(record);
            account.follow(&state, record);
        }
        account
    }

    /// Adds one record; `state` must already include it if it is a fact. Returns whether anything changed.
    pub fn follow(&mut self, state: &State, record: &Record) -> bool {
        match &record.fact {
            Fact::Decided(decision) => match &decision.next {
                Next::Do(Step::Call { rung, review, .. }) => {
                    let asked = state.start.as_ref().map(|start| start.caller(*rung, *review));
                    self.working = asked.map(|a| (a.name.clone(), a.model.clone())).unwrap_or_default();
                    true
                }
                Next::Exit(ending) => self.left(*ending, record),
                _ => false,
            },
            Fact::Seen(seen) => {
                self.ran = record.ran;
                self.seen(state, record.at, seen)
            }
        }
    }

    fn seen(&mut self, state: &State, at: Ms, seen: &Seen) -> bool {
        match seen {
            Seen::RunStarted(start) => self.began(at, start),
            Seen::Resumed(_) => (self.status, self.reason, self.ended) = (None, None, None),
            Seen::CallsFound(found) => self.found(state, found),
            Seen::PolicyChanged(changed) => {
                self.max_iterations = changed.policy.max_iterations;
                self.max_cost = changed.policy.max_cost;
            }
            Seen::CallEnded(call) => self.call_ended(state, call),
            Seen::CallLost(lost) => self.call_lost(state, lost),
            Seen::Inspected(_) => {
                self.inspected(state);
                self.compared(state);
            }
            Seen::Verified(verified) => {
                self.checked(verified);
                self.compared(state);
            }
            Seen::Planned(planned) if planned.ticked.is_some() => {
                let granted = state.stories.granted.iter().rev().take(STORIES).rev();
                self.stories = granted.map(|story| story.grant.clone()).collect();
            }
            Seen::Refused(refused) => {
                let waits =
                    matches!(refused.by, Refuser::CallsPerHour | Refuser::TokensPerHour | Refuser::Provider);
                self.limits += u32::from(waits && matches!(state.phase, Phase::Refused(_)));
                return waits;
            }
            _ => return false,
        }
        true
    }

    fn began(&mut self, at: Ms, start: &RunStarted) {
        *self = RunAccount {
            run: start.run.clone(),
            started: at,
            agent: start.agent.name.clone(),
            model: start.agent.model.clone(),
            task_type: Kind::of(&start.prompt),
            skill: start.skill.as_ref().map(|skill| skill.name.clone()),
            max_iterations: start.policy.max_iterations,
            max_cost: start.policy.max_cost,
            daily_cost: start.policy.daily_cost,
            ..RunAccount::default()
        };
    }

    fn call_ended(&mut self, state: &State, call: &CallEnded) {
        let model = call.model.clone().or_else(|| self.working.1.clone());
        self.add(model, call.charged, &call.usage, !call.price.is_exact());
        let misplaced = state.claim.misplaced_promise.is_some_and(MisplacedPromise::is_promise);
        self.promise |= state.claim.promise || misplaced;
        self.count(state);
        let Some(failure) = call.failure.as_ref().filter(|_| !state.reviews.has(call.id)) else { return };
        if !failure.class.is_iteration() {
            self.retries += u32::from(failure.class.reaction() == Reaction::Wait);
            self.retry_cost = self.retry_cost.plus(call.charged);
            self.limits += u32::from(matches!(failure.class, Class::UsageLimit | Class::RateLimited));
        }
    }

    fn call_lost(&mut self, state: &State, lost: &CallLost) {
        self.add(self.working.1.clone(), lost.charged, &lost.usage, true);
        self.count(state);
    }

    /// One more iteration, as soon as the state has one more: a run that is killed before the inspection has it, too. A review
    /// and an attempt that the provider turned away are none.
    fn count(&mut self, state: &State) {
        if state.calls.done <= self.iterations() {
            return;
        }
        self.costs.push(std::mem::take(&mut self.pending));
        let old = self.costs.len().saturating_sub(COSTS);
        self.costs.drain(..old);
        self.earlier = self.earlier.saturating_add(u32::try_from(old).unwrap_or(u32::MAX));
    }

    fn found(&mut self, state: &State, found: &CallsFound) {
        let missing = state.calls.done.saturating_sub(self.iterations());
        self.earlier = self.earlier.saturating_add(missing);
        self.shares.push(Share {
            agent: self.agent.clone(),
            model: None,
            calls: found.calls,
            unpriced: found.unpriced,
            usage: found.usage,
            cost: found.cost(),
            ..Share::default()
        });
    }

    /// A call is under way, or nobody settled it because the run's process was killed: it counts as what is held for it.
    pub fn add_unsettled(&mut self, held: Micro) {
        if self.status.is_none() && held > Micro::ZERO {
            self.add(None, held, &Usage::default(), true);
        }
    }

    fn add(&mut self, model: Option<String>, cost: Micro, usage: &Usage, unpriced: bool) {
        self.pending = self.pending.plus(cost);
        let agent = &self.working.0;
        let found = self.shares.iter().position(|s| s.agent == *agent && s.model == model);
        let at = found.unwrap_or_else(|| {
            self.shares.push(Share { agent: agent.clone(), model, ..Share::default() });
            self.shares.len() - 1
        });
        self.latest = at;
        if let Some(share) = self.shares.get_mut(at) {
            share.calls += 1;
            share.unpriced += u32::from(unpriced);
            share.usage = share.usage.plus(usage);
            share.cost = share.cost.plus(cost);
        }
    }

    fn inspected(&mut self, state: &State) {
        self.files = u32::try_from(state.trees.all.len()).unwrap_or(u32::MAX);
        if !state.calls.counted {
            return;
        }
        if let Some(work) = state.claim.work {
            *self.work.entry(work).or_default() += 1;
        }
        let cost = self.costs.last().copied().unwrap_or_default();
        (self.idle, self.idle_cost) = match state.trees.progress {
            true => (0, Micro::ZERO),
            false => (self.idle + 1, self.idle_cost.plus(cost)),
        };
    }

    /// An iteration that closed has its claims compared; verifying it again changes nothing.
    fn compared(&mut self, state: &State) {
        if !state.calls.judged || state.calls.done <= self.compared {
            return;
        }
        self.compared = state.calls.done;
        if let Some(share) = self.shares.get_mut(self.latest) {
            share.claims = share.claims.saturating_add(state.claim_check.made);
            share.claims_held = share.claims_held.saturating_add(state.claim_check.held);
            for kind in state.claim_check.kinds() {
                let times = share.differences.entry(kind).or_default();
                *times = times.saturating_add(1);
            }
        }
    }

    fn checked(&mut self, verified: &Verified) {
        let counted = verified.counts().map(|counts| counts.failed);
        match verified.check {
            Check::Baseline if self.shares.is_empty() => self.failing_before = counted,
            Check::Baseline => {}
            Check::AsIs if verified.passed() => self.failing_after = Some(0),
            Check::AsIs => self.failing_after = counted,
            // Weakened tests are not fixed tests: the result with the baseline's tests counts.
            Check::WithBaselineOracle if !verified.passed() => self.failing_after = counted,
            Check::WithBaselineOracle | Check::InRoom(_) => {}
        }
    }

    fn left(&mut self, ending: Ending, record: &Record) -> bool {
        self.status = Some(ending.status());
        self.reason = Some(ending.reason);
        if ending.reason == Reason::OracleChanged {
            // Changed tests are not fixed tests.
            self.failing_after = self.failing_before;
        }
        self.verified = ending.verified;
        self.grade = ending.grade;
        self.ended = Some(record.at);
        self.ran = record.ran;
        true
    }

    /// Completed, and shown to need the work. Journals of older rules count as they did then.
    pub fn shown(&self) -> bool {
        let shown = self.grade.map_or(self.verified, Grade::shows_work);
        self.status == Some(Status::Completed) && shown
    }

    /// Iterations that counted.
    pub fn iterations(&self) -> u32 {
        u32::try_from(self.costs.len()).unwrap_or(u32::MAX).saturating_add(self.earlier)
    }

    /// Total cost.
    pub fn cost(&self) -> Micro {
        self.shares.iter().map(|share| share.cost).sum()
    }

    /// Calls whose cost is unknown.
    pub fn unpriced(&self) -> u32 {
        self.shares.iter().map(|share| share.unpriced).sum()
    }

    /// Claims that could be compared with what ralph saw, and those that were true.
    pub fn claims(&self) -> (u32, u32) {
        let sum = |of: fn(&Share) -> u32| self.shares.iter().map(of).fold(0, u32::saturating_add);
        (sum(|share| share.claims), sum(|share| share.claims_held))
    }

    /// Tests that failed before and do not now, less those that fail since; none where they were not counted.
    pub fn tests_fixed(&self) -> Option<i64> {
        Some(i64::from(self.failing_before?) - i64::from(self.failing_after?))
    }

    /// What runs must have in common to say something about each other.
    pub fn key(agent: &str, model: Option<&str>, skill: Option<&str>) -> String {
        format!("{agent}\n{}\n{}", model.unwrap_or_default(), skill.unwrap_or_default())
    }
}

fn is_zero<T: Default + PartialEq>(n: &T) -> bool {
    *n == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_lists_the_cost_of_its_latest_iterations_and_counts_all() {
        let mut account = RunAccount::default();
        let mut state = State::default();
        state.calls.counted = true;
        for n in 1..=1_000 {
            account.pending = Micro(n);
            state.calls.done += 1;
            account.count(&state);
        }
        assert_eq!(account.iterations(), 1_000);
        assert_eq!(account.costs.len(), COSTS);
        assert_eq!(account.costs.last(), Some(&Micro(1_000)));
        let text = serde_json::to_string(&account).unwrap();
        assert_eq!(serde_json::from_str::<RunAccount>(&text).unwrap(), account);
    }
}
