//! Which item is next: the lowest priority number whose dependencies are done, among equals the first in the file. Also
//! what keeps items from being taken in order: ids that occur twice, dependencies that do not exist, cycles.

use super::{Item, Unreadable};
use std::collections::{BTreeMap, BTreeSet};

/// What to do next in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// Work on this item.
    Take(&'a Item),
    /// Everything that is required is done.
    Complete,
    /// These are open and cannot be taken: set aside, blocked, or waiting for one that is.
    Stuck(Vec<&'a Item>),
}

/// The keys of everything that is done.
pub(super) fn done(items: &[Item]) -> BTreeSet<&str> {
    let done = items.iter().filter(|item| item.done);
    done.flat_map(|item| [item.key.as_str(), item.id.as_str()]).collect()
}

/// The next item; those in `aside` are not taken.
pub fn choose<'a>(items: &'a [Item], aside: &BTreeSet<String>) -> Choice<'a> {
    let done = done(items);
    let needed = needed(items);
    let open: Vec<&Item> = items.iter().filter(|item| !item.done && needed.contains(&item.key)).collect();
    if open.is_empty() {
        return Choice::Complete;
    }
    let can_be_taken = |item: &&&Item| !item.blocked && !aside.contains(&item.key) && item.ready(&done);
    // The first of several equals: the file's own order stays.
    match open.iter().filter(can_be_taken).min_by_key(|item| item.priority.unwrap_or(i64::MAX)) {
        Some(item) => Choice::Take(item),
        None => Choice::Stuck(open),
    }
}

/// The items that completion requires, and what those depend on.
fn needed(items: &[Item]) -> BTreeSet<String> {
    let by_key: BTreeMap<&str, &Item> = items.iter().map(|item| (item.key.as_str(), item)).collect();
    let mut open: Vec<&Item> = items.iter().filter(|item| !item.optional).collect();
    let mut needed = BTreeSet::new();
    while let Some(item) = open.pop() {
        if needed.insert(item.key.clone()) {
            open.extend(item.depends_on.iter().filter_map(|d| by_key.get(d.on.as_str()).copied()));
        }
    }
    needed
}

/// Every mistake, in the order of the file.
pub(super) fn problems(items: &[Item]) -> Vec<Unreadable> {
    let mut found = Vec::new();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        if let Some(first) = lines.insert(&item.key, item.line) {
            let what = format!("the id {} is used twice, first in line {first}", item.key);
            found.push(Unreadable { line: item.line, column: item.column, what });
        }
    }
    for item in items {
        for other in item.depends_on.iter().filter(|other| !lines.contains_key(other.on.as_str())) {
            let what = format!("{} depends on {}, which is not in the plan", item.key, other.on);
            found.push(Unreadable { line: other.line, column: other.column, what });
        }
    }
    found.extend(cycle(items));
    found.sort_by_key(|problem| (problem.line, problem.column));
    found
}

/// The first cycle of dependencies, if there is one. Items without open dependencies are taken away until none is left;
/// what remains is in a cycle or waits for one.
fn cycle(items: &[Item]) -> Option<Unreadable> {
    let by_key: BTreeMap<&str, &Item> = items.iter().map(|item| (item.key.as_str(), item)).collect();
    let mut waits: BTreeMap<&str, usize> = BTreeMap::new();
    let mut waiting_for: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in by_key.values() {
        let known: BTreeSet<&str> = item.depends_on.iter().map(|d| d.on.as_str()).collect();
        let known = known.into_iter().filter(|on| by_key.contains_key(on));
        let count = known.map(|on| waiting_for.entry(on).or_default().push(&item.key)).count();
        waits.insert(&item.key, count);
    }
    let mut free: Vec<&str> = waits.iter().filter(|(_, n)| **n == 0).map(|(key, _)| *key).collect();
    while let Some(key) = free.pop() {
        waits.remove(key);
        for other in waiting_for.get(key).into_iter().flatten() {
            if let Some(count) = waits.get_mut(other) {
                *count -= 1;
                if *count == 0 {
                    free.push(other);
                }
            }
        }
    }
    let first = items.iter().find(|item| waits.contains_key(item.key.as_str()))?;
    // Following what remains must come back to an item that was passed.
    let mut path: Vec<&Item> = vec![first];
    loop {
        let last = path.last()?;
        let next = last.depends_on.iter().find(|d| waits.contains_key(d.on.as_str()))?;
        if let Some(start) = path.iter().position(|item| item.key == next.on) {
            let names = path.get(start..)?.iter().map(|item| item.key.as_str());
            let names: Vec<&str> = names.chain([next.on.as_str()]).collect();
            let what = format!("the dependencies form a cycle: {}", names.join(" → "));
            return Some(Unreadable { line: next.line, column: next.column, what });
        }
        path.push(by_key.get(next.on.as_str())?);
    }
}
