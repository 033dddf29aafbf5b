//! What a simulation did, summed up; and the proof that it still reaches everything it is meant to reach.

use ralph_rules::ending::{Ending, Reason};
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::record::{Check, Fact, Record, Seen};
use ralph_rules::step::Step;
use std::collections::BTreeMap;

/// Sums over all pairs.
#[derive(Default)]
pub struct Tally {
    pub pairs: u64,
    pub steps: u64,
    pub cuts: u64,
    pub ended_by_us: u64,
    pub decisions: u64,
    /// The most that real spend passed a run's cap by, in micro-dollars.
    pub over: i64,
    endings: BTreeMap<Reason, u64>,
    kinds: BTreeMap<&'static str, u64>,
}

/// Every reason but the one that is given before a run begins.
const REASONS: [Reason; 26] = [
    Reason::GatePassed,
    Reason::CompletionSignals,
    Reason::AlreadyComplete,
    Reason::Accepted,
    Reason::MaxIterations,
    Reason::CostLimit,
    Reason::DailyBudget,
    Reason::TimeLimit,
    Reason::Stall,
    Reason::SameError5x,
    Reason::TestSaturation,
    Reason::OutputDecline,
    Reason::PermissionDenied,
    Reason::Blocked,
    Reason::ProhibitedPath,
    Reason::OracleChanged,
    Reason::NeedsReview,
    Reason::RateLimit,
    Reason::AgentUnavailable,
    Reason::Interrupted,
    Reason::BaselineTimedOut,
    Reason::VerifyCannotRun,
    Reason::StoreUnsafe,
    Reason::WorkspaceLost,
    Reason::WorkspaceUnwritable,
    Reason::PlanUnusable,
];

const KINDS: [&str; 39] = [
    "run_started",
    "resumed",
    "policy_changed",
    "woke",
    "admitted",
    "refused",
    "extended",
    "spent",
    "silent",
    "call_ended",
    "call_ended recovered",
    "call_lost",
    "inspected",
    "restored",
    "verified",
    "mapped",
    "workspace_unusable",
    "asked",
    "do admit",
    "do call",
    "do review",
    "do extend",
    "do inspect",
    "do restore",
    "do verify baseline",
    "do verify",
    "do verify oracle",
    "do verify room",
    "do compare",
    "do map",
    "do recover",
    "end",
    "leave",
    "escalated",
    "deescalated",
    "planned",
    "do plan",
    "do plan grant",
    "do plan aside",
];

impl Tally {
    pub fn left(&mut self, reason: Reason) {
        *self.endings.entry(reason).or_default() += 1;
    }

    pub fn record(&mut self, record: &Record) {
        *self.kinds.entry(kind(&record.fact)).or_default() += 1;
        let Fact::Decided(decision) = &record.fact else { return };
        for objection in &decision.reasons {
            let step = match objection {
                Objection::Escalated { .. } => "escalated",
                Objection::Deescalated { .. } => "deescalated",
                _ => continue,
            };
            *self.kinds.entry(step).or_default() += 1;
        }
    }

    /// What another worker did.
    pub fn add(&mut self, other: &Tally) {
        self.pairs += other.pairs;
        self.steps += other.steps;
        self.cuts += other.cuts;
        self.ended_by_us += other.ended_by_us;
        self.decisions += other.decisions;
        self.over = self.over.max(other.over);
        for (reason, n) in &other.endings {
            *self.endings.entry(*reason).or_default() += n;
        }
        for (kind, n) in &other.kinds {
            *self.kinds.entry(kind).or_default() += n;
        }
    }

    /// Nothing that should be reached was missed.
    pub fn reached_everything(&self) {
        for reason in REASONS {
            assert!(self.endings.contains_key(&reason), "no run ended with {reason:?}");
        }
        for kind in KINDS {
            assert!(self.kinds.contains_key(kind), "no record of kind {kind}");
        }
    }

    pub fn print(&self, seed: u64) {
        println!(
            "seed {seed}: {} pairs of runs, {} steps, {} power cuts, {} calls ended by us, {} decisions re-decided; \
             real spend at most {} micro-dollars above a cap",
            self.pairs, self.steps, self.cuts, self.ended_by_us, self.decisions, self.over
        );
        let endings = self.endings.iter().map(|(r, n)| format!("{} {n}", Ending::new(*r, false).name()));
        println!("endings: {}", endings.collect::<Vec<_>>().join(", "));
        let kinds = self.kinds.iter().map(|(kind, n)| format!("{kind} {n}"));
        println!("records: {}", kinds.collect::<Vec<_>>().join(", "));
    }
}

fn kind(fact: &Fact) -> &'static str {
    match fact {
        Fact::Decided(decision) => match &decision.next {
            Next::Do(step) => step_kind(step),
            Next::Interrupt(_) => "end",
            Next::Wait { .. } => "keep",
            Next::Exit(_) => "leave",
        },
        Fact::Seen(seen) => match seen {
            Seen::RunStarted(_) => "run_started",
            Seen::Resumed(_) => "resumed",
            Seen::PolicyChanged(_) => "policy_changed",
            Seen::Woke => "woke",
            Seen::Admitted(_) => "admitted",
            Seen::Refused(_) => "refused",
            Seen::Extended(_) => "extended",
            Seen::Spent(_) => "spent",
            Seen::Silent(_) => "silent",
            Seen::CallEnded(call) if call.recovered => "call_ended recovered",
            Seen::CallEnded(_) => "call_ended",
            Seen::CallLost(_) => "call_lost",
            Seen::Inspected(_) => "inspected",
            Seen::Restored(_) => "restored",
            Seen::Compared(_) => "compared",
            Seen::Verified(_) => "verified",
            Seen::Mapped(_) => "mapped",
            Seen::WorkspaceUnusable(_) => "workspace_unusable",
            Seen::Asked(_) => "asked",
            Seen::CallsFound(_) => "calls_found",
            Seen::Planned(_) => "planned",
        },
    }
}

fn step_kind(step: &Step) -> &'static str {
    match step {
        Step::Admit { .. } => "do admit",
        Step::Call { review: true, .. } => "do review",
        Step::Call { .. } => "do call",
        Step::Extend { .. } => "do extend",
        Step::Inspect { .. } => "do inspect",
        Step::Restore { .. } => "do restore",
        Step::Verify { check: Check::Baseline, .. } => "do verify baseline",
        Step::Verify { check: Check::AsIs, .. } => "do verify",
        Step::Verify { check: Check::WithBaselineOracle, .. } => "do verify oracle",
        Step::Verify { check: Check::InRoom(_), .. } => "do verify room",
        Step::Compare => "do compare",
        Step::Map { .. } => "do map",
        Step::Recover { .. } => "do recover",
        Step::Plan { grant: Some(_), .. } => "do plan grant",
        Step::Plan { aside: Some(_), .. } => "do plan aside",
        Step::Plan { .. } => "do plan",
    }
}
