//! Claude Code's transcripts. One model message is written in several lines, one for each of its blocks, each with what
//! the whole message had used by then: it counts once, by its id, at the most that was said of it.

use super::SessionTranscript;
use super::spend::{MessageUsage, SessionSpend};
use crate::claude::event::Blocks;
use crate::json::{Field, counts, lenient, read as read_json};
use memchr::memmem;
use ralph_rules::money::Usage;
use ralph_rules::prices::Prices;
use std::collections::VecDeque;

/// Messages that may still grow; older ones are settled.
const OPEN: usize = 32;
/// Where the kind of a line is looked for.
const HEAD: usize = 512;

lenient! {
    struct Line<'a> {
        kind = "type", sidechain = "isSidechain";
        #[serde(borrow)] message: Option<Message<'a>>,
    }

    struct Message<'a> {
        id, model, usage;
        #[serde(borrow)] content: Blocks<'a>,
    }

    struct Tokens<'a> { cache_creation, server_tool_use }
}

/// Messages that are not settled yet.
#[derive(Default)]
pub(super) struct ClaudeMessages(VecDeque<(String, Option<String>, MessageUsage)>);

impl ClaudeMessages {
    fn add(&mut self, id: &str, model: Option<&str>, used: &MessageUsage) -> Option<Settled> {
        if let Some((_, _, known)) = self.0.iter_mut().find(|(open, ..)| !id.is_empty() && open == id) {
            *known = known.most(used);
            return None;
        }
        let oldest = if self.0.len() >= OPEN { self.0.pop_front() } else { None };
        self.0.push_back((id.to_owned(), model.map(ToOwned::to_owned), *used));
        oldest
    }

    pub(super) fn settle_all(&mut self, spend: &mut SessionSpend, prices: &Prices) {
        for (_, model, used) in self.0.drain(..) {
            spend.add(model.as_deref(), &used, prices);
        }
    }
}

type Settled = (String, Option<String>, MessageUsage);

pub(super) fn read(transcript: &mut SessionTranscript, line: &[u8]) {
    if is_prompt(line) {
        transcript.last.clear();
        transcript.prompt = prompt_id(line).or(transcript.prompt.take());
    }
    // Most bytes are in other lines, such as what tools printed.
    if memmem::find(line, br#""assistant""#).is_none() {
        return;
    }
    let Some(line) = str::from_utf8(line).ok().and_then(read_json::<Line<'_>>) else { return };
    let Some(message) = line.message.filter(|_| line.kind.is("assistant")) else { return };
    let model = message.model.filled();
    let used = usage(message.usage);
    let settled = transcript.claude.add(&message.id.text().unwrap_or_default(), model.as_deref(), &used);
    if let Some((_, model, used)) = settled {
        transcript.spend.add(model.as_deref(), &used, &transcript.prices);
    }
    if line.sidechain.truth() == Some(true) {
        return;
    }
    if used.tokens.total() > 0 {
        transcript.set_model(&model.unwrap_or_default());
    }
    for block in message.content.0.iter().filter(|block| block.kind.is("text")) {
        transcript.last.clear();
        block.text.pour(&mut transcript.last);
    }
}

/// What was said before it is not the answer to it, even if the answer has the same words. Its kind stands at its
/// beginning; the rest may be megabytes that a tool printed.
fn is_prompt(line: &[u8]) -> bool {
    let head = line.get(..HEAD).unwrap_or(line);
    let found = |kind: &[u8]| memmem::find(head, kind).is_some();
    found(br#""type":"user""#) && !found(br#""isSidechain":true"#)
}

fn prompt_id(line: &[u8]) -> Option<String> {
    const KEY: &[u8] = br#""promptId":""#;
    let head = line.get(..HEAD).unwrap_or(line);
    let rest = head.get(memmem::find(head, KEY)? + KEY.len()..)?;
    let id = rest.get(..memchr::memchr(b'"', rest)?)?;
    String::from_utf8(id.to_vec()).ok()
}

fn usage(told: Field<'_>) -> MessageUsage {
    let keys = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let [input, output, cache_read, cache_write] = counts(told, keys).unwrap_or_default();
    let more: Tokens<'_> = told.read().unwrap_or_default();
    let [hour] = counts(more.cache_creation, ["ephemeral_1h_input_tokens"]).unwrap_or_default();
    let [web_searches] = counts(more.server_tool_use, ["web_search_requests"]).unwrap_or_default();
    MessageUsage { tokens: Usage { input, output, cache_read, cache_write }, hour, web_searches }
}

/// Lines of the same shape as in the client's output: what the model said and did, and what tools answered.
pub(super) fn shows_work(line: &[u8]) -> bool {
    let found = |kind: &[u8]| memmem::find(line, kind).is_some();
    if !found(br#""type":"assistant""#) && !found(br#""type":"user""#) {
        return false;
    }
    let line = str::from_utf8(line).ok().and_then(read_json::<Line<'_>>);
    line.is_some_and(|line| {
        let side = line.sidechain.truth() == Some(true);
        !side && line.message.is_some() && (line.kind.is("assistant") || line.kind.is("user"))
    })
}
