//! Pieces of an agent's event that its reader shortens or leaves out: a whole message, a tool's arguments, its result.
//! Every agent names them otherwise; the names they use are looked for, whoever printed the line.

use serde_json::Value;

/// A longer line is not looked into: its short form has to do.
const LARGEST: usize = 1 << 20;
/// What holds a tool's arguments.
const ARGUMENTS: [&str; 7] =
    ["input", "arguments", "tool_input", "parameters", "args", "rawInput", "command"];
/// What holds a tool's result, most telling first.
const RESULTS: [&str; 7] =
    ["aggregated_output", "output", "tool_output", "result", "stdout", "content", "error"];

/// An event, where the line is one.
pub fn event(line: &[u8]) -> Option<Value> {
    (line.len() <= LARGEST && line.trim_ascii_start().starts_with(b"{"))
        .then(|| serde_json::from_slice(line).ok())
        .flatten()
}

/// The whole of a message, lines and all, that a reader made `short`: one line, perhaps cut.
pub fn whole(event: &Value, short: &str) -> Option<String> {
    let begin = short.trim_end_matches('…');
    find(event, &mut |value| match value {
        Value::String(text) if begins(text, begin) => Some(text.clone()),
        _ => None,
    })
}

/// Whether the words of a text begin so, however they are spaced.
fn begins(text: &str, begin: &str) -> bool {
    let solid =
        |text: &str| text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect::<String>();
    // Longer than any short form, and short enough that a large file in the event costs nothing.
    let front: String = text.chars().take(begin.chars().count() * 2 + 4096).collect();
    !begin.is_empty() && solid(&front).starts_with(&solid(begin))
}

/// The arguments of the tools an event starts, in order.
pub fn arguments(event: &Value) -> Vec<String> {
    let mut all = Vec::new();
    gather(event, &mut |object| {
        let found = ARGUMENTS.iter().find_map(|key| object.get(*key))?;
        all.push(text_of(found));
        Some(())
    });
    all
}

/// The result of the tool whose end an event tells.
pub fn result(event: &Value) -> Option<String> {
    let tool = find(event, &mut |value| {
        (value.get("type").and_then(Value::as_str) == Some("tool_result")).then(|| value.clone())
    });
    let object = tool.as_ref().unwrap_or(event);
    let mut text = None;
    gather(object, &mut |object| {
        let found = RESULTS.iter().find_map(|key| object.get(*key)).filter(|v| !v.is_null())?;
        let words = text_of(found);
        text = text.take().or((!words.trim().is_empty()).then_some(words));
        Some(())
    });
    text
}

/// A text as it is, a list of texts joined, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().all(|part| part.get("text").is_some_and(Value::is_string)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// The first answer of `look`, outermost value first.
fn find<T>(value: &Value, look: &mut impl FnMut(&Value) -> Option<T>) -> Option<T> {
    if let Some(found) = look(value) {
        return Some(found);
    }
    match value {
        Value::Array(items) => items.iter().find_map(|item| find(item, look)),
        Value::Object(fields) => fields.values().find_map(|field| find(field, look)),
        _ => None,
    }
}

/// Every object for which `take` does not answer is looked into.
fn gather(value: &Value, take: &mut impl FnMut(&serde_json::Map<String, Value>) -> Option<()>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, take)),
        Value::Object(fields) if take(fields).is_none() => {
            fields.values().for_each(|field| gather(field, take));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_are_found_whoever_printed_them() {
        let claude = json!({"type":"assistant","message":{"content":[
            {"type":"text","text":"a long\n  story that goes on"},
            {"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}});
        for short in ["a long story…", "a long story that goes on"] {
            assert_eq!(whole(&claude, short).as_deref(), Some("a long\n  story that goes on"));
        }
        assert_eq!(whole(&claude, "another story"), None);
        assert_eq!(arguments(&claude), [r#"{"command":"ls"}"#]);
        let ended = json!({"type":"user","message":{"content":[
            {"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"no such file"}]}]}});
        assert_eq!(result(&ended).as_deref(), Some("no such file"));
        let codex = json!({"type":"item.completed","item":{"type":"command_execution","command":"ls",
            "aggregated_output":"a\nb\n","exit_code":0}});
        assert_eq!(arguments(&codex), ["ls"]);
        assert_eq!(result(&codex).as_deref(), Some("a\nb\n"));
        assert_eq!(result(&json!({"type":"x"})), None);
    }

    #[test]
    fn what_is_no_event_is_not_looked_into() {
        assert!(event(b"plain words").is_none());
        assert!(event(b"{broken").is_none());
        assert!(event(&vec![b'{'; LARGEST + 1]).is_none());
    }
}
