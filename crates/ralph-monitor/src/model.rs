//! What the monitor shows: the runs, which one is selected, how far it is scrolled, what is typed. Pure: `app.rs` brings
//! what is new and the keys (`model/press.rs`), `draw.rs` makes a screen of it.

mod press;
mod run_list;

pub use press::Effect;
pub use run_list::{ListRow, list_rows};

use crate::page::{Page, PageKind, PageLine, PageWanted};
use ralph_rules::record::{Ms, Request};
use ralph_view::board::RunActivity;
use ralph_view::card::{Card, Group};
use ralph_view::overview::Overview;
use ralph_view::requests::Sent;
use ralph_view::run_detail::RunDetail;
use ralph_view::run_state::short_id;
use std::collections::BTreeSet;

/// How long an answer stays on the last line.
const ANSWER: Ms = 6_000;
/// From this width on the list and a run stand side by side.
pub const BOTH: u16 = 100;
/// Below this width or height there is room for three lines at most.
const CORNER: (u16, u16) = (36, 8);

/// What is typed on the last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typing {
    /// A hint for the run's next prompt.
    Hint {
        /// Of which run.
        run: String,
        /// So far.
        text: String,
    },
    /// What to search for, in the list or on a page.
    Search(String),
}

/// Something to be confirmed with `y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// What is done then.
    pub effect: Effect,
}

/// An answer on the last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it says.
    pub text: String,
    /// Something did not work.
    pub bad: bool,
    until: Ms,
}

/// What the lower part of a run shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lower {
    /// What the agent does.
    #[default]
    Activity,
    /// The iterations, with one selected: 0 is the newest.
    Iterations(usize),
}

/// What is shown.
#[derive(Debug, Default)]
pub struct Model {
    /// All runs; none until they have been read.
    pub overview: Option<Overview>,
    /// The selected run in depth.
    pub detail: Option<RunDetail>,
    /// Runs that the database has for the filter, also such as the overview is too short for.
    pub found: Vec<Card>,
    /// A run that cannot be read, and why.
    pub unreadable: Option<(String, String)>,
    /// The selected run.
    pub selected: Option<String>,
    /// The selected run has the whole screen.
    pub open: bool,
    /// The lower part of the run.
    pub lower: Lower,
    /// A page over all of it.
    pub page: Option<Page>,
    /// What is typed.
    pub typing: Option<Typing>,
    /// Only runs that hold this are listed.
    pub filter: String,
    /// The run that was selected before the search began.
    pub before_search: Option<String>,
    /// What has to be confirmed.
    pub question: Option<Question>,
    /// The answer to the last key.
    pub answer: Option<Answer>,
    /// Why the database cannot be read.
    pub trouble: Option<String>,
    /// When what is shown was read.
    pub read_at: Ms,
    /// The time, UTC milliseconds.
    pub now: Ms,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The first row of the list that is seen.
    pub list_top: usize,
}

impl Model {
    /// A model of nothing yet, with this run to be selected first.
    pub fn new(selected: Option<String>, size: (u16, u16), now: Ms) -> Model {
        let open = selected.is_some() && size.0 < BOTH;
        Model { selected, open, size, now, read_at: now, ..Model::default() }
    }

    /// Shows these runs. The selection stays on its run for as long as that is listed.
    pub fn set_overview(&mut self, overview: Overview) {
        if self.selected.is_none() {
            self.selected = overview.focus.clone();
        }
        // A run that was asked for by name and is too old to be listed gets the whole screen.
        let is_listed = overview.cards.iter().any(|card| Some(&card.run.row.id) == self.selected.as_ref());
        self.open |= self.overview.is_none() && !is_listed && self.selected.is_some();
        self.overview = Some(overview);
        self.read_at = self.now;
        self.keep_selection();
    }

    /// The database has these runs for the filter.
    pub fn set_found(&mut self, found: Vec<Card>) {
        self.found = found;
        self.keep_selection();
    }

    /// Shows the selected run so.
    pub fn set_detail(&mut self, detail: Option<RunDetail>) {
        let same = |detail: &RunDetail| Some(&detail.card.run.row.id) == self.selected.as_ref();
        self.detail = detail.filter(same);
        if let (Lower::Iterations(at), Some(detail)) = (self.lower, &self.detail) {
            self.lower = Lower::Iterations(at.min(detail.iterations.len().saturating_sub(1)));
        }
        self.show_live_transcript();
    }

    /// Why the selected run cannot be read.
    pub fn unreadable(&self) -> Option<&str> {
        let (run, why) = self.unreadable.as_ref()?;
        (Some(run) == self.selected.as_ref()).then_some(why)
    }

    /// What a run does now, with all lines of its call that are kept.
    pub fn set_activity(&mut self, activity: RunActivity) {
        let RunActivity { run, call, lines, doing, live_micro } = activity;
        if let Some(card) = self.card_mut(&run) {
            card.run.row.live_micro = live_micro.unwrap_or(card.run.row.live_micro);
            if let Some(doing) = doing.as_ref().filter(|_| card.group == Group::Working) {
                card.line.clone_from(&doing.text);
            }
        }
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.card.run.row.id == run) {
            let row = &mut detail.card.run.row;
            row.live_micro = live_micro.unwrap_or(row.live_micro);
            (detail.call, detail.lines, detail.doing) = (Some(call), lines, doing);
            self.show_live_transcript();
        }
    }

    /// The iteration under way is read live, without asking for its file again and again.
    fn show_live_transcript(&mut self) {
        let Some(detail) = &self.detail else { return };
        let newest = detail.iterations.first().map(|iteration| iteration.bar.n);
        let (run, zone) = (&detail.card.run.row.id, &detail.zone);
        let is_live = |page: &&mut Page| {
            let wanted = &page.wanted;
            wanted.kind == PageKind::Transcript && wanted.run == *run && wanted.iteration == newest
        };
        let is_review = detail.call.is_some_and(|call| call.review);
        if detail.card.group == Group::Working
            && !is_review
            && !detail.lines.is_empty()
            && let Some(page) = self.page.as_mut().filter(is_live)
        {
            page.set_lines(crate::page_lines::latest_activity(&detail.lines, zone, &page.wanted));
        }
    }

    /// The content of a page, if that is still the one that is open.
    pub fn set_page(&mut self, wanted: &PageWanted, lines: Vec<PageLine>) {
        if let Some(page) = self.page.as_mut().filter(|page| page.wanted == *wanted) {
            page.set_lines(lines);
        }
        self.show_live_transcript();
    }

    /// The screen has this size now.
    pub fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        if !self.shows_run() {
            self.lower = Lower::Activity;
        }
        let place = self.page_size();
        if let Some(page) = &mut self.page {
            page.resize(place);
        }
        // As far up as the selection allows: a screen that shrank and grew is as before.
        self.list_top = 0;
        self.keep_selection();
    }

    /// The time is this; an answer that is old enough goes. A clock that was set back does not keep it forever.
    pub fn set_now(&mut self, now: Ms) {
        self.now = now;
        let over = |answer: &Answer| now >= answer.until || answer.until - now > ANSWER;
        if self.answer.as_ref().is_some_and(over) {
            self.answer = None;
        }
    }

    /// The database can be read, or why not.
    pub fn set_trouble(&mut self, trouble: Option<String>) {
        if trouble.is_none() {
            self.read_at = self.now;
        }
        self.trouble = trouble;
    }

    /// Says something on the last line.
    pub fn say(&mut self, text: impl Into<String>, bad: bool) {
        self.answer = Some(Answer { text: text.into(), bad, until: self.now.saturating_add(ANSWER) });
    }

    /// What became of a request.
    pub fn answered(&mut self, run: &str, request: &Request, sent: &Result<Sent, String>) {
        let short = short_id(run);
        match sent {
            Ok(Sent::Recorded) => self.say(format!("Run {short} {}.", effect_of(request)), false),
            Ok(Sent::Kept) => {
                self.say(format!("Saved: `ralph resume {short}` will include the hint."), false);
            }
            Ok(Sent::Waiting) => {
                let text = format!("Run {short} has not answered yet; it may be suspended or busy.");
                self.say(text, true);
            }
            Ok(Sent::NotActive) => self.say(format!("Run {short} is not active."), true),
            Err(why) => self.say(format!("The request could not be sent: {why}"), true),
        }
    }

    /// The card of the selected run.
    pub fn selected_card(&self) -> Option<&Card> {
        let selected = self.selected.as_ref()?;
        let cards = self.overview.iter().flat_map(|overview| &overview.cards);
        cards.chain(&self.found).find(|card| card.run.row.id == *selected)
    }

    /// The cards that are listed.
    pub fn listed(&self) -> Vec<&Card> {
        let cards = self.overview.iter().flat_map(|overview| &overview.cards);
        if self.filter.is_empty() {
            return cards.collect();
        }
        let listed: BTreeSet<&str> = cards.clone().map(|card| card.run.row.id.as_str()).collect();
        let others = self.found.iter().filter(|card| !listed.contains(card.run.row.id.as_str()));
        let needle = self.filter.to_lowercase();
        let mut cards: Vec<&Card> = cards.chain(others).filter(|card| holds(card, &needle)).collect();
        cards.sort_by_key(|card| card.group);
        cards
    }

    /// Columns and rows of a page's text.
    pub fn page_size(&self) -> (usize, usize) {
        let (columns, rows) = self.size;
        match self.is_corner() {
            true => (columns.into(), rows.into()),
            false => (usize::from(columns.saturating_sub(2)), usize::from(rows.saturating_sub(4))),
        }
    }

    /// Whether there is room for three lines at most.
    pub fn is_corner(&self) -> bool {
        self.size.0 < CORNER.0 || self.size.1 < CORNER.1
    }

    /// Rows of the list.
    pub fn list_height(&self) -> usize {
        usize::from(self.size.1.saturating_sub(3))
    }

    /// Whether a run is seen without leaving the list.
    pub fn shows_run(&self) -> bool {
        self.open || self.size.0 >= BOTH
    }

    fn card_mut(&mut self, run: &str) -> Option<&mut Card> {
        self.overview.as_mut()?.cards.iter_mut().find(|card| card.run.row.id == run)
    }

    /// The selected run is one of those that are listed, and is seen.
    fn keep_selection(&mut self) {
        let listed: Vec<String> = self.listed().iter().map(|card| card.run.row.id.clone()).collect();
        let is_listed = |run: &String| listed.contains(run);
        // One that was asked for by name may be too old to be listed; it stays open.
        if !self.filter.is_empty() || !self.open {
            let selected = self.selected.take().filter(is_listed);
            self.selected = selected.or_else(|| listed.first().cloned());
        }
        if self.detail.as_ref().is_some_and(|detail| Some(&detail.card.run.row.id) != self.selected.as_ref())
        {
            self.detail = None;
        }
        self.scroll_list();
    }

    fn scroll_list(&mut self) {
        let (top, height) = (self.list_top, self.list_height().max(1));
        let cards = self.listed();
        let rows = list_rows(&cards);
        let at = cards.iter().position(|card| Some(&card.run.row.id) == self.selected.as_ref());
        let row = rows.iter().position(|row| at.is_some_and(|at| *row == ListRow::Task(at))).unwrap_or(0);
        // The heading of the first run of a group is seen with it.
        let first = match row.checked_sub(1).and_then(|before| rows.get(before)) {
            Some(ListRow::Heading(_)) => row - 1,
            _ => row,
        };
        let lowest = (row + 2).saturating_sub(height);
        self.list_top = top.max(lowest).min(first).min(rows.len().saturating_sub(height));
    }
}

/// What the run does with a request that it has recorded.
fn effect_of(request: &Request) -> &'static str {
    match request {
        Request::Pause => "will pause before its next call",
        Request::Continue => "continues",
        Request::Stop { after: true, .. } => "will stop after this iteration",
        Request::Stop { .. } => "is stopping: the agent is ended, then its work inspected",
        Request::Hint { .. } => "will include the hint in its next prompt",
        _ => "has received the request",
    }
}

fn holds(card: &Card, needle: &str) -> bool {
    let row = &card.run.row;
    let texts = [&row.task, &row.workspace, &row.agent, &row.id, &card.word, &card.line];
    texts.iter().any(|text| text.to_lowercase().contains(needle))
        || row.model.as_ref().is_some_and(|model| model.to_lowercase().contains(needle))
}
