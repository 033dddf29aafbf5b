//! A session whose hooks are killed: `hook prompt` and `hook stop`, at every point, the second one also twice in a row.
//! The client takes no notice of a hook that was killed: the session's turn ends, its user types something, and the next
//! stop continues. Nothing of what the session used is lost or charged twice.

use crate::scene::ralph;
use crate::tracer::{Point, When, trace};
use ralph_rules::record::{Fact, Seen};
use ralph_rules::replay::replay;
use ralph_store::{RunFilter, Store};
use ralph_testkit::Scratch;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// Micro-dollars of one message of the session: 1000 tokens in, 100 out.
const MESSAGE: i64 = 6_000;
const LOOP: &str =
    "/ralph:loop Make two files --max-iterations 20 --max-cost 10 --verify 'test -e one && test -e two'";
const MORE: &str = "One is there, two is next.";
const DONE: &str = "Both are there.\n\n<promise>COMPLETE</promise>";

/// The client and its session.
pub struct Session {
    scratch: Scratch,
    messages: u32,
}

impl Session {
    pub fn new() -> Session {
        let scratch = Scratch::git_repo();
        let bin = scratch.root().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("claude"), "#!/bin/sh\n").unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(bin.join("claude"), executable).unwrap();
        Session { scratch, messages: 0 }
    }

    fn transcript(&self) -> PathBuf {
        self.scratch.root().join("session.jsonl")
    }

    /// The agent says something, which costs one message.
    fn say(&mut self, text: &str) {
        self.messages += 1;
        let line = json!({"type": "assistant", "message": {"id": format!("m{}", self.messages),
            "model": "claude-opus-5-5", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 1000, "output_tokens": 100}}});
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.transcript()).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// The hook as the client starts it, with its input.
    fn hook(&self, event: &str, input: &Value) -> Command {
        let mut all = json!({"session_id": "killed", "transcript_path": self.transcript(),
            "cwd": self.scratch.workspace()});
        all.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
        let path = self.scratch.root().join("input");
        fs::write(&path, all.to_string()).unwrap();
        let mut command = self.scratch.command("/bin/sh");
        let bin = self.scratch.root().join("bin");
        let paths = std::env::var_os("PATH").unwrap();
        let paths = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&paths))).unwrap();
        command.args(["-c", "exec \"$0\" hook \"$1\" < \"$2\""]).arg(ralph()).arg(event).arg(path);
        command.env("PATH", paths);
        command
    }

    /// One hook, killed or not; the points it came to and whether it was killed.
    fn traced(&self, event: &str, input: &Value, when: &When) -> (Vec<Point>, bool) {
        let traced = trace(
            &self.hook(event, input),
            &self.scratch.root().join("out"),
            &self.scratch.root().join("err"),
            when,
        );
        let killed = traced.was_killed();
        assert!(killed || traced.status.success(), "{:?}: {}", traced.status, self.answer());
        (traced.points, killed)
    }

    fn answer(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.scratch.root().join(name)).unwrap_or_default();
        format!("{}{}", read("out"), read("err"))
    }

    fn stop(&mut self, text: &str, when: &When) -> (Vec<Point>, bool) {
        self.say(text);
        self.traced("stop", &json!({"last_assistant_message": text}), when)
    }

    /// Starts a run; one whose hook was killed is started again, if nothing of it is there.
    pub fn start(&mut self, when: &When) -> Vec<Point> {
        let typed = json!({"prompt": LOOP});
        let (points, killed) = self.traced("prompt", &typed, when);
        if killed {
            self.traced("prompt", &typed, &When::Never);
            let answer = self.answer();
            let began = answer.contains("RALPH_STATUS") || answer.contains("already works on run");
            assert!(began, "typed again after the kill: {answer}");
        }
        points
    }

    /// Works to the end; the first stop is killed as told, perhaps twice.
    pub fn finish(&mut self, first: &When, second: &When) -> Result<Vec<Point>, String> {
        self.scratch.files(&[("one", "1\n")]);
        let (points, _) = self.stop(MORE, first);
        self.scratch.files(&[("two", "2\n")]);
        self.stop(DONE, second);
        for _ in 0..4 {
            if self.is_over()? {
                return self.accounts().map(|()| points);
            }
            self.stop(DONE, &When::Never);
        }
        Err(format!("it does not end: {}", self.answer()))
    }

    fn store(&self) -> Result<ralph_store::Database, String> {
        let found = ralph_store::open_existing(&self.scratch.state().join("ralph"));
        found.map_err(|e| e.to_string())?.ok_or_else(|| "there is no database".into())
    }

    fn is_over(&self) -> Result<bool, String> {
        let runs = self.store()?.runs(&RunFilter::default()).map_err(|e| e.to_string())?;
        Ok(runs.iter().any(|run| run.status == "COMPLETED"))
    }

    fn records(&self) -> Result<Vec<Seen>, String> {
        let store = self.store()?;
        let mut all = Vec::new();
        for run in store.runs(&RunFilter::default()).map_err(|e| e.to_string())? {
            let records = ralph_engine::journal::read(&store, &run.id).map_err(|e| e.to_string())?;
            if let Some(other) = replay(&records).differences.first() {
                return Err(format!("record {} would be decided otherwise", other.seq));
            }
            all.extend(records.into_iter().filter_map(|record| match record.fact {
                Fact::Seen(seen) => Some(seen),
                Fact::Decided(_) => None,
            }));
        }
        Ok(all)
    }

    /// Every message is charged once: those that came after the end belong to nobody.
    fn accounts(&self) -> Result<(), String> {
        let charged: i64 = self
            .records()?
            .iter()
            .map(|seen| match seen {
                Seen::CallEnded(call) => call.charged.0,
                Seen::CallLost(lost) => lost.charged.0,
                Seen::CallsFound(found) => found.cost().0,
                _ => 0,
            })
            .sum();
        let (most, store) = (i64::from(self.messages) * MESSAGE, self.store()?);
        let booked: i64 =
            store.runs(&RunFilter::default()).map_err(|e| e.to_string())?.iter().map(|r| r.cost_micro).sum();
        // The last stop may have been one of a run that had ended already.
        let right = (charged == most || charged == most - MESSAGE) && charged == booked;
        right.then_some(()).ok_or_else(|| format!("{charged} charged, {booked} booked, {most} used"))
    }
}
