//! What one call's events have said so far: the state that every dialect keeps. A dialect reads its events and tells
//! the accumulator what they mean; the accumulator remembers it, makes the live events, and in the end the reply.

use crate::json::Field;
use crate::reader::{Activity, ReaderEvent, Spent};
use crate::reply::{Failure, Reply};
use crate::tally::Tally;
use crate::text::{Tail, short};
use crate::tools::Tools;
use ralph_rules::money::{Micro, Usage};

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;
/// How much of an id or a model's name is kept.
const NAME: usize = 200;

/// The state of one call.
#[derive(Debug, Default)]
pub struct Accumulator {
    /// Conversation id.
    pub session: Option<String>,
    /// The model that works.
    pub model: Option<String>,
    /// The final message, or what may become it.
    pub text: Tail,
    /// Tools that run, tools that were refused.
    pub tools: Tools,
    /// Tokens and dollars.
    pub tally: Tally,
    /// Model turns.
    pub turns: u32,
    /// Live events that were not taken yet.
    pub events: Vec<ReaderEvent>,
    final_sent: bool,
}

impl Accumulator {
    /// Remembers the conversation's id; says whether there was one.
    pub fn set_session(&mut self, session: Field<'_>) -> bool {
        set(&mut self.session, session)
    }

    /// Remembers the model; says whether one was named.
    pub fn set_model(&mut self, model: Field<'_>) -> bool {
        set(&mut self.model, model)
    }

    /// The agent introduced itself.
    pub fn began(&mut self) {
        let (session, model) = (self.session.clone(), self.model.clone());
        self.activity(Activity::Began { session, model });
    }

    /// Shows what the agent said; blank text is not shown.
    pub fn show(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.activity(Activity::Said { text: short(text, SAID) });
        }
    }

    /// Shows what the agent said, without decoding more of it than is shown.
    pub fn show_field(&mut self, text: Field<'_>) {
        self.show(&text.head(SAID * 2).unwrap_or_default());
    }

    /// Shows the text that was gathered.
    pub fn show_gathered(&mut self) {
        let text = short(&self.text.text(), SAID);
        if !text.is_empty() {
            self.activity(Activity::Said { text });
        }
    }

    /// This is the whole message now.
    pub fn replace_text(&mut self, text: Field<'_>) {
        self.text.clear();
        text.pour(&mut self.text);
    }

    /// A tool starts.
    pub fn tool_start(&mut self, id: Field<'_>, name: Field<'_>, input: Field<'_>) {
        let (id, name) = (id.text().unwrap_or_default(), name.text().unwrap_or_default());
        let started = self.tools.start(&id, &name, input);
        self.activity(started);
    }

    /// A tool ended; `refused` where its result says that it was not allowed.
    pub fn tool_end(&mut self, id: Field<'_>, failed: bool, refused: bool) {
        let ended = self.tools.end(&id.text().unwrap_or_default(), failed, refused);
        self.activity(ended);
    }

    /// A tool's result was too long and cut: some tool has ended.
    pub fn tool_end_cut(&mut self) {
        self.activity(Activity::ToolEnded { failed: false });
    }

    /// The client waits and tries again by itself.
    pub fn retrying(&mut self, why: String) {
        self.activity(Activity::Retrying { why });
    }

    /// A model turn was accounted for.
    pub fn spend(&mut self, usage: Usage, cost: Option<Micro>) {
        let spent = self.tally.turn(self.model.as_deref(), usage, cost);
        self.spent(spent);
    }

    /// Several model turns were accounted for together, without a cost.
    pub fn spend_sum(&mut self, usage: Usage) {
        let spent = self.tally.sum(self.model.as_deref(), usage);
        self.spent(spent);
    }

    /// Tells of usage that grew.
    pub fn spent(&mut self, spent: Option<Spent>) {
        self.events.extend(spent.map(ReaderEvent::Spent));
    }

    /// The agent has said all it will say; told once.
    pub fn finish(&mut self) {
        if !std::mem::replace(&mut self.final_sent, true) {
            self.events.push(ReaderEvent::Final);
        }
    }

    /// Tells what the agent is doing.
    pub fn activity(&mut self, activity: Activity) {
        self.events.push(ReaderEvent::Activity(activity));
    }

    /// The result of a call that came to its own end or did not. The message counts only where it did.
    pub fn reply(mut self, finished: bool, failure: Option<Failure>) -> Reply {
        if !finished {
            self.text.clear();
        }
        Reply {
            text: self.text.text().into_owned(),
            text_bytes: self.text.length(),
            finished,
            failure,
            session: self.session,
            model: self.model,
            usage: self.tally.usage(),
            turns: Some(self.turns).filter(|turns| *turns > 0),
            denials: self.tools.into_refused(),
            ..Reply::default()
        }
    }
}

fn set(place: &mut Option<String>, name: Field<'_>) -> bool {
    let Some(name) = name.filled() else { return false };
    if place.as_deref() != Some(&name) {
        *place = Some(short(&name, NAME));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(raw: &str) -> Field<'_> {
        serde_json::from_str(raw).unwrap()
    }

    #[test]
    fn a_message_counts_only_where_the_call_came_to_its_end() {
        let mut call = Accumulator::default();
        call.replace_text(field("\"first\""));
        call.replace_text(field("\"last\""));
        call.turns = 2;
        let reply = call.reply(true, None);
        assert_eq!((reply.text.as_str(), reply.text_bytes, reply.turns), ("last", 4, Some(2)));
        let mut call = Accumulator::default();
        call.replace_text(field("\"half\""));
        let reply = call.reply(false, None);
        assert_eq!((reply.text.as_str(), reply.text_bytes, reply.turns), ("", 0, None));
    }

    #[test]
    fn the_end_is_told_once_and_blank_text_not_at_all() {
        let mut call = Accumulator::default();
        call.show(" \n");
        call.finish();
        call.finish();
        assert_eq!(call.events, [ReaderEvent::Final]);
    }

    #[test]
    fn an_empty_name_does_not_replace_one() {
        let mut call = Accumulator::default();
        assert!(call.set_model(field("\"m\"")) && !call.set_model(field("\"\"")));
        assert_eq!(call.model.as_deref(), Some("m"));
    }
}
