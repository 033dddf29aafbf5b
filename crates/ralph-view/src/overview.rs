//! The first screen: one sentence that says whether anybody is needed, what the day has cost, and the cards by group.

use crate::card::{Card, Group};
use crate::fact_text::{capital, money};
use ralph_rules::account::SCRIPTED_AGENT;
use ralph_rules::record::Ms;
use ralph_store::Position;
use serde::Serialize;

/// Cards on the first screen at most.
pub const MOST_CARDS: usize = 100;
/// Runs that completed within this time are counted in the sentence.
const LATELY: Ms = 24 * 3_600_000;

/// Said where the cards of scripted runs show costs that the day's does not have.
const SCRIPTED: &str = " Scripted runs cost nothing: the day's cost leaves them out.";

/// How many runs each group has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // as `Group` names them
pub struct Counts {
    pub needs_you: usize,
    pub working: usize,
    pub waiting: usize,
    pub completed: usize,
    pub ended: usize,
}

impl Counts {
    /// Of these cards.
    pub fn of<'a>(cards: impl IntoIterator<Item = &'a Card>) -> Counts {
        let mut counts = Counts::default();
        for card in cards {
            *match card.group {
                Group::NeedsYou => &mut counts.needs_you,
                Group::Working => &mut counts.working,
                Group::Waiting => &mut counts.waiting,
                Group::Completed => &mut counts.completed,
                Group::Ended => &mut counts.ended,
            } += 1;
        }
        counts
    }
}

/// What all runs of the user took lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Today {
    /// Micro-dollars of calls that ended today.
    pub spent_micro: i64,
    /// Micro-dollars reserved for calls under way.
    pub held_micro: i64,
    /// The most that a day may cost, if that is limited.
    pub cap_micro: Option<i64>,
    /// Calls in the last hour.
    pub calls: i64,
    /// The most in any hour, if that is limited.
    pub calls_cap: Option<u32>,
}

impl Today {
    /// What counts as spent: with what is held for calls that are not settled yet, marked `~` then.
    pub fn spent(&self) -> String {
        money(self.spent_micro.saturating_add(self.held_micro), self.held_micro == 0)
    }
}

/// The first screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The newest record it knows of.
    pub position: Position,
    /// When it was made, UTC milliseconds.
    pub now: Ms,
    /// Whether anybody is needed, in a sentence.
    pub headline: String,
    /// What else there is, in a sentence.
    pub lead: String,
    /// Runs by group.
    pub counts: Counts,
    /// What the day has cost.
    pub today: Today,
    /// The run to show first.
    pub focus: Option<String>,
    /// By group, newest first in each.
    pub cards: Vec<Card>,
    /// There are older runs.
    pub more: bool,
}

impl Overview {
    /// Of these cards, newest first, which include every run that is open or needs somebody.
    pub fn of(mut cards: Vec<Card>, position: Position, now: Ms, today: Today) -> Overview {
        let counts = Counts::of(&cards);
        // A stable sort: within a group the newest stay first.
        cards.sort_by_key(|card| card.group);
        let more = cards.len() > MOST_CARDS;
        cards.truncate(MOST_CARDS);
        let lately = cards.iter().filter(|card| card.group == Group::Completed);
        let lately = lately.filter(|card| now.saturating_sub(card.run.row.updated) < LATELY).count();
        let lately_scripted = cards.iter().any(|card| {
            card.run.row.agent == SCRIPTED_AGENT && now.saturating_sub(card.run.row.updated) < LATELY
        });
        let newest = |group: Group| cards.iter().find(|card| card.group == group);
        let focus = newest(Group::Working).or_else(|| newest(Group::NeedsYou)).or_else(|| cards.first());
        Overview {
            position,
            now,
            headline: headline(counts, cards.is_empty()),
            lead: lead(counts, lately, cards.is_empty()) + if lately_scripted { SCRIPTED } else { "" },
            counts,
            today,
            focus: focus.map(|card| card.run.row.id.clone()),
            cards,
            more,
        }
    }
}

fn headline(counts: Counts, empty: bool) -> String {
    match counts {
        _ if empty => "Nothing has run yet.".into(),
        Counts { needs_you: 1, .. } => "One needs you.".into(),
        Counts { needs_you: n @ 2.., .. } => format!("{} need you.", capital(&number(n))),
        Counts { working: 0, waiting: 0, .. } => "All quiet.".into(),
        _ => "Nothing needs you.".into(),
    }
}

fn lead(counts: Counts, completed: usize, empty: bool) -> String {
    let part = |n: usize, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("one {one}")),
        n => Some(format!("{} {many}", number(n))),
    };
    let parts = [
        part(counts.working, "is working", "are working"),
        part(counts.waiting, "waits", "wait"),
        part(completed, "completed in the last day", "completed in the last day"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true if empty => "`ralph demo` shows a run; it needs no key and no network.".into(),
        true => "Start one with `ralph run`.".into(),
        false => capital(&parts.join(", ")) + ".",
    }
}

/// A small number in words.
fn number(n: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(n).map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_says_whether_anybody_is_needed() {
        let counts =
            |needs_you, working, waiting| Counts { needs_you, working, waiting, ..Counts::default() };
        let table = [
            (
                counts(2, 3, 1),
                2,
                "Two need you.",
                "Three are working, one waits, two completed in the last day.",
            ),
            (counts(1, 0, 0), 0, "One needs you.", "Start one with `ralph run`."),
            (counts(0, 1, 0), 0, "Nothing needs you.", "One is working."),
            (counts(0, 0, 2), 1, "Nothing needs you.", "Two wait, one completed in the last day."),
            (counts(0, 0, 0), 0, "All quiet.", "Start one with `ralph run`."),
            (counts(13, 0, 0), 0, "13 need you.", "Start one with `ralph run`."),
        ];
        for (counts, completed, first, second) in table {
            assert_eq!(
                (headline(counts, false).as_str(), lead(counts, completed, false).as_str()),
                (first, second)
            );
        }
        assert_eq!(headline(Counts::default(), true), "Nothing has run yet.");
    }
}
