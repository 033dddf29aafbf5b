//! A client with one session: it calls the hooks and keeps a transcript.

use ralph_testkit::Scratch;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// What an agent says when it is done.
pub const DONE: &str = "All done.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\n\
    FILES_MODIFIED: 1\nTESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: true\n\
    RECOMMENDATION: All tasks complete, tests passing, done.txt\n---END_RALPH_STATUS---";
/// What it says when something is left to do.
pub const MORE: &str = "The first part.\n\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 1\n\
    FILES_MODIFIED: 1\nTESTS_STATUS: FAILING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: false\n\
    RECOMMENDATION: Next: the second part\n---END_RALPH_STATUS---";
/// A loop that is proven by a file.
pub const LOOP: &str =
    "/ralph:loop Make done.txt --max-iterations 4 --max-cost 5 --verify 'test -e done.txt'";

/// The client.
pub struct Session {
    pub scratch: Scratch,
    pub id: String,
    said: u32,
}

/// A client that lives until it is dropped.
pub struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What a hook answered.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Answer { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Answer {
    /// The answer as JSON; null if there is none. A hook always exits with 0.
    pub fn json(&self) -> Value {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        if self.out.is_empty() { Value::Null } else { serde_json::from_str(&self.out).unwrap() }
    }

    /// The line for the user.
    pub fn line(&self) -> String {
        self.json()["systemMessage"].as_str().unwrap_or_default().to_owned()
    }

    /// What the agent is told.
    pub fn context(&self) -> String {
        let json = self.json();
        json["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    /// Why what was typed is not passed on.
    pub fn refused(&self) -> String {
        let json = self.json();
        assert_eq!(json["decision"], "block", "{json}");
        json["reason"].as_str().unwrap().to_owned()
    }
}

impl Session {
    /// A session in a repository, with a `claude` on the path that is the scripted agent.
    pub fn new() -> Session {
        let scratch = Scratch::git_repo();
        let bin = scratch.root().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(scratch.root().join("agent.sim"), "write done.txt done\nclaim complete\n").unwrap();
        let script = format!(
            "#!/bin/sh\nexec '{}' agent-sim --script '{}' \"$@\"\n",
            env!("CARGO_BIN_EXE_ralph"),
            scratch.root().join("agent.sim").display()
        );
        for name in ["claude", "codex", "qwen"] {
            std::fs::write(bin.join(name), &script).unwrap();
            make_executable(&bin.join(name));
        }
        Session { scratch, id: "5f0c9a52-session".into(), said: 0 }
    }

    pub fn transcript(&self) -> PathBuf {
        self.scratch.root().join("transcripts").join(format!("{}.jsonl", self.id))
    }

    /// Adds a line to the session's transcript, or to that of a subagent.
    pub fn write(&self, path: &Path, line: &Value) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// The agent says something in a model message that used so many tokens.
    pub fn say(&mut self, text: &str, input: u64) {
        self.said += 1;
        let line = message(&format!("msg_{}", self.said), "claude-opus-5-5", text, input);
        self.write(&self.transcript(), &line);
    }

    /// What every hook is told.
    pub fn input(&self) -> Value {
        json!({
            "session_id": self.id, "transcript_path": self.transcript(), "cwd": self.scratch.workspace(),
            "permission_mode": "acceptEdits", "background_tasks": [],
        })
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.command(env!("CARGO_BIN_EXE_ralph"));
        command.args(args).env("PATH", self.path()).stdin(Stdio::null());
        command
    }

    /// With the scripted clients first.
    pub fn path(&self) -> OsString {
        let path = self.scratch.env().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
        let bin = self.scratch.root().join("bin");
        std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path))).unwrap()
    }

    pub fn ralph(&self, args: &[&str]) -> Answer {
        Answer::from(self.command(args).output().unwrap())
    }

    /// A hook that gets these bytes.
    pub fn hook_with(&self, event: &str, bytes: &[u8]) -> Answer {
        let path = self.scratch.root().join("hook-input");
        std::fs::write(&path, bytes).unwrap();
        let mut command = self.command(&["hook", event]);
        Answer::from(command.stdin(File::open(path).unwrap()).output().unwrap())
    }

    pub fn hook(&self, event: &str, input: &Value) -> Answer {
        self.hook_with(event, input.to_string().as_bytes())
    }

    /// The user types this.
    pub fn prompt(&self, text: &str) -> Answer {
        let mut input = self.input();
        input["prompt"] = text.into();
        self.hook("prompt", &input)
    }

    /// The user types this in a client that is a process of its own, so that this one is another terminal.
    pub fn prompt_in_client(&self, text: &str) -> (Answer, Client) {
        let (input, answer) = (self.scratch.root().join("typed"), self.scratch.root().join("answer"));
        let mut typed = self.input();
        typed["prompt"] = text.into();
        std::fs::write(&input, typed.to_string()).unwrap();
        let ralph = env!("CARGO_BIN_EXE_ralph");
        let hook = format!("'{ralph}' hook prompt < '{}' > '{}'", input.display(), answer.display());
        let mut client = self.scratch.command("find");
        client.args([
            ".",
            "-maxdepth",
            "0",
            "-exec",
            "sh",
            "-c",
            &format!("{hook}; echo ready; read end"),
            ";",
        ]);
        client.env("PATH", self.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = client.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let out = std::fs::read_to_string(&answer).unwrap();
        (Answer { code: Some(0), out, err: String::new() }, Client(client))
    }

    /// The agent says this and stops.
    pub fn stop(&mut self, text: &str) -> Answer {
        self.say(text, 1000);
        let input = self.stopped(text);
        self.hook("stop", &input)
    }

    /// What the stop hook is told.
    pub fn stopped(&self, text: &str) -> Value {
        let mut input = self.input();
        input["last_assistant_message"] = text.into();
        input
    }

    /// The only run, as `ralph list --json` shows it.
    pub fn run(&self) -> Value {
        let listed: Value = serde_json::from_str(&self.ralph(&["list", "--json"]).out).unwrap();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        listed[0].clone()
    }

    /// Status and reason of the only run.
    pub fn status(&self) -> (String, String) {
        let run = self.run();
        let text = |name: &str| run[name].as_str().unwrap_or_default().to_owned();
        (text("status"), text("reason"))
    }

    pub fn replays(&self) {
        let replayed = self.ralph(&["replay"]);
        assert!(replayed.out.contains("all identical"), "{replayed:?}");
    }
}

/// A model message as Claude Code writes it to a transcript.
pub fn message(id: &str, model: &str, text: &str, input: u64) -> Value {
    json!({"type": "assistant", "isSidechain": false, "message": {
        "id": id, "type": "message", "role": "assistant", "model": model,
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": input, "output_tokens": 100, "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0},
    }})
}

pub fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
