//! Starts the simulator in a scratch workspace and reads what it said.
#![allow(dead_code)] // each test file uses its own part

use ralph_testkit::Scratch;
use serde_json::Value;
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// What one call came to.
pub struct Heard {
    pub code: Option<i32>,
    pub bytes: Vec<u8>,
    pub stderr: String,
}

impl Heard {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The lines that are JSON objects.
    pub fn events(&self) -> Vec<Value> {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).filter(Value::is_object).collect()
    }

    pub fn of_type(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The result, which must be the only one and the last event.
    pub fn result(&self) -> Value {
        let last = self.events().pop().expect("some event");
        assert_eq!(last["type"], "result", "{last}");
        assert_eq!(self.of_type("result").len(), 1);
        last
    }

    /// The answer of the only tool.
    pub fn tool_result(&self) -> Value {
        let mut users = self.of_type("user");
        assert_eq!(users.len(), 1);
        users.remove(0)["message"]["content"][0].clone()
    }
}

pub fn command(scratch: &Scratch, args: &[&str]) -> Command {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_ralph-agent-sim"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Gives the prompt, closes stdin, waits for the end.
pub fn heard(mut child: Child, prompt: &str) -> Heard {
    let mut stdin = child.stdin.take().unwrap();
    // One that refuses its script is gone before it reads the prompt.
    let _ = stdin.write_all(prompt.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Heard { code: output.status.code(), bytes: output.stdout, stderr }
}

/// One whole call with these arguments.
pub fn call(scratch: &Scratch, args: &[&str]) -> Heard {
    heard(command(scratch, args).spawn().unwrap(), "Fix it.\n")
}

/// One whole call of an inline script, without stream events.
pub fn play(scratch: &Scratch, script: &str) -> Heard {
    call(scratch, &["--no-partial-messages", "--do", script])
}
