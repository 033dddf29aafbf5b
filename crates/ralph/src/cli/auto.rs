//! `ralph run --auto`: asks for advice first. A loop loops, `once` is the same run with one iteration, and what needs a
//! person does not start.

use super::Here;
use super::advise::conditions::{Advice, Asked};
use super::resolve::Resolved;
use super::run::Output;
use crate::plain::plain;
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_rules::advice::Verdict;
use ralph_rules::policy::Ceilings;

/// Lets the advice on its task decide how a run starts, and whether.
pub fn heed(resolved: &mut Resolved, output: Output, here: &Here) -> Result<(), Problem> {
    let plan = &mut resolved.plan;
    let limits = (Some(plan.policy.max_iterations), Some(plan.policy.max_cost), Ceilings::default());
    let (verify, protect) = (&plan.verify, &plan.protect);
    let advice = Advice::of(&Asked { task: &plan.prompt, verify, protect, limits, checked: None }, here)?;
    let why = plain(&advice.why.join("; "));
    match advice.verdict {
        Verdict::Loop => {}
        Verdict::Once => {
            plan.policy.max_iterations = plan.policy.max_iterations.min(1);
            if !output.quiet {
                say(&format!("Advice: once, because {why}.\n"));
            }
        }
        Verdict::Person => {
            return Err(Problem::new(Code::Person, format!("this task needs a person: {why}"))
                .hint("`ralph advise` shows what decided")
                .hint("run it without --auto if you want it anyway"));
        }
    }
    Ok(())
}
