//! The lines of Copilot's stream that matter, typed and borrowed, and its usage file. All but the last line carry
//! what they say under `data`; every field is lenient, so a new version that changes one breaks only that one.

use crate::json::{Field, counts, lenient, read};
use crate::text::short;
use ralph_rules::money::Usage;
use std::borrow::Cow;
use std::collections::BTreeMap;

lenient! {
    /// Any event: its kind, and what it says, unread.
    pub struct Event<'a> { kind = "type", data }

    /// `session.start` and `session.tools_updated`: who works.
    pub struct Introduction<'a> { session = "sessionId", model, selected = "selectedModel" }

    /// `assistant.message`: one whole message, or one piece of it where the model thought in between.
    pub struct Message<'a> { content, model, piece = "chunkIndex", parent = "parentToolCallId" }

    /// `tool.execution_start` and `tool.execution_complete`.
    pub struct Tool<'a> { id = "toolCallId", name = "toolName", arguments, success, error, shell = "shellExecution" }

    /// How a shell command ended.
    pub struct Shell<'a> { code = "exitCode" }

    /// Why a tool failed.
    pub struct ToolError<'a> { code }

    /// `session.error` and `model.call_failure`: what the client and the provider say of a failure.
    pub struct RequestError<'a> {
        kind = "errorType", code = "errorCode", status = "statusCode", message, provider = "errorMessage",
        boundary = "failureKind", parent = "parentToolCallId",
    }

    /// `assistant.turn_retry` and `abort`: the reason.
    pub struct Reason<'a> { reason }

    /// `result`: the terminal event.
    pub struct Terminal<'a> { session = "sessionId", code = "exitCode" }

    struct Account<'a> { models = "modelMetrics" }

    struct Metrics<'a> { usage }

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
    let keys = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
    let [input, output, cache_read, cache_write] = counts(field, keys)?;
    Some(Usage { input: input.saturating_sub(cache_read), output, cache_read, cache_write })
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
