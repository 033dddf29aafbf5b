//! What a session used since its transcripts were read last: its own and those of its subagents. The client writes the
//! last message a moment after it calls the hook, so that is waited for.

use super::SessionTurn;
use ralph_agents::Client;
use ralph_agents::session_transcript::{SessionSpend, SessionTranscript};
use ralph_rules::prices::Prices;
use ralph_rules::record::SessionMark;
use ralph_supervisor::LineSplitter;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the last message is waited for.
const LATE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);
/// Longest line that is read whole.
const LINE: usize = 8 << 20;

/// What was found.
pub(super) struct Spent {
    pub(super) spend: SessionSpend,
    /// What the session said last is in its transcript.
    pub(super) whole: bool,
    /// How far the transcripts are read now.
    pub(super) mark: SessionMark,
}

/// How far the transcripts of a session are written now.
pub fn mark_now(client: Client, transcript: &Path) -> SessionMark {
    let turn = SessionTurn { transcript: transcript.to_owned(), ..SessionTurn::default() };
    let Spent { mark, .. } = since(client, &turn, &SessionMark::default(), &Prices::default(), &mut |_| {});
    SessionMark { carry: 0, ..mark }
}

/// Whether a transcript that was read up to `read` has nothing new, also after the time in which the client writes what it
/// has already told a hook.
pub fn stays_as_read(transcript: &Path, read: u64) -> bool {
    let until = Instant::now() + LATE;
    let unchanged = || std::fs::metadata(transcript).is_ok_and(|meta| meta.len() == read);
    while unchanged() {
        if Instant::now() >= until {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

/// What the session used since `mark`; `each` is given every line of its own transcript.
pub(super) fn since(
    client: Client,
    turn: &SessionTurn,
    mark: &SessionMark,
    prices: &Prices,
    each: &mut dyn FnMut(&[u8]),
) -> Spent {
    let mut now = mark.clone();
    let mut own = SessionTranscript::new(client, prices.clone(), mark.totals, turn.model.clone());
    let until = Instant::now() + LATE;
    loop {
        read_on(&turn.transcript, &mut now, &mut |line| {
            own.read(line);
            each(line);
        });
        if own.ends_with(&turn.message, turn.prompt.as_deref())
            || Instant::now() >= until
            || !turn.transcript.is_absolute()
        {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    let whole = own.ends_with(&turn.message, turn.prompt.as_deref());
    let (mut spend, totals) = own.close();
    now.totals = totals;
    for path in subagents(&turn.transcript) {
        let mut one = SessionTranscript::new(client, prices.clone(), None, None);
        read_on(&path, &mut now, &mut |line| one.read(line));
        spend = spend.plus(one.close().0);
    }
    Spent { spend, whole, mark: now }
}

/// Reads the whole lines that were added to a file. One that is shorter than before is another file.
fn read_on(path: &Path, mark: &mut SessionMark, each: &mut dyn FnMut(&[u8])) {
    let Ok(mut file) = ralph_os::open_regular(path, ralph_os::Links::Follow) else { return };
    let name = path.to_string_lossy().into_owned();
    let length = file.metadata().map_or(0, |meta| meta.len());
    let from = mark.read.get(&name).copied().filter(|from| *from <= length).unwrap_or(0);
    if length == from || file.seek(SeekFrom::Start(from)).is_err() {
        return;
    }
    let read = whole_lines(&mut file, each);
    mark.read.insert(name, from + read);
}

/// How many bytes the whole lines had.
fn whole_lines(file: &mut File, each: &mut dyn FnMut(&[u8])) -> u64 {
    let mut lines = LineSplitter::new(LINE);
    let (mut buffer, mut total, mut whole) = (vec![0; 64 * 1024], 0_u64, 0_u64);
    while let Ok(n @ 1..) = file.read(&mut buffer) {
        let chunk = buffer.get(..n).unwrap_or_default();
        if let Some(last) = memchr::memrchr(b'\n', chunk) {
            whole = total + last as u64 + 1;
        }
        total += n as u64;
        lines.feed(chunk, |line| each(line.bytes));
    }
    whole
}

/// The transcripts of a session's subagents lie in a directory beside its own, named after the session.
fn subagents(transcript: &Path) -> Vec<PathBuf> {
    let below = transcript.with_extension("").join("subagents");
    let found = std::fs::read_dir(below).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        found.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    found.sort();
    found
}
