//! The trajectory file: how it ended, what was submitted, what it cost, and every answer of the model with its
//! tokens. Read in one pass; of a file that is cut, what came before the cut counts, and the end comes first.

use crate::error_phrases::{class_of, worded};
use crate::json::{Field, lenient};
use crate::litellm;
use crate::text::{KEPT, Tail};
use crate::{Failure, Format, Reply};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// What it says.
#[derive(Debug)]
pub struct Trajectory {
    status: String,
    text: Tail,
    error: String,
    usage: Usage,
    cost: Option<Micro>,
    limit: Option<Micro>,
    turns: Option<u32>,
    model: Option<String>,
}

impl Trajectory {
    /// Reads the file; none where it is not one.
    pub fn read(bytes: &[u8]) -> Option<Trajectory> {
        let whole = bytes.utf8_chunks().next()?.valid();
        let mut found = Found::default();
        // A file that is cut ends in an error; what counts is what was found.
        let _ = serde_json::Deserializer::from_str(whole).deserialize_map(Top(&mut found));
        let info = found.info?;
        let (stats, config) = (info.model_stats?, info.config.unwrap_or_default());
        let own = |f: Field<'_>| f.head(4096).unwrap_or_default().into_owned();
        let mut text = Tail::new(KEPT);
        found.said.pour(&mut text);
        if info.submission.filled().is_some() {
            if text.length() > 0 {
                text.push(b"\n\n");
            }
            info.submission.pour(&mut text);
        }
        let dollars = |f: Field<'_>| f.number().and_then(Micro::from_usd).filter(|cost| *cost > Micro::ZERO);
        Some(Trajectory {
            status: own(info.exit_status),
            text,
            error: own(found.error),
            usage: found.usage,
            // Zero is what it writes for a model without a price.
            cost: dollars(stats.instance_cost),
            limit: config.agent.and_then(|agent| dollars(agent.cost_limit)),
            turns: stats.api_calls.count().and_then(|n| u32::try_from(n).ok()),
            model: config.model.and_then(|model| model.model_name.filled().map(Cow::into_owned)),
        })
    }

    /// What it came to; `ended` says what an end without a word means.
    pub fn reply(self, ended: Failure) -> Reply {
        let finished = !self.status.is_empty();
        let failure = if finished { self.failure() } else { Some(ended) };
        let text = if finished { self.text } else { Tail::new(KEPT) };
        Reply {
            text: text.text().into_owned(),
            text_bytes: text.length(),
            finished,
            failure,
            model: self.model,
            usage: self.usage,
            cost: self.cost,
            turns: self.turns,
            format: Format::Json,
            ..Reply::default()
        }
    }

    fn failure(&self) -> Option<Failure> {
        let name = self.status.as_str();
        let class = match name {
            "Submitted" => return None,
            "LimitsExceeded" => {
                let spent = self.limit.is_some_and(|limit| self.cost.is_some_and(|cost| cost >= limit));
                if spent { Class::Budget } else { Class::MaxTurns }
            }
            "TimeExceeded" => Class::MaxTurns,
            "KeyboardInterrupt" => Class::Aborted,
            name => {
                let named = litellm::class(name, &self.error);
                named.or_else(|| class_of(&self.error)).unwrap_or(Class::Unknown)
            }
        };
        let words = if self.error.is_empty() { name } else { &self.error };
        Some(worded(class, words))
    }
}

/// What was found on the way through.
#[derive(Default)]
struct Found<'a> {
    info: Option<Info<'a>>,
    said: Field<'a>,
    error: Field<'a>,
    usage: Usage,
}

lenient! {
    struct Info<'a> {
        exit_status, submission;
        #[serde(borrow)] model_stats: Option<Stats<'a>>,
        #[serde(borrow)] config: Option<Config<'a>>,
    }

    struct Stats<'a> { instance_cost, api_calls }

    struct Config<'a> {
        ;
        #[serde(borrow)] agent: Option<Limits<'a>>,
        #[serde(borrow)] model: Option<Model<'a>>,
    }

    struct Limits<'a> { cost_limit }

    struct Model<'a> { model_name }

    struct Message<'a> {
        role, content;
        #[serde(borrow)] extra: Option<Extra<'a>>,
    }

    struct Extra<'a> { response, exception_str }

    struct Response<'a> {
        ;
        #[serde(borrow)] usage: Option<Tokens<'a>>,
    }

    struct Tokens<'a> { prompt_tokens, completion_tokens, cache_creation_input_tokens, prompt_tokens_details }

    struct Details<'a> { cached_tokens }
}

impl<'a> Found<'a> {
    fn message(&mut self, message: &Message<'a>) {
        if message.role.is("assistant") {
            self.said = if message.content.text().is_some() { message.content } else { Field::default() };
        }
        let Some(extra) = &message.extra else { return };
        if message.role.is("exit") {
            self.error = extra.exception_str;
        }
        if let Some(tokens) = extra.response.read::<Response<'_>>().and_then(|response| response.usage) {
            self.usage = self.usage.plus(&usage(&tokens));
        }
    }
}

/// Tokens as litellm writes them: those of the cache are among the prompt's.
fn usage(tokens: &Tokens<'_>) -> Usage {
    let count = |f: Field<'_>| f.count().unwrap_or(0);
    let details = tokens.prompt_tokens_details.read::<Details<'_>>();
    let cache_read = details.map_or(0, |details| count(details.cached_tokens));
    Usage {
        input: count(tokens.prompt_tokens).saturating_sub(cache_read),
        output: count(tokens.completion_tokens),
        cache_read,
        cache_write: count(tokens.cache_creation_input_tokens),
    }
}

struct Top<'s, 'a>(&'s mut Found<'a>);

impl<'de> Visitor<'de> for Top<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trajectory")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "info" => self.0.info = map.next_value()?,
                "messages" => map.next_value_seed(Messages(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Messages<'s, 'a>(&'s mut Found<'a>);

impl<'de> DeserializeSeed<'de> for Messages<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(message) = seq.next_element()? {
            self.0.message(&message);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;
    use crate::output::aborted;

    fn file(status: &str, cost: &str, messages: &str) -> String {
        format!(
            r#"{{"info":{{"model_stats":{{"instance_cost":{cost},"api_calls":2}},"config":{{"agent":{{"cost_limit":0.5}},
            "model":{{"model_name":"openai/m"}}}},"exit_status":"{status}","submission":"done\nSTATUS"}},
            "messages":[{messages}],"trajectory_format":"mini-swe-agent-1.1"}}"#
        )
    }

    fn reply(file: &str) -> Reply {
        Trajectory::read(file.as_bytes()).unwrap().reply(aborted(Exit::default()))
    }

    const TURN: &str = r#"{"role":"assistant","content":"I did it.","extra":{"response":{"usage":
        {"prompt_tokens":1000,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":200}}},"cost":0.2}}"#;

    #[test]
    fn a_submission_is_the_answer_after_what_was_said_with_it() {
        let reply = reply(&file("Submitted", "0.4", &format!("{TURN},{TURN}")));
        assert_eq!(
            (reply.text.as_str(), reply.finished, reply.failure),
            ("I did it.\n\ndone\nSTATUS", true, None)
        );
        assert_eq!((reply.cost, reply.turns), (Some(Micro(400_000)), Some(2)));
        assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.output), (1600, 400, 100));
        assert_eq!(reply.model.as_deref(), Some("openai/m"));
    }

    #[test]
    fn every_status_has_its_class() {
        let error =
            |words: &str| format!(r#"{{"role":"exit","content":"x","extra":{{"exception_str":"{words}"}}}}"#);
        for (status, cost, messages, class) in [
            ("LimitsExceeded", "0.6", String::new(), Class::Budget),
            ("LimitsExceeded", "0.1", String::new(), Class::MaxTurns),
            ("TimeExceeded", "0.1", String::new(), Class::MaxTurns),
            ("RepeatedFormatError", "0.1", String::new(), Class::Unknown),
            ("AuthenticationError", "0", error("litellm.AuthenticationError: no key"), Class::Auth),
            ("InternalServerError", "0", error("litellm…: Connection error."), Class::Network),
            ("RuntimeError", "0", error("Error calculating cost for model x"), Class::Unknown),
            ("", "0.1", String::new(), Class::Aborted),
        ] {
            let reply = reply(&file(status, cost, &messages));
            assert_eq!(reply.failure.map(|f| f.class), Some(class), "{status} {cost}");
            assert_eq!(reply.finished, !status.is_empty(), "{status}");
        }
    }

    #[test]
    fn a_file_cut_anywhere_counts_as_far_as_it_goes() {
        let whole = file("Submitted", "0.4", &format!("{TURN},{TURN}"));
        // All that is needed to know whose file it is stands before the messages.
        let known = whole.find("\"messages\"").unwrap();
        let ends_of_turns: Vec<usize> = whole.match_indices(TURN).map(|(at, turn)| at + turn.len()).collect();
        for cut in 0..whole.len() {
            let found = Trajectory::read(&whole.as_bytes()[..cut]);
            let Some(found) = found else {
                assert!(cut < known, "nothing was read of the first {cut} bytes");
                continue;
            };
            let turns = ends_of_turns.iter().filter(|end| **end <= cut).count();
            assert_eq!(
                (found.status.as_str(), found.usage.output),
                ("Submitted", 50 * turns as u64),
                "{cut}"
            );
        }
        assert!(Trajectory::read(b"{}").is_none() && Trajectory::read(b"[1]").is_none());
        assert!(Trajectory::read(br#"{"info":{"exit_status":"Submitted"}}"#).is_none());
    }
}
