//! The events of early versions of Codex (seen: 0.36): everything under `msg`, and no word about a good end. There a
//! turn that ended well is a message after which only the tokens were counted, and an exit without complaint.

use crate::codex::event::usage;
use crate::codex::failure::failure;
use crate::codex::reader::CodexReader;
use crate::dialect::LineKind;
use crate::json::{Field, lenient, read};
use crate::reader::Activity;
use crate::text::short;

lenient! {
    /// A line: an event, or the introduction before the first one.
    struct Line<'a> { msg, model, workdir, sandbox }

    struct Event<'a> { kind = "type", message, session_id, call_id, command, exit_code, success, info, reason }

    struct Info<'a> { total_token_usage }
}

/// An object of an early version; `None` where it is none of those.
pub fn object(reader: &mut CodexReader, text: &str) -> Option<LineKind> {
    if text.starts_with(r#"{"type":"#) {
        return None;
    }
    let line = read::<Line<'_>>(text)?;
    if line.msg.0.is_none() {
        let introduces = line.workdir.0.is_some() && line.sandbox.0.is_some();
        if !introduces || !reader.call.set_model(line.model) {
            return None;
        }
        let model = reader.call.model.clone();
        reader.call.activity(Activity::Began { session: None, model });
        return Some(LineKind::Event);
    }
    let event = line.msg.read::<Event<'_>>()?;
    line_kind(reader, &event).map(LineKind::from)
}

fn line_kind(reader: &mut CodexReader, event: &Event<'_>) -> Option<bool> {
    let kind = event.kind.text()?;
    match kind.as_ref() {
        "session_configured" => return Some(reader.began(event.session_id)),
        "token_count" => reader.counted(usage(tokens(event))),
        "stream_error" => reader.request_failed(event.message),
        "error" => {
            let words = event.message.head(4096).unwrap_or_default();
            return Some(reader.ends(Err(failure(&words))));
        }
        "turn_aborted" => {
            let why = event.reason.head(200).unwrap_or_default();
            return Some(reader.ends(Err(failure(&format!("turn aborted: {why}")))));
        }
        "task_complete" => return Some(reader.ends(Ok(()))),
        kind => {
            reader.progressed();
            return Some(did(reader, kind, event));
        }
    }
    Some(true)
}

/// Something the agent did or said. Says whether it is known.
fn did(reader: &mut CodexReader, kind: &str, event: &Event<'_>) -> bool {
    let failed = event.exit_code.count().is_some_and(|code| code > 0) || event.success.truth() == Some(false);
    let id = event.call_id.head(200).unwrap_or_default();
    match kind {
        "agent_message" => reader.said(event.message),
        "exec_command_begin" => {
            let words: Vec<Field<'_>> = event.command.read().unwrap_or_default();
            let detail = words.last().and_then(|word| word.head(800)).unwrap_or_default();
            let detail = short(&detail, 200);
            reader.tool(&id, Activity::Tool { name: "shell".to_owned(), detail, file: None });
        }
        "patch_apply_begin" | "mcp_tool_call_begin" | "web_search_begin" => {
            let name = kind.trim_end_matches("_begin").to_owned();
            reader.tool(&id, Activity::Tool { name, detail: String::new(), file: None });
        }
        "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" | "web_search_end" => {
            reader.tool_ended(&id, failed, false);
        }
        "task_started" | "agent_reasoning" | "exec_command_output_delta" => {}
        _ => return false,
    }
    true
}

/// Where the count is: of the whole conversation, or in the first versions beside the type.
fn tokens<'a>(event: &Event<'a>) -> Field<'a> {
    event.info.read::<Info<'_>>().unwrap_or_default().total_token_usage
}
