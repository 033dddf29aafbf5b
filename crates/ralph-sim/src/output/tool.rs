//! A tool result, as Claude reports it in a `user` event, and the denial of a tool.

use super::Output;
use crate::clock;
use crate::object::Object;

/// How a tool ended.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the model is told.
    pub text: String,
    /// Whether it is an error.
    pub failed: bool,
}

impl Answer {
    /// A success.
    pub fn good(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), failed: false }
    }

    /// An error.
    pub fn bad(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), failed: true }
    }
}

impl Output {
    /// The `user` event that answers the tool use `id`.
    pub fn answer(&mut self, id: &str, answer: &Answer) {
        let event = self.answer_event(id, answer);
        self.event(&event);
    }

    /// The same, not yet printed.
    pub fn answer_event(&mut self, id: &str, answer: &Answer) -> Object {
        let decision =
            Object::new().put("decision", "accept").put("source", "config").put("reason_type", "rule");
        let meta = Object::new().put("id", id).put("permission_decision", decision);
        let told = if answer.failed {
            Object::new().put("tool_use_result", format!("Error: {}", answer.text))
        } else {
            let told = Object::new().put("stdout", &answer.text).put("stderr", "").put("interrupted", false);
            Object::new().put("tool_use_result", told.put("isImage", false).put("noOutputExpected", false))
        };
        self.user(id, answer, &told, meta)
    }

    /// A refused tool: the refusal, its answer, and a line in the result.
    pub fn refuse(&mut self, id: &str, tool: &str, input: &Object) {
        let why = format!("Claude requested permissions to use {tool}, but you haven't granted it yet.");
        let event = Output::system("permission_denied")
            .put("tool_name", tool)
            .put("tool_use_id", id)
            .put("message", &why)
            .put("uuid", self.ids.uuid())
            .put("session_id", &self.info.session);
        self.event(&event);
        let decision = Object::new().put("decision", "reject").put("source", "config");
        let meta = Object::new().put("id", id).put("non_execution_kind", "user-rejected");
        let told = Object::new().put("tool_use_result", format!("Error: {why}"));
        let event = self.user(id, &Answer::bad(why), &told, meta.put("permission_decision", decision));
        self.event(&event);
        let denial = Object::new().put("tool_name", tool).put("tool_use_id", id).put("tool_input", input);
        self.denials.push(denial);
    }

    fn user(&mut self, id: &str, answer: &Answer, told: &Object, meta: Object) -> Object {
        let content = Object::new()
            .put("tool_use_id", id)
            .put("type", "tool_result")
            .put("content", &answer.text)
            .put("is_error", answer.failed);
        let message = Object::new().put("role", "user").put("content", [content]);
        let event =
            Object::new().put("type", "user").put("message", message).put("parent_tool_use_id", None::<u8>);
        let stamped = self.sign(event).put("timestamp", clock::stamp(clock::now()));
        stamped.join(told).put("tool_result_meta", [meta])
    }
}
