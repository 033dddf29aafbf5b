//! The map: which hunks a test notices, found by putting groups of them back.
//!
//! Most hunks of honest work are held, and to know that of a hunk by itself takes a run for each. The map therefore
//! answers for groups first: hunks of one function stand or fall together, and only what [`Search::in_detail`] asks for
//! is tried hunk by hunk. Groups that no test notices tend to be neighbours, so after one of them more are put back at a
//! time.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// What is known of one hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Without it, a check fails.
    Held,
    /// Without it and the rest of its group, a check fails; it was not tried alone.
    HeldTogether,
    /// Without it, every check still passes; perhaps it was put back together with others.
    NotHeld,
    /// It was not tried: trivial, or out of time.
    NotTried,
}

/// A search over hunks numbered from 0. Ask [`Search::next_group`], put the group back, tell [`Search::answer`].
#[derive(Clone, Debug)]
pub struct Search {
    held: Vec<Held>,
    /// Hunks that belong together, those that are not tried left out.
    groups: Vec<Vec<usize>>,
    /// The first group that was never part of a question.
    next: usize,
    /// How many groups are put back at once.
    width: usize,
    /// What is still to be asked about groups that were put back together.
    open: Vec<Open>,
    /// Groups of several hunks that are held, for asking about each hunk.
    in_detail: Option<VecDeque<usize>>,
    asked: Option<Question>,
}

#[derive(Clone, Debug)]
enum Open {
    /// Nothing is known of these groups.
    Unknown(Range<usize>),
    /// One of these groups is held.
    Red(Range<usize>),
}

#[derive(Clone, Debug)]
enum Question {
    /// Groups, and the other half if they are known to be held together.
    Groups(Range<usize>, Option<Range<usize>>),
    Hunk(usize),
}

/// No more groups are put back at once.
const WIDEST: usize = 32;

impl Search {
    /// A search over as many hunks; those for which `tried` is false are left out. `groups` are hunks that belong
    /// together, such as those of one function; what is in none of them is a group of its own.
    pub fn new(hunks: usize, tried: impl Fn(usize) -> bool, groups: &[Vec<usize>]) -> Search {
        let mut left: BTreeSet<usize> = (0..hunks).filter(|hunk| tried(*hunk)).collect();
        let mut made: Vec<Vec<usize>> = Vec::new();
        for group in groups {
            made.push(group.iter().copied().filter(|hunk| left.remove(hunk)).collect());
        }
        made.extend(left.into_iter().map(|hunk| vec![hunk]));
        made.retain(|group| !group.is_empty());
        made.sort();
        Search {
            held: vec![Held::NotTried; hunks],
            groups: made,
            next: 0,
            width: 1,
            open: Vec::new(),
            in_detail: None,
            asked: None,
        }
    }

    /// Also tries each hunk of a held group alone, after all groups are known.
    pub fn in_detail(mut self) -> Search {
        self.in_detail = Some(VecDeque::new());
        self
    }

    /// The hunks to put back next; none when everything is known. The same again until it is answered.
    pub fn next_group(&mut self) -> Option<Vec<usize>> {
        if self.asked.is_none() {
            self.asked = self.question();
        }
        match self.asked.as_ref()? {
            Question::Groups(range, _) => Some(self.hunks(range)),
            Question::Hunk(hunk) => Some(vec![*hunk]),
        }
    }

    /// Whether the verification failed with that group put back.
    pub fn answer(&mut self, failed: bool) {
        match self.asked.take() {
            None => {}
            Some(Question::Hunk(hunk)) => self.mark([hunk], if failed { Held::Held } else { Held::NotHeld }),
            Some(Question::Groups(range, other)) if failed => {
                self.width = 1;
                self.open.extend(other.map(Open::Unknown));
                self.open.push(Open::Red(range));
            }
            Some(Question::Groups(range, other)) => {
                self.width = (2 * self.width).min(WIDEST);
                self.mark(self.hunks(&range), Held::NotHeld);
                self.open.extend(other.map(Open::Red));
            }
        }
    }

    /// What is known so far.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    fn hunks(&self, range: &Range<usize>) -> Vec<usize> {
        self.groups.get(range.clone()).unwrap_or_default().concat()
    }

    fn mark(&mut self, hunks: impl IntoIterator<Item = usize>, held: Held) {
        for hunk in hunks {
            if let Some(known) = self.held.get_mut(hunk) {
                *known = held;
            }
        }
    }

    fn question(&mut self) -> Option<Question> {
        while let Some(open) = self.open.pop() {
            match open {
                Open::Unknown(range) => return Some(Question::Groups(range, None)),
                Open::Red(range) if range.len() == 1 => self.conclude(range.start),
                Open::Red(range) => {
                    let middle = range.start + range.len() / 2;
                    return Some(Question::Groups(range.start..middle, Some(middle..range.end)));
                }
            }
        }
        if self.next < self.groups.len() {
            let range = self.next..(self.next + self.width).min(self.groups.len());
            self.next = range.end;
            return Some(Question::Groups(range, None));
        }
        self.detail()
    }

    /// One group is held, and nothing else that was put back with it.
    fn conclude(&mut self, index: usize) {
        let group = self.groups.get(index).cloned().unwrap_or_default();
        if group.len() == 1 {
            self.mark(group, Held::Held);
        } else {
            self.mark(group, Held::HeldTogether);
            self.in_detail.iter_mut().for_each(|queue| queue.push_back(index));
        }
    }

    /// The next hunk of a held group. The last one needs no run if all others are not held.
    fn detail(&mut self) -> Option<Question> {
        let queue = self.in_detail.as_mut()?;
        while let Some(index) = queue.front().copied() {
            let group = self.groups.get(index)?;
            let known = |hunk: &usize| self.held.get(*hunk).copied().unwrap_or(Held::NotTried);
            let mut open = group.iter().copied().filter(|hunk| known(hunk) == Held::HeldTogether);
            match (open.next(), open.next()) {
                (None, _) => {
                    queue.pop_front();
                }
                (Some(hunk), None)
                    if group.iter().all(|other| *other == hunk || known(other) == Held::NotHeld) =>
                {
                    queue.pop_front();
                    self.mark([hunk], Held::Held);
                    return self.detail();
                }
                (Some(hunk), _) => return Some(Question::Hunk(hunk)),
            }
        }
        None
    }
}
