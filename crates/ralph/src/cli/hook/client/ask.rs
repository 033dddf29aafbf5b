//! One command of a client's, with a limit: what it printed, or why it refused in its own words.

use crate::problem::{Code, Problem};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a client may take; they answer within a second.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than any answer.
const MOST: u64 = 1 << 20;

/// What a client answered.
pub struct Asked(pub serde_json::Value);

/// Why a client did not do it.
#[derive(Clone, Debug)]
pub struct Refused {
    /// What was typed, for a person who tries it.
    pub typed: String,
    /// In its own words.
    pub why: String,
}

impl Refused {
    /// As an error of ralph's.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        let mut problem = Problem::new(Code::Busy, message);
        problem.causes.push(format!("`{}`: {}", self.typed, self.why));
        problem
    }
}

/// Runs it and reads its answer.
pub fn ask(program: &Path, dir: &Path, args: &[&str]) -> Result<Asked, Refused> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let refused = |why: String| Refused { typed: format!("{name} {}", args.join(" ")), why };
    let mut child = command(program, dir, args)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| refused(format!("cannot be started: {error}")))?;
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let Some(status) = wait(&mut child, PATIENCE) else {
        return Err(refused(format!("no answer after {} seconds", PATIENCE.as_secs())));
    };
    let (out, err) = (text(out), text(err));
    // Some clients print notes before their answer.
    let answer = out.lines().enumerate().find_map(|(at, _)| {
        let rest: Vec<&str> = out.lines().skip(at).collect();
        serde_json::from_str(&rest.join("\n")).ok()
    });
    match (status.success(), answer) {
        (true, Some(answer)) => Ok(Asked(answer)),
        (true, None) => Err(refused("answered without JSON; update the client".to_owned())),
        (false, answer) => Err(refused(why(answer.as_ref(), &err))),
    }
}

/// The command in a process group of its own, so that nothing of it stays.
pub fn command(program: &Path, dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

/// Waits for its end; ends it where that takes too long.
pub fn wait(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let since = Instant::now();
    while since.elapsed() < patience {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Ok(ended) => return ended,
            Err(_) => break,
        }
    }
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
    None
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = pipe.take(MOST).read_to_end(&mut said);
        said
    }))
}

fn text(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let said = reader.and_then(|thread| thread.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&said).into_owned()
}

/// The reason in one line: from the answer, otherwise from stderr without backtraces.
fn why(answer: Option<&serde_json::Value>, err: &str) -> String {
    if let Some(message) = answer.and_then(|answer| answer["message"].as_str()) {
        return message.to_owned();
    }
    let told = err.split("Stack backtrace:").next().unwrap_or_default();
    let lines: Vec<&str> = told.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    match lines.is_empty() {
        true => "it failed without a word".to_owned(),
        false => lines.join(" "),
    }
}
