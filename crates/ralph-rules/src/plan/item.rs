//! One item of a plan, and its tick: the few bytes of the file that say whether it is done.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An item of a plan: a checkbox, or a story.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    /// What tells it from the others: its id, or its text if it has none.
    pub key: String,
    /// Its id as written, if it has one.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What else is said about it.
    pub text: String,
    /// Acceptance criteria.
    pub criteria: Vec<String>,
    /// Commands that have to pass for this item alone.
    pub verify: Vec<String>,
    /// The lowest number comes first.
    pub priority: Option<i64>,
    /// What has to be done before.
    pub depends_on: Vec<Dependency>,
    /// Marked as blocked: nobody should take it.
    pub blocked: bool,
    /// Ticked.
    pub done: bool,
    /// Completion does not require it.
    pub optional: bool,
    /// Where it is ticked.
    pub tick: Tick,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// Another item that has to be done before, and where that is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The key of the other item.
    pub on: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// Which bytes say that an item is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// First byte.
    pub from: usize,
    /// The byte after the last.
    pub to: usize,
    /// How it is written.
    pub kind: TickKind,
    /// The bytes there.
    pub now: String,
    /// The bytes of a done item.
    pub done: String,
    /// The bytes of an open one.
    pub open: String,
}

/// How a tick is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TickKind {
    /// `[ ]` and `[x]`.
    #[default]
    Checkbox,
    /// `"passes": false`.
    Passes,
    /// `"status": "open"`, where there is no `passes`.
    Status,
    /// Neither: `"passes": true` is added.
    Absent,
}

impl Tick {
    pub(super) fn shift(&mut self, by: usize) {
        self.from += by;
        self.to += by;
    }
}

impl Item {
    /// Its id and title, for people.
    pub fn label(&self) -> String {
        let named = [&self.title, &self.text].into_iter().find(|text| !text.trim().is_empty());
        match named {
            Some(text) if self.id.is_empty() => text.clone(),
            Some(text) => format!("{}: {text}", self.id),
            None if self.id.is_empty() => "(story without a title)".into(),
            None => self.id.clone(),
        }
    }

    /// Everything it depends on is done.
    pub fn ready(&self, done: &BTreeSet<&str>) -> bool {
        self.depends_on.iter().all(|other| done.contains(other.on.as_str()))
    }

    /// The same item apart from where it is written and whether it is ticked.
    pub(super) fn same_definition(&self, other: &Item) -> bool {
        let on = |item: &Item| item.depends_on.iter().map(|d| d.on.clone()).collect::<Vec<_>>();
        let text = |item: &Item| (item.title.clone(), item.text.clone(), item.criteria.clone());
        let rank = |item: &Item| (item.priority, item.optional, item.blocked);
        text(self) == text(other)
            && self.verify == other.verify
            && rank(self) == rank(other)
            && on(self) == on(other)
    }
}

/// Gives every item a key: its id, or its text, with a number where an earlier item has the same text.
pub(super) fn name_items(items: &mut [Item]) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for item in items {
        if !item.id.is_empty() {
            item.key.clone_from(&item.id);
            continue;
        }
        let text = item.label().split_whitespace().collect::<Vec<_>>().join(" ");
        let count = counts.entry(text.clone()).or_insert(0);
        *count += 1;
        item.key = if *count == 1 { text } else { format!("{text} ({count})") };
    }
}
