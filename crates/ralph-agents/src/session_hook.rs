//! What a client tells a hook on its standard input, read without trust: a field may be missing or of another type.

use crate::client::Client;
use crate::json::{Field, lenient, read as read_json};
use memchr::memmem;

/// What a hook was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookInput {
    /// The session's id.
    pub session: String,
    /// Where its transcript is.
    pub transcript: String,
    /// The directory that it works in.
    pub cwd: String,
    /// What the person typed, if the hook is about that.
    pub prompt: Option<String>,
    /// The prompt that is answered, if the client names it.
    pub prompt_id: Option<String>,
    /// What the agent said last; none if the client does not tell.
    pub last_message: Option<String>,
    /// The model that works, if it is told.
    pub model: Option<String>,
    /// What still runs in the background.
    pub background: Vec<BackgroundTask>,
    /// Whether the hook was called by Codex, which names the turn.
    has_turn: bool,
}

/// Something that the session left running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundTask {
    /// Its kind, such as `subagent` or `shell`.
    pub kind: String,
    /// What it does: a command or a description.
    pub what: String,
}

lenient! {
    struct Input<'a> {
        session_id, transcript_path, cwd, prompt, prompt_id, last_assistant_message, model, turn_id,
        background_tasks,
    }

    struct Task<'a> { kind = "type", status, command, description, id }
}

impl HookInput {
    /// Reads the input; none if it is not an object with a session's id.
    pub fn read(bytes: &[u8]) -> Option<HookInput> {
        let input: Input<'_> = read_json(str::from_utf8(bytes).ok()?.trim())?;
        let text = |field: Field<'_>| field.text().map(String::from);
        // A client that tells of no message tells that the agent said nothing; one that does not know of it is too old.
        let says_nothing = memmem::find(bytes, br#""last_assistant_message":null"#).is_some();
        let last_message = text(input.last_assistant_message).or(says_nothing.then(String::new));
        let tasks: Vec<Task<'_>> = input.background_tasks.read().unwrap_or_default();
        Some(HookInput {
            session: input.session_id.filled()?.into(),
            transcript: text(input.transcript_path).unwrap_or_default(),
            cwd: text(input.cwd).unwrap_or_default(),
            prompt: text(input.prompt),
            prompt_id: input.prompt_id.filled().map(String::from),
            last_message,
            model: input.model.filled().map(String::from),
            background: tasks.iter().filter(|task| task.status.is("running")).map(running).collect(),
            has_turn: input.turn_id.filled().is_some(),
        })
    }

    /// Which client calls: Codex names the turn, Qwen Code keeps its transcripts in a directory of its own.
    pub fn client(&self) -> Client {
        let qwen = self.transcript.split('/').any(|part| part == ".qwen");
        match (self.has_turn, qwen) {
            (true, _) => Client::Codex,
            (_, true) => Client::Qwen,
            _ => Client::Claude,
        }
    }

    /// Whether a subagent works on: the hook is called again when it has finished.
    pub fn subagent_runs(&self) -> bool {
        self.background.iter().any(|task| matches!(task.kind.as_str(), "subagent" | "agent" | "teammate"))
    }
}

fn running(task: &Task<'_>) -> BackgroundTask {
    let what = [task.command, task.description, task.id].into_iter().find_map(Field::filled);
    BackgroundTask {
        kind: task.kind.text().unwrap_or_default().into(),
        what: what.map(String::from).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
