//! Reads a plan file: its items, which of them are ticked, and where. Checkboxes in Markdown (`plan/markdown.rs`) or
//! stories in a prd.json (`plan/prd.rs`). A ticked item is only a claim: an open item contradicts completion, a completed
//! plan is one indicator among others. `plan/order.rs` says which item is next, `plan/ledger.rs` which of its changes
//! count, `plan/import.rs` turns one format into another. The engine reads the file, this module its text.

mod import;
mod item;
mod json_nodes;
mod ledger;
mod markdown;
mod markdown_details;
mod order;
mod places;
mod prd;

pub use import::{Imported, import};
pub use item::{Dependency, Item, Tick, TickKind};
pub use ledger::{Ledger, TickEdit};
pub use order::{Choice, choose};

use crate::prompt::head;

/// Open items that are named.
pub const NAMED: usize = 10;
/// Length of one of them.
pub const TEXT: usize = 200;

/// A plan, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Items ticked.
    pub done: u32,
    /// Open items that completion requires.
    pub pending: u32,
    /// Open items that completion does not require: under a heading such as Optional.
    pub optional: u32,
    /// The next open items' texts, the first few.
    pub next: Vec<String>,
}

/// Why a plan could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Unreadable {}

/// A plan, item by item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// In the order of the file.
    pub items: Vec<Item>,
    /// The order in which a reader takes open items: by readiness and priority in a prd.json, otherwise the file's.
    by_priority: bool,
}

/// Reads a plan and counts its items. `name` decides how: `.json` is a prd.json, anything else Markdown or plain text.
pub fn read(name: &str, bytes: &[u8]) -> Result<Plan, Unreadable> {
    document(name, bytes).map(|document| document.counted())
}

/// Reads a plan item by item. Ticks are ranges of `bytes`.
pub fn document(name: &str, bytes: &[u8]) -> Result<Document, Unreadable> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mark = bytes.len() - text.len();
    let mut document = if is_json(name) {
        Document { items: prd::items(text)?, by_priority: true }
    } else {
        Document { items: markdown::items(text), by_priority: false }
    };
    document.items.iter_mut().for_each(|item| item.tick.shift(mark));
    Ok(document)
}

/// Whether a plan of this name is a prd.json.
pub fn is_json(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".json")
}

impl Document {
    /// How many items there are of each kind, and the first open ones.
    pub fn counted(&self) -> Plan {
        let mut plan = Plan::default();
        let mut open: Vec<&Item> = Vec::new();
        for item in &self.items {
            match (item.done, item.optional) {
                (true, false) => plan.done = plan.done.saturating_add(1),
                (false, false) => open.push(item),
                (false, true) => plan.optional = plan.optional.saturating_add(1),
                (true, true) => {}
            }
        }
        if self.by_priority {
            let done = order::done(&self.items);
            // A stable sort: among equals the file's own order stays.
            open.sort_by_key(|item| (!item.ready(&done), item.priority.unwrap_or(i64::MAX)));
        }
        plan.pending = u32::try_from(open.len()).unwrap_or(u32::MAX);
        let line = |item: &&Item| head(&item.label().split_whitespace().collect::<Vec<_>>().join(" "), TEXT);
        plan.next = open.iter().take(NAMED).map(line).collect();
        plan
    }

    /// The first mistake that keeps the items from being taken in order: the same id twice, a dependency on an item that
    /// does not exist, or a cycle.
    pub fn checked(&self) -> Result<(), Unreadable> {
        self.problems().into_iter().next().map_or(Ok(()), Err)
    }

    /// Every such mistake.
    pub fn problems(&self) -> Vec<Unreadable> {
        order::problems(&self.items)
    }

    /// The item of this key.
    pub fn item(&self, key: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.key == key)
    }
}

impl Plan {
    /// Every item that counts is ticked. A plan without items is not complete: it says nothing.
    pub fn complete(&self) -> bool {
        self.pending == 0 && self.done > 0
    }
}
