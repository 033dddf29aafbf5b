//! The loop: looks at the board twenty times a second, draws when something changed, and does what keys ask for. At rest it
//! costs a look at the database's mark and a frame a second, for the ages.

use crate::draw::draw;
use crate::key::KeyReader;
use crate::model::{Effect, Model};
use crate::paint::Painter;
use crate::reading::{DetailReading, Reading};
use crate::terminal::{Terminal, TerminalGuard, is_gone, size, typed};
use crate::worker::{Done, Texts, Worker};
use ralph_engine::clock::utc;
use ralph_rules::record::Ms;
use ralph_store::RunFilter;
use ralph_view::board::{Board, News, RunActivity};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::io;
use std::time::{Duration, Instant};

/// How often the board is looked at, and how far apart frames are at least.
const TICK: Duration = Duration::from_millis(50);
/// How long nothing is looked at while the terminal is somebody else's.
const AWAY: Duration = Duration::from_millis(200);
/// How often the cards are read anyway: ages, limits of the day.
const ANYWAY: Duration = Duration::from_secs(15);
/// Runs that a search asks the database for.
const MOST_FOUND: u32 = 50;

/// What the monitor needs.
pub struct WatchSettings {
    /// All runs.
    pub board: Board,
    /// Whether colours are used.
    pub colours: bool,
    /// The id of the run to be shown first.
    pub run: Option<String>,
    /// Texts that only the caller can make.
    pub texts: Texts,
}

/// Why the monitor was left, other than by a key.
#[derive(Debug)]
pub enum WatchError {
    /// The terminal is gone or takes nothing more.
    Terminal(io::Error),
    /// A thread of this process panicked; the terminal was given back and the message printed on it.
    Panicked,
}

impl From<io::Error> for WatchError {
    fn from(error: io::Error) -> WatchError {
        WatchError::Terminal(error)
    }
}

/// Shows the monitor until somebody leaves it. The caller has made sure that there is a terminal.
pub fn watch(settings: WatchSettings) -> Result<(), WatchError> {
    let WatchSettings { board, colours, run, texts } = settings;
    let worker = Worker::start(board.home(), texts)?;
    let guard = Terminal::take();
    let model = Model::new(run, size(), utc());
    let now = Instant::now();
    let mut app = App {
        guard,
        model,
        board,
        worker,
        painter: Painter::default(),
        reader: KeyReader::default(),
        colours,
        changed: true,
        drawn_at: now,
        second: 0,
        cards: Reading::wanted(now),
        detail: DetailReading::new(now),
        search: Reading::wanted(now),
        searched: String::new(),
    };
    while app.turn()? {}
    Ok(())
}

struct App {
    guard: TerminalGuard,
    model: Model,
    board: Board,
    worker: Worker,
    painter: Painter,
    reader: KeyReader,
    colours: bool,
    /// Something is to be drawn.
    changed: bool,
    drawn_at: Instant,
    /// The second for which ages were drawn.
    second: Ms,
    cards: Reading,
    detail: DetailReading,
    search: Reading,
    /// What the database was searched for last.
    searched: String,
}

impl App {
    /// Once around; false when somebody left.
    fn turn(&mut self) -> Result<bool, WatchError> {
        if self.guard.terminal().panicked() {
            return Err(WatchError::Panicked);
        }
        let (ready, erased) = self.guard.terminal().ready();
        if erased {
            self.painter.forget();
            // The rest of a key or a paste that had begun went to somebody else.
            self.reader = KeyReader::default();
            self.changed = true;
        }
        if !ready {
            if is_gone() {
                return Err(WatchError::Terminal(io::ErrorKind::UnexpectedEof.into()));
            }
            std::thread::sleep(AWAY);
            return Ok(true);
        }
        // What is to be drawn waits only until the last frame is old enough.
        let wait = if self.changed { TICK.saturating_sub(self.drawn_at.elapsed()) } else { TICK };
        for key in typed(&mut self.reader, wait)? {
            self.changed = true;
            if let Some(effect) = self.model.press(key)
                && self.perform(effect)
            {
                return Ok(false);
            }
        }
        self.look();
        if self.changed && self.drawn_at.elapsed() >= TICK {
            self.draw()?;
        }
        Ok(true)
    }

    /// Does what a key asked for; whether to leave.
    fn perform(&mut self, effect: Effect) -> bool {
        match effect {
            Effect::Leave => return true,
            Effect::Redraw => self.painter.forget(),
            Effect::Do(job) => self.worker.give(job),
        }
        false
    }

    /// What is new: time, size, the board, what was done.
    fn look(&mut self) {
        let now = utc();
        if now / 1_000 != self.second {
            self.second = now / 1_000;
            self.changed = true;
        }
        self.model.set_now(now);
        if size() != self.model.size {
            self.model.resize(size());
            self.changed = true;
        }
        let done: Vec<Done> = self.worker.done().collect();
        for done in done {
            self.changed = true;
            self.finished(done);
        }
        let news = self.board.poll(now);
        self.take_news(&news);
        self.read_again(now);
    }

    /// What the worker has done.
    fn finished(&mut self, done: Done) {
        match done {
            Done::Asked { run, request, sent } => self.model.answered(&run, &request, &sent),
            Done::PutAway { result: Err(why), .. } => {
                self.model.say(format!("The run could not be put away: {why}"), true);
            }
            Done::PutAway { away, .. } => {
                self.cards.wanted = true;
                self.model
                    .say(if away { "Put away; press a to take it back." } else { "Taken back." }, false);
            }
            Done::Page(wanted, lines) => self.model.set_page(&wanted, lines),
        }
    }

    fn take_news(&mut self, news: &News) {
        let was_in_trouble = self.model.trouble.is_some();
        // A database that cannot be opened is tried again once a second; until then there is no news of it.
        if news.trouble.is_some() || self.board.store().is_some() {
            self.model.set_trouble(news.trouble.clone());
        }
        self.changed |= !news.is_empty() || was_in_trouble != self.model.trouble.is_some();
        self.cards.wanted |= news.reset || !news.changes.is_empty();
        let selected = self.model.selected.clone();
        let is_selected = |run: &String| Some(run) == selected.as_ref();
        self.detail.reading.wanted |=
            news.reset || news.changes.iter().any(|change| is_selected(&change.card.run.row.id));
        for activity in &news.activity {
            let lines = if is_selected(&activity.run) { self.board.lines(&activity.run) } else { Vec::new() };
            self.model.set_activity(RunActivity { lines, ..activity.clone() });
        }
    }

    /// Reads the cards and the selected run again where they may have changed.
    fn read_again(&mut self, now: Ms) {
        let since = Instant::now();
        self.cards.wanted |= self.cards.not_before.elapsed() >= ANYWAY;
        if self.cards.is_due(since) {
            match self.board.overview(now) {
                // Of a database that cannot be opened nothing is known, not that it has no runs.
                Ok(_) if self.model.trouble.is_some() && self.board.store().is_none() => {}
                Ok(overview) => self.model.set_overview(overview),
                Err(error) => self.model.set_trouble(Some(error.to_string())),
            }
            self.cards.done(since, Instant::now());
            self.search.wanted = true;
            self.changed = true;
        }
        self.search_again(now);
        self.read_selected(now);
    }

    /// The list holds the latest runs; a search also finds the others.
    fn search_again(&mut self, now: Ms) {
        if self.model.filter.is_empty() && self.model.found.is_empty() {
            self.searched.clear();
            return;
        }
        let since = Instant::now();
        self.search.wanted |= self.searched != self.model.filter;
        if !self.search.is_due(since) {
            return;
        }
        self.searched.clone_from(&self.model.filter);
        let filter =
            RunFilter { text: Some(self.searched.clone()), limit: Some(MOST_FOUND), ..RunFilter::default() };
        let found = match self.searched.is_empty() {
            true => Ok(Vec::new()),
            false => self.board.cards(&filter, now),
        };
        match found {
            Ok(cards) => self.model.set_found(cards),
            Err(error) => self.model.set_trouble(Some(error.to_string())),
        }
        self.search.done(since, Instant::now());
        self.changed = true;
    }

    /// One run that cannot be read is no trouble with the database: its own pane says why.
    fn read_selected(&mut self, now: Ms) {
        let since = Instant::now();
        let shown = self.model.detail.as_ref().map(|detail| detail.card.run.row.id.as_str());
        let is_due = |run: &String| self.detail.is_due(run, shown, since);
        let Some(run) = self.model.selected.clone().filter(is_due) else { return };
        let unreadable = match self.board.detail(&run, now) {
            Ok(Some(detail)) => {
                self.model.set_detail(Some(detail));
                None
            }
            Ok(None) => {
                self.model.set_detail(None);
                Some("the database has no such run any more".to_owned())
            }
            Err(error) => Some(error.to_string()),
        };
        self.detail.done(&run, unreadable.is_none(), since, Instant::now());
        self.model.unreadable = unreadable.map(|why| (run, why));
        self.changed = true;
    }

    fn draw(&mut self) -> io::Result<()> {
        let (width, height) = self.model.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        draw(&self.model, &mut buffer, self.colours);
        let text = self.painter.frame(buffer);
        self.guard.terminal().draw(&text)?;
        self.changed = false;
        self.drawn_at = Instant::now();
        Ok(())
    }
}
