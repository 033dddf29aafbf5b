//! THE LOOP. Everything ralph does is one turn of this, again and again:
//!
//!   ask the rules what now → write the answer down → do it in the world → hear what comes of it
//!
//! Three speak: the world (a step that was begun), people (a signal, `ralph stop`, a hint) and the clock. First
//! the disk, then the world, then the screens: nothing is begun that is not written down, and whatever was begun
//! is heard out. A crash at any point leaves a journal from which the next process goes on.
//!
//! `next` is in the rules crate and pure. `Run` keeps state and journal in step (run.rs), `World` begins steps
//! (world.rs), `EventSource` brings the next fact (event_source.rs).

use crate::run::{Run, Unwritable};
use ralph_rules::ending::Ending;
use ralph_rules::next::{Next, next};

/// Takes a run to its end, or to where this process leaves it.
pub fn drive(run: &mut Run<'_>) -> Result<Ending, Unwritable> {
    loop {
        if let Some(ending) = turn(run)? {
            return Ok(ending);
        }
    }
}

/// One turn of the loop; `Some` is the end. `decide` and `flush` are false when the ledger refused a reservation:
/// then the fact is another one, and the rules are asked again.
pub fn turn(run: &mut Run<'_>) -> Result<Option<Ending>, Unwritable> {
    let answer = next(&run.state);
    match &answer.next {
        Next::Do(step) => {
            if run.decide(&answer)? {
                run.world.begin(step, &run.state);
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
                return Ok(Some(*ending));
            }
        }
    }
    Ok(None)
}
