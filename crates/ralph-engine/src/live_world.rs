//! Starts steps for the loop. Short steps run at once, long ones on a worker thread (steps never overlap, so one thread
//! is enough). Each step sends exactly one closing observation.

use crate::observation::Observation;
use crate::session::{self, Handover, OpenCall, SessionPort};
use crate::step_context::StepContext;
use crate::world::{
    World, admit, analyze, call, compare, extend, inspect, map, plan, recover, restore, room, verify,
};
use ralph_diagnostics::Discard;
use ralph_rules::money::Micro;
use ralph_rules::next::Why;
use ralph_rules::record::{Attempt, Check, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::Store;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

type Work = Box<dyn FnOnce(&StepContext) -> Observation + Send>;

/// The world of a real run: processes, files and the store.
pub struct LiveWorld<'a> {
    ctx: Arc<StepContext>,
    store: &'a dyn Store,
    worker: Sender<Work>,
    /// The prompt composed by the latest `Admit`; the file beside the journal is redacted, this is not.
    prompt: Arc<Mutex<String>>,
    /// What was left of the day's budget at that time.
    rest: Option<Micro>,
}

impl<'a> LiveWorld<'a> {
    /// Starts the worker thread.
    pub fn new(ctx: Arc<StepContext>, store: &'a dyn Store) -> io::Result<LiveWorld<'a>> {
        let (worker, jobs) = channel::<Work>();
        let worker_ctx = Arc::clone(&ctx);
        std::thread::Builder::new().name("worker".into()).spawn(move || {
            for work in jobs {
                worker_ctx.send(work(&worker_ctx));
            }
        })?;
        Ok(LiveWorld { ctx, store, worker, prompt: Arc::default(), rest: None })
    }

    fn in_worker(&self, work: impl FnOnce(&StepContext) -> Observation + Send + 'static) {
        // Cannot fail: the worker lives as long as this sender.
        let _ = self.worker.send(Box::new(work));
    }

    /// What the call may spend: the smaller of what the run and the day have left.
    fn left(&self, state: &State) -> Option<Micro> {
        let run = state.start.as_ref().map(|start| state.budget.left(&start.policy));
        run.into_iter().chain(self.rest).min()
    }

    /// What needs the store is asked at once; the rest may take long, so that it must not hold up the loop.
    fn admit(&mut self, request: admit::AdmitRequest, state: &State) {
        self.ctx.under_way.clear();
        let (prompt, store) = (Arc::clone(&self.prompt), self.store);
        match admit::checked(&self.ctx, store, state, request) {
            Err(refused) => self.ctx.send(Seen::Refused(refused)),
            Ok(checked) => {
                self.rest = checked.rest;
                self.in_worker(move |ctx| match admit::admit(ctx, checked) {
                    Err(refused) => Seen::Refused(refused).into(),
                    Ok((observation, composed)) => {
                        *prompt.lock().unwrap_or_else(PoisonError::into_inner) = composed;
                        observation
                    }
                });
            }
        }
    }

    /// What the session did already closes the call; otherwise it is asked to do it.
    fn call_in_session(&self, port: &SessionPort, request: call::CallRequest, state: &State) {
        let call = self.open_call(request.id, Micro(self.ctx.held.load(Ordering::Relaxed)), state);
        self.ctx.under_way.clear();
        match port.take_turn() {
            Some(turn) => self.in_worker(move |ctx| session::closed(ctx, &call, &turn)),
            None => {
                // Noted on disk: the next hook tells the agent's changes of the plan from the person's by it.
                self.ctx.commands_begin(true);
                port.hand_over(Handover { id: request.id, prompt: request.prompt });
            }
        }
    }

    /// The call of a session, as it is closed.
    fn open_call(&self, id: Attempt, reserved: Micro, state: &State) -> OpenCall {
        OpenCall { id, reserved, since: state.calls.admitted_at, mark: state.session_mark.clone() }
    }

    /// The call was open when the last process left the run.
    fn recover(&self, id: Attempt, reserved: Micro, state: &State) {
        let caller = (state.ladder.rung, state.reviews.under_way());
        let before = state.budget.conversation.clone().filter(|_| !caller.1);
        let in_session = state.calls.in_session && !caller.1;
        if !in_session {
            return self.in_worker(move |ctx| recover::recover(ctx, id, reserved, caller, before));
        }
        let call = self.open_call(id, reserved, state);
        let turn = self.ctx.deps.session.as_ref().and_then(|port| port.take_turn());
        self.in_worker(move |ctx| match &turn {
            Some(turn) => session::closed(ctx, &call, turn),
            None => session::lost(ctx, &call),
        });
    }

    fn call(&mut self, request: call::CallRequest) {
        self.ctx.under_way.clear();
        self.ctx.tell_spend_from.store(request.tell_spend_from.0, Ordering::Relaxed);
        self.in_worker(move |ctx| call::call(ctx, &request));
        // Done while the agent works, so that no commit has to do it.
        self.store.housekeep().discard("housekeeping of the store");
    }
}

impl World for LiveWorld<'_> {
    fn begin(&mut self, step: &Step, state: &State) {
        let ctx = &self.ctx;
        if let Some(unusable) = ctx.place.before(step) {
            return ctx.send(unusable);
        }
        ctx.use_commands_of(state);
        match step {
            Step::Admit { id, amount, limits, rung, anyway, review } => {
                let (id, amount, limits, called) = (*id, *amount, *limits, state.calls.called);
                let (rung, anyway, review) = (*rung, *anyway, *review);
                let request = admit::AdmitRequest { id, amount, limits, rung, anyway, review, called };
                self.admit(request, state);
            }
            Step::Call { id, rung, tell_spend_from, tell_silence_after, review, .. } => {
                let request = call::CallRequest {
                    id: *id,
                    prompt: std::mem::take(&mut *self.prompt.lock().unwrap_or_else(PoisonError::into_inner)),
                    rung: *rung,
                    left: self.left(state),
                    review: *review,
                    conversation: state.budget.conversation.clone().filter(|_| !review),
                    tell_spend_from: *tell_spend_from,
                    silence: *tell_silence_after,
                };
                match self.ctx.deps.session.clone().filter(|_| !review) {
                    Some(port) => self.call_in_session(&port, request, state),
                    None => self.call(request),
                }
            }
            Step::Extend { id, to, limits } => ctx.send(extend::extend(ctx, state, *id, *to, limits)),
            Step::Inspect { .. } => ctx.send(inspect::inspect(ctx)),
            Step::Restore { paths } => {
                let time = (state.calls.id.iteration, state.trees.restores + 1);
                ctx.send(restore::restore(ctx, paths, time));
            }
            Step::Compare => {
                let before = state.checks.baseline.clone();
                self.in_worker(move |ctx| compare::compare(ctx, before.as_ref()));
            }
            Step::Verify { check, deadline } => {
                ctx.under_way.clear();
                ctx.protection.begin(ctx);
                ctx.commands_begin(false);
                let (check, deadline, id) = (*check, *deadline, state.calls.id);
                let about = analyze::about(check, state);
                let again = matches!(check, Check::InRoom(sets) if state.proof.room(sets).is_some());
                self.in_worker(move |ctx| match check {
                    Check::InRoom(sets) => room::in_room(ctx, (sets, again), deadline, id),
                    Check::WithBaselineOracle => room::with_baseline_oracle(ctx, deadline, id),
                    _ => verify::verify(ctx, check, deadline, id, about),
                });
            }
            Step::Map { time, deadline } => {
                ctx.under_way.clear();
                let request = map::MapRequest::new(state, *time, *deadline);
                self.in_worker(move |ctx| map::map(ctx, request));
            }
            Step::Recover { id, reserved } => self.recover(*id, *reserved, state),
            Step::Plan { grant, .. } => ctx.send(plan::plan(ctx, grant.as_ref(), state)),
        }
    }

    fn handed_over(&self) -> Option<Handover> {
        self.ctx.deps.session.as_ref()?.handed_over()
    }

    fn interrupt(&mut self, why: Why) {
        self.ctx.under_way.end(why, self.ctx.deps.end_grace);
    }

    fn kept(&mut self, seen: &Seen) {
        let held = match seen {
            Seen::Admitted(admitted) => admitted.grant,
            Seen::Extended(extended) => extended.to,
            _ => return,
        };
        self.ctx.held.store(held.0, Ordering::Relaxed);
    }
}
