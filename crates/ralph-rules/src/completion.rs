//! Whether work that satisfies the gate completes the run: the proof grades it, and the policy says which grade is
//! enough. What is not enough is sent back to the agent once, or ends in a review by a person.

use crate::ending::{Ending, Reason};
use crate::grade::Grade;
use crate::next::{act, exit, interrupted, person, verify};
use crate::objection::Objection;
use crate::policy::{Oracle, Policy};
use crate::proof::{Conclusion, ProofStep, proof, wanted};
use crate::record::Decision;
use crate::state::State;
use crate::step::Step;

/// The end of the run, or the next step of its proof. `Err`: the agent has to do more, for these reasons.
pub(crate) fn completion(
    state: &State,
    policy: &Policy,
    ending: Ending,
    first: Objection,
) -> Result<Decision, Vec<Objection>> {
    if !ending.verified {
        return unverified(policy, ending, first);
    }
    if policy.oracle == Oracle::Allow {
        let grade = if state.checks.baseline_green() { Grade::Unbroken } else { Grade::Unclear };
        let notes = flaky(state).into_iter().chain(state.checks.fewer_tests());
        return Ok(exit(ending.graded(grade), std::iter::once(first).chain(notes).collect()));
    }
    let step = proof(state);
    if let (Some(signal), false) = (state.person.stop, matches!(step, ProofStep::Conclude(_))) {
        return Ok(exit(interrupted(signal), vec![person("stop")]));
    }
    match step {
        ProofStep::Compare => Ok(act(Step::Compare, vec![Objection::CompareWanted])),
        ProofStep::Verify(check) => Ok(verify(check, policy, wanted(check))),
        ProofStep::Conclude(Conclusion::Graded(grade, mut notes)) => {
            notes.extend(flaky(state).filter(|flaky| !notes.contains(flaky)));
            graded(state, policy, ending.graded(grade), (first, notes))
        }
        ProofStep::Conclude(Conclusion::OracleChanged(notes)) => match policy.oracle {
            Oracle::Flag => {
                let reasons = std::iter::once(first).chain(notes).collect();
                Ok(exit(ending.graded(Grade::Revised), reasons))
            }
            _ => Ok(exit(Ending::new(Reason::OracleChanged, false), notes)),
        },
        ProofStep::Conclude(Conclusion::Refused(why)) if state.person.accepted => {
            Ok(accepted(Grade::Unclear, vec![why]))
        }
        ProofStep::Conclude(Conclusion::Refused(why)) => {
            let again = state.proof.refusals(&why) > 0 && !state.proof.sent_back;
            if again { Ok(review(Grade::Unclear, vec![why])) } else { Err(vec![why]) }
        }
    }
}

/// No verify command: nothing can be shown, and nothing more is asked for unless the policy does.
fn unverified(policy: &Policy, ending: Ending, first: Objection) -> Result<Decision, Vec<Objection>> {
    let (grade, required) = (Grade::Unverified, policy.gate.require);
    if required > Grade::Unbroken {
        return Ok(review(grade, vec![Objection::GradeBelow { grade, required }]));
    }
    Ok(exit(ending.graded(grade), vec![first]))
}

/// The work has this grade: enough, or the agent is asked for a test, or a person decides.
fn graded(
    state: &State,
    policy: &Policy,
    ending: Ending,
    (first, mut notes): (Objection, Vec<Objection>),
) -> Result<Decision, Vec<Objection>> {
    let (grade, required) = (ending.grade.unwrap_or(Grade::Unverified), policy.gate.require);
    let enough = grade >= required || policy.oracle == Oracle::Flag;
    if state.person.accepted && !enough {
        return Ok(accepted(grade, notes));
    }
    let asks = policy.gate.ask_for_test.max(u32::from(!enough));
    if grade == Grade::Unbroken && state.proof.asked < asks && testable(state) && !state.person.accepted {
        return Err(vec![Objection::AskForTest]);
    }
    if enough {
        notes.insert(0, first);
        return Ok(exit(ending, notes));
    }
    if grade >= Grade::Unbroken {
        notes.insert(0, Objection::GradeBelow { grade, required });
    }
    if state.proof.sent_back { Err(notes) } else { Ok(review(grade, notes)) }
}

/// Something changed that a test could show.
fn testable(state: &State) -> bool {
    let compared = state.proof.latest();
    let any = compared.is_some_and(|c| (c.work.any() || c.ambiguous.any()) && !c.docs_only);
    any && state.trees.changed_in_run()
}

fn accepted(grade: Grade, mut notes: Vec<Objection>) -> Decision {
    notes.insert(0, Objection::AcceptedByPerson);
    exit(Ending::new(Reason::Accepted, true).graded(grade), notes)
}

fn review(grade: Grade, reasons: Vec<Objection>) -> Decision {
    exit(Ending::new(Reason::NeedsReview, grade != Grade::Unverified).graded(grade), reasons)
}

fn flaky(state: &State) -> Option<Objection> {
    state.checks.flaky.then_some(Objection::Flaky)
}
