//! All runs of this user, followed: what a monitor and a page show, whoever started the runs. A board reads the store and
//! never a process. It takes the store's position, reads rows, and then follows the records; only journals of runs that are
//! open are folded. `board/open_run.rs` follows one of those, `overview.rs` and `card.rs` say what is shown.

mod news;
mod open_run;

pub use news::{CardChange, Doing, News, RecordSeen, RunActivity, ShownCall};

use crate::activity_line::ActivityLine;
use crate::card::{Card, CardContext};
use crate::listed_run::ListedRun;
use crate::needs_you::Standing;
use crate::overview::{MOST_CARDS, Overview, Today};
use crate::put_away::PutAway;
use crate::run_state::{ended_by_signal, row_now, state_of_row};
use crate::strip::CARD_BARS;
use open_run::OpenRun;
use ralph_engine::home::Home;
use ralph_engine::journal::JournalError;
use ralph_engine::ledger;
use ralph_engine::redact::Redactor;
use ralph_engine::run_state::RunState;
use ralph_rules::money::Micro;
use ralph_rules::prices::Prices;
use ralph_rules::record::Ms;
use ralph_store::{Database, Entry, Position, RunFilter, RunRow, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Records that are read at a time.
const AT_ONCE: usize = 500;
/// Whoever is further behind reads everything again: that is cheaper than following.
const TOO_FAR: u64 = 20_000;
/// How often processes of open runs and the database's file are looked at.
const LOOK: Ms = 1_000;

/// What a board needs to know besides the store.
#[derive(Clone, Debug, Default)]
pub struct BoardSettings {
    /// The zone for times of day and for where a day begins.
    pub zone: String,
    /// The most that a day may cost over all runs.
    pub daily_cost: Option<Micro>,
    /// The most calls in any hour over all runs.
    pub calls_per_hour: Option<u32>,
    /// What models cost.
    pub prices: Prices,
    /// What must not be shown of the runs in a workspace.
    pub redactor: RedactorOf,
}

/// Finds what must not be shown of the runs in a workspace. A transcript is redacted as it is written, but a secret that
/// an agent printed in several pieces is whole only once they are joined.
#[derive(Clone)]
pub struct RedactorOf(Arc<dyn Fn(&Path) -> Redactor + Send + Sync>);

impl RedactorOf {
    /// By this function, which is called once for each run that is open.
    pub fn new(of: impl Fn(&Path) -> Redactor + Send + Sync + 'static) -> RedactorOf {
        RedactorOf(Arc::new(of))
    }

    /// Of this workspace.
    pub fn of(&self, workspace: &Path) -> Redactor {
        (self.0)(workspace)
    }
}

impl Default for RedactorOf {
    /// Only what looks like a key.
    fn default() -> RedactorOf {
        RedactorOf::new(|_| Redactor::new(std::iter::empty::<(&str, &str)>()))
    }
}

impl std::fmt::Debug for RedactorOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedactorOf")
    }
}

/// Why a board has no answer.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run's journal cannot be read.
    #[error(transparent)]
    Journal(JournalError),
}

/// All runs, followed.
pub struct Board {
    home: Home,
    settings: BoardSettings,
    store: Option<Database>,
    position: Position,
    /// The store's mark at the last look; none: read everything.
    mark: Option<u64>,
    /// By workspace: the run that was started last there.
    newest: HashMap<String, String>,
    away: PutAway,
    open: BTreeMap<String, OpenRun>,
    /// When processes were looked at last.
    looked: Ms,
    /// Why the database could not be read when it was tried last.
    trouble: Option<String>,
}

impl Board {
    /// A board that has seen nothing yet; the first [`Board::poll`] reads everything.
    pub fn new(home: &Home, settings: BoardSettings) -> Board {
        Board {
            home: home.clone(),
            settings,
            store: None,
            position: 0,
            mark: None,
            newest: HashMap::new(),
            away: PutAway::default(),
            open: BTreeMap::new(),
            looked: Ms::MIN,
            trouble: None,
        }
    }

    /// The newest record that was seen.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The store, once there is one.
    pub fn store(&self) -> Option<&Database> {
        self.store.as_ref()
    }

    /// The state directory.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The zone for times of day.
    pub fn zone(&self) -> &str {
        &self.settings.zone
    }

    /// What is new since the last time; meant to be called up to twenty times a second.
    pub fn poll(&mut self, now: Ms) -> News {
        match self.look(now) {
            // Between two tries nothing is known: the trouble goes on.
            Ok(news) if self.trouble.is_some() && self.store.is_none() && self.looked != now => {
                News { trouble: self.trouble.clone(), ..news }
            }
            Ok(news) => {
                self.trouble = None;
                news
            }
            Err(error) => {
                // Whatever is wrong with it, it may be another file when it can be read again.
                (self.store, self.mark) = (None, None);
                self.trouble = Some(error.to_string());
                News { position: self.position, trouble: self.trouble.clone(), ..News::default() }
            }
        }
    }

    fn look(&mut self, now: Ms) -> Result<News, BoardError> {
        let look_closer = now < self.looked || now.saturating_sub(self.looked) >= LOOK;
        if look_closer {
            self.looked = now;
            self.check_file()?;
        }
        let Some(store) = &self.store else { return Ok(News::default()) };
        let mark = store.changed()?;
        let mut news = News { position: self.position, ..News::default() };
        let mut changed = BTreeSet::new();
        if self.mark != Some(mark) {
            let far = store.position()?;
            let behind = far.saturating_sub(self.position) > TOO_FAR || far < self.position;
            if self.mark.is_none() || behind {
                self.read_everything()?;
                news.reset = true;
            } else {
                self.follow(&mut news, &mut changed)?;
                self.read_put_away(&mut changed)?;
            }
            self.mark = Some(mark);
        }
        if look_closer {
            changed.extend(self.look_at_processes());
        }
        news.position = self.position;
        self.read_calls(&mut news, now);
        for run in changed {
            let card = self.card(&run, now)?;
            news.changes.extend(card.map(|card| CardChange::of(card, self.position)));
        }
        Ok(news)
    }

    /// Opens the database if there is one by now; one that was replaced or removed is let go.
    fn check_file(&mut self) -> Result<(), BoardError> {
        match &self.store {
            Some(store) => Ok(store.check_in_place()?),
            None => {
                self.store = self.home.store_at_once()?;
                Ok(())
            }
        }
    }

    /// The position first, then the rows: what is written in between is seen twice, never missed.
    fn read_everything(&mut self) -> Result<(), BoardError> {
        let Some(store) = &self.store else { return Ok(()) };
        self.position = store.position()?;
        self.away = PutAway::read(store)?;
        let rows = store.runs(&RunFilter::default())?;
        self.newest = rows.iter().rev().map(|row| (row.workspace.clone(), row.id.clone())).collect();
        self.open.clear();
        for row in rows.into_iter().filter(|row| row.exit_code.is_none()) {
            // One whose process is gone stays as it is until somebody resumes it: its row suffices.
            if state_of_row(&row, &self.home).is_open() {
                let open = OpenRun::read(store, &self.home, row)?;
                self.open.insert(open.id().to_owned(), open);
            }
        }
        Ok(())
    }

    fn follow(&mut self, news: &mut News, changed: &mut BTreeSet<String>) -> Result<(), BoardError> {
        loop {
            let Some(store) = &self.store else { return Ok(()) };
            let tail = store.since("run/", self.position, AT_ONCE)?;
            for (position, entry) in &tail.entries {
                if let Some(seen) = self.record(*position, entry, news, changed)? {
                    changed.insert(seen.run.clone());
                    news.records.push(seen);
                }
            }
            let more = tail.entries.len() == AT_ONCE;
            self.position = tail.next;
            if !more {
                return Ok(());
            }
        }
    }

    fn record(
        &mut self,
        position: Position,
        entry: &Entry,
        news: &mut News,
        changed: &mut BTreeSet<String>,
    ) -> Result<Option<RecordSeen>, BoardError> {
        let (Some(store), Some(run)) = (&self.store, entry.stream.strip_prefix("run/")) else {
            return Ok(None);
        };
        let row = store.run(run)?;
        if let Some(row) = row.as_ref().filter(|_| entry.seq == 1) {
            // Whoever started it has seen the one before, which then needs nobody.
            changed.extend(self.newest.insert(row.workspace.clone(), row.id.clone()));
        }
        match (self.open.get_mut(run), row.filter(|row| row.exit_code.is_none())) {
            (Some(open), Some(row)) => {
                open.record(entry, row);
                // Before another call begins: the last lines of this one are not lost.
                news.activity.extend(open.ended_call());
            }
            (Some(open), None) => {
                open.record_ending(entry);
                news.activity.extend(open.ended_call());
                self.open.remove(run);
            }
            // A run that began, or was resumed: its journal is folded from the start.
            (None, Some(row)) => {
                let open = OpenRun::read(store, &self.home, row)?;
                self.open.insert(run.to_owned(), open);
            }
            (None, None) => {}
        }
        let (run, kind) = (run.to_owned(), entry.kind.clone());
        Ok(Some(RecordSeen { position, run, seq: entry.seq, at: entry.at, kind }))
    }

    /// Memos are no records: they are compared.
    fn read_put_away(&mut self, changed: &mut BTreeSet<String>) -> Result<(), BoardError> {
        let Some(store) = &self.store else { return Ok(()) };
        let away = PutAway::read(store)?;
        changed.extend(away.differences(&self.away).cloned());
        self.away = away;
        Ok(())
    }

    /// A process that is gone writes nothing: the open runs whose state changed without a record.
    fn look_at_processes(&mut self) -> Vec<String> {
        let home = &self.home;
        let looked = self.open.values_mut().filter_map(|open| open.look(home).then(|| open.id().to_owned()));
        let changed = looked.collect();
        self.open.retain(|_, open| !open.is_gone());
        changed
    }

    /// What agents say and do in the calls under way.
    fn read_calls(&mut self, news: &mut News, now: Ms) {
        let Board { open, home, settings, .. } = self;
        for run in open.values_mut() {
            news.activity.extend(run.activity(home, settings, now));
        }
    }

    /// One run as lists show it.
    pub fn card(&self, run: &str, now: Ms) -> Result<Option<Card>, BoardError> {
        let Some(store) = &self.store else { return Ok(None) };
        let row = store.run(run)?;
        row.map(|row| self.card_of(store, row, CARD_BARS, now)).transpose()
    }

    /// Runs as lists show them, newest first.
    pub fn cards(&self, filter: &RunFilter, now: Ms) -> Result<Vec<Card>, BoardError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let rows = store.runs(filter)?;
        rows.into_iter().map(|row| self.card_of(store, row, CARD_BARS, now)).collect()
    }

    /// The first screen: every run that is open, the newest of each workspace, and the latest of all.
    pub fn overview(&self, now: Ms) -> Result<Overview, BoardError> {
        let Some(store) = &self.store else {
            return Ok(Overview::of(Vec::new(), 0, now, Today::default()));
        };
        let most = u32::try_from(MOST_CARDS).unwrap_or(u32::MAX);
        let latest = store.runs(&RunFilter { limit: Some(most + 1), ..RunFilter::default() })?;
        let listed: BTreeSet<&String> = latest.iter().map(|row| &row.id).collect();
        let others: BTreeSet<&String> = self.open.keys().chain(self.newest.values()).collect();
        let others = others.difference(&listed).map(|run| store.run(run));
        let others = others.collect::<Result<Vec<Option<RunRow>>, StoreError>>()?;
        let mut cards = Vec::new();
        for row in latest.iter().cloned().chain(others.into_iter().flatten()) {
            cards.push(self.card_of(store, row, CARD_BARS, now)?);
        }
        Ok(Overview::of(cards, self.position, now, self.today(store, now)?))
    }

    /// The latest lines of the call under way.
    pub fn lines(&self, run: &str) -> Vec<ActivityLine> {
        self.open.get(run).map(OpenRun::lines).unwrap_or_default()
    }

    /// The call that these lines are of.
    pub fn shown_call(&self, run: &str) -> Option<ShownCall> {
        self.open.get(run).and_then(OpenRun::shown_call)
    }

    /// What the run does now, if it is open.
    pub fn doing(&self, run: &str) -> Option<Doing> {
        self.open.get(run).and_then(OpenRun::doing)
    }

    /// The id of the run that is named by its id or by the last characters of it.
    pub fn find(&self, wanted: &str) -> Result<Option<String>, BoardError> {
        let Some(store) = &self.store else { return Ok(None) };
        if let Some(row) = store.run(wanted)? {
            return Ok(Some(row.id));
        }
        let all = store.runs(&RunFilter { text: Some(wanted.to_owned()), ..RunFilter::default() })?;
        let mut found = all.into_iter().filter(|row| !wanted.is_empty() && row.id.ends_with(wanted));
        let first = found.next().map(|row| row.id);
        Ok(first.filter(|_| found.next().is_none()))
    }

    /// A row as it is now, with its process looked at.
    pub(crate) fn row_now(&self, row: RunRow) -> (RunRow, RunState) {
        let state = state_of_row(&row, &self.home);
        let row = row_now(row, &self.home);
        // The transcript tells of more than the last record does.
        let live = self.open.get(&row.id).and_then(OpenRun::live_micro).unwrap_or(0);
        (RunRow { live_micro: row.live_micro.max(live), ..row }, state)
    }

    pub(crate) fn card_of(
        &self,
        store: &dyn Store,
        row: RunRow,
        bars: u32,
        now: Ms,
    ) -> Result<Card, BoardError> {
        let standing = Standing {
            superseded: self.newest.get(&row.workspace).is_some_and(|newest| *newest != row.id),
            put_away: self.away.holds(&row),
            by_signal: ended_by_signal(&row).is_some(),
        };
        let iterations = store.latest_iterations(&row.id, bars)?;
        let (row, state) = self.row_now(row);
        let doing = self.doing(&row.id);
        let doing = doing.as_ref().map(|doing| doing.text.as_str());
        let context = CardContext { state, standing, doing, now, zone: &self.settings.zone };
        Ok(Card::of(ListedRun::of(row, store), &iterations, context))
    }

    fn today(&self, store: &dyn Store, now: Ms) -> Result<Today, BoardError> {
        let day = store.meter(&ledger::day_meter(now, &self.settings.zone))?;
        Ok(Today {
            spent_micro: day.settled,
            held_micro: day.held,
            cap_micro: self.settings.daily_cost.map(|cap| cap.0),
            calls: ledger::calls_last_hour(store, now)?.used,
            calls_cap: self.settings.calls_per_hour,
        })
    }
}
