//! Follows all runs for the streams: one thread polls a board while somebody listens, writes each event once, and hands it
//! to every stream. Without a stream it sleeps. `stream.rs` is the other end.

use crate::event_queue::{QueueReceiver, QueueSender, event_queue};
use crate::events;
use crate::followed_board::FollowedBoard;
use crate::kept_events::KeptEvents;
use bytes::Bytes;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_rules::record::Ms;
use ralph_store::{Position, RunFilter, Store};
use ralph_view::board::{BoardError, BoardSettings, CardChange, News, RunActivity};
use ralph_view::put_away::PutAway;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How often the board is polled while somebody listens.
const POLL: Duration = Duration::from_millis(50);
/// Records that are read for a stream that comes back; whoever is further behind reads everything.
const CATCH_UP: usize = 2_000;
/// Runs put away of which a stream that comes back gets cards; whoever put more away reads everything.
const AWAY: usize = 100;
/// How often everybody is told what a run does, in milliseconds.
const BRIEF: Ms = 500;

/// A stream that begins.
pub struct Joining {
    /// The run whose lines it wants.
    pub run: Option<String>,
    /// The last event it has seen.
    pub after: Option<Position>,
    /// Where it waits for its beginning.
    pub joined: oneshot::Sender<Joined>,
}

/// The beginning of a stream: what it missed, and where the rest will come.
pub struct Joined {
    /// Events it missed.
    pub missed: Vec<Bytes>,
    /// Events from now on.
    pub queue: QueueReceiver,
}

/// Where streams join; the thread ends with the last of these.
#[derive(Clone)]
pub struct Feed {
    joining: Sender<Joining>,
    thread: Arc<JoinHandle<()>>,
}

impl Feed {
    /// Starts the thread.
    pub fn start(home: &Home, settings: BoardSettings) -> io::Result<Feed> {
        let (sender, joining) = channel();
        let follower = Follower {
            board: FollowedBoard::new(home, settings),
            kept: KeptEvents::default(),
            streams: Vec::new(),
            briefs: HashMap::new(),
            trouble: None,
        };
        let thread =
            std::thread::Builder::new().name("feed".into()).spawn(move || follower.follow(&joining))?;
        Ok(Feed { joining: sender, thread: Arc::new(thread) })
    }

    /// Whether the thread is there.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Begins a stream; none if the thread is gone.
    pub async fn join(&self, run: Option<String>, after: Option<Position>) -> Option<Joined> {
        let (joined, answer) = oneshot::channel();
        self.joining.send(Joining { run, after, joined }).ok()?;
        answer.await.ok()
    }
}

/// One stream, as the thread sees it.
struct Listener {
    run: Option<String>,
    queue: QueueSender,
    /// Its queue was full: it has missed something.
    behind: bool,
}

/// When everybody was told last what a run does, and what they have not been told yet.
#[derive(Default)]
struct Brief {
    told: Ms,
    untold: Option<RunActivity>,
}

struct Follower {
    board: FollowedBoard,
    kept: KeptEvents,
    streams: Vec<Listener>,
    briefs: HashMap<String, Brief>,
    trouble: Option<String>,
}

impl Follower {
    fn follow(mut self, joining: &Receiver<Joining>) {
        let mut next = Instant::now();
        loop {
            let joined = match self.streams.is_empty() {
                true => joining.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => joining.recv_timeout(next.saturating_duration_since(Instant::now())),
            };
            match joined {
                Ok(joining) => {
                    self.poll();
                    self.join(joining);
                }
                Err(RecvTimeoutError::Timeout) => {
                    next = Instant::now() + POLL;
                    self.poll();
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn poll(&mut self) {
        let news = self.board.poll();
        let now = utc();
        if self.board.trouble() != self.trouble.as_deref() {
            self.trouble = self.board.trouble().map(str::to_owned);
            self.tell(&events::trouble(self.trouble.as_deref()));
        }
        if news.reset {
            self.kept.restart(news.position);
            self.tell(&events::reset(news.position));
        }
        self.tell_changes(&news);
        self.tell_activity(news.activity, now);
        self.tell_those_behind(news.position);
        self.streams.retain(|stream| !stream.queue.is_closed());
    }

    fn tell_changes(&mut self, news: &News) {
        for (position, change) in events::in_order(news) {
            let event = events::run(position, change);
            self.kept.push(position, event.clone());
            self.tell(&event);
        }
    }

    /// Lines go to those who look at the run; everybody else hears now and then what it does.
    fn tell_activity(&mut self, activities: Vec<RunActivity>, now: Ms) {
        for activity in activities {
            let looking = self.streams.iter_mut().filter(|stream| stream.looks_at(&activity.run));
            let mut full = None;
            looking.for_each(|stream| stream.send(full.get_or_insert_with(|| events::activity(&activity))));
            let brief = self.briefs.entry(activity.run.clone()).or_default();
            brief.untold = Some(activity);
        }
        for (run, brief) in &mut self.briefs {
            let is_due = now < brief.told || now - brief.told >= BRIEF;
            if let Some(activity) = brief.untold.take_if(|_| is_due) {
                brief.told = now;
                let event = events::brief(&activity);
                let others = self.streams.iter_mut().filter(|stream| !stream.looks_at(run));
                others.for_each(|stream| stream.send(&event));
            }
        }
        self.briefs
            .retain(|_, brief| brief.untold.is_some() || now.abs_diff(brief.told) < BRIEF.unsigned_abs());
    }

    fn tell(&mut self, event: &Bytes) {
        self.streams.iter_mut().for_each(|stream| stream.send(event));
    }

    /// A stream that missed something is told so as soon as its queue has room.
    fn tell_those_behind(&mut self, position: Position) {
        for stream in self.streams.iter_mut().filter(|stream| stream.behind) {
            stream.behind = !stream.queue.put(&events::reset(position));
        }
    }

    fn join(&mut self, joining: Joining) {
        let (queue, receiver) = event_queue();
        let position = self.board.board().position();
        let mut missed = match joining.after {
            None => Vec::new(),
            Some(after) => self.missed(after).unwrap_or_else(|| vec![events::reset(position)]),
        };
        missed.extend(self.trouble.as_deref().map(|text| events::trouble(Some(text))));
        let joined = Joined { missed, queue: receiver };
        if joining.joined.send(joined).is_ok() {
            self.streams.push(Listener { run: joining.run, queue, behind: false });
        }
    }

    /// What came after a position: kept, or read from the store. None: too much, or not to be told.
    fn missed(&self, after: Position) -> Option<Vec<Bytes>> {
        if after > self.board.board().position() {
            return None;
        }
        self.kept.after(after).or_else(|| self.read_missed(after).ok().flatten())
    }

    /// Every run with a record after the position as it is now, in the order of their newest records; before them those
    /// that may have changed without one, because their process ended or a person put them away.
    fn read_missed(&self, after: Position) -> Result<Option<Vec<Bytes>>, BoardError> {
        let board = self.board.board();
        let Some(store) = board.store() else { return Ok(None) };
        let tail = store.since("run/", after, CATCH_UP)?;
        if tail.entries.len() == CATCH_UP {
            return Ok(None);
        }
        // Newer records come with the next poll.
        let seen = tail.entries.iter().filter(|(position, _)| *position <= board.position());
        let mut newest: BTreeMap<String, Option<Position>> = BTreeMap::new();
        for (position, entry) in seen {
            let run = entry.stream.strip_prefix("run/").unwrap_or_default();
            newest.insert(run.to_owned(), Some(*position));
        }
        let open =
            RunFilter { open: Some(true), limit: Some(crate::answer::MOST_ROWS), ..RunFilter::default() };
        let open = store.runs(&open)?.into_iter().map(|row| row.id);
        let (away, none) = (PutAway::read(store)?, PutAway::default());
        let away: Vec<_> = away.differences(&none).take(AWAY + 1).cloned().collect();
        if away.len() > AWAY {
            return Ok(None);
        }
        for run in open.chain(away) {
            newest.entry(run).or_insert(None);
        }
        let mut newest: Vec<_> = newest.into_iter().collect();
        newest.sort_by_key(|(_, position)| *position);
        let mut missed = Vec::new();
        for (run, position) in newest {
            let card = board.card(&run, utc())?;
            missed.extend(card.map(|card| events::run(position, &CardChange::of(card, board.position()))));
        }
        Ok(Some(missed))
    }
}

impl Listener {
    fn looks_at(&self, run: &str) -> bool {
        self.run.as_deref() == Some(run)
    }

    fn send(&mut self, event: &Bytes) {
        // Whatever it misses now is read again after the reset that it gets.
        if !self.behind {
            self.behind = !self.queue.put(event);
        }
    }
}
