//! Finds the spans in a journal: follows its records, remembers what is under way, and closes each span with the record
//! that ends it. Only what the records say counts, not what today's rules would decide, so that journals of older rules
//! give the trace of what happened.

use crate::attributes::word_of;
use crate::request::MOST_SPANS;
use crate::span::call::OpenCall;
use crate::span::iteration::OpenIteration;
use crate::span::run::OpenRun;
use crate::span::verification::{OpenVerification, verdict};
use crate::span::wait::OpenWait;
use crate::span::{Begun, Kind, Span};
use ralph_rules::account::RunAccount;
use ralph_rules::failure::{Class, Reaction};
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::record::{
    Attempt, Check, Decision, Fact, Ms, Record, Refuser, Request, Resumed, RunStarted, Seen, Verified,
};
use ralph_rules::step::Step;

/// Codes that are kept of what was decided about an iteration.
const CODES: usize = 16;

/// The journal, followed up to some record.
#[derive(Debug)]
pub struct JournalSpans<'a> {
    start: &'a RunStarted,
    run: OpenRun,
    /// The time of the latest record.
    at: Ms,
    /// The iteration under way, or the latest one.
    iteration: Option<OpenIteration>,
    /// The call under way. It outlives its process: the next one recovers it.
    call: Option<OpenCall<'a>>,
    verification: Option<OpenVerification>,
    /// A step is under way.
    busy: bool,
    /// Nothing is under way since then.
    wait: Option<OpenWait>,
    /// The process left the run.
    left: bool,
    /// Who refused the latest reservation.
    refused: Option<Refuser>,
    /// How the latest call failed.
    failed: Option<Class>,
    /// A person paused the run.
    paused: bool,
    spans: Vec<Span>,
}

impl<'a> JournalSpans<'a> {
    /// A run that began with the record `seq`.
    pub fn new(start: &'a RunStarted, seq: u64, at: Ms) -> JournalSpans<'a> {
        JournalSpans {
            start,
            run: OpenRun { begun: Begun { seq, at }, resumed: 0, codes: Vec::new(), left_out: 0 },
            at,
            iteration: None,
            call: None,
            verification: None,
            busy: false,
            wait: None,
            left: false,
            refused: None,
            failed: None,
            paused: false,
            spans: Vec::new(),
        }
    }

    /// All spans, the run's first. `over`: nobody works on the run any more.
    pub fn of(mut self, records: &'a [Record], over: bool) -> Vec<Span> {
        for record in records {
            let before = self.at;
            self.at = self.at.max(record.at);
            match &record.fact {
                Fact::Decided(decision) => self.decided(decision, record.seq),
                Fact::Seen(seen) => self.seen(seen, record.seq, before),
            }
        }
        let crashed = over && !self.left;
        self.finish(crashed);
        let run = self.run.close(&RunAccount::of(records), self.at, crashed);
        std::iter::once(run).chain(self.spans).collect()
    }

    fn push(&mut self, span: Span) {
        // One place is the run's own.
        match self.spans.len() + 1 < MOST_SPANS {
            true => self.spans.push(span),
            false => self.run.left_out += 1,
        }
    }

    fn decided(&mut self, decision: &Decision, seq: u64) {
        let begun = Begun { seq, at: self.at };
        match &decision.next {
            Next::Do(Step::Admit { id, rung, review: false, .. }) => {
                self.admitting(*id, *rung, begun, &decision.reasons);
            }
            Next::Do(Step::Admit { id, review: true, .. }) => self.admitting_review(*id, begun.at),
            Next::Exit(_) => self.exit(&decision.reasons),
            next => {
                self.end_wait(self.at, true);
                match next {
                    Next::Do(Step::Call { id, rung, review, .. }) => {
                        self.begin_call(begun, *id, *rung, *review);
                    }
                    Next::Do(Step::Verify { check, .. }) => self.begin_verification(begun, *check),
                    Next::Do(Step::Plan { .. }) => self.note_codes(&decision.reasons),
                    _ => {}
                }
            }
        }
        self.busy |= matches!(decision.next, Next::Do(_));
    }

    /// Another attempt of the same iteration, or another iteration: the wait before it belongs to none.
    fn admitting(&mut self, id: Attempt, rung: u32, begun: Begun, reasons: &[Objection]) {
        self.refused = None;
        match &mut self.iteration {
            Some(iteration) if iteration.number == id.iteration => {
                (iteration.rung, iteration.ended) = (rung, None);
                self.end_wait(begun.at, true);
            }
            _ => {
                self.note_codes(reasons);
                self.end_wait(begun.at, false);
                self.close_iteration(Some(begun.at));
                self.iteration = Some(OpenIteration::new(begun, id.iteration, rung));
            }
        }
    }

    /// A review of the latest iteration's work. A limit may have ended the process before it: the iteration goes on then.
    fn admitting_review(&mut self, id: Attempt, at: Ms) {
        self.refused = None;
        if let Some(iteration) = self.iteration.as_mut().filter(|it| it.number == id.iteration) {
            iteration.ended = None;
        }
        self.end_wait(at, true);
    }

    fn begin_call(&mut self, begun: Begun, id: Attempt, rung: u32, review: bool) {
        let parent = self.parent();
        self.count_in(|iteration| iteration.calls += 1);
        let agent = self.start.caller(rung, review);
        self.call = Some(OpenCall { begun, id, rung, review, agent, parent, cut: None });
    }

    fn begin_verification(&mut self, begun: Begun, check: Check) {
        let (parent, iteration) = (self.parent(), self.current());
        self.count_in(|_| {});
        self.verification = Some(OpenVerification { begun, check, parent, iteration });
    }

    /// This process is done with the run; it may be resumed, and the iteration with it.
    fn exit(&mut self, reasons: &[Objection]) {
        self.run.codes.clear();
        add_codes(&mut self.run.codes, reasons);
        self.note_codes(reasons);
        self.end_wait(self.at, false);
        let at = self.at;
        if let Some(iteration) = &mut self.iteration {
            iteration.ended = iteration.ended.or(Some(at));
        }
        (self.left, self.busy) = (true, false);
    }

    fn seen(&mut self, seen: &Seen, seq: u64, before: Ms) {
        match seen {
            Seen::CallEnded(ended) => {
                // What a reviewer fails with holds nothing up.
                if !self.call.as_ref().is_some_and(|call| call.review) {
                    self.failed = ended.failure.as_ref().map(|failure| failure.class);
                }
                self.count_in(|iteration| iteration.cost = iteration.cost.plus(ended.charged));
                self.end_call(|call, run, at| call.ended(ended, run, at));
            }
            Seen::CallLost(lost) => {
                self.failed = Some(Class::Aborted);
                self.count_in(|iteration| iteration.cost = iteration.cost.plus(lost.charged));
                self.end_call(|call, run, at| call.lost(lost, run, at));
            }
            Seen::Verified(verified) => self.verified(verified),
            Seen::Inspected(inspected) => {
                self.count_in(|iteration| iteration.files = Some(inspected.files));
                self.busy = false;
            }
            Seen::Refused(refused) if self.call.is_none() => {
                (self.refused, self.busy) = (Some(refused.by), false);
            }
            Seen::Admitted(_)
            | Seen::Restored(_)
            | Seen::Compared(_)
            | Seen::Mapped(_)
            | Seen::Planned(_) => {
                self.busy = false;
            }
            Seen::WorkspaceUnusable(unusable) => {
                self.end_verification(self.at, |open, run, at| open.without_workspace(unusable, run, at));
                self.busy = self.call.is_some();
            }
            Seen::Resumed(resumed) => self.resumed(resumed, before),
            Seen::Asked(asked) => match asked.request {
                Request::Pause => self.paused = true,
                Request::Continue => self.paused = false,
                _ => {}
            },
            _ => {}
        }
        self.maybe_wait(seq);
    }

    fn verified(&mut self, verified: &Verified) {
        if matches!(verified.check, Check::AsIs | Check::WithBaselineOracle) {
            self.count_in(|iteration| iteration.verified = verdict(verified));
        }
        self.end_verification(self.at, |open, run, at| open.ended(verified, run, at));
        self.busy = false;
    }

    /// A new process. The one before it may have been killed: nothing is known of what was under way after the last
    /// record. A call that a session makes goes on meanwhile.
    fn resumed(&mut self, resumed: &Resumed, before: Ms) {
        self.run.resumed += 1;
        self.cut_wait(before, false);
        self.end_verification(before, OpenVerification::lost);
        if let Some(call) = self.call.as_mut().filter(|_| !resumed.by_hook) {
            call.cut = call.cut.or(Some(before));
        }
        (self.left, self.busy, self.paused) = (false, self.call.is_some(), false);
    }

    /// Nothing is under way: unless the rules begin something at once, the run waits.
    fn maybe_wait(&mut self, seq: u64) {
        if self.busy || self.left {
            return;
        }
        let (begun, reason) = (Begun { seq, at: self.at }, self.reason_to_wait());
        let wait = self.wait.get_or_insert(OpenWait { begun, reason: None });
        wait.reason = wait.reason.take().or(reason);
    }

    fn reason_to_wait(&self) -> Option<String> {
        let waits = |class: &Class| matches!(class.reaction(), Reaction::Wait | Reaction::Pause);
        let refused = self.refused.as_ref().and_then(word_of);
        let failed = || self.failed.as_ref().filter(|class| waits(class)).and_then(word_of);
        let paused = || self.paused.then(|| "paused".into());
        let between = || (self.start.policy.pause_between > 0).then(|| "pause_between".into());
        refused.or_else(paused).or_else(failed).or_else(between)
    }

    /// Ends the wait, if there was one: in the iteration, or after it.
    fn end_wait(&mut self, at: Ms, inside: bool) {
        if let Some(wait) = self.wait.take().filter(|wait| wait.begun.at < at) {
            self.close_wait(wait, at, inside, false);
        }
    }

    /// The journal says nothing after the record at `at`, so that the wait was not over then. Nobody knows how long it was.
    fn cut_wait(&mut self, at: Ms, inside: bool) {
        if let Some(wait) = self.wait.take() {
            self.close_wait(wait, at, inside, true);
        }
    }

    fn close_wait(&mut self, wait: OpenWait, at: Ms, inside: bool, unfinished: bool) {
        if !inside && let Some(iteration) = &mut self.iteration {
            iteration.ended = iteration.ended.or(Some(wait.begun.at));
        }
        let (parent, number) = (self.parent(), self.current());
        self.count_in(|_| {});
        let span = wait.close(parent, number, &self.start.run, at, unfinished);
        self.push(span);
    }

    fn end_call(&mut self, close: impl FnOnce(OpenCall<'a>, &str, Ms) -> Span) {
        self.busy = false;
        let Some(call) = self.call.take() else { return };
        let span = close(call, &self.start.run, self.at);
        self.push(span);
    }

    fn end_verification(&mut self, at: Ms, close: impl FnOnce(OpenVerification, &str, Ms) -> Span) {
        let Some(open) = self.verification.take() else { return };
        let span = close(open, &self.start.run, at);
        self.push(span);
    }

    fn close_iteration(&mut self, at: Option<Ms>) {
        let Some(mut iteration) = self.iteration.take() else { return };
        iteration.ended = iteration.ended.or(at);
        let span = iteration.close(self.run.begun, &self.start.run, self.at);
        span.into_iter().for_each(|span| self.push(span));
    }

    /// What the last record left open ends with it.
    fn finish(&mut self, crashed: bool) {
        self.cut_wait(self.at, true);
        self.end_call(|call, run, at| call.unfinished(run, at, crashed));
        self.end_verification(self.at, |open, run, at| open.unfinished(run, at, crashed));
        self.close_iteration(None);
    }

    /// The iteration under way, if one is.
    fn open_iteration(&mut self) -> Option<&mut OpenIteration> {
        self.iteration.as_mut().filter(|iteration| iteration.ended.is_none())
    }

    /// Its number.
    fn current(&mut self) -> Option<u32> {
        self.open_iteration().map(|iteration| iteration.number)
    }

    /// The span around what begins now.
    fn parent(&mut self) -> (Kind, u64) {
        let run = (Kind::Run, self.run.begun.seq);
        self.open_iteration().map_or(run, |iteration| (Kind::Iteration, iteration.begun.seq))
    }

    /// Counts something in the iteration under way.
    fn count_in(&mut self, count: impl FnOnce(&mut OpenIteration)) {
        if let Some(iteration) = self.open_iteration() {
            iteration.used = true;
            count(iteration);
        }
    }

    fn note_codes(&mut self, reasons: &[Objection]) {
        if let Some(iteration) = self.open_iteration() {
            add_codes(&mut iteration.codes, reasons);
        }
    }
}

/// Adds the codes of the reasons, without their facts: those may quote the agent.
fn add_codes(codes: &mut Vec<String>, reasons: &[Objection]) {
    for code in reasons.iter().map(Objection::code) {
        if codes.len() < CODES && !codes.contains(&code) {
            codes.push(code);
        }
    }
}
