//! The rows of the list: a heading for each group that has runs, two rows a run.

use ralph_view::card::{Card, Group};

/// A row of the list; runs by their number in what is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRow {
    /// The name of a group.
    Heading(Group),
    /// A run's task and cost.
    Task(usize),
    /// What it does, its strip, where and since when.
    Doing(usize),
    /// Nothing.
    Blank,
}

/// The rows of these cards, which come by group.
pub fn list_rows(cards: &[&Card]) -> Vec<ListRow> {
    let (mut rows, mut group) = (Vec::new(), None);
    for (at, card) in cards.iter().enumerate() {
        if group != Some(card.group) {
            if group.is_some() {
                rows.push(ListRow::Blank);
            }
            rows.push(ListRow::Heading(card.group));
            group = Some(card.group);
        }
        rows.extend([ListRow::Task(at), ListRow::Doing(at)]);
    }
    rows
}
