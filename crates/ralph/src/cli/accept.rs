//! `ralph accept`: a person accepts work that a run left for review. The checks run once more; what fails, or what changed
//! since, is not accepted unseen.

use super::resolve::Changes;
use super::resume::go_on;
use super::run::Output;
use super::{Here, moved, runs};
use crate::problem::{Code, Problem};
use ralph_rules::ending::Reason;
use ralph_rules::next::Next;
use ralph_rules::record::{Fact, Record, Request};
use ralph_rules::step::Step;

/// Arguments of `ralph accept`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    #[command(flatten)]
    pub output: Output,
}

/// Accepts the run's work.
pub fn accept(args: &Args, here: &Here) -> Result<u8, Problem> {
    let store = runs::store(&here.home()?)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let waits = row.reason.as_deref() == Some(Reason::NeedsReview.name());
    let cut_short = !waits && row.resumable && was_left_for_review(&runs::records(&store, &row.id)?);
    if !waits && !cut_short {
        let ended =
            row.reason.as_deref().map_or("is not over".into(), |reason| format!("ended with {reason}"));
        let message = format!("run {} has nothing to accept: it {ended}", runs::short(&row.id));
        return Err(Problem::new(Code::Usage, message)
            .hint("only a run that ended with NEEDS_REVIEW can be accepted; `ralph list` shows them"));
    }
    let which = (row.id.as_str(), moved::needed(args.run.as_ref()));
    go_on(which, &Changes::default(), None, vec![Request::Accept], args.output, here)
}

/// Whether nobody worked since the run was left for review: an acceptance that was cut short may be repeated.
fn was_left_for_review(records: &[Record]) -> bool {
    let decisions = records.iter().rev().filter_map(|record| match &record.fact {
        Fact::Decided(decision) => Some(&decision.next),
        Fact::Seen(_) => None,
    });
    let last = decisions
        .into_iter()
        .find(|next| matches!(next, Next::Do(Step::Call { .. } | Step::Admit { .. }) | Next::Exit(_)));
    matches!(last, Some(Next::Exit(ending)) if ending.reason == Reason::NeedsReview)
}
