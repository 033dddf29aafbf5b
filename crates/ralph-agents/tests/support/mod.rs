//! Recorded output of real calls, and a hand that feeds it to a reader line by line as the engine does.
#![allow(clippy::disallowed_methods, dead_code)] // the tests read files; not every test uses every helper

pub mod sane;

use ralph_agents::registry::{self, find};
use ralph_agents::{Call, Exit, Reader, ReaderEvent, Reply};
use std::path::PathBuf;

/// One row of `captures/AGENT.tsv`. Its columns: `file`, `exit` (negative: a signal), `class`, `finished`, `claim`,
/// `denials`, `cost` (micro-dollars), and where an agent's table has them `tokens` (fresh input/cache read/output), `session`
/// (yes or no), `args` (what the user passed on) and `case` (which case of the suite it shows).
#[derive(Clone)]
pub struct Capture {
    pub agent: &'static str,
    pub file: String,
    pub exit: Exit,
    pub class: Option<String>,
    pub finished: bool,
    pub claim: bool,
    pub denials: usize,
    pub cost: Option<i64>,
    pub tokens: Option<String>,
    pub session: Option<bool>,
    pub args: Vec<String>,
    pub case: Option<String>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// A file that the agent wrote, where it was kept.
    pub report: Option<Vec<u8>>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// The agents whose calls were recorded.
pub fn recorded() -> Vec<&'static str> {
    let known = registry::names();
    known.filter(|name| folder().join(format!("{name}.tsv")).exists()).collect()
}

/// Every recorded call of an agent.
pub fn captures(agent: &'static str) -> Vec<Capture> {
    let table = std::fs::read_to_string(folder().join(format!("{agent}.tsv"))).unwrap();
    let mut rows = table.lines();
    let header: Vec<&str> = rows.next().unwrap().split('\t').collect();
    rows.map(|row| capture(agent, &header, row)).collect()
}

fn capture(agent: &'static str, header: &[&str], row: &str) -> Capture {
    let cells: Vec<&str> = row.split('\t').collect();
    assert_eq!(cells.len(), header.len(), "{row}");
    let cell = |name: &str| header.iter().position(|h| *h == name).map(|at| cells[at]).filter(|c| *c != "-");
    let need = |name: &str| cell(name).unwrap_or_else(|| panic!("{name} of {row}"));
    let path = folder().join(agent).join(need("file"));
    Capture {
        agent,
        file: need("file").to_owned(),
        exit: exit_of(need("exit").parse().unwrap()),
        class: cell("class").map(str::to_owned),
        finished: need("finished") == "yes",
        claim: need("claim") == "yes",
        denials: need("denials").parse().unwrap(),
        cost: cell("cost").map(|cost| cost.parse().unwrap()),
        tokens: cell("tokens").map(str::to_owned),
        session: cell("session").map(|cell| cell == "yes"),
        args: cell("args").map(|args| args.split(' ').map(str::to_owned).collect()).unwrap_or_default(),
        case: cell("case").map(str::to_owned),
        stdout: std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
        stderr: std::fs::read(path.with_extension("stderr")).unwrap_or_default(),
        report: std::fs::read(path.with_extension("report")).ok(),
    }
}

/// The recorded call of Claude Code with this name.
pub fn named(file: &str) -> Capture {
    let found = captures("claude").into_iter().find(|capture| capture.file == file);
    found.unwrap_or_else(|| panic!("no capture {file}"))
}

fn exit_of(code: i32) -> Exit {
    if code < 0 {
        Exit { signal: Some(-code), ..Exit::default() }
    } else {
        Exit { code: Some(code), ..Exit::default() }
    }
}

/// Feeds stdout and stderr to the agent's reader; everything it read, and its reply.
pub fn feed(
    agent: &str,
    args: &[&str],
    stdout: &[u8],
    stderr: &[u8],
    exit: Exit,
) -> (Vec<ReaderEvent>, Reply) {
    let args = args.iter().map(|a| (*a).to_owned()).collect();
    let call = Call { prompt: "go".into(), args, ..Call::default() };
    listen(find(agent).unwrap().reader(&call), stdout, stderr, exit)
}

fn listen(
    mut reader: Box<dyn Reader>,
    stdout: &[u8],
    stderr: &[u8],
    exit: Exit,
) -> (Vec<ReaderEvent>, Reply) {
    let mut events = Vec::new();
    reader.start(&mut events);
    for line in lines(stdout) {
        reader.read(line, &mut events);
    }
    for line in lines(stderr) {
        reader.read_stderr(line);
    }
    (events, reader.close(exit))
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|b| *b == b'\n').filter(move |_| !bytes.is_empty())
}

impl Capture {
    /// Reads it as its adapter would, with the output format it was recorded in.
    pub fn read(&self) -> (Vec<ReaderEvent>, Reply) {
        let mut args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        if self.agent == "claude" {
            let format = ["stream-json", "json", "text"].into_iter().find(|f| self.file.contains(f)).unwrap();
            if format != "stream-json" {
                args.extend(["--output-format", format]);
            }
        }
        if self.agent == "codex" && self.file.ends_with(".txt") {
            // It has no argument that asks for text: only without ours does it print that.
            return listen(find(self.agent).unwrap().offline_reader(), &self.stdout, &self.stderr, self.exit);
        }
        let Some(report) = &self.report else {
            return feed(self.agent, &args, &self.stdout, &self.stderr, self.exit);
        };
        let call = Call { prompt: "go".into(), scratch: "/call".into(), ..Call::default() };
        let agent = find(self.agent).unwrap();
        let mut reader = agent.reader(&call);
        reader.read_report(&agent.launch(&call).reports[0], report);
        listen(reader, &self.stdout, &self.stderr, self.exit)
    }
}
