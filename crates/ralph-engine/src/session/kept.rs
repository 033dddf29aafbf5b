//! The transcript that ralph keeps of a session's call, in the form of the agent's output, so that everything that reads
//! transcripts reads it, too: what the session did as far as the client wrote it in that form, then its result.

use crate::redact::Stream;
use crate::step_context::StepContext;
use crate::transcript::{CAP, Kept, Transcript};
use ralph_agents::Client;
use ralph_agents::session_transcript::shows_work;
use ralph_rules::money::Usage;
use ralph_rules::record::Attempt;
use serde_json::{Value, json};
use std::io;

/// The transcript of one call while it is written.
pub(super) struct KeptTurn<'a> {
    client: Client,
    redacted: Stream<'a>,
    file: Transcript,
}

impl<'a> KeptTurn<'a> {
    /// A new file; what a killed hook left of it is replaced.
    pub(super) fn open(ctx: &'a StepContext, id: Attempt, client: Client) -> io::Result<KeptTurn<'a>> {
        let (_, path) = ctx.file(id, "out.jsonl");
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(KeptTurn { client, redacted: ctx.deps.redactor.stream(), file: Transcript::create(&path, CAP)? })
    }

    /// A line of the client's own transcript.
    pub(super) fn line(&mut self, line: &[u8]) {
        if shows_work(self.client, line) {
            self.write(line);
            self.write(b"\n");
        }
    }

    /// The result, and what was kept.
    pub(super) fn close(mut self, session: &str, message: &str, usage: &Usage) -> Kept {
        for event in result(self.client, session, message, usage) {
            self.write(format!("{event}\n").as_bytes());
        }
        let KeptTurn { redacted, mut file, .. } = self;
        redacted.finish_to(&mut |clean: &[u8]| file.write(clean));
        file.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        let KeptTurn { redacted, file, .. } = self;
        redacted.push_to(bytes, &mut |clean: &[u8]| file.write(clean));
    }
}

/// The events that an agent's output ends with.
fn result(client: Client, session: &str, message: &str, usage: &Usage) -> Vec<Value> {
    let Usage { input, output, cache_read, cache_write } = *usage;
    match client {
        Client::Claude | Client::Qwen => vec![json!({
            "type": "result", "subtype": "success", "is_error": false, "session_id": session, "result": message,
        })],
        Client::Codex => vec![
            json!({"type": "thread.started", "thread_id": session}),
            json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": message}}),
            json!({"type": "turn.completed", "usage": {
                "input_tokens": input + cache_read + cache_write, "cached_input_tokens": cache_read,
                "cache_write_input_tokens": cache_write, "output_tokens": output,
            }}),
        ],
    }
}
