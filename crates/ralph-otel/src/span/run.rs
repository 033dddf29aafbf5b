//! The span of the whole run.

use super::{Begun, CRASHED, Kind, Span};
use crate::attributes::{Attributes, word_of};
use ralph_rules::account::RunAccount;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::record::Ms;

/// The run: from its first record to its last, however often it was resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRun {
    /// The record that began it.
    pub begun: Begun,
    /// How often it was resumed.
    pub resumed: u32,
    /// The reasons it ended for, if it did.
    pub codes: Vec<String>,
    /// Spans that were left out because there are too many.
    pub left_out: u64,
}

impl OpenRun {
    /// The span.
    pub fn close(self, account: &RunAccount, end: Ms, crashed: bool) -> Span {
        let attributes = Attributes::default()
            .word("gen_ai.operation.name", "invoke_workflow")
            .word("gen_ai.workflow.name", "ralph")
            .name("ralph.run.id", Some(&account.run))
            .name("ralph.run.agent", Some(&account.agent))
            .maybe_word("ralph.run.status", account.status.as_ref().and_then(word_of))
            .maybe_word("ralph.run.reason", account.reason.map(|reason| reason.name().into()))
            .words("ralph.decision.codes", &self.codes)
            .maybe_word("ralph.run.grade", account.grade.map(|grade| grade.name().into()))
            .maybe_flag("ralph.run.verified", account.status.map(|_| account.verified))
            .count("ralph.run.iterations", account.iterations())
            .count("ralph.run.files_changed", account.files)
            .dollars("ralph.run.cost_usd", account.cost())
            .count("ralph.run.resumed", self.resumed)
            .mark("ralph.unfinished", account.status.is_none());
        let attributes = match self.left_out {
            0 => attributes,
            n => attributes.count("ralph.run.spans_left_out", n),
        };
        Span {
            kind: Kind::Run,
            name: "invoke_workflow ralph".into(),
            begun: self.begun,
            end,
            parent: None,
            attributes,
            error: if crashed { Some(CRASHED.into()) } else { error(account) },
        }
    }
}

/// Limits and guards that stopped a run did what they are for; these endings are failures.
fn error(account: &RunAccount) -> Option<String> {
    let reason = account.reason?;
    let failed = account.status == Some(Status::Error) || reason == Reason::AgentUnavailable;
    failed.then(|| reason.name().into())
}
