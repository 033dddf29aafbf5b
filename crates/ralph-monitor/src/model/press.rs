//! What each key does to the model, and what it asks of `app.rs`.

use super::{Lower, Model, Question, Typing};
use crate::job::Job;
use crate::key::Key;
use crate::page::{Page, PageKind, PageWanted};
use crate::page_lines;
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use ralph_view::card::{Card, Group};
use ralph_view::run_state::RunState;

/// The signal that stands in the journal for a person's stop.
const INTERRUPT: i32 = 2;

/// What a key asks for that the model cannot do by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Leave; the runs continue.
    Leave,
    /// Draw everything again.
    Redraw,
    /// Have this done.
    Do(Job),
}

impl Model {
    /// A key was pressed.
    pub fn press(&mut self, key: Key) -> Option<Effect> {
        if matches!(key, Key::Pasted(_)) && (self.typing.is_none() || self.question.is_some()) {
            return None;
        }
        self.answer = None;
        if key == Key::Redraw {
            return Some(Effect::Redraw);
        }
        if let Some(question) = self.question.take() {
            return matches!(key, Key::Char('y' | 'Y')).then_some(question.effect);
        }
        if self.typing.is_some() {
            return self.type_key(key);
        }
        if self.page.is_some() {
            return self.page_key(key);
        }
        self.list_key(key)
    }

    fn list_key(&mut self, key: Key) -> Option<Effect> {
        match key {
            Key::Char('q') => return Some(Effect::Leave),
            Key::Escape => return self.back(),
            Key::Char('j') | Key::Down => self.step(1),
            Key::Char('k') | Key::Up => self.step(-1),
            Key::Char(' ') | Key::PageDown => self.step(self.screenful()),
            Key::Char('b') | Key::PageUp => self.step(-self.screenful()),
            Key::Char('g') | Key::Home => self.step(isize::MIN),
            Key::Char('G') | Key::End => self.step(isize::MAX),
            Key::Enter | Key::Right => return self.enter(),
            Key::Left => return self.open.then(|| self.back()).flatten(),
            Key::Tab => self.toggle_iterations(),
            Key::Char('n') => self.next_that_needs_you(),
            Key::Char('/') => self.begin_search(),
            Key::Char(letter) => return self.run_key(letter),
            Key::Backspace | Key::Redraw | Key::EraseLine | Key::Pasted(_) => {}
        }
        None
    }

    /// Keys that are about the selected run.
    fn run_key(&mut self, letter: char) -> Option<Effect> {
        if letter == '?' {
            return self.open_page(PageKind::Help);
        }
        let card = self.selected_card().or_else(|| Some(&self.detail.as_ref()?.card))?.clone();
        let run = card.run.row.id.clone();
        match letter {
            'o' => self.open_page(PageKind::Transcript),
            'd' => self.open_page(PageKind::Diff),
            'v' => self.open_page(PageKind::Verification),
            'i' => self.open_page(PageKind::Prompt),
            'e' => self.open_page(PageKind::Explanation),
            'h' if is_active(&card) || card.run.row.resumable => {
                self.typing = Some(Typing::Hint { run, text: String::new() });
                None
            }
            'a' => self.put_away(&card),
            'p' | 'c' | 's' | 'S' | 'h' if !is_active(&card) => {
                self.say(not_active(&card), true);
                None
            }
            'p' if card.run.row.status != RunState::Paused.name() => {
                Some(Effect::Do(Job::Ask { run, request: Request::Pause }))
            }
            'p' | 'c' => Some(Effect::Do(Job::Ask { run, request: Request::Continue })),
            's' | 'S' => {
                self.ask_to_stop(&card, letter == 's');
                None
            }
            _ => None,
        }
    }

    /// What cannot be taken back is asked once.
    fn ask_to_stop(&mut self, card: &Card, after: bool) {
        let request = Request::Stop { after, signal: INTERRUPT };
        let when = if after { "after this iteration" } else { "now" };
        let text = format!("Stop run {} {when}? y stops it, any other key cancels", card.short);
        let effect = Effect::Do(Job::Ask { run: card.run.row.id.clone(), request });
        self.question = Some(Question { text, effect });
    }

    fn put_away(&mut self, card: &Card) -> Option<Effect> {
        if !card.put_away && card.group != Group::NeedsYou {
            self.say("Only a run that needs you can be put away.", true);
            return None;
        }
        Some(Effect::Do(Job::PutAway { run: card.run.row.id.clone(), away: !card.put_away }))
    }

    fn type_key(&mut self, key: Key) -> Option<Effect> {
        let typing = self.typing.take()?;
        let keep = !matches!(key, Key::Enter | Key::Escape);
        let typed = match typing {
            Typing::Hint { run, text } if key == Key::Enter => {
                let text = text.trim().to_owned();
                return (!text.is_empty())
                    .then_some(Effect::Do(Job::Ask { run, request: Request::Hint { text } }));
            }
            Typing::Hint { run, text } => Typing::Hint { run, text: edited(text, key) },
            Typing::Search(text) => {
                let text = if key == Key::Escape { String::new() } else { edited(text, key) };
                self.search(&text);
                if key == Key::Escape && self.page.is_none() {
                    self.select_as_before_search();
                }
                Typing::Search(text)
            }
        };
        self.typing = keep.then_some(typed);
        None
    }

    fn begin_search(&mut self) {
        if self.filter.is_empty() {
            self.before_search.clone_from(&self.selected);
        }
        self.typing = Some(Typing::Search(self.filter.clone()));
    }

    /// Selects the run that was selected before the search.
    fn select_as_before_search(&mut self) {
        self.selected = self.before_search.take().or_else(|| self.selected.take());
        self.keep_selection();
    }

    /// Searches the page that is open, or otherwise filters the list.
    fn search(&mut self, text: &str) {
        match &mut self.page {
            Some(page) => page.search(text),
            None => {
                text.clone_into(&mut self.filter);
                self.keep_selection();
            }
        }
    }

    fn page_key(&mut self, key: Key) -> Option<Effect> {
        let page = self.page.as_mut()?;
        let screenful = page.screenful();
        match key {
            Key::Escape | Key::Char('q') => self.page = None,
            Key::Char('j') | Key::Down | Key::Enter => page.scroll(1),
            Key::Char('k') | Key::Up => page.scroll(-1),
            Key::Char(' ') | Key::PageDown => page.scroll(screenful),
            Key::Char('b') | Key::PageUp => page.scroll(-screenful),
            Key::Char('g') | Key::Home => page.to_start(),
            Key::Char('G') | Key::End => page.to_end(),
            Key::Char('n') => page.next(false),
            Key::Char('N') => page.next(true),
            Key::Char('/') => self.typing = Some(Typing::Search(String::new())),
            Key::Left => return self.other_iteration(-1),
            Key::Right => return self.other_iteration(1),
            Key::Char(letter) if is_its_letter(letter, page.wanted.kind) => self.page = None,
            Key::Char(letter) if "odvie?hpcsS".contains(letter) => return self.run_key(letter),
            Key::Char(_) | Key::Pasted(_) | Key::Tab | Key::Backspace | Key::Redraw | Key::EraseLine => {}
        }
        None
    }

    /// The page of the iteration before or after.
    fn other_iteration(&mut self, by: i64) -> Option<Effect> {
        let wanted = self.page.as_ref()?.wanted.clone();
        let n = u32::try_from(i64::from(wanted.iteration?) + by).ok()?;
        let exists = self.detail.as_ref()?.iterations.iter().any(|iteration| iteration.bar.n == n);
        exists.then(|| self.show_page(PageWanted { iteration: Some(n), ..wanted }))
    }

    /// Opens a page of the selected run, and of the selected iteration or the newest that has one.
    fn open_page(&mut self, kind: PageKind) -> Option<Effect> {
        let iteration = self.iteration_for(kind);
        let of_iteration = matches!(kind, PageKind::Transcript | PageKind::Verification | PageKind::Prompt);
        if of_iteration && iteration.is_none() {
            self.say("There is no iteration yet.", true);
            return None;
        }
        let run = self.selected.clone().unwrap_or_default();
        let effect = self.show_page(PageWanted { kind, run, iteration: iteration.filter(|_| of_iteration) });
        Some(effect).filter(|_| kind != PageKind::Help)
    }

    /// The iteration that is selected, otherwise the newest. Where the newest was not verified yet, the newest that was is
    /// shown instead, and said to be.
    fn iteration_for(&mut self, kind: PageKind) -> Option<u32> {
        let iterations = self.detail.as_ref().map(|detail| detail.iterations.as_slice()).unwrap_or_default();
        let at = if let Lower::Iterations(at) = self.lower { at } else { 0 };
        let wanted = iterations.get(at)?.bar.n;
        if kind != PageKind::Verification || at > 0 {
            return Some(wanted);
        }
        let verified = iterations.iter().find(|iteration| iteration.verified.is_some());
        let shown = verified.map_or(wanted, |iteration| iteration.bar.n);
        if shown != wanted {
            self.say(format!("This is iteration {shown}; iteration {wanted} was not verified."), false);
        }
        Some(shown)
    }

    fn show_page(&mut self, wanted: PageWanted) -> Effect {
        let mut page = Page::opened(wanted.clone(), self.page_size());
        if wanted.kind == PageKind::Help {
            page.set_lines(page_lines::help());
        }
        self.page = Some(page);
        self.show_live_transcript();
        Effect::Do(Job::Read(wanted))
    }

    /// Closes what was opened last; at the list, leaves.
    fn back(&mut self) -> Option<Effect> {
        if self.lower != Lower::Activity {
            self.lower = Lower::Activity;
        } else if self.open {
            self.open = false;
            self.keep_selection();
        } else if !self.filter.is_empty() {
            self.filter.clear();
            // A run that was found stays selected, unless it is too old for the list.
            let is_listed = |card: &&Card| Some(&card.run.row.id) == self.selected.as_ref();
            match self.listed().iter().any(is_listed) {
                true => self.keep_selection(),
                false => self.select_as_before_search(),
            }
        } else {
            return Some(Effect::Leave);
        }
        None
    }

    /// Opens the selected run, or the transcript of the selected iteration.
    fn enter(&mut self) -> Option<Effect> {
        if matches!(self.lower, Lower::Iterations(_)) {
            return self.open_page(PageKind::Transcript);
        }
        self.open = self.selected.is_some();
        None
    }

    fn toggle_iterations(&mut self) {
        self.lower = match self.lower {
            Lower::Activity if self.shows_run() && self.detail.is_some() => Lower::Iterations(0),
            _ => Lower::Activity,
        };
    }

    fn step(&mut self, by: isize) {
        if let (Lower::Iterations(at), Some(detail)) = (self.lower, &self.detail) {
            let last = detail.iterations.len().saturating_sub(1);
            self.lower = Lower::Iterations(at.saturating_add_signed(by).min(last));
            return;
        }
        let listed: Vec<String> = self.listed().iter().map(|card| card.run.row.id.clone()).collect();
        let at = listed.iter().position(|run| Some(run) == self.selected.as_ref()).unwrap_or(0);
        let at = at.saturating_add_signed(by).min(listed.len().saturating_sub(1));
        self.select(listed.get(at).cloned());
    }

    fn next_that_needs_you(&mut self) {
        let listed = self.listed();
        let needs = listed.iter().filter(|card| card.group == Group::NeedsYou);
        let needs: Vec<String> = needs.map(|card| card.run.row.id.clone()).collect();
        let after = needs.iter().position(|run| Some(run) == self.selected.as_ref()).map_or(0, |at| at + 1);
        match needs.get(after).or_else(|| needs.first()) {
            Some(run) => self.select(Some(run.clone())),
            None => self.say("Nothing needs you.", false),
        }
    }

    fn select(&mut self, run: Option<String>) {
        if run.is_some() && run != self.selected {
            self.selected = run;
            self.lower = Lower::Activity;
        }
        self.keep_selection();
    }

    fn screenful(&self) -> isize {
        isize::try_from((self.list_height() / 2).max(1)).unwrap_or(1)
    }
}

/// Whether a process works on it that hears requests.
fn is_active(card: &Card) -> bool {
    matches!(card.group, Group::Working | Group::Waiting) && card.run.row.status != RunState::InSession.name()
}

fn not_active(card: &Card) -> String {
    match card.run.row.resumable {
        true => format!("Run {} is not active; `ralph resume {}` continues it.", card.short, card.short),
        false => format!("Run {} has ended.", card.short),
    }
}

/// The key that opened a page closes it.
fn is_its_letter(letter: char, kind: PageKind) -> bool {
    let letters = [
        ('o', PageKind::Transcript),
        ('d', PageKind::Diff),
        ('v', PageKind::Verification),
        ('i', PageKind::Prompt),
        ('e', PageKind::Explanation),
        ('?', PageKind::Help),
    ];
    letters.contains(&(letter, kind))
}

/// A text after a key. A hint is at most as long as a prompt takes.
fn edited(mut text: String, key: Key) -> String {
    match key {
        // Lines that were pasted are one space apart.
        Key::Pasted(' ') if text.ends_with(' ') => {}
        Key::Char(c) | Key::Pasted(c) if text.len() + c.len_utf8() <= HINT_BYTES => text.push(c),
        Key::Backspace => drop(text.pop()),
        Key::EraseLine => text.clear(),
        _ => {}
    }
    text
}
