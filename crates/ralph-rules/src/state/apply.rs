//! What each record changes in the state of a run.

use super::{Phase, State};
use crate::breaker::{Breaker, breaker};
use crate::claim::{self, Claim};
use crate::ending::Reason;
use crate::next::{Next, Why};
use crate::record::*;
use crate::step::Step;
impl State {
    /// Applies one record.
    pub fn apply(&mut self, record: &Record) {
        self.at = self.at.max(record.at);
        self.ran = self.ran.max(record.ran);
        self.seq = record.seq;
        match &record.fact {
            Fact::Decided(decision) => {
                let works =
                    matches!(decision.next, Next::Do(Step::Admit { review: false, .. } | Step::Plan { .. }));
                if works && !decision.reasons.is_empty() {
                    self.objections.clone_from(&decision.reasons);
                    self.proof.continues(&decision.reasons);
                }
                self.alerts.decided(&decision.reasons, self.calls.id.iteration);
                self.decided(&decision.next);
                if let Some(start) = &self.start {
                    let derived = breaker(self, &start.policy);
                    self.circuit.decided(derived, decision, self.at, self.calls.done);
                }
            }
            Fact::Seen(seen) => self.seen(seen),
        }
    }

    /// The state after a whole journal.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> State {
        let mut state = State::default();
        records.into_iter().for_each(|record| state.apply(record));
        state
    }

    fn decided(&mut self, next: &Next) {
        match next {
            Next::Do(step) => self.begun(step),
            Next::Interrupt(why) if matches!(self.phase, Phase::Verifying(_) | Phase::Mapping) => {
                self.checks.interrupted_by = Some(*why);
            }
            Next::Interrupt(_) if matches!(self.phase, Phase::Admitting { .. }) => {
                self.phase = Phase::Admitting { interrupted: true };
            }
            Next::Interrupt(why) => {
                self.calls.ended_by = Some(*why);
                if matches!(self.phase, Phase::Calling { .. }) {
                    self.phase = Phase::Ending;
                }
            }
            Next::Wait { .. } => {}
            Next::Exit(ending) => {
                self.ending = Some(*ending);
                if !ending.resumable() {
                    self.phase = Phase::Over;
                }
            }
        }
    }

    fn begun(&mut self, step: &Step) {
        match step {
            Step::Admit { review: true, .. } => {
                self.reviews.begin(&self.calls, self.trees.now);
                self.phase = Phase::Admitting { interrupted: false };
            }
            Step::Call { review: true, .. } => {
                self.calls.began(0);
                self.phase = Phase::Calling { since: self.ran, extending: false };
            }
            Step::Admit { rung, .. } => {
                self.budget.agent_changes(self.ladder.rung, *rung);
                self.ladder.admitted(*rung);
                self.person.skip_wait = false;
                // The prompt is composed now: a hint that arrives before the call begins is not part of it.
                self.calls.hints = u32::try_from(self.person.hints.len()).unwrap_or(u32::MAX);
                self.phase = Phase::Admitting { interrupted: false };
            }
            Step::Call { hints, .. } => {
                self.calls.began(*hints);
                self.calls.in_session = self.in_session;
                self.tasks.call_begins();
                self.proof.call_begins();
                self.stories.call_begins();
                self.person.accepted = false;
                self.checks.stale();
                self.phase = Phase::Calling { since: self.ran, extending: false };
            }
            Step::Extend { .. } => self.set_extending(true),
            Step::Inspect { .. } => self.phase = Phase::Inspecting,
            Step::Restore { .. } => {
                let judged = self.phase == Phase::Judging && self.trees.only_tools();
                self.phase = Phase::Restoring { judged };
            }
            Step::Compare => self.phase = Phase::Comparing,
            Step::Verify { check, .. } => {
                self.calls.ended_by = None;
                self.checks.begun(self.ran);
                self.phase = Phase::Verifying(*check);
            }
            Step::Map { .. } => {
                self.checks.begun(self.ran);
                self.phase = Phase::Mapping;
            }
            Step::Recover { .. } => self.phase = Phase::Recovering,
            Step::Plan { grant, aside } => {
                let judged = self.phase == Phase::Judging;
                let told = (grant.as_ref(), aside.as_deref());
                self.stories.plan_begins(told, (self.calls.done, judged), self.checks.baseline.as_ref());
                self.phase = Phase::Planning;
            }
        }
    }

    fn seen(&mut self, seen: &Seen) {
        seen.sandbox().into_iter().for_each(|refused| self.sandbox.add(refused));
        match seen {
            Seen::RunStarted(start) => self.started(start),
            Seen::Resumed(resumed) => self.resumed(resumed),
            Seen::PolicyChanged(changed) => {
                if let Some(start) = &mut self.start {
                    start.policy = changed.policy.clone();
                }
            }
            Seen::CallsFound(found) => {
                self.budget.found(found);
                // An open call is recovered next, and counts then.
                let open = u32::from(self.phase == Phase::Lost && !self.reviews.under_way());
                self.calls.found(found.last.saturating_sub(open));
                self.session_mark.carry = found.carry.unwrap_or(self.session_mark.carry);
            }
            Seen::Woke => self.stories.read_again(),
            Seen::Admitted(admitted) => self.admitted(admitted),
            Seen::Refused(refused) => self.refused(refused),
            Seen::Extended(extended) => {
                if matches!(self.phase, Phase::Calling { .. }) {
                    self.budget.granted(extended.to);
                }
                self.set_extending(false);
            }
            Seen::Spent(spent) => {
                if matches!(self.phase, Phase::Calling { .. } | Phase::Ending) {
                    self.budget.seen(spent);
                }
            }
            Seen::Silent(silent) => self.calls.silent = Some(silent.ms),
            Seen::CallEnded(call) => self.call_ended(call),
            Seen::CallLost(lost) => self.call_lost(lost),
            Seen::Inspected(inspected) => self.inspected(inspected),
            Seen::Restored(restored) => self.restored(restored),
            Seen::Compared(compared) => {
                self.proof.compared(compared);
                self.phase = Phase::Judging;
                if compared.tree != self.trees.now && self.proof.may_compare() {
                    self.verify_again(compared.tree);
                }
            }
            Seen::Verified(verified) => self.verified(verified),
            Seen::Mapped(map) => {
                self.proof.mapped(map);
                self.phase = Phase::Judging;
            }
            // The phase stays: when the run is resumed, the step is begun again.
            Seen::WorkspaceUnusable(unusable) => self.unusable = Some(unusable.clone()),
            Seen::Asked(asked) => {
                let between = matches!(
                    self.phase,
                    Phase::Ready | Phase::Refused(_) | Phase::Inspected | Phase::Judging
                );
                self.person.asked(&asked.request, between);
                self.stories.read_again();
            }
            Seen::Planned(planned) => self.planned(planned),
        }
    }

    fn started(&mut self, start: &RunStarted) {
        self.started_at = self.at;
        self.clock_behind = start.clock_behind;
        self.trees.began(start.tree);
        self.in_session = start.session.is_some();
        self.session_mark = start.session.as_ref().map(|given| given.mark.clone()).unwrap_or_default();
        self.stories.began(start.stories);
        // Of several stories the agent gets one: what the others are does not count against its claim.
        self.tasks.began(start.plan.as_ref().filter(|_| start.stories.is_none()));
        self.start = Some(Box::new(start.clone()));
        self.phase = Phase::Ready;
    }

    /// A crash or a suspension lies behind: an open call is lost, another open step is begun again.
    fn resumed(&mut self, resumed: &Resumed) {
        let ending = self.ending.take();
        self.unusable = None;
        self.clock_behind = self.clock_behind.max(resumed.clock_behind);
        if let (Some(workspace), Some(start)) = (&resumed.workspace, &mut self.start) {
            start.moved_to(workspace);
        }
        if let (Some(sandbox), Some(start)) = (&resumed.contained, &mut self.start) {
            start.contained_by(sandbox);
        }
        let gave_up = ending.is_some_and(|ending| ending.gave_up());
        let reviewed = ending.is_some_and(|ending| ending.reason == Reason::NeedsReview);
        self.proof.sent_back |= reviewed;
        let answered = ending.is_some_and(|ending| ending.needs_answer());
        if answered {
            self.answered();
        }
        self.in_session &= !resumed.left_session;
        self.person.resumed();
        self.faults.resumed(self.now(), gave_up);
        self.stories.read_again();
        self.tasks.inspected(resumed.plan.as_ref().filter(|_| !self.stories.is_on()));
        // A complete plan may end the run without a call, but not on a proof from before the interruption.
        let nothing_to_do = self.tasks.pending() == Some(0) && self.calls.id == Attempt::default();
        self.checks.resumed(nothing_to_do);
        self.phase = match std::mem::take(&mut self.phase) {
            Phase::Calling { .. } | Phase::Ending | Phase::Recovering => Phase::Lost,
            Phase::Admitting { .. } | Phase::Admitted | Phase::Refused(_) if self.reviews.under_way() => {
                self.budget.released();
                self.reviews.end(&mut self.calls);
                Phase::Inspected
            }
            Phase::Planning if self.stories.ends() => Phase::Inspected,
            Phase::Admitting { .. } | Phase::Refused(_) | Phase::Planning => Phase::Ready,
            Phase::Admitted => {
                self.budget.released();
                Phase::Ready
            }
            Phase::Inspecting => Phase::Answered,
            Phase::Restoring { .. } => Phase::Inspected,
            Phase::Verifying(Check::Baseline) => Phase::Ready,
            Phase::Comparing | Phase::Verifying(_) | Phase::Mapping => Phase::Inspected,
            // The files may have changed since somebody was asked to look at them.
            Phase::Judging if reviewed || answered => Phase::Inspected,
            other => other,
        };
    }

    /// A person has looked at a run that could not continue by itself: what led to the stop counts no more.
    fn answered(&mut self) {
        self.guards_begin_anew();
        self.circuit.now = Breaker::default();
        self.faults.iterations = None;
        self.claim = Claim::default();
        self.stories.answered();
    }

    fn admitted(&mut self, admitted: &Admitted) {
        let review = self.reviews.under_way();
        self.calls.admitted(admitted, self.at, review);
        self.budget.granted(admitted.grant);
        if review {
            self.reviews.reads(admitted.tree);
        } else {
            self.trees.before_call(admitted, self.calls.called);
        }
        self.phase = Phase::Admitted;
    }

    fn refused(&mut self, refused: &Refused) {
        match &mut self.phase {
            Phase::Calling { extending, .. } => {
                *extending = false;
                self.calls.extension_refused = true;
            }
            Phase::Admitting { .. } if self.reviews.under_way() && !refused.is_unsafe() => {
                if refused.by != Refuser::Person {
                    self.reviews.unanswered(&self.calls, refused.words());
                }
                self.reviews.end(&mut self.calls);
                // The files may have changed since they were proven.
                self.phase = Phase::Inspected;
            }
            Phase::Admitting { .. } => {
                self.refused_at = self.now();
                if refused.by == Refuser::Provider {
                    self.faults.waiting_for_provider(self.now());
                }
                self.phase = Phase::Refused(refused.clone());
            }
            _ => {}
        }
    }

    fn set_extending(&mut self, on: bool) {
        if let Phase::Calling { extending, .. } = &mut self.phase {
            *extending = on;
        }
    }

    /// A review closed. The worker's call is the latest one again; files that changed meanwhile, and those after a
    /// crash, are verified again.
    fn review_closed(&mut self, crashed: bool) {
        let tree = self.reviews.end(&mut self.calls);
        let changed = tree != self.trees.now;
        self.phase = if crashed { Phase::Inspected } else { Phase::Judging };
        if changed {
            self.verify_again(tree);
        }
    }

    /// The files changed after they were verified, though no agent was at work.
    pub(super) fn verify_again(&mut self, tree: u128) {
        self.trees.settled(tree, &[], self.calls.id.iteration);
        self.checks.stale();
        self.phase = Phase::Inspected;
    }

    fn call_ended(&mut self, call: &CallEnded) {
        self.budget.settled(call.charged, call.price, &call.usage);
        if let Some(mark) = &call.session_mark {
            self.session_mark = (**mark).clone();
        }
        self.alerts.day = call.day.clone().or(self.alerts.day.take());
        if self.reviews.under_way() {
            self.reviews.answered(&self.calls, call);
            self.review_closed(call.recovered);
            return;
        }
        self.budget.continued(call.session.as_deref(), call.told);
        self.faults.call_ended(call, self.now());
        let gate = self.start.as_ref().map(|start| &start.policy.gate);
        let (promise, patterns) = gate.map_or(("", &[][..]), |gate| (&gate.promise, &gate.patterns));
        self.claim = match call.failure {
            Some(_) => Claim::default(),
            None => claim::read_with_patterns(&call.text, call.status.as_ref(), promise, patterns),
        };
        let provider = call.failure.as_ref().is_some_and(|f| !f.class.is_iteration());
        self.calls.closed(call, provider);
        if !provider && call.ended_by != Some(Why::Person) {
            self.person.hints_used(self.calls.hints);
        }
        self.phase = Phase::Answered;
    }

    fn call_lost(&mut self, lost: &CallLost) {
        self.budget.settled(lost.charged, PriceFrom::Unpriced, &lost.usage);
        if self.reviews.under_way() {
            self.reviews.lost(&self.calls, lost);
            self.review_closed(true);
            return;
        }
        self.faults.call_lost(self.now());
        self.claim = Claim::default();
        self.calls.lost();
        self.phase = Phase::Answered;
    }

    fn inspected(&mut self, inspected: &Inspected) {
        self.trees.inspected(inspected, self.calls.id.iteration);
        self.tasks.inspected(inspected.plan.as_ref().filter(|_| !self.stories.is_on()));
        self.faults.inspected(self.trees.progress);
        self.phase = Phase::Inspected;
        if !self.verifies() && self.calls.counted {
            self.close_iteration();
        }
    }

    fn restored(&mut self, restored: &Restored) {
        let judged = self.phase == Phase::Restoring { judged: true };
        self.trees.restored(restored, self.calls.id.iteration);
        self.phase = if judged { Phase::Judging } else { Phase::Inspected };
    }

    fn verified(&mut self, verified: &Verified) {
        // Before the first call only the user's own commands can have changed anything.
        let theirs = if verified.check == Check::Baseline { &[][..] } else { &verified.violations };
        self.trees.settled(verified.tree, theirs, self.calls.id.iteration);
        self.checks.closed(verified);
        self.phase = match verified.check {
            Check::Baseline => Phase::Ready,
            _ if verified.interrupted => Phase::Inspected,
            Check::WithBaselineOracle => Phase::Judging,
            Check::InRoom(sets) => {
                self.proof.verified(sets, verified);
                Phase::Judging
            }
            Check::AsIs => {
                self.close_iteration();
                Phase::Judging
            }
        };
    }
}
