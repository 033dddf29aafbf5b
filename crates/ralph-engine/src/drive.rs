//! The loop. A run is this turn, repeated:
//!
//!   ask the rules what to do next → write the decision to the journal → start the step → wait for what happens
//!
//! What happens is an observation: a step finished, a person asked for something (a signal, `ralph stop`, a hint), or a
//! timer expired. Nothing starts before its decision is on disk, screens learn of it last, and every step that was
//! started ends with exactly one observation. So a crash at any point leaves a journal that the next process continues.
//!
//! `next` is a pure function of the rules crate. `Run` keeps state and journal in step (run.rs), `World` starts steps
//! (world.rs), `EventSource` delivers observations (event_source.rs).

use crate::run::{Left, Run, Unwritable};
use ralph_rules::next::{Next, next};

/// Drives a run until it ends, or until this process has to leave it.
pub fn drive(run: &mut Run<'_>) -> Result<Left, Unwritable> {
    loop {
        if let Some(left) = turn(run)? {
            return Ok(left);
        }
    }
}

/// One turn of the loop; `Some` ends it. `decide` and `flush` return false when the ledger refused a reservation: then
/// the pending fact has become a refusal, and the rules are asked again.
pub fn turn(run: &mut Run<'_>) -> Result<Option<Left>, Unwritable> {
    let answer = next(&run.state);
    match &answer.next {
        Next::Do(step) => {
            if run.decide(&answer)? {
                run.world.begin(step, &run.state);
                if let Some(call) = run.world.handed_over() {
                    return Ok(Some(Left::HandedOver(call)));
                }
            }
        }
        Next::Interrupt(why) => {
            if run.decide(&answer)? {
                run.world.interrupt(*why);
            }
        }
        Next::Wait { wake } => {
            if run.flush()? {
                let observation = run.events.recv(*wake);
                run.note(observation);
            }
        }
        Next::Exit(ending) => {
            if run.decide(&answer)? {
                return Ok(Some(Left::Ended(*ending)));
            }
        }
    }
    Ok(None)
}
