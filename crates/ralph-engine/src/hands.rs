//! The real world: begins steps for the loop. Short steps are done at once, long ones by a worker thread (steps never
//! overlap, so one is enough); each speaks exactly one closing fact into the loop's ears.

use crate::bench::Bench;
use crate::oracle::of_run;
use crate::told::Told;
use crate::world::{World, admit, call, extend, inspect, proof, recover, restore, verify};
use ralph_rules::money::Micro;
use ralph_rules::next::Why;
use ralph_rules::record::{Check, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::Store;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};

type Work = Box<dyn FnOnce(&Bench) -> Told + Send>;

/// The real world.
pub struct Hands<'a> {
    bench: Arc<Bench>,
    store: &'a dyn Store,
    worker: Sender<Work>,
    /// The prompt composed by the latest `Admit`; the file beside the journal is redacted, this is not.
    prompt: String,
    /// What the day had left for all runs then.
    rest: Option<Micro>,
}

impl<'a> Hands<'a> {
    /// Hands at this bench.
    pub fn new(bench: Arc<Bench>, store: &'a dyn Store) -> io::Result<Hands<'a>> {
        let (worker, jobs) = channel::<Work>();
        let theirs = Arc::clone(&bench);
        std::thread::Builder::new().name("worker".into()).spawn(move || {
            for work in jobs {
                theirs.tell(work(&theirs));
            }
        })?;
        Ok(Hands { bench, store, worker, prompt: String::new(), rest: None })
    }

    fn apart(&self, work: impl FnOnce(&Bench) -> Told + Send + 'static) {
        // The worker lives as long as this sender does.
        let _ = self.worker.send(Box::new(work));
    }

    /// What the run and the day have left for the call.
    fn left(&self, state: &State) -> Option<Micro> {
        let run = state.start.as_ref().map(|start| state.budget.left(&start.policy));
        run.into_iter().chain(self.rest).min()
    }

    fn call(&mut self, order: call::Order) {
        self.bench.under_way.clear();
        self.bench.put_aside(order.id.iteration);
        self.bench.protection.begin(&self.bench);
        of_run::begins(&self.bench);
        self.bench.tell_spend_from.store(order.tell_spend_from.0, Ordering::Relaxed);
        self.apart(move |bench| call::call(bench, order));
        // The agent works now; meanwhile the write-ahead log can be folded into the database.
        let _ = self.store.housekeep();
    }
}

impl World for Hands<'_> {
    fn begin(&mut self, step: &Step, state: &State) {
        let bench = &self.bench;
        match step {
            Step::Admit { id, amount, limits, rung, anyway } => {
                let order = admit::Order { id: *id, amount: *amount, limits, rung: *rung, anyway: *anyway };
                let admit::Said { told, prompt, rest } = admit::admit(bench, self.store, state, &order);
                (self.prompt, self.rest) = (prompt, rest);
                bench.tell(told);
            }
            Step::Call { id, rung, tell_spend_from, tell_silence_after, .. } => {
                let order = call::Order {
                    id: *id,
                    prompt: std::mem::take(&mut self.prompt),
                    rung: *rung,
                    left: self.left(state),
                    conversation: state.budget.conversation.clone(),
                    tell_spend_from: *tell_spend_from,
                    silence: *tell_silence_after,
                };
                self.call(order);
            }
            Step::Extend { id, to, limits } => bench.tell(extend::extend(bench, state, *id, *to, limits)),
            Step::Inspect { .. } => bench.tell(inspect::inspect(bench)),
            Step::Restore { paths } => {
                let time = (state.calls.id.iteration, state.trees.restores + 1);
                bench.tell(restore::restore(bench, paths, time));
            }
            Step::Verify { check, deadline } => {
                bench.under_way.clear();
                bench.protection.begin(bench);
                let (check, deadline, id) = (*check, *deadline, state.calls.id);
                self.apart(move |bench| match check {
                    Check::WithBaselineOracle => proof::prove(bench, deadline, id),
                    _ => verify::verify(bench, check, deadline, id),
                });
            }
            Step::Recover { id, reserved } => {
                let (id, reserved, rung) = (*id, *reserved, state.ladder.rung);
                let before = state.budget.conversation.clone();
                self.apart(move |bench| recover::recover(bench, id, reserved, rung, before));
            }
        }
    }

    fn end(&mut self, why: Why) {
        self.bench.under_way.end(why, self.bench.equipment.end_grace);
    }

    fn kept(&mut self, seen: &Seen) {
        let held = match seen {
            Seen::Admitted(admitted) => admitted.grant,
            Seen::Extended(extended) => extended.to,
            _ => return,
        };
        self.bench.held.store(held.0, Ordering::Relaxed);
    }
}
