//! The lines of Gemini's stream and the document of `-o json`, typed and borrowed; what is not named is skipped
//! unread, as a tool's output and the prompt's echo are.

use crate::json::{Field, lenient, read};
use crate::text::short;
use memchr::memchr;
use ralph_rules::money::Usage;
use std::borrow::Cow;
use std::collections::BTreeMap;

lenient! {
    /// What kind of line it is, where that does not come first.
    pub struct Kind<'a> { kind = "type" }

    /// `init`.
    pub struct Init<'a> { session_id, model }

    /// `message`: a piece of what the agent says, or the prompt.
    pub struct Message<'a> { role, content, delta }
}

/// A message that was read without a parser.
pub enum Quick<'a> {
    /// The prompt's echo.
    Echo,
    /// A piece of the answer.
    Piece(Field<'a>),
}

/// Messages as all versions print them: the prompt's echo, and pieces of the answer by the thousand. `None` leaves it
/// to the parser.
pub fn quick_message(line: &str) -> Option<Quick<'_>> {
    let stamped = line.strip_prefix(r#"{"type":"message","timestamp":""#)?;
    let role = stamped.get(stamped.find('"')?..)?.strip_prefix(r#"","role":""#)?;
    if role.starts_with(r#"user","content":""#) && line.ends_with("\"}") {
        return Some(Quick::Echo);
    }
    let content = role.strip_prefix(r#"assistant","content":"#)?.strip_suffix(r#","delta":true}"#)?;
    let inside = content.strip_prefix('"')?.strip_suffix('"')?;
    // A quote inside may be the end of the string.
    if memchr(b'"', inside.as_bytes()).is_some() { None } else { read(content).map(Quick::Piece) }
}

lenient! {
    /// `tool_use`.
    pub struct ToolUse<'a> { tool_name, tool_id, parameters }

    /// `tool_result`.
    pub struct ToolResult<'a> { tool_id, status, error }

    /// `error`: a warning or an error on the way.
    pub struct Note<'a> { severity, message }

    /// `result`: the terminal event.
    pub struct Outcome<'a> { status, error, stats }

    /// What `-o json` prints: the answer on stdout, an error on stderr.
    pub struct Document<'a> { kind = "type", session_id, response, stats, error, warnings }

    /// An error of a tool, of a result, or of the document.
    pub struct Error<'a> { kind = "type", message, code }

    struct Stats<'a> { total_tokens, input_tokens, output_tokens, cached, models }

    /// One model's account: the stream's, or the document's with its `tokens`.
    struct Model<'a> { total_tokens, input_tokens, output_tokens, cached, tokens }
}

impl Model<'_> {
    fn usage(&self) -> Usage {
        let tokens: Tokens<'_> = self.tokens.read().unwrap_or_default();
        let told = usage(self.input_tokens, self.cached, self.output_tokens, self.total_tokens);
        let inside = usage(tokens.prompt, tokens.cached, tokens.candidates, tokens.total);
        if inside == Usage::default() { told } else { inside }
    }
}

lenient! {
    struct Tokens<'a> { total, prompt, candidates, cached }
}

/// What was used, by whom, and the model that used most.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Tokens of all models.
    pub usage: Usage,
    /// The same, model by model.
    pub models: Vec<(String, Usage)>,
    /// The model with most of them.
    pub model: Option<String>,
}

/// The account at the end: the sums where they are given, else those of the models.
pub fn account(stats: Field<'_>) -> Account {
    let stats: Stats<'_> = stats.read().unwrap_or_default();
    let summed = usage(stats.input_tokens, stats.cached, stats.output_tokens, stats.total_tokens);
    let models: BTreeMap<Cow<'_, str>, Model<'_>> = stats.models.read().unwrap_or_default();
    let models: Vec<_> = models.iter().map(|(name, model)| (short(name, 200), model.usage())).collect();
    let by_model = models.iter().fold(Usage::default(), |sum, (_, used)| sum.plus(used));
    let most = models.iter().filter(|(_, used)| used.total() > 0).max_by_key(|(_, used)| used.total());
    let model = most.map(|(name, _)| name.clone());
    Account { usage: if summed == Usage::default() { by_model } else { summed }, models, model }
}

/// Input is counted with what came from the cache. The model's thoughts are in the total alone, and paid as output.
fn usage(prompt: Field<'_>, cached: Field<'_>, output: Field<'_>, total: Field<'_>) -> Usage {
    let count = |f: Field<'_>| f.count().unwrap_or(0);
    let (prompt, cached) = (count(prompt), count(cached));
    Usage {
        input: prompt.saturating_sub(cached),
        output: count(output).max(count(total).saturating_sub(prompt)),
        cache_read: cached.min(prompt),
        cache_write: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(stats: &str) -> Account {
        account(serde_json::from_str(stats).unwrap())
    }

    #[test]
    fn thoughts_count_as_output_and_the_cache_apart() {
        let stream = r#"{"total_tokens":130,"input_tokens":100,"output_tokens":10,"cached":40,"models":
            {"small":{"total_tokens":30,"input_tokens":20,"output_tokens":4},"large":{"total_tokens":100}}}"#;
        let usage = Usage { input: 60, output: 30, cache_read: 40, cache_write: 0 };
        let account = told(stream);
        assert_eq!((account.usage, account.model.as_deref()), (usage, Some("large")));
        assert_eq!(account.models[1], ("small".into(), Usage { input: 20, output: 10, ..Usage::default() }));
        let document = r#"{"models":{
            "a":{"tokens":{"prompt":50,"candidates":5,"total":65,"cached":40,"thoughts":10}},
            "b":{"tokens":{"prompt":50,"candidates":5,"total":65}}}}"#;
        assert_eq!(told(document).usage, usage);
    }

    #[test]
    fn quick_messages_are_those_the_parser_reads() {
        let piece = |rest: &str| {
            format!(r#"{{"type":"message","timestamp":"2026","role":"assistant","content":{rest}"#)
        };
        for (line, quick) in [
            (piece(r#""a\n€","delta":true}"#), true),
            (piece(r#""a \"b\"","delta":true}"#), false),
            (piece(r#""a","x":"b","delta":true}"#), false),
            (piece(r#""a"}"#), false),
            (piece(r#""a\","delta":true}"#), false),
        ] {
            let read = quick_message(&line);
            assert_eq!(read.is_some(), quick, "{line}");
            if let Some(Quick::Piece(content)) = read {
                let slow: Message<'_> = serde_json::from_str(&line).unwrap();
                assert_eq!(content.raw(), slow.content.raw(), "{line}");
            }
        }
        let echo = r#"{"type":"message","timestamp":"2026","role":"user","content":"a \"b\""}"#;
        assert!(matches!(quick_message(echo), Some(Quick::Echo)));
    }

    #[test]
    fn an_account_of_another_shape_is_none() {
        for stats in ["null", "7", "{}", r#"{"models":[]}"#, r#"{"total_tokens":"x","models":{"a":1}}"#] {
            let account = told(stats);
            assert_eq!((account.usage, account.model), (Usage::default(), None), "{stats}");
        }
    }
}
