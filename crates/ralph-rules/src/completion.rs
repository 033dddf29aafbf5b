//! Whether work that satisfies the gate completes the run: the proof grades it, and the policy says which grade is
//! enough. What is not enough is sent back to the agent once, or ends in a review by a person. `review.rs` has the
//! second agent's part.

use crate::ending::{Ending, Reason};
use crate::grade::Grade;
use crate::next::{act, exit, interrupted, person, verify};
use crate::objection::Objection;
use crate::policy::{Oracle, Policy};
use crate::proof::{Conclusion, ProofStep, proof, wanted};
use crate::record::Decision;
use crate::review::{Opinion, may_revise, opinion};
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
        let notes = flaky(state).into_iter().chain(state.checks.fewer_tests()).collect();
        return allowed(state, ending.graded(grade), first, notes);
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
            Oracle::Flag => allowed(state, ending.graded(Grade::Revised), first, notes),
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

/// The policy completes the run whatever the grade; only a reviewer can object.
fn allowed(
    state: &State,
    ending: Ending,
    first: Objection,
    mut notes: Vec<Objection>,
) -> Result<Decision, Vec<Objection>> {
    let grade = ending.grade.unwrap_or(Grade::Unverified);
    match opinion(state) {
        Opinion::Ask(decision) => return Ok(decision),
        Opinion::Objects(why) => return objected(state, grade, why, notes),
        Opinion::Ships(note) | Opinion::Missing(note) => notes.push(note),
        Opinion::NotWanted => {}
    }
    notes.insert(0, first);
    Ok(exit(ending, notes))
}

/// The reviewer objects: the agent has to do more, or a person decides.
fn objected(
    state: &State,
    grade: Grade,
    why: Objection,
    notes: Vec<Objection>,
) -> Result<Decision, Vec<Objection>> {
    if !state.person.accepted && (state.proof.sent_back || may_revise(state)) {
        return Err(vec![why]);
    }
    let reasons = std::iter::once(why).chain(notes).collect();
    Ok(if state.person.accepted { accepted(grade, reasons) } else { review(grade, reasons) })
}

/// The work has this grade: enough, or the agent is asked for a test, or a person decides.
fn graded(
    state: &State,
    policy: &Policy,
    ending: Ending,
    (first, mut notes): (Objection, Vec<Objection>),
) -> Result<Decision, Vec<Objection>> {
    let (grade, required) = (ending.grade.unwrap_or(Grade::Unverified), policy.gate.require);
    let mut enough = grade >= required || policy.oracle == Oracle::Flag;
    let asks = policy.gate.ask_for_test.max(u32::from(!enough));
    // A story is not set aside for want of a test that nobody requires.
    let last = enough && state.stories.had_its_iterations();
    let ask = grade == Grade::Unbroken && state.proof.asked < asks && testable(state);
    if ask && !state.person.accepted && !last {
        return Err(vec![Objection::AskForTest]);
    }
    // A grade that is too low stays too low, whatever a reviewer says; the two that say "somebody has to look" do not.
    let settles = matches!(grade, Grade::Revised | Grade::Unclear);
    if enough || settles && !state.proof.sent_back {
        match opinion(state) {
            Opinion::Ask(decision) => return Ok(decision),
            Opinion::Objects(why) => return objected(state, grade, why, notes),
            Opinion::Ships(note) => {
                enough = true;
                notes.push(note);
            }
            Opinion::Missing(note) => notes.push(note),
            Opinion::NotWanted => {}
        }
    }
    if state.person.accepted && !enough {
        return Ok(accepted(grade, notes));
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
