//! What another process sees of a call: live, by page, through a ring that is written over, whatever the agent prints.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use ralph_engine::clock::utc;
use ralph_engine::redact::Redactor;
use ralph_engine::transcript::Transcript;
use ralph_rules::money::Micro;
use ralph_rules::prices::Prices;
use ralph_rules::record::{AgentChoice, Attempt};
use ralph_view::activity_line::{ActivityLine, LineKind, ToolState};
use ralph_view::board::Doing;
use ralph_view::call_tail::{AttemptActivity, CallSource, CallTail, attempt_activity};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;

const CALL: Attempt = Attempt { iteration: 1, attempt: 1 };

struct Bed {
    dir: tempfile::TempDir,
    agent: AgentChoice,
    prices: Prices,
    redactor: Arc<Redactor>,
}

impl Bed {
    fn new() -> Bed {
        Bed {
            dir: tempfile::tempdir().unwrap(),
            agent: AgentChoice { name: "claude".into(), ..AgentChoice::default() },
            prices: Prices::default(),
            redactor: Arc::new(Redactor::new([("GH_TOKEN", "zulu77-november")].into_iter())),
        }
    }

    fn source(&self) -> CallSource<'_> {
        CallSource {
            folder: self.dir.path(),
            id: CALL,
            agent: &self.agent,
            workspace: "/work/parser",
            prices: &self.prices,
            redactor: &self.redactor,
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("001.a1.out.jsonl")
    }

    fn page(&self, after: u64, most: usize) -> (Vec<ActivityLine>, Option<u64>) {
        match attempt_activity(&self.source(), true, after, most).unwrap() {
            AttemptActivity::Page { lines, next } => (lines, next),
            AttemptActivity::Pruned => panic!("there is a transcript"),
        }
    }
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn said(text: &str) -> Vec<u8> {
    line(&json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}))
}

fn tool(id: &str, command: &str) -> Vec<u8> {
    line(&json!({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}}))
}

fn tool_end(id: &str, failed: bool) -> Vec<u8> {
    line(&json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": "x"}]}}))
}

fn short(lines: &[ActivityLine]) -> Vec<(u64, LineKind, String, Option<ToolState>)> {
    let words = |line: &ActivityLine| format!("{} {}", line.name, line.text).trim().to_string();
    lines.iter().map(|line| (line.n, line.kind, words(line), line.tool)).collect()
}

#[test]
fn a_call_is_followed_line_by_line_with_times_tools_and_costs() {
    let bed = Bed::new();
    let mut tail = CallTail::open(&bed.source());
    assert_eq!((tail.read(), tail.doing(), tail.live_micro()), (vec![], None, None), "no file yet");
    let before = utc();
    let mut file = Transcript::create_with_times(&bed.path(), 1 << 20).unwrap();
    let mut write = |bytes: &[u8]| {
        file.write(bytes);
        file.flush();
    };
    write(&line(&json!({"type": "system", "subtype": "init", "model": "claude-sonnet-4-5"})));
    write(&said("First\n  this,\tthen that")[..40]);
    let lines = tail.read();
    assert_eq!(short(&lines), [(1, LineKind::Note, "model claude-sonnet-4-5".into(), None)]);
    assert!((before..=utc()).contains(&lines[0].at.unwrap()));
    write(&said("First\n  this,\tthen that")[40..]);
    let lines = tail.read();
    assert_eq!(short(&lines), [(2, LineKind::Said, "First\n  this,\tthen that".into(), None)]);
    assert_eq!(tail.doing().unwrap().text, "First   this, then that");

    write(&tool("t1", "cat /work/parser/src/lib.rs"));
    write(&tool("t2", "make"));
    let lines = tail.read();
    let runs = Some(ToolState::Runs);
    assert_eq!(
        short(&lines),
        [
            (3, LineKind::Tool, "Bash cat src/lib.rs".into(), runs),
            (4, LineKind::Tool, "Bash make".into(), runs)
        ]
    );
    assert_eq!(tail.doing(), Some(Doing { text: "Bash make".into(), since: lines[1].at }));
    write(&tool_end("t1", false));
    assert_eq!(
        short(&tail.read()),
        [(3, LineKind::Tool, "Bash cat src/lib.rs".into(), Some(ToolState::Done))]
    );
    write(&tool_end("t2", true));
    assert_eq!(short(&tail.read()), [(4, LineKind::Tool, "Bash make".into(), Some(ToolState::Failed))]);
    assert_eq!(tail.doing().unwrap().text, "thinking, after Bash make (failed)");
    assert_eq!(tail.live_micro(), None, "no usage yet");

    let usage = |input: u64| {
        line(
            &json!({"type": "assistant", "message": {"id": format!("m{input}"), "model": "claude-sonnet-4-5",
            "content": [], "usage": {"input_tokens": input, "output_tokens": 1000}}}),
        )
    };
    write(&usage(100_000));
    assert!(tail.read().is_empty());
    assert_eq!((tail.live_micro(), tail.spent().unwrap().total), (Some(315_000), Micro(315_000)));
    write(&tool("t3", "sleep"));
    write(b"the last words, without an end");
    tail.read();
    assert_eq!(
        short(&tail.end()),
        [
            (6, LineKind::Note, "the last words, without an end".into(), None),
            (5, LineKind::Tool, "Bash sleep".into(), Some(ToolState::Done))
        ]
    );
    assert_eq!(tail.doing(), None);
}

#[test]
fn an_unknown_price_is_not_guessed() {
    let bed = Bed::new();
    let message = json!({"type": "assistant", "message": {"id": "m", "model": "house-model-1", "content": [],
        "usage": {"input_tokens": 5, "output_tokens": 5}}});
    std::fs::write(bed.path(), line(&message)).unwrap();
    let mut tail = CallTail::open(&bed.source());
    tail.read();
    assert_eq!(tail.live_micro(), None);
    assert!(tail.spent().is_some_and(|spent| spent.guessed));
}

#[test]
fn hostile_output_is_inert_and_bounded() {
    let bed = Bed::new();
    let mut file = std::fs::File::create(bed.path()).unwrap();
    let texts = [
        "\x1b]0;title\x07\x1b[31mred",
        "nul \0 and \u{202e}reversed",
        &"\x1b".repeat(100_000),
        &"x".repeat(1 << 20),
        "a zulu77-november b",
    ];
    for text in texts {
        file.write_all(&said(text)).unwrap();
        file.write_all(&tool("t", text)).unwrap();
    }
    file.write_all(b"\xff\xfe\0\x1b[2J not json\n\n\r\n{\"type\":\n").unwrap();
    // One line of 100 MB, then an ordinary one.
    let part = vec![b'\x1b'; 1 << 20];
    (0..100).for_each(|_| file.write_all(&part).unwrap());
    file.write_all(b"\n").unwrap();
    file.write_all(&said("still here")).unwrap();
    let mut tail = CallTail::open(&bed.source());
    let (mut lines, mut looks) = (Vec::new(), 0);
    while lines.last().is_none_or(|line: &ActivityLine| line.text != "still here") {
        lines.extend(tail.read());
        looks += 1;
        assert!(looks < 50, "{lines:?}");
    }
    for line in &lines {
        assert!(line.text.len() <= 4096 && line.name.len() <= 4096, "{} bytes", line.text.len());
        let inert = |c: char| c == '\n' || c == '\t' || !(c.is_control() || c == '\u{202e}');
        assert!(line.text.chars().chain(line.name.chars()).all(inert), "{line:?}");
        assert!(!line.text.contains("zulu77"), "{line:?}");
        assert_eq!(line.at, None, "a transcript without an index has no times");
    }
    let all = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>();
    assert!(all.contains(&"a [redacted:GH_TOKEN] b"), "{all:?}");
    assert!(all.iter().any(|text| text.starts_with("nul \\u{0} and \\u{202e}reversed")), "{all:?}");
}

/// Lines of one length each, so that missing bytes can be counted in lines.
const TEXT: usize = 60_000;

fn numbered(n: u64) -> Vec<u8> {
    said(&format!("{n:09} {}", "z".repeat(TEXT)))
}

const WRITER: &str = "RALPH_TEST_TRANSCRIPT";
const LINES: u64 = 400;
/// The writer is further than its file and its ring hold.
const LAPPED: u64 = 100;

/// Not a test: the other process of the test below.
#[test]
fn writer_of_another_process() {
    let Some(path) = std::env::var_os(WRITER).map(PathBuf::from) else { return };
    let mut file = Transcript::create_with_times(&path, 4 << 20).unwrap();
    let mut bytes = Vec::new();
    for n in 1..=LINES {
        bytes.extend_from_slice(&numbered(n));
        // In pieces that end anywhere, as a pipe gives them.
        while bytes.len() > 50_021 {
            let rest = bytes.split_off(50_021);
            file.write(&bytes);
            file.flush();
            bytes = rest;
        }
        if n == LAPPED {
            std::fs::write(path.with_extension("lapped"), "").unwrap();
        }
    }
    file.write(&bytes);
    file.finish();
}

/// Kills its process when a test fails.
struct Writer(Child);

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_writer(path: &Path) -> Writer {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "writer_of_another_process"]).env(WRITER, path);
    Writer(command.stdout(std::process::Stdio::null()).spawn().unwrap())
}

#[test]
fn a_ring_written_over_by_another_process_gives_whole_lines_once_and_tells_of_gaps() {
    let bed = Bed::new();
    let mut writer = start_writer(&bed.path());
    while !bed.path().with_extension("lapped").exists() {
        assert!(writer.0.try_wait().unwrap().is_none_or(|status| status.success()));
        std::thread::yield_now();
    }
    let mut tail = CallTail::open(&bed.source());
    let size = numbered(1).len() as u64;
    let (mut last, mut missed, mut gaps, mut got, mut n) = (0, 0, 0, 0, 0);
    loop {
        let over = writer.0.try_wait().unwrap().is_some();
        for line in tail.read() {
            assert_eq!(line.n, n + 1);
            n = line.n;
            match line.kind {
                LineKind::Note => {
                    let bytes = line.text.strip_suffix(" bytes of the output left out here");
                    missed += bytes.expect(&line.text).parse::<u64>().unwrap();
                    gaps += 1;
                }
                LineKind::Said => {
                    let number: u64 = line.text[..9].parse().unwrap();
                    assert!(line.text[10..].starts_with("zzz"), "{}", line.text);
                    assert_eq!((number - last - 1) * size, missed, "between {last} and {number}");
                    (last, missed, got) = (number, 0, got + 1);
                    assert!(line.at.is_some());
                }
                LineKind::Tool => panic!("{line:?}"),
            }
        }
        if over && last == LINES {
            break;
        }
        assert!(!over || got > 0);
    }
    assert!(gaps > 0 && got > 50 && got < LINES, "{gaps} gaps, {got} lines");
}

#[test]
fn a_cut_transcript_is_shown_around_its_cut() {
    let bed = Bed::new();
    let mut file = Transcript::create_with_times(&bed.path(), 20 * 60_200).unwrap();
    (1..=50).for_each(|n| file.write(&numbered(n)));
    file.finish();
    let (lines, next) = bed.page(0, 1_000);
    let numbers = |lines: &[ActivityLine]| {
        let said = lines.iter().filter(|line| line.kind == LineKind::Said);
        said.map(|line| line.text[..9].parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((numbers(&lines), next), ((1..=10).chain(41..=50).collect(), None));
    let size = numbered(1).len();
    assert_eq!(lines[10].text, format!("{} bytes of the output left out here", 30 * size));
    assert!(lines.iter().filter(|line| line.kind == LineKind::Said).all(|line| line.at.is_some()));
}

#[test]
fn pages_follow_each_other_and_a_tool_has_its_last_state_on_its_page() {
    let bed = Bed::new();
    assert_eq!(attempt_activity(&bed.source(), true, 0, 10).unwrap(), AttemptActivity::Pruned);
    let mut text = Vec::new();
    for n in 1..=5 {
        text.extend(said(&format!("step {n}")));
        text.extend(tool("t", &format!("make {n}")));
    }
    (1..=4).for_each(|n| text.extend(tool_end("t", n == 2)));
    text.extend(said("done"));
    std::fs::write(bed.path(), &text).unwrap();
    let (all, next) = bed.page(0, 100);
    assert_eq!((all.len(), next), (11, None));
    let states = |lines: &[ActivityLine]| lines.iter().filter_map(|line| line.tool).collect::<Vec<_>>();
    let (done, failed) = (ToolState::Done, ToolState::Failed);
    assert_eq!(states(&all), [done, failed, done, done, done]);
    let (mut paged, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let (lines, next) = bed.page(from, 4);
        paged.extend(lines);
        after = next;
    }
    assert_eq!(paged, all);
    let AttemptActivity::Page { lines, .. } = attempt_activity(&bed.source(), false, 8, 100).unwrap() else {
        panic!("there is a transcript")
    };
    assert_eq!(states(&lines), [ToolState::Runs], "the call is not over");
}

#[test]
fn a_page_is_no_larger_than_an_answer_may_be() {
    let bed = Bed::new();
    let text: Vec<u8> = (0..120).flat_map(|n| said(&format!("{n} {}", "\"\\".repeat(1_500)))).collect();
    std::fs::write(bed.path(), &text).unwrap();
    let (mut seen, mut after) = (0, Some(0));
    while let Some(from) = after {
        let (lines, next) = bed.page(from, 1_000);
        assert!(serde_json::to_vec(&lines).unwrap().len() <= 256 * 1_000 + 2);
        seen += lines.len();
        after = next;
    }
    assert_eq!(seen, 120);
}
