//! Which changes of a plan count while a run works on it story by story. While the agent or a verify command runs,
//! nobody can tell whose change it is: a tick is put back, what was asked of a story stays asked, and a new story is
//! welcome but its commands are not run. What changes while nothing runs is the person's, and counts.

use super::{Document, Item, Tick};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stories as they count, and as they stood in the file when it was last read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// What counts, in the plan's order.
    trusted: Vec<Item>,
    /// The file at the last look.
    seen: Vec<Item>,
    /// A command of the run was begun and has not ended.
    pub running: bool,
    /// Stories whose tick was put back since the agent was told last.
    pub put_back: Vec<String>,
    /// Other changes that do not count, in words, since the agent was told last.
    pub ignored: Vec<String>,
}

/// New bytes for a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickEdit {
    /// Where.
    pub tick: Tick,
    /// The bytes to write there.
    pub bytes: String,
}

impl TickEdit {
    /// Ticks an item.
    pub fn done(item: &Item) -> TickEdit {
        TickEdit { tick: item.tick.clone(), bytes: item.tick.done.clone() }
    }

    /// The file with these ticks written, and nothing else changed.
    pub fn apply(mut edits: Vec<TickEdit>, bytes: &[u8]) -> Vec<u8> {
        edits.sort_by_key(|edit| edit.tick.from);
        let mut new = Vec::with_capacity(bytes.len() + 16);
        let mut at = 0;
        for TickEdit { tick, bytes: tick_bytes } in edits {
            new.extend_from_slice(bytes.get(at..tick.from).unwrap_or_default());
            new.extend_from_slice(tick_bytes.as_bytes());
            at = tick.to;
        }
        new.extend_from_slice(bytes.get(at..).unwrap_or_default());
        new
    }
}

impl Ledger {
    /// The stories as they count.
    pub fn items(&self) -> &[Item] {
        &self.trusted
    }

    /// Nothing of the run has run since the last look: what changed is the person's.
    pub fn trust(&mut self, file: &Document) {
        let (trusted, seen) = (by_key(&self.trusted), by_key(&self.seen));
        let mut now: Vec<Item> = Vec::new();
        for item in &file.items {
            let unchanged = seen.get(item.key.as_str()).is_some_and(|before| before.same_definition(item));
            let known = trusted.get(item.key.as_str()).copied();
            let definition = known.filter(|_| unchanged).unwrap_or(item);
            // A tick that could not be put back is no less an agent's than before.
            let same_tick = seen.get(item.key.as_str()).is_some_and(|before| before.done == item.done);
            let done = known.filter(|_| same_tick).map_or(item.done, |known| known.done);
            now.push(Item { done, ..standing(definition, item) });
        }
        // What an agent removed still counts; what was there at the last look, the person has removed.
        let gone = |item: &&Item| file.item(&item.key).is_none() && !seen.contains_key(item.key.as_str());
        now.extend(self.trusted.iter().filter(gone).cloned());
        self.trusted = now;
        self.seen.clone_from(&file.items);
    }

    /// A command of the run has run since the last look. Returns what has to be written to put back ticks.
    pub fn distrust(&mut self, file: &Document) -> Vec<TickEdit> {
        let mut edits = Vec::new();
        let (trusted, seen) = (by_key(&self.trusted), by_key(&self.seen));
        let mut ignored = Vec::new();
        let mut now: Vec<Item> = Vec::new();
        for item in &file.items {
            let known = trusted.get(item.key.as_str()).copied();
            let before = seen.get(item.key.as_str()).copied();
            let new = || Item { verify: Vec::new(), done: false, ..item.clone() };
            let definition = known.cloned().unwrap_or_else(new);
            if known.is_none() && !item.verify.is_empty() {
                ignored.push(format!("{} is new, and its verify commands are not run", item.key));
            }
            if before.is_some_and(|before| !before.same_definition(item)) {
                ignored.push(format!("{} was changed; it counts as it was", item.key));
            }
            if item.done != definition.done {
                self.put_back.push(item.key.clone());
                edits.push(TickEdit { tick: item.tick.clone(), bytes: former(known, item) });
            }
            now.push(Item { done: definition.done, ..standing(&definition, item) });
        }
        for item in self.trusted.iter().filter(|item| file.item(&item.key).is_none()) {
            if seen.contains_key(item.key.as_str()) {
                ignored.push(format!("{} was removed; it still counts", item.key));
            }
            now.push(item.clone());
        }
        self.ignored.extend(ignored);
        self.trusted = now;
        self.seen.clone_from(&file.items);
        edits
    }

    /// The plan was written by ralph itself: this is how it stands now.
    pub fn written(&mut self, file: &Document) {
        let now = by_key(&file.items);
        for item in &mut self.trusted {
            if let Some(file) = now.get(item.key.as_str()) {
                *item = Item { done: item.done, ..standing(item, file) };
            }
        }
        self.seen.clone_from(&file.items);
    }

    /// A story was granted, wherever its item is now.
    pub fn granted(&mut self, key: &str) {
        self.trusted.iter_mut().filter(|item| item.key == key).for_each(|item| item.done = true);
    }
}

fn by_key(items: &[Item]) -> BTreeMap<&str, &Item> {
    items.iter().map(|item| (item.key.as_str(), item)).collect()
}

/// What is asked of an item, with its tick and place in the file.
fn standing(definition: &Item, file: &Item) -> Item {
    Item {
        done: file.done,
        tick: file.tick.clone(),
        line: file.line,
        column: file.column,
        ..definition.clone()
    }
}

/// The bytes that the tick had before.
fn former(known: Option<&Item>, item: &Item) -> String {
    match known {
        Some(known) if known.tick.kind == item.tick.kind => known.tick.now.clone(),
        Some(known) if known.done => item.tick.done.clone(),
        _ => item.tick.open.clone(),
    }
}
