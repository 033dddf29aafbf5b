//! The events of early versions of Codex (seen: 0.36): everything under `msg`, and no word about a good end. There a
//! turn that ended well is a message after which only the tokens were counted, and an exit without complaint.

use crate::codex::event::usage;
use crate::codex::fault::failure;
use crate::codex::reader::CodexReader;
use crate::dialect::LineKind;
use crate::json::{Field, read};
use crate::plain::short;
use crate::seam::{Activity, ReaderEvent};
use serde::Deserialize;

/// A line: an event, or the introduction before the first one.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    msg: Field<'a>,
    #[serde(borrow, default)]
    model: Field<'a>,
    #[serde(borrow, default)]
    workdir: Field<'a>,
    #[serde(borrow, default)]
    sandbox: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    call_id: Field<'a>,
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    success: Field<'a>,
    #[serde(borrow)]
    info: Field<'a>,
    #[serde(borrow)]
    reason: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info<'a> {
    #[serde(borrow)]
    total_token_usage: Field<'a>,
}

/// An object of an early version; `None` where it is none of those.
pub fn object(heard: &mut CodexReader, text: &str, out: &mut Vec<ReaderEvent>) -> Option<LineKind> {
    if text.starts_with(r#"{"type":"#) {
        return None;
    }
    let line = read::<Line<'_>>(text)?;
    if line.msg.0.is_none() {
        let introduces = line.workdir.0.is_some() && line.sandbox.0.is_some();
        let model = line.model.filled().filter(|_| introduces)?;
        heard.model = Some(short(&model, 200));
        let (session, model) = (None, heard.model.clone());
        out.push(ReaderEvent::Activity(Activity::Began { session, model }));
        return Some(LineKind::Event);
    }
    let event = line.msg.read::<Event<'_>>()?;
    Some(if line_kind(heard, &event, out)? { LineKind::Event } else { LineKind::Unknown })
}

fn line_kind(heard: &mut CodexReader, event: &Event<'_>, out: &mut Vec<ReaderEvent>) -> Option<bool> {
    let kind = event.kind.text()?;
    match kind.as_ref() {
        "session_configured" => return Some(heard.began(event.session_id, out)),
        "token_count" => heard.counted(usage(tokens(event))),
        "stream_error" => heard.fault(event.message, out),
        "error" => {
            let words = event.message.head(4096).unwrap_or_default();
            heard.ends(Err(failure(&words)), out);
        }
        "turn_aborted" => {
            let why = event.reason.head(200).unwrap_or_default();
            heard.ends(Err(failure(&format!("turn aborted: {why}"))), out);
        }
        "task_complete" => heard.ends(Ok(()), out),
        kind => {
            heard.went_on();
            return Some(did(heard, kind, event, out));
        }
    }
    Some(true)
}

/// Something the agent did or said. Says whether it is known.
fn did(heard: &mut CodexReader, kind: &str, event: &Event<'_>, out: &mut Vec<ReaderEvent>) -> bool {
    let failed = event.exit_code.count().is_some_and(|code| code > 0) || event.success.truth() == Some(false);
    let id = event.call_id.head(200).unwrap_or_default();
    match kind {
        "agent_message" => heard.said(event.message, out),
        "exec_command_begin" => {
            let words: Vec<Field<'_>> = event.command.read().unwrap_or_default();
            let detail = words.last().and_then(|word| word.head(800)).unwrap_or_default();
            let detail = short(&detail, 200);
            heard.tool(&id, Activity::Tool { name: "shell".to_owned(), detail, file: None }, out);
        }
        "patch_apply_begin" | "mcp_tool_call_begin" | "web_search_begin" => {
            let name = kind.trim_end_matches("_begin").to_owned();
            heard.tool(&id, Activity::Tool { name, detail: String::new(), file: None }, out);
        }
        "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" | "web_search_end" => {
            heard.tool_ended(&id, failed, out);
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
