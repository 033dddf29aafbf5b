//! The span of one call of an agent, by the conventions for `invoke_agent`.

use super::{Begun, CRASHED, Kind, Span};
use crate::attributes::{Attributes, identifier, word_of};
use crate::provider::provider;
use ralph_rules::money::Usage;
use ralph_rules::next::Why;
use ralph_rules::record::{AgentChoice, Attempt, CallEnded, CallLost, Ms};

/// A call under way.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall<'a> {
    /// The record that began it.
    pub begun: Begun,
    /// Which attempt of which iteration.
    pub id: Attempt,
    /// The rung of the ladder.
    pub rung: u32,
    /// The reviewer is called.
    pub review: bool,
    /// Who is called.
    pub agent: &'a AgentChoice,
    /// The span around it.
    pub parent: (Kind, u64),
    /// The last record before its process was found gone: nothing is known of the call after that.
    pub cut: Option<Ms>,
}

impl OpenCall<'_> {
    /// The span of a call that closed with `ended`.
    pub fn ended(self, ended: &CallEnded, run_id: &str, at: Ms) -> Span {
        let conversation = ended.session.as_deref().filter(|id| !id.contains('/'));
        let attributes = self
            .attributes(run_id)
            .name("gen_ai.response.model", ended.model.as_deref())
            .name("gen_ai.conversation.id", conversation);
        let attributes = tokens(attributes, &ended.usage)
            .dollars("ralph.call.cost_usd", ended.charged)
            .maybe_word("ralph.call.cost_from", word_of(&ended.price))
            .maybe_word("ralph.call.ended_by", ended.ended_by.as_ref().and_then(word_of))
            .maybe_count("ralph.call.exit_code", ended.exit)
            .count("ralph.call.denied_tools", ended.denials.len())
            .mark("ralph.call.recovered", ended.recovered);
        self.close(attributes, at, error(ended))
    }

    /// The span of a call whose result was lost.
    pub fn lost(self, lost: &CallLost, run_id: &str, at: Ms) -> Span {
        let attributes = tokens(self.attributes(run_id), &lost.usage)
            .dollars("ralph.call.cost_usd", lost.charged)
            .word("ralph.call.cost_from", "unpriced");
        self.close(attributes, at, Some("lost".into()))
    }

    /// The span of a call that the journal does not close.
    pub fn unfinished(self, run_id: &str, at: Ms, crashed: bool) -> Span {
        let attributes = self.attributes(run_id).flag("ralph.unfinished", true);
        self.close(attributes, at, crashed.then(|| CRASHED.into()))
    }

    fn attributes(&self, run_id: &str) -> Attributes {
        Attributes::default()
            .word("gen_ai.operation.name", "invoke_agent")
            .name("gen_ai.provider.name", Some(provider(&self.agent.name)))
            .name("gen_ai.agent.name", Some(&self.agent.name))
            .name("gen_ai.request.model", self.agent.model.as_deref())
            .name("ralph.run.id", Some(run_id))
            .count("ralph.iteration.number", self.id.iteration)
            .count("ralph.call.attempt", self.id.attempt)
            .count("ralph.call.rung", self.rung)
            .mark("ralph.call.review", self.review)
    }

    fn close(self, attributes: Attributes, at: Ms, error: Option<String>) -> Span {
        let agent = identifier(&self.agent.name).map(|name| format!(" {name}")).unwrap_or_default();
        Span {
            kind: Kind::Call,
            name: format!("invoke_agent{agent}"),
            begun: self.begun,
            end: self.cut.unwrap_or(at),
            parent: Some(self.parent),
            attributes,
            error,
        }
    }
}

/// The conventions count cached tokens as input, too; ralph counts them apart. A call that used none at all is one whose
/// agent did not report them.
fn tokens(attributes: Attributes, usage: &Usage) -> Attributes {
    if usage.total() == 0 {
        return attributes;
    }
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    attributes
        .count("gen_ai.usage.input_tokens", input)
        .count("gen_ai.usage.output_tokens", usage.output)
        .count("gen_ai.usage.cache_read.input_tokens", usage.cache_read)
        .count("gen_ai.usage.cache_write.input_tokens", usage.cache_write)
}

/// Why the call failed. One that ralph ended at a limit of the run, or because a person asked, did not fail.
fn error(ended: &CallEnded) -> Option<String> {
    match ended.ended_by {
        Some(Why::Person | Why::Time | Why::Budget) => None,
        Some(why @ (Why::Deadline | Why::Silence)) => word_of(&why),
        None => ended.failure.as_ref().and_then(|failure| word_of(&failure.class)),
    }
}
