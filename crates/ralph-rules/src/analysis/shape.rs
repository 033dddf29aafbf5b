//! The JSON of an analysis and a session: the names and values of the original analyzer, followed by ralph's own
//! fields. Times are RFC 3339, written by the caller.

use super::{ExitDecision, Response, Trend};
use crate::breaker::Breaker;
use crate::claim::{Evidence, Lint, Progress, Status, Tests, WorkType};
use crate::failure::Class;
use crate::fingerprint::Fingerprint;
use crate::gate::indicators;
use crate::money::Usage;
use crate::objection::{Objection, of_patterns};
use crate::policy::Policy;
use serde::Serialize;
use std::collections::BTreeSet;

/// The analysis of one response.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // the contract names each field
pub struct Analysis {
    pub timestamp: String,
    pub iteration: u32,
    pub ralph_status: RalphStatus,
    pub completion_indicators: u32,
    pub exit_decision: ExitDecision,
    pub stuck_loop_detected: bool,
    pub circuit_breaker_state: Breaker,
    /// Why the run ended after this response, if it did.
    pub exit_reason: Option<&'static str>,
    pub format: &'static str,
    pub evidence: BTreeSet<Evidence>,
    pub lints: Vec<Lint>,
    pub promise: bool,
    pub errors: Vec<ErrorSeen>,
    pub work_type: Option<WorkType>,
    pub is_test_only: bool,
    pub asking_questions: bool,
    pub permission_denials: Vec<Refusal>,
    pub confidence: u8,
    pub session_id: Option<String>,
    pub usage: Usage,
    pub cost_usd: Option<f64>,
    pub warnings: Vec<String>,
    pub failure: Option<Failed>,
    pub text: String,
    pub text_bytes: u64,
}

/// The status block, field by field; all but `found` are null where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct RalphStatus {
    pub found: bool,
    pub status: Option<Progress>,
    pub tasks_completed: Option<u64>,
    pub files_modified: Option<u64>,
    pub tests_status: Option<Tests>,
    pub work_type: Option<WorkType>,
    pub exit_signal: Option<bool>,
    pub recommendation: Option<String>,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ErrorSeen {
    pub fingerprint: String,
    pub text: String,
}

/// One tool that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Refusal {
    pub tool: String,
    pub detail: String,
}

/// Why the call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Failed {
    pub class: Class,
    pub message: String,
    pub reset_at: Option<String>,
}

impl Analysis {
    /// What the response that `trend` saw last says; what only the caller knows is left empty.
    pub fn of(response: &Response, trend: &Trend, policy: &Policy) -> Analysis {
        let claim = &response.claim;
        let error =
            |error: &Fingerprint| ErrorSeen { fingerprint: error.hash.clone(), text: error.head.clone() };
        Analysis {
            timestamp: String::new(),
            iteration: trend.iteration,
            ralph_status: RalphStatus::of(claim.block.as_ref()),
            completion_indicators: indicators(claim, false, None, policy.gate.block_as_one),
            exit_decision: trend.decision(policy),
            stuck_loop_detected: trend.stuck(policy),
            circuit_breaker_state: trend.breaker(policy),
            exit_reason: None,
            format: "text",
            evidence: claim.evidence.clone(),
            lints: claim.lints.clone(),
            promise: claim.promise,
            errors: response.errors.iter().map(error).collect(),
            work_type: claim.work,
            is_test_only: response.is_test_only(),
            asking_questions: claim.asks,
            permission_denials: Vec::new(),
            confidence: if response.failed { 0 } else { claim.confidence() },
            session_id: None,
            usage: Usage::default(),
            cost_usd: None,
            warnings: trend
                .objections(policy)
                .iter()
                .chain(&of_patterns(claim))
                .map(Objection::say)
                .collect(),
            failure: None,
            text: String::new(),
            text_bytes: response.text_bytes,
        }
    }
}

impl RalphStatus {
    /// The fields of a block.
    pub fn of(block: Option<&Status>) -> RalphStatus {
        let Some(block) = block else { return RalphStatus::default() };
        RalphStatus {
            found: true,
            status: block.status,
            tasks_completed: block.tasks_completed,
            files_modified: block.files_modified,
            tests_status: block.tests,
            work_type: block.work_type,
            exit_signal: block.exit_signal,
            recommendation: Some(block.recommendation.clone()).filter(|text| !text.is_empty()),
        }
    }
}

/// How many iterations a session shows.
pub const SESSION_ITERATIONS: usize = 100;

/// A run in the format of the analyzer's session file, followed by how it ended. Numbers are those that ralph counted;
/// what the agent claimed is kept apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Session {
    pub session_id: String,
    pub started_at: String,
    pub iterations: Vec<SessionIteration>,
    pub total_tasks_completed: u64,
    pub total_files_modified: u64,
    pub total_commits: u64,
    /// Tasks are counted in the plan; without a plan, only the agent's word is known.
    pub tasks_counted: bool,
    pub ended_at: Option<String>,
    pub exit_status: Option<&'static str>,
    pub exit_reason: Option<&'static str>,
}

/// One iteration of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct SessionIteration {
    pub number: u32,
    pub timestamp: String,
    pub status: Option<Progress>,
    pub tasks_completed: u64,
    pub files_modified: u64,
    pub exit_decision: ExitDecision,
    /// Why the run ended after this iteration, if it did.
    pub exit_reason: Option<&'static str>,
    pub work_type: Option<WorkType>,
    pub claimed: Option<Claimed>,
}

/// What a status block says of its own iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Claimed {
    pub tasks_completed: Option<u64>,
    pub files_modified: Option<u64>,
    pub tests_status: Option<Tests>,
}

impl Claimed {
    /// The claims of a block.
    pub fn of(block: &Status) -> Claimed {
        Claimed {
            tasks_completed: block.tasks_completed,
            files_modified: block.files_modified,
            tests_status: block.tests,
        }
    }
}

impl Session {
    /// Adds an iteration; the oldest is dropped if there are too many, the totals stay.
    pub fn add(&mut self, iteration: SessionIteration, commits: u64) {
        self.total_tasks_completed = self.total_tasks_completed.saturating_add(iteration.tasks_completed);
        self.total_files_modified = self.total_files_modified.saturating_add(iteration.files_modified);
        self.total_commits = self.total_commits.saturating_add(commits);
        if self.iterations.len() >= SESSION_ITERATIONS {
            self.iterations.remove(0);
        }
        self.iterations.push(iteration);
    }

    /// The run ended: the last iteration says why.
    pub fn end(
        &mut self,
        at: String,
        (status, reason): (&'static str, &'static str),
        decision: ExitDecision,
    ) {
        (self.ended_at, self.exit_status, self.exit_reason) = (Some(at), Some(status), Some(reason));
        if let Some(last) = self.iterations.last_mut() {
            (last.exit_decision, last.exit_reason) = (decision, Some(reason));
        }
    }

    /// The run goes on after all.
    pub fn resume(&mut self) {
        (self.ended_at, self.exit_status, self.exit_reason) = (None, None, None);
        if let Some(last) = self.iterations.last_mut() {
            (last.exit_decision, last.exit_reason) = (ExitDecision::Continue, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Micro;

    /// The example in the original analyzer's documentation: the same names in the same order.
    #[test]
    fn an_analysis_begins_as_the_seed_shows_it() {
        let policy = Policy::strict(9, Micro(1));
        let text = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 2\n\
            TESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: false\n\
            RECOMMENDATION: Continue to US-006\n---END_RALPH_STATUS---";
        let response = Response::read(text, "COMPLETE", None);
        let mut trend = Trend::default();
        for _ in 0..5 {
            trend.add(&response, &policy);
        }
        let analysis = Analysis {
            timestamp: "2025-01-13T10:45:00Z".into(),
            completion_indicators: 0,
            ..Analysis::of(&response, &trend, &policy)
        };
        let json = serde_json::to_string(&analysis).unwrap();
        let seed = concat!(
            r#"{"timestamp":"2025-01-13T10:45:00Z","iteration":5,"ralph_status":{"found":true,"status":"IN_PROGRESS","#,
            r#""tasks_completed":1,"files_modified":2,"tests_status":"PASSING","work_type":"IMPLEMENTATION","#,
            r#""exit_signal":false,"recommendation":"Continue to US-006"},"completion_indicators":0,"#,
            r#""exit_decision":"continue","stuck_loop_detected":false,"circuit_breaker_state":"CLOSED","#,
        );
        assert!(json.starts_with(seed), "{json}");
    }

    #[test]
    fn a_session_has_the_seeds_shape_and_a_bound() {
        let mut session = Session { session_id: "s".into(), started_at: "t".into(), ..Session::default() };
        for number in 1..=150 {
            let iteration = SessionIteration {
                number,
                timestamp: "t".into(),
                status: Some(Progress::InProgress),
                tasks_completed: 1,
                files_modified: 3,
                exit_decision: ExitDecision::Continue,
                exit_reason: None,
                work_type: Some(WorkType::Testing),
                claimed: None,
            };
            session.add(iteration, 2);
        }
        assert_eq!((session.iterations.len(), session.iterations[0].number), (SESSION_ITERATIONS, 51));
        session.iterations.truncate(1);
        let seed = concat!(
            r#"{"session_id":"s","started_at":"t","iterations":[{"number":51,"timestamp":"t","status":"IN_PROGRESS","#,
            r#""tasks_completed":1,"files_modified":3,"exit_decision":"continue","exit_reason":null,"#,
            r#""work_type":"TESTING","claimed":null}],"total_tasks_completed":150,"#,
            r#""total_files_modified":450,"total_commits":300,"#,
        );
        let json = serde_json::to_string(&session).unwrap();
        assert!(json.starts_with(seed), "{json}");
    }

    #[test]
    fn the_last_iteration_says_why_the_run_ended_until_it_goes_on() {
        let first = SessionIteration {
            number: 1,
            timestamp: "t".into(),
            status: None,
            tasks_completed: 0,
            files_modified: 0,
            exit_decision: ExitDecision::Continue,
            exit_reason: None,
            work_type: None,
            claimed: None,
        };
        let mut session = Session::default();
        session.add(first.clone(), 0);
        session.end("u".into(), ("ABORTED", "STALL"), ExitDecision::Exit);
        let json = serde_json::to_value(&session).unwrap();
        let last = &json["iterations"][0];
        assert_eq!((&last["exit_decision"], &last["exit_reason"]), (&"exit".into(), &"STALL".into()));
        let end = (&json["ended_at"], &json["exit_status"], &json["exit_reason"]);
        assert_eq!(end, (&"u".into(), &"ABORTED".into(), &"STALL".into()));
        session.resume();
        assert_eq!((session.iterations.as_slice(), session.ended_at), (&[first][..], None));
    }
}
