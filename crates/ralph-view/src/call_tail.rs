//! What an agent says and does, read from its transcript by another process: a call under way as it goes
//! ([`CallTail`]), any call by page ([`attempt_activity`]).

use crate::activity_line::{ActivityLine, ToolState};
use crate::activity_log::ActivityLog;
use crate::board::Doing;
use crate::call_lines::{CallLines, CallPart};
use ralph_agents::Spent;
use ralph_engine::redact::Redactor;
use ralph_rules::prices::Prices;
use ralph_rules::record::{AgentChoice, Attempt};
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Read at one look: a long transcript is caught up with in several.
const LOOK: u64 = 8 << 20;
/// Most lines of one look; only the latest of more are given.
const LATEST: usize = 500;
/// Most bytes of one page as JSON.
const PAGE: usize = 256_000;

/// A call whose transcript is read.
#[derive(Clone, Copy)]
pub struct CallSource<'a> {
    /// The run's folder.
    pub folder: &'a Path,
    /// Which call.
    pub id: Attempt,
    /// The agent that was called (`RunStarted::caller`).
    pub agent: &'a AgentChoice,
    /// The run's workspace: its paths are shown relative to it.
    pub workspace: &'a str,
    /// What models cost.
    pub prices: &'a Prices,
    /// Takes out secrets that a line alone does not show.
    pub redactor: &'a Arc<Redactor>,
}

impl CallSource<'_> {
    fn lines(&self) -> CallLines {
        CallLines::new(self.folder, self.id, Some(self.agent), self.prices)
    }

    fn log(&self) -> ActivityLog {
        ActivityLog::new(self.workspace, Arc::clone(self.redactor))
    }
}

/// Follows the call under way of a run in another process.
pub struct CallTail {
    lines: CallLines,
    log: ActivityLog,
}

impl CallTail {
    /// Of this call. Nothing is read yet; its transcript need not be there.
    pub fn open(call: &CallSource<'_>) -> CallTail {
        CallTail { lines: call.lines(), log: call.log() }
    }

    /// What is new. A tool that ended comes again under its number. Of very much at once only the latest lines are given,
    /// and a long transcript is caught up with in several looks. Costs two system calls where nothing is new.
    pub fn read(&mut self) -> Vec<ActivityLine> {
        let CallTail { lines, log } = self;
        let mut new = Latest::default();
        // A transcript that cannot be read (any more) says nothing new; it may be readable again at the next look.
        let _ = lines.read::<io::Error>(LOOK, &mut |part| {
            shown(log, &part, |line| new.add(line));
            Ok(())
        });
        new.0.into()
    }

    /// The call ended: what is left of its output, and the tools that were not seen to end.
    pub fn end(&mut self) -> Vec<ActivityLine> {
        let CallTail { lines, log } = self;
        let mut new = Latest::default();
        let mut each = |part: CallPart<'_>| {
            shown(log, &part, |line| new.add(line));
            io::Result::Ok(())
        };
        let _ = lines.read(u64::MAX, &mut each).and_then(|()| lines.finish(&mut each));
        log.call_ended().into_iter().for_each(|tool| new.add(tool));
        new.0.into()
    }

    /// The tool that runs, or what was said or done last, and since when.
    pub fn doing(&self) -> Option<Doing> {
        self.log.doing()
    }

    /// Tokens and costs told so far, as the agent's reader has them: perhaps with guessed prices, and without what was
    /// missed.
    pub fn spent(&self) -> Option<Spent> {
        self.log.spent()
    }

    /// Micro-dollars of the call so far, by the agent's own figures or the price table; none where a model's price is not
    /// known, and where bytes were missed that may have told of more.
    pub fn live_micro(&self) -> Option<i64> {
        self.log.live_micro()
    }
}

/// The lines that a part of the output adds.
fn shown(log: &mut ActivityLog, part: &CallPart<'_>, mut give: impl FnMut(ActivityLine)) {
    match part {
        CallPart::Bytes(_) => {}
        CallPart::Line { bytes, events, at } => log.events(bytes, events, *at, give),
        CallPart::Missed(count) => give(log.missed(*count)),
    }
}

/// The latest of many lines.
#[derive(Default)]
struct Latest(VecDeque<ActivityLine>);

impl Latest {
    /// One more; a tool that is among them already is replaced.
    fn add(&mut self, line: ActivityLine) {
        if let Some(known) = self.0.iter_mut().rev().find(|known| known.n == line.n) {
            *known = line;
            return;
        }
        if self.0.len() >= LATEST {
            self.0.pop_front();
        }
        self.0.push_back(line);
    }
}

/// What an attempt said and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptActivity {
    /// A part of it.
    Page {
        /// In order; each tool with how far it is by now.
        lines: Vec<ActivityLine>,
        /// There is more: after this number.
        next: Option<u64>,
    },
    /// There is no transcript: it was pruned, or the agent never started.
    Pruned,
}

/// The lines of an attempt after the one with the number `after`: at most `most` and 256 kB. `ended`: the call is over.
pub fn attempt_activity(
    call: &CallSource<'_>,
    ended: bool,
    after: u64,
    most: usize,
) -> io::Result<AttemptActivity> {
    let (mut lines, mut log) = (call.lines(), call.log());
    let mut page = Page { after, most: most.max(1), lines: Vec::new(), bytes: 0, more: false };
    let mut each = |part: CallPart<'_>| {
        shown(&mut log, &part, |line| page.add(line));
        if page.is_settled() { Err(Stop::Enough) } else { Ok(()) }
    };
    let mut read = lines.read(u64::MAX, &mut each);
    if ended && read.is_ok() {
        read = lines.finish(&mut each);
    }
    match read {
        Err(Stop::Unreadable(error)) => return Err(error),
        Ok(()) if !lines.found() => return Ok(AttemptActivity::Pruned),
        _ => {}
    }
    if ended {
        log.call_ended().into_iter().for_each(|tool| page.add(tool));
    }
    let next = page.lines.last().map(|line| line.n).filter(|_| page.more);
    Ok(AttemptActivity::Page { lines: page.lines, next })
}

/// Why a page is not read to the end of the transcript.
enum Stop {
    Enough,
    Unreadable(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Unreadable(error)
    }
}

struct Page {
    after: u64,
    most: usize,
    lines: Vec<ActivityLine>,
    bytes: usize,
    more: bool,
}

impl Page {
    fn add(&mut self, line: ActivityLine) {
        if let Ok(nth) = self.lines.binary_search_by_key(&line.n, |known| known.n) {
            self.lines.get_mut(nth).into_iter().for_each(|known| known.clone_from(&line));
            return;
        }
        if line.n <= self.after || self.more {
            return;
        }
        let bytes = serde_json::to_vec(&line).map_or(0, |json| json.len() + 1);
        self.more = self.lines.len() >= self.most || self.bytes + bytes > PAGE;
        if !self.more {
            self.bytes += bytes;
            self.lines.push(line);
        }
    }

    /// Full, and nothing in it changes any more.
    fn is_settled(&self) -> bool {
        self.more && !self.lines.iter().any(|line| line.tool == Some(ToolState::Runs))
    }
}
