//! Recorded output of real calls, and a hand that feeds it to a reader line by line as the engine does.
#![allow(clippy::disallowed_methods, dead_code)] // the tests read files; not every test uses every helper

use ralph_agents::registry::find;
use ralph_agents::{Call, Exit, Heard, Reply};
use std::path::PathBuf;

/// One row of `captures/claude.tsv`.
pub struct Capture {
    pub file: String,
    pub exit: Exit,
    pub class: Option<String>,
    pub finished: bool,
    pub claim: bool,
    pub denials: usize,
    pub cost: Option<i64>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// Every recorded call.
pub fn captures() -> Vec<Capture> {
    table().lines().skip(1).map(capture).collect()
}

fn table() -> String {
    std::fs::read_to_string(folder().join("claude.tsv")).unwrap()
}

fn capture(row: &str) -> Capture {
    let cells: Vec<&str> = row.split('\t').collect();
    let [file, exit, class, finished, claim, denials, cost] = cells[..] else { panic!("{row}") };
    let path = folder().join("claude").join(file);
    Capture {
        file: file.to_owned(),
        exit: exit_of(exit.parse().unwrap()),
        class: (class != "-").then(|| class.to_owned()),
        finished: finished == "yes",
        claim: claim == "yes",
        denials: denials.parse().unwrap(),
        cost: cost.parse().ok(),
        stdout: std::fs::read(&path).unwrap(),
        stderr: std::fs::read(path.with_extension("stderr")).unwrap_or_default(),
    }
}

/// The capture with this name.
pub fn named(file: &str) -> Capture {
    let table = table();
    let row = table.lines().find(|row| row.split('\t').next() == Some(file));
    capture(row.unwrap_or_else(|| panic!("no capture {file}")))
}

fn exit_of(code: i32) -> Exit {
    if code < 0 {
        Exit { signal: Some(-code), ..Exit::default() }
    } else {
        Exit { code: Some(code), ..Exit::default() }
    }
}

/// Feeds stdout and stderr to the agent's reader; everything it heard, and its reply.
pub fn feed(agent: &str, args: &[&str], stdout: &[u8], stderr: &[u8], exit: Exit) -> (Vec<Heard>, Reply) {
    let args = args.iter().map(|a| (*a).to_owned()).collect();
    let call = Call { prompt: "go".into(), args, ..Call::default() };
    let mut reader = find(agent).unwrap().reader(&call);
    let mut heard = Vec::new();
    reader.start(&mut heard);
    for line in lines(stdout) {
        reader.read(line, &mut heard);
    }
    for line in lines(stderr) {
        reader.read_stderr(line);
    }
    (heard, reader.close(exit))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|b| *b == b'\n').filter(move |_| !bytes.is_empty())
}

impl Capture {
    /// Reads it as the claude adapter would, with the output format it was recorded in.
    pub fn read(&self) -> (Vec<Heard>, Reply) {
        let format = ["stream-json", "json", "text"].into_iter().find(|f| self.file.contains(f)).unwrap();
        let args: &[&str] = if format == "stream-json" { &[] } else { &["--output-format", format] };
        feed("claude", args, &self.stdout, &self.stderr, self.exit)
    }
}
