//! The lines of Copilot's stream that matter, typed and borrowed, and its usage file. All but the last line carry
//! what they say under `data`; every field is lenient, so a new version that changes one breaks only that one.

use crate::json::{Field, read};
use crate::plain::short;
use ralph_rules::money::Usage;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Any event: its kind, and what it says, unread.
#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Field<'a>,
    #[serde(borrow, default)]
    pub data: Field<'a>,
}

/// `session.start` and `session.tools_updated`: who works.
#[derive(Deserialize)]
pub struct Opening<'a> {
    #[serde(rename = "sessionId", borrow, default)]
    pub session: Field<'a>,
    #[serde(borrow, default)]
    pub model: Field<'a>,
    #[serde(rename = "selectedModel", borrow, default)]
    pub selected: Field<'a>,
}

/// `assistant.message`: one whole message, or one piece of it where the model thought in between.
#[derive(Deserialize)]
pub struct Message<'a> {
    #[serde(borrow, default)]
    pub content: Field<'a>,
    #[serde(borrow, default)]
    pub model: Field<'a>,
    #[serde(rename = "chunkIndex", borrow, default)]
    pub piece: Field<'a>,
    #[serde(rename = "parentToolCallId", borrow, default)]
    pub parent: Field<'a>,
}

/// `tool.execution_start` and `tool.execution_complete`.
#[derive(Deserialize)]
pub struct Tool<'a> {
    #[serde(rename = "toolCallId", borrow, default)]
    pub id: Field<'a>,
    #[serde(rename = "toolName", borrow, default)]
    pub name: Field<'a>,
    #[serde(borrow, default)]
    pub arguments: Field<'a>,
    #[serde(borrow, default)]
    pub success: Field<'a>,
    #[serde(borrow, default)]
    pub error: Field<'a>,
    #[serde(rename = "shellExecution", borrow, default)]
    pub shell: Field<'a>,
}

/// How a shell command ended.
#[derive(Deserialize)]
pub struct Shell<'a> {
    #[serde(rename = "exitCode", borrow, default)]
    pub code: Field<'a>,
}

/// Why a tool failed.
#[derive(Deserialize)]
pub struct ToolError<'a> {
    #[serde(borrow, default)]
    pub code: Field<'a>,
}

/// `session.error` and `model.call_failure`: what the client and the provider say of a failure.
#[derive(Deserialize)]
pub struct Trouble<'a> {
    #[serde(rename = "errorType", borrow, default)]
    pub kind: Field<'a>,
    #[serde(rename = "errorCode", borrow, default)]
    pub code: Field<'a>,
    #[serde(rename = "statusCode", borrow, default)]
    pub status: Field<'a>,
    #[serde(borrow, default)]
    pub message: Field<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    pub provider: Field<'a>,
    #[serde(rename = "failureKind", borrow, default)]
    pub boundary: Field<'a>,
    #[serde(rename = "parentToolCallId", borrow, default)]
    pub parent: Field<'a>,
}

/// `assistant.turn_retry` and `abort`: the reason.
#[derive(Deserialize)]
pub struct Reason<'a> {
    #[serde(borrow, default)]
    pub reason: Field<'a>,
}

/// `result`: the terminal event.
#[derive(Deserialize)]
pub struct Terminal<'a> {
    #[serde(rename = "sessionId", borrow, default)]
    pub session: Field<'a>,
    #[serde(rename = "exitCode", borrow, default)]
    pub code: Field<'a>,
}

#[derive(Deserialize)]
struct Account<'a> {
    #[serde(rename = "modelMetrics", borrow, default)]
    models: Field<'a>,
}

#[derive(Deserialize)]
struct Metrics<'a> {
    #[serde(borrow, default)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(rename = "inputTokens", borrow, default)]
    input: Field<'a>,
    #[serde(rename = "outputTokens", borrow, default)]
    output: Field<'a>,
    #[serde(rename = "cacheReadTokens", borrow, default)]
    cache_read: Field<'a>,
    #[serde(rename = "cacheWriteTokens", borrow, default)]
    cache_write: Field<'a>,
}

/// The tokens in the usage file, model by model.
pub fn account(file: &str) -> Option<Vec<(String, Usage)>> {
    let models: BTreeMap<Cow<'_, str>, Field<'_>> = read::<Account<'_>>(file)?.models.read()?;
    let used = |(name, model): (&Cow<'_, str>, &Field<'_>)| {
        Some((short(name, 200), usage(model.read::<Metrics<'_>>()?.usage)?))
    };
    Some(models.iter().filter_map(used).collect())
}

/// Tokens as Copilot writes them: what was read from a cache is counted among the input.
pub fn usage(field: Field<'_>) -> Option<Usage> {
    let tokens: Tokens<'_> = field.read()?;
    let count = |f: Field<'_>| f.count().unwrap_or(0);
    let cache_read = count(tokens.cache_read);
    Some(Usage {
        input: count(tokens.input).saturating_sub(cache_read),
        output: count(tokens.output),
        cache_read,
        cache_write: count(tokens.cache_write),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_of_the_usage_file_is_told() {
        let file = r#"{"modelMetrics":{
            "a":{"requests":{"count":2},"usage":{"inputTokens":2000,"outputTokens":100,"cacheReadTokens":400}},
            "b":{"usage":{"inputTokens":"10","outputTokens":NULL}},
            "c":7}}"#;
        let file = file.replace("NULL", "null");
        let a = Usage { input: 1600, output: 100, cache_read: 400, cache_write: 0 };
        let b = Usage { input: 10, ..Usage::default() };
        assert_eq!(account(&file), Some(vec![("a".into(), a), ("b".into(), b)]));
        for file in ["", "{", "{}", r#"{"modelMetrics":[]}"#, "null"] {
            assert_eq!(account(file), None, "{file}");
        }
        assert_eq!(account(r#"{"modelMetrics":{}}"#), Some(Vec::new()));
    }
}
