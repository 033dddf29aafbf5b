//! Asks the user's own checks (`[[analyzer]]`) about an iteration. Each gets JSON on stdin and answers with JSON on stdout,
//! runs like a verify command (supervisor, deadline, interruptible) and sees the workspace under an overlay or as a copy,
//! so that nothing it writes there stays. Whatever goes wrong becomes a result that says why it has no answer.

use super::place::Room;
use super::runner::Runner;
use crate::redact::Redactor;
use ralph_rules::record::{AnalyzerGiven, AnalyzerObjection, AnalyzerResult, Ms};
use ralph_supervisor::{Input, NotStarted, ProcessHandle, Sink};
use serde::Deserialize;
use std::time::Duration;

/// The longest answer.
const LARGEST_ANSWER: usize = 64 * 1024;
/// How much of stderr is kept, to say why an analyzer failed.
const STDERR: usize = 512;
/// Objections and notes kept of one answer.
const MOST: usize = 20;
/// The longest text of an objection or a note.
const LONGEST: usize = 500;

/// The answer of an analyzer. Unknown fields are ignored: nothing that it says can grant anything.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    objections: Vec<AnalyzerObjection>,
    notes: Vec<String>,
}

/// Asks one analyzer in a room of its own.
pub(crate) fn ask(
    runner: &Runner<'_>,
    given: &AnalyzerGiven,
    input: &[u8],
    room: &mut Room<'_>,
) -> AnalyzerResult {
    if let Err(why) = runner.adapt(room) {
        return no_answer(given, 0, why.to_string());
    }
    let asked = attempt(runner, given, input, room).or_else(|| {
        room.mount_refused().ok()?;
        attempt(runner, given, input, room)
    });
    asked.unwrap_or_else(|| no_answer(given, 0, "the system refused both the mount and the copy".into()))
}

/// An analyzer that could not be asked, or whose answer cannot be used.
pub(crate) fn no_answer(given: &AnalyzerGiven, ms: Ms, why: String) -> AnalyzerResult {
    AnalyzerResult { name: given.name.clone(), ms, failed: Some(why), ..AnalyzerResult::default() }
}

/// `None` if the system refused the room's mounts.
fn attempt(
    runner: &Runner<'_>,
    given: &AnalyzerGiven,
    input: &[u8],
    room: &Room<'_>,
) -> Option<AnalyzerResult> {
    let (mut launch, contained) = match runner.launch_in(&given.command, room) {
        Ok(launch) => launch,
        Err(why) => return Some(no_answer(given, 0, why)),
    };
    launch.merge_stderr = false;
    launch.stdin = Input::Bytes(input.to_vec());
    let grace = launch.limits.end_grace;
    let (process, pump) = match ralph_supervisor::start(launch) {
        Ok(started) => started,
        Err(why) => return Some(no_answer(given, 0, why.to_string())),
    };
    let mut answer =
        AnswerSink { stdout: Vec::new(), stderr: Vec::new(), flooded: false, process: &process, grace };
    let (exit, timed_out) = runner.wait(&process, pump, &mut answer);
    runner.contained_ended(contained, &exit);
    if matches!(exit.not_started, Some(NotStarted::Overlay { .. } | NotStarted::Room { .. })) {
        return None;
    }
    let ms = Ms::try_from(exit.ms).unwrap_or(Ms::MAX);
    let stderr = String::from_utf8_lossy(&answer.stderr).into_owned();
    let because = match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!(": {}", short(line.trim(), runner.redactor)),
        None => String::new(),
    };
    let failed = match (&exit.not_started, exit.code) {
        (Some(why), _) => Some(why.to_string()),
        _ if timed_out => Some(format!("it did not end within {} ms", given.timeout)),
        _ if answer.flooded => Some(format!("it printed more than {} KiB", LARGEST_ANSWER / 1024)),
        (_, Some(0)) => None,
        (_, Some(code)) => Some(format!("it ended with exit code {code}{because}")),
        (_, None) => Some(format!("it was ended by a signal{because}")),
    };
    Some(match failed.map_or_else(|| read(&answer.stdout), Err) {
        Ok(answer) => answered(given, ms, answer, runner.redactor),
        Err(why) => no_answer(given, ms, why),
    })
}

fn read(stdout: &[u8]) -> Result<Answer, String> {
    if stdout.trim_ascii().is_empty() {
        return Err("it printed nothing".into());
    }
    serde_json::from_slice(stdout)
        .map_err(|why| format!("its answer is not the JSON that is expected: {why}"))
}

fn answered(given: &AnalyzerGiven, ms: Ms, answer: Answer, redactor: &Redactor) -> AnalyzerResult {
    let objection = |said: AnalyzerObjection| AnalyzerObjection {
        code: short(&said.code, redactor),
        text: short(&said.text, redactor),
    };
    let Answer { objections, notes } = answer;
    AnalyzerResult {
        name: given.name.clone(),
        ms,
        objections: objections.into_iter().take(MOST).map(objection).collect(),
        notes: notes.iter().take(MOST).map(|note| short(note, redactor)).collect(),
        failed: None,
    }
}

/// On one line, without secrets, and not too long.
fn short(text: &str, redactor: &Redactor) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean = redactor.redact(&line);
    clean.get(..clean.floor_char_boundary(LONGEST)).unwrap_or_default().to_owned()
}

/// Collects the answer and ends an analyzer that prints more than an answer may have.
struct AnswerSink<'a> {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    flooded: bool,
    process: &'a ProcessHandle,
    grace: Duration,
}

impl Sink for AnswerSink<'_> {
    fn stdout(&mut self, chunk: &[u8]) {
        let room = LARGEST_ANSWER.saturating_sub(self.stdout.len());
        self.stdout.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if chunk.len() > room && !self.flooded {
            self.flooded = true;
            self.process.end(self.grace);
        }
    }

    fn stderr(&mut self, chunk: &[u8]) {
        // The end says why it failed.
        self.stderr.extend_from_slice(chunk);
        self.stderr.drain(..self.stderr.len().saturating_sub(STDERR));
    }
}
