//! Logs written from a store and transcripts, to any writer, of two runs at once.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod golden;

use golden::journal;
use ralph_agents::{Activity, ReaderEvent};
use ralph_engine::run::{put, stream_of};
use ralph_engine::transcript::Transcript;
use ralph_rules::next::Next;
use ralph_rules::record::{Attempt, Decision, Fact, Record};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::{Batch, Memory, Store};
use ralph_view::log_json::LogJson;
use ralph_view::log_lines::LogLines;
use ralph_view::log_raw::LogRaw;
use ralph_view::story::{Story, StoryError, StoryVisitor};
use ralph_view::style::Style;
use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;

fn stored(store: &Memory, run: &str, records: &[Record]) {
    let stream = stream_of(run);
    let batch =
        Batch { put: records.iter().map(|record| put(&stream, record)).collect(), ..Batch::default() };
    store.commit(&batch).unwrap();
}

fn transcript(folder: &Path, call: &str, text: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let event =
        serde_json::json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
    std::fs::write(folder.join(format!("{call}.out.jsonl")), format!("{event}\n")).unwrap();
}

fn walk(store: &Memory, run: &str, folder: &Path, visitor: &mut dyn StoryVisitor) -> Result<(), StoryError> {
    let running = || false;
    let story = Story { store, run, folder: folder.join(run), iteration: None, running: &running };
    story.walk(false, visitor).map(drop)
}

fn lines_of(store: &Memory, run: &str, folder: &Path) -> String {
    let mut out = Vec::new();
    walk(store, run, folder, &mut LogLines::new(&mut out, Style::default(), false)).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn two_logs_are_written_at_once() {
    let (store, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    for (run, name, words) in
        [("a", "completed_in_3", "the parser is fixed"), ("b", "stall", "nothing to change")]
    {
        stored(&store, run, &journal(name));
        transcript(&folder.path().join(run), "001.a1", words);
    }
    let alone = [lines_of(&store, "a", folder.path()), lines_of(&store, "b", folder.path())];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            for (run, alone) in ["a", "b"].into_iter().zip(&alone) {
                let (store, folder) = (&store, folder.path());
                scope.spawn(move || assert_eq!(&lines_of(store, run, folder), alone));
            }
        }
    });
    let [first, second] = alone;
    assert!(first.contains("\nIteration 1  ") && first.contains("  the parser is fixed\n"), "{first}");
    assert!(first.contains("  → continuing: ") && first.contains("  → end: gate_passed (exit 0)"), "{first}");
    assert!(first.contains("no transcript (pruned, or the call never started)"), "{first}");
    assert!(second.contains("  nothing to change\n") && !second.contains("the parser is fixed"), "{second}");
}

#[test]
fn json_and_raw_logs_go_to_the_same_kind_of_writer() {
    let (store, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let records = journal("completed_in_3");
    stored(&store, "a", &records);
    transcript(&folder.path().join("a"), "001.a1", "hello");
    let mut json = Vec::new();
    walk(&store, "a", folder.path(), &mut LogJson::new(&mut json)).unwrap();
    let values: Vec<serde_json::Value> =
        String::from_utf8(json).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.iter().filter(|value| value["type"] == "record").count(), records.len());
    assert_eq!(values.iter().filter(|value| value["type"] == "activity").count(), 1);
    let mut raw = Vec::new();
    walk(&store, "a", folder.path(), &mut LogRaw::new(&mut raw, false)).unwrap();
    assert_eq!(raw, std::fs::read(folder.path().join("a/001.a1.out.jsonl")).unwrap());
}

/// Writes the transcript of a call that is followed, a few lines at each look, and keeps what it is shown.
struct Followed {
    file: Option<Transcript>,
    written: u64,
    raw: Vec<u8>,
    lines: Vec<String>,
}

impl StoryVisitor for Followed {
    fn record(&mut self, _record: &Record, _state: &State) -> io::Result<()> {
        Ok(())
    }

    fn transcript_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.raw.extend_from_slice(bytes);
        Ok(())
    }

    fn transcript_line(&mut self, _id: Attempt, line: &[u8], events: &[ReaderEvent]) -> io::Result<()> {
        assert!(matches!(events, [ReaderEvent::Activity(Activity::Noise { .. })]), "{events:?}");
        self.lines.push(String::from_utf8(line.to_vec()).unwrap());
        Ok(())
    }

    fn caught_up(&mut self) -> io::Result<()> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        (0..9).for_each(|n| file.write(format!("line {}\n", self.written + n).as_bytes()));
        file.flush();
        self.written += 9;
        if self.written < 36 {
            self.file = Some(file);
        } else {
            file.finish();
        }
        Ok(())
    }
}

#[test]
fn a_long_call_is_followed_into_its_ring() {
    let (store, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    let records = journal("completed_in_3");
    let call = |record: &Record| {
        matches!(&record.fact, Fact::Decided(Decision { next: Next::Do(Step::Call { .. }), .. }))
    };
    let upto = records.iter().position(call).unwrap();
    stored(&store, "a", &records[..=upto]);
    let path = folder.path().join("001.a1.out.jsonl");
    let looks = Cell::new(0);
    let running = || looks.replace(looks.get() + 1) < 5;
    let folder = folder.path().to_path_buf();
    let story = Story { store: &store, run: "a", folder, iteration: None, running: &running };
    let file = Some(Transcript::create_with_times(&path, 160).unwrap());
    let mut seen = Followed { file, written: 0, raw: Vec::new(), lines: Vec::new() };
    story.walk(true, &mut seen).unwrap();
    let all: Vec<String> = (0..36).map(|n| format!("line {n}")).collect();
    assert_eq!(seen.lines, all, "whoever keeps up sees everything");
    assert_eq!(String::from_utf8(seen.raw).unwrap(), all.join("\n") + "\n");
    // Whoever comes later sees what is left, in the file as in the log.
    let mut later = Followed { file: None, written: 0, raw: Vec::new(), lines: Vec::new() };
    story.walk(false, &mut later).unwrap();
    assert_eq!(later.raw, std::fs::read(&path).unwrap());
    let cut = later.lines.iter().position(|line| line.contains("bytes left out here")).unwrap();
    assert_eq!(later.lines[..cut], all[..cut]);
    assert_eq!(later.lines[cut + 1..], all[36 - (later.lines.len() - cut - 1)..]);
    assert!(cut > 8 && later.lines.len() > cut + 8, "{:?}", later.lines);
}

/// A reader that went away.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_went_away_ends_the_walk() {
    let (store, folder) = (Memory::new(), tempfile::tempdir().unwrap());
    stored(&store, "a", &journal("stall"));
    let ended = walk(&store, "a", folder.path(), &mut LogJson::new(Closed)).unwrap_err();
    assert!(matches!(ended, StoryError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe));
}
