//! What the views show, kept up to date record by record. A resumed run is no different: its earlier records go through
//! here first.

use crate::fact_text::decision_words;
use crate::run_lines::inside_workspace;
use crate::view_shapes::{Breaker, ExitSignals, Progress, Status, stamp};
use ralph_agents::Activity;
use ralph_engine::circuit::changes_of;
use ralph_engine::run_state::RunState;
use ralph_rules::analysis::shape::{Analysis, Claimed, Failed, Refusal, Session, SessionIteration};
use ralph_rules::analysis::{ExitDecision, Response, Trend};
use ralph_rules::claim::Exit;
use ralph_rules::ending::{Ending, Reason};
use ralph_rules::money::Micro;
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::policy::Policy;
use ralph_rules::prompt::head;
use ralph_rules::record::{CallEnded, Decision, Fact, Ms, Record, RunStarted, Seen};
use ralph_rules::state::{Phase, State};
use ralph_rules::step::Step;
use ralph_store::WindowUse;
use std::time::Instant;

/// How many iterations the signs of completion name.
const LATEST: usize = 5;
/// What is kept of an activity.
const WORDS: usize = 200;

/// What the views show.
pub struct ViewFold {
    /// The run's state.
    pub state: State,
    /// Its iterations.
    pub session: Session,
    /// The latest response.
    pub analysis: Option<Analysis>,
    trend: Trend,
    signals: ExitSignals,
    /// The commit the workspace is at, the subjects of the latest, and how many are new in this iteration.
    head: Option<String>,
    subjects: Vec<String>,
    commits: u64,
    judged: u32,
    last_action: String,
    current_file: Option<String>,
    last_activity: Option<String>,
    since: Instant,
}

impl Default for ViewFold {
    fn default() -> ViewFold {
        ViewFold {
            state: State::default(),
            session: Session::default(),
            analysis: None,
            trend: Trend::default(),
            signals: ExitSignals::default(),
            head: None,
            subjects: Vec::new(),
            commits: 0,
            judged: 0,
            last_action: String::new(),
            current_file: None,
            last_activity: None,
            since: Instant::now(),
        }
    }
}

impl ViewFold {
    /// Of a run that begins with these commits, newest first.
    pub fn new(subjects: Vec<String>) -> ViewFold {
        ViewFold { subjects, ..ViewFold::default() }
    }

    /// One more record.
    pub fn record(&mut self, record: &Record) {
        self.since = Instant::now();
        match &record.fact {
            Fact::Seen(seen) => {
                self.state.apply(record);
                self.seen(seen);
            }
            Fact::Decided(decision) => {
                let judged = matches!(
                    decision.next,
                    Next::Do(Step::Admit { review: false, .. } | Step::Plan { .. }) | Next::Exit(_)
                ) && self.state.calls.counted
                    && self.state.calls.done > self.judged;
                self.state.apply(record);
                self.last_action = decision_words(&decision.next);
                if judged {
                    self.iteration_judged(decision);
                }
                if let Next::Exit(ending) = &decision.next {
                    self.ended(*ending);
                }
            }
        }
    }

    /// The agent does something.
    pub fn activity(&mut self, activity: &Activity) {
        let words = match activity {
            Activity::Tool { name, detail, file } => {
                self.current_file = file
                    .as_ref()
                    .map(|file| inside_workspace(&self.state, file))
                    .or(self.current_file.take());
                format!("{name} {}", inside_workspace(&self.state, detail))
            }
            Activity::Said { text } => text.clone(),
            Activity::Retrying { why } => format!("retrying: {why}"),
            _ => return,
        };
        self.last_activity = Some(head(words.trim(), WORDS));
    }

    fn seen(&mut self, seen: &Seen) {
        match seen {
            Seen::RunStarted(start) => {
                self.session.session_id.clone_from(&start.run);
                self.session.started_at = stamp(self.state.at);
                self.session.tasks_counted = start.plan.is_some();
                self.head.clone_from(&start.base);
            }
            Seen::Resumed(_) => self.resumed(),
            Seen::CallEnded(call) => self.call_ended(call),
            Seen::Inspected(seen) => {
                let fresh = seen.head.is_some() && seen.head != self.head;
                let known = |subject: &&String| Some(*subject) != self.subjects.first();
                let new = seen.commits.iter().take_while(known).count().max(1);
                self.commits += if fresh { u64::try_from(new).unwrap_or(1) } else { 0 };
                self.head.clone_from(&seen.head);
                self.subjects.clone_from(&seen.commits);
            }
            _ => {}
        }
        if !matches!(self.state.phase, Phase::Calling { .. } | Phase::Ending) {
            self.current_file = None;
        }
    }

    /// The response alone; what ralph itself observed is added when the iteration is judged.
    fn call_ended(&mut self, call: &CallEnded) {
        if self.state.reviews.has(call.id) {
            return;
        }
        let Some(start) = self.state.start.as_deref() else { return };
        let failure = call.failure.as_ref().map(|failure| failure.message.as_str());
        let mut response = Response::read_for(&call.text, call.status.as_ref(), &start.policy.gate, failure);
        response.text_bytes = call.text_bytes;
        response.denials.clone_from(&call.denials);
        self.trend.add(&response, &start.policy);
        let refusal = |tool: &String| Refusal { tool: tool.clone(), detail: String::new() };
        self.analysis = Some(Analysis {
            timestamp: stamp(self.state.at),
            iteration: call.id.iteration,
            circuit_breaker_state: self.state.circuit.now,
            format: "jsonl",
            permission_denials: call.denials.iter().map(refusal).collect(),
            session_id: call.session.clone(),
            usage: call.usage,
            cost_usd: call.price.is_exact().then(|| call.charged.usd()),
            failure: call.failure.as_ref().map(|failure| Failed {
                class: failure.class,
                message: failure.message.clone(),
                reset_at: failure.reset_at.map(stamp),
            }),
            text: call.text.clone(),
            warnings: Vec::new(),
            ..Analysis::of(&response, &self.trend, &start.policy)
        });
    }

    /// An iteration was judged.
    fn iteration_judged(&mut self, decision: &Decision) {
        let state = &self.state;
        let number = state.calls.done;
        self.judged = number;
        let claim = state.claim.block.as_ref();
        if let (Some(analysis), Some(start)) = (&mut self.analysis, state.start.as_deref()) {
            analysis.exit_decision = ExitDecision::Continue;
            analysis.lints.extend_from_slice(&state.claim_check.lints);
            analysis.circuit_breaker_state = state.circuit.now;
            analysis.stuck_loop_detected = state.repeat.stuck(&start.policy).is_some();
            analysis.completion_indicators = state.signals.last.last().map_or(0, |signal| signal.indicators);
            analysis.is_test_only |= state.trees.test_only;
            // What ralph itself objected to; the claims alone may say otherwise.
            analysis.warnings = decision.reasons.iter().map(Objection::say).collect();
        }
        let signal = state.signals.last.last();
        let policy = state.start.as_ref().map(|s| s.policy.gate.indicators).unwrap_or_default();
        self.signals.note(
            number,
            state.trees.test_only,
            signal.is_some_and(|s| s.exit == Exit::True),
            signal.is_some_and(|s| s.indicators >= policy.max(1)),
        );
        let iteration = SessionIteration {
            number,
            timestamp: stamp(state.at),
            status: claim.and_then(|block| block.status),
            tasks_completed: match self.session.tasks_counted {
                true => state.tasks.ticked_and_open().map_or(0, |(ticked, _)| ticked),
                false => claim.and_then(|block| block.tasks_completed).unwrap_or(0),
            },
            files_modified: state.trees.files.into(),
            exit_decision: ExitDecision::Continue,
            exit_reason: None,
            work_type: state.claim.work,
            claimed: claim.map(Claimed::of),
        };
        self.session.add(iteration, std::mem::take(&mut self.commits));
    }

    /// The run ended: its last iteration and its last response say why.
    fn ended(&mut self, ending: Ending) {
        let (decision, reason) = (decision_of(ending.reason), ending.name());
        let status = RunState::Ended(ending.status()).name();
        self.session.end(stamp(self.state.at), (status, reason), decision);
        if let Some(analysis) = &mut self.analysis {
            (analysis.exit_decision, analysis.exit_reason) = (decision, Some(reason));
        }
    }

    fn resumed(&mut self) {
        self.session.resume();
        if let Some(analysis) = self.analysis.as_mut().filter(|analysis| analysis.exit_reason.is_some()) {
            (analysis.exit_decision, analysis.exit_reason) = (ExitDecision::Continue, None);
        }
    }

    /// The run has started and not ended.
    pub fn is_open(&self) -> bool {
        self.state.start.is_some() && self.state.ending.is_none()
    }

    /// `progress.json`.
    pub fn progress(&self, now: Ms) -> Progress {
        let since = if self.is_open() { self.since.elapsed().as_secs() } else { 0 };
        let run = RunState::of(&self.state);
        let until = match run {
            RunState::Waiting { until } => until,
            _ => None,
        };
        Progress {
            status: run.name(),
            iteration: self.state.calls.id.iteration,
            elapsed_seconds: u64::try_from(self.state.ran / 1000).unwrap_or(0) + since,
            current_file: self.current_file.clone(),
            last_activity: self.last_activity.clone(),
            waiting_until: until.map(stamp),
            timestamp: stamp(now),
        }
    }

    /// `status.json`.
    pub fn status(&self, now: Ms, (calls, tokens): (WindowUse, WindowUse)) -> Status {
        let state = &self.state;
        let start = state.start.as_deref();
        let policy = start.map(|s| &s.policy);
        let last = state.circuit.history.last();
        Status {
            timestamp: stamp(now),
            run: start.map(|s: &RunStarted| s.run.clone()).unwrap_or_default(),
            loop_count: state.calls.done,
            status: RunState::of(state).name(),
            last_action: self.last_action.clone(),
            exit_reason: state.ending.map(|ending: Ending| ending.name()),
            calls_made_this_hour: calls.used,
            max_calls_per_hour: policy.and_then(|p: &Policy| p.calls_per_hour),
            tokens_used_this_hour: tokens.used,
            next_reset: calls.leaves.map(stamp),
            cost: state.budget.spent.usd(),
            budget: policy.map_or(Micro::ZERO, |p| p.max_cost).usd(),
            breaker: Breaker {
                state: state.circuit.now,
                reason: last.and_then(|change| change.reason.as_ref()).map(Objection::say),
                since: last.map(|change| stamp(change.at)),
                history: changes_of(state),
            },
            exit_signals: self.signals.clone(),
        }
    }
}

/// The end of a run in the seed's words; it has none for guards, limits and people.
fn decision_of(reason: Reason) -> ExitDecision {
    match reason {
        Reason::GatePassed | Reason::AlreadyComplete | Reason::Accepted => ExitDecision::ProjectComplete,
        Reason::CompletionSignals => ExitDecision::CompletionSignals,
        Reason::Blocked => ExitDecision::Blocked,
        _ => ExitDecision::Exit,
    }
}

impl ExitSignals {
    fn note(&mut self, iteration: u32, tests: bool, done: bool, indicators: bool) {
        let lists = [
            (&mut self.test_only_loops, tests),
            (&mut self.done_signals, done),
            (&mut self.completion_indicators, indicators),
        ];
        for (list, _) in lists.into_iter().filter(|(_, holds)| *holds) {
            list.push(iteration);
            let old = list.len().saturating_sub(LATEST);
            list.drain(..old);
        }
    }
}
