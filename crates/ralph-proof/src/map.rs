//! The map: which hunks a test notices, found by putting groups of them back.

/// What is known of one hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Without it, a check fails.
    Held,
    /// Without it, every check still passes.
    NotHeld,
    /// It was not tried: trivial, or out of time.
    NotTried,
}

/// A search over hunks numbered from 0. Ask [`Search::next_group`], put the group back, tell [`Search::answer`].
#[derive(Clone, Debug)]
pub struct Search {
    held: Vec<Held>,
}

impl Search {
    /// A search over as many hunks; those for which `tried` is false are left out. `groups` are hunks that belong
    /// together, such as those of one file.
    pub fn new(hunks: usize, _tried: impl Fn(usize) -> bool, _groups: &[Vec<usize>]) -> Search {
        Search { held: vec![Held::NotTried; hunks] }
    }

    /// The hunks to put back next; none when everything is known.
    pub fn next_group(&mut self) -> Option<Vec<usize>> {
        None
    }

    /// Whether the verification failed with that group put back.
    pub fn answer(&mut self, _failed: bool) {}

    /// What is known so far.
    pub fn held(&self) -> &[Held] {
        &self.held
    }
}
