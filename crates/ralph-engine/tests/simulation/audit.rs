//! A run is over: its journal is read back from the store, folded, decided again, and compared with what was in mind,
//! in the ledger and in the read model.

use super::life::Life;
use super::power::Power;
use super::tally::Tally;
use ralph_engine::journal;
use ralph_engine::rebuild::Rows;
use ralph_engine::rows::account;
use ralph_rules::next::Next;
use ralph_rules::record::{Attempt, Fact, Record, Request, Seen};
use ralph_rules::replay::replay;
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::Store;
use std::collections::BTreeMap;

pub fn audit(life: &Life<'_>, mains: &Power, tally: &mut Tally) {
    let records = journal::read(mains, &life.id).unwrap();
    let replayed = replay(&records);
    assert!(replayed.differences.is_empty(), "{}: decided otherwise: {:?}", life.id, replayed.differences[0]);
    let state = life.stood.as_ref().unwrap();
    if tally.pairs.is_multiple_of(4) {
        // Folding costs as much as deciding again, so only some runs are compared part by part.
        assert_eq!(State::of(&records), *state, "{}: the journal and the mind differ", life.id);
    }
    let row = mains.run(&life.id).unwrap().unwrap();
    assert_eq!(
        (row.cost_micro, row.iterations, row.head),
        (state.budget.spent.0, state.calls.done, state.seq)
    );
    // What the ledger refused left nothing behind: the rows are those that the journal gives.
    let rows = Rows::of_records(&life.id, &records);
    assert_eq!(mains.iterations(&life.id).unwrap(), rows.iterations, "{}: rows of iterations", life.id);
    let counted = account(mains, &life.id).unwrap().iterations();
    assert_eq!(counted, row.iterations, "{}: iterations of reports and lists", life.id);
    closings(&records, &life.id);
    if tally.pairs.is_multiple_of(16) {
        traced(&records);
    }
    let site = life.site.borrow();
    // An acceptance comes with the process that resumes the run, not through the inbox.
    let through_inbox = |seen: &Seen| matches!(seen, Seen::Asked(a) if a.request != Request::Accept);
    let heard = records.iter().filter(|r| matches!(&r.fact, Fact::Seen(s) if through_inbox(s))).count();
    let waiting = mains.requests(&life.id).unwrap().len();
    assert_eq!((heard + waiting) as u64, site.asked, "{}: a request was lost or heard twice", life.id);
    tally.decisions += replayed.decisions;
    tally.ended_by_us += site.ended_by_us;
    tally.over = tally.over.max(site.books.over);
    for record in &records {
        tally.record(record);
    }
}

/// The trace of the run is sound. Runs of the simulation have short names, traces need a UUID.
fn traced(records: &[Record]) {
    let mut records = records.to_vec();
    if let Some(Record { fact: Fact::Seen(Seen::RunStarted(start)), .. }) = records.first_mut() {
        start.run = "0198c1d2-aaaa-7bbb-8ccc-1234567890ab".into();
    }
    crate::trace_checks::check(&records);
}

/// What is under way, and which calls still need their closing fact.
#[derive(Default)]
struct Open {
    step: Option<Step>,
    extending: bool,
    calls: BTreeMap<Attempt, u32>,
}

/// Every step that was begun has exactly one closing fact, or was cut off; a call always has one.
fn closings(records: &[Record], who: &str) {
    let mut open = Open::default();
    for record in records {
        match &record.fact {
            Fact::Decided(decision) => {
                if let Next::Do(step) = &decision.next {
                    open.begin(step, who);
                }
            }
            Fact::Seen(seen) => open.close(seen, who),
        }
    }
    assert!(open.step.is_none(), "{who}: left open: {:?}", open.step);
    assert!(open.calls.values().all(|n| *n == 1), "{who}: closing facts of calls: {:?}", open.calls);
}

impl Open {
    fn begin(&mut self, step: &Step, who: &str) {
        if let Step::Extend { .. } = step {
            assert!(!self.extending, "{who}: two extensions at once");
            self.extending = true;
            return;
        }
        assert!(self.step.is_none(), "{who}: {step:?} begun beside {:?}", self.step);
        if let Step::Call { id, .. } = step {
            assert!(self.calls.insert(*id, 0).is_none(), "{who}: call {id} begun twice");
        }
        self.step = Some(step.clone());
    }

    fn close(&mut self, seen: &Seen, who: &str) {
        let closes = match (seen, &self.step) {
            (Seen::Resumed(_), _) => {
                self.extending = false;
                self.step = None;
                return;
            }
            (Seen::Extended(_), _) => {
                self.extending = false;
                return;
            }
            (Seen::Refused(_), Some(Step::Call { .. })) => {
                self.extending = false;
                return;
            }
            (Seen::Admitted(_) | Seen::Refused(_), Some(Step::Admit { .. })) => true,
            (Seen::Inspected(_), Some(Step::Inspect { .. })) => true,
            (Seen::Restored(_), Some(Step::Restore { .. })) => true,
            (Seen::Compared(_), Some(Step::Compare)) => true,
            (Seen::Verified(_), Some(Step::Verify { .. })) => true,
            (Seen::Mapped(_), Some(Step::Map { .. })) => true,
            (Seen::Planned(_), Some(Step::Plan { .. })) => true,
            (Seen::WorkspaceUnusable(_), Some(step)) => {
                !matches!(step, Step::Call { .. } | Step::Extend { .. } | Step::Recover { .. })
            }
            (Seen::CallEnded(call), Some(Step::Call { id, .. } | Step::Recover { id, .. })) => {
                *self.calls.get_mut(id).unwrap() += 1;
                call.id == *id
            }
            (Seen::CallLost(lost), Some(Step::Recover { id, .. })) => {
                *self.calls.get_mut(id).unwrap() += 1;
                lost.id == *id
            }
            (
                Seen::RunStarted(_)
                | Seen::PolicyChanged(_)
                | Seen::Woke
                | Seen::Spent(_)
                | Seen::Silent(_)
                | Seen::Asked(_),
                _,
            ) => return,
            _ => false,
        };
        assert!(closes, "{who}: {seen:?} closes nothing ({:?})", self.step);
        self.step = None;
    }
}
