//! Was the model asked at all? A call that its provider turned away (no key, a limit, an outage) before any turn costs
//! nothing, though the agent reports neither cost nor tokens; were it booked at its reservation, an hour of outage would
//! use up a budget of which nothing was spent. Where anything speaks for a turn the reservation stands.

use ralph_agents::{Activity, Format, Reply};
use ralph_rules::failure::Then;
use ralph_rules::money::Usage;
use ralph_rules::prompt::head;

/// Sayings that are remembered; more than these are work.
const SAYINGS: usize = 3;
/// How much of each.
const LENGTH: usize = 200;
/// The answer had begun and was cut: what came of it may be billed.
const CUT: [&str; 12] = [
    "reset",
    "closed",
    "dropped",
    "disconnect",
    "ended",
    "terminated",
    "incomplete",
    "malformed",
    "reading",
    "hang up",
    "timed out",
    "empty response",
];

/// What an agent showed of its work.
#[derive(Default)]
pub(super) struct Work {
    tools: bool,
    said: Vec<String>,
}

impl Work {
    /// The agent does something.
    pub(super) fn heard(&mut self, activity: &Activity) {
        match activity {
            Activity::Tool { .. } | Activity::ToolEnded { .. } => self.tools = true,
            Activity::Said { text } if self.said.len() <= SAYINGS => {
                self.said.push(head(text.trim(), LENGTH))
            }
            _ => {}
        }
    }

    /// Nothing was heard but the failure itself.
    fn is_only(&self, message: &str) -> bool {
        let within =
            |said: &String| message.contains(said.as_str()) || said.contains(head(message, LENGTH).as_str());
        !self.tools && self.said.len() <= SAYINGS && self.said.iter().all(within)
    }
}

/// The provider turned the call away before the model took a turn.
pub(super) fn turned_away(reply: &Reply, usage: &Usage, work: &Work) -> bool {
    let Some(failure) = &reply.failure else { return false };
    let message = failure.message.trim();
    let lower = message.to_lowercase();
    matches!(failure.class.then(), Then::Wait | Then::Stop)
        && reply.format != Format::Text
        && usage.total() == 0
        && !message.is_empty()
        && work.is_only(message)
        && !CUT.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_agents::Failure;
    use ralph_rules::failure::Class;

    fn reply(class: Class, message: &str) -> Reply {
        let failure = Some(Failure { class, message: message.into(), reset: None });
        Reply { failure, format: Format::Jsonl, finished: true, ..Reply::default() }
    }

    fn said(text: &str) -> Activity {
        Activity::Said { text: text.into() }
    }

    #[test]
    fn only_a_call_without_any_sign_of_a_turn_was_turned_away() {
        let tool = Activity::Tool { name: "Bash".into(), detail: String::new(), file: None };
        let none = Usage::default();
        let some = Usage { input: 1, ..Usage::default() };
        let limit = "You've hit your usage limit. Try again at 7:21 AM.";
        for (class, message, heard, usage, away) in [
            (Class::UsageLimit, limit, vec![], none, true),
            (Class::UsageLimit, limit, vec![said(limit)], none, true),
            (Class::Auth, "401 Unauthorized", vec![], none, true),
            (Class::Outage, "unexpected status 529: overloaded", vec![], none, true),
            (Class::Network, "connection refused", vec![], none, true),
            (Class::Network, "stream disconnected before completion", vec![], none, false),
            (Class::Outage, "overloaded", vec![said("I will look at the parser.")], none, false),
            (Class::Outage, "overloaded", vec![tool], none, false),
            (Class::Outage, "overloaded", vec![], some, false),
            (Class::Outage, "", vec![], none, false),
            (Class::Aborted, "it crashed", vec![], none, false),
            (Class::MaxTurns, "max turns reached", vec![], none, false),
        ] {
            let mut work = Work::default();
            heard.iter().for_each(|activity| work.heard(activity));
            assert_eq!(turned_away(&reply(class, message), &usage, &work), away, "{class:?} {message}");
        }
        let plain = Reply { format: Format::Text, ..reply(Class::Outage, "overloaded") };
        assert!(
            !turned_away(&plain, &none, &Work::default()),
            "a program that prints anything says nothing of it"
        );
        assert!(!turned_away(&Reply::default(), &none, &Work::default()));
    }
}
