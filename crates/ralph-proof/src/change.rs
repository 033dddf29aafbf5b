//! One changed path, the set it belongs to, and what a room shows at it.

/// Which of the three sets a room takes from the current files; the baseline's version is used for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sets {
    /// The work.
    pub work: bool,
    /// What may be either.
    pub ambiguous: bool,
    /// What decides whether the work is right.
    pub oracle: bool,
}

/// The sets of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// The whole file is work.
    Work,
    /// The whole file may be either.
    Ambiguous,
    /// The whole file belongs to the oracle.
    Oracle,
    /// The file holds both.
    Parts(Parts),
}

/// A file that holds an oracle part and another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The other part is surely work (source code), not merely ambiguous (a manifest).
    pub work: bool,
    /// The current file with the baseline's oracle part; none where no such file can exist.
    pub without_oracle: Option<Vec<u8>>,
    /// The baseline's file with the current oracle part; none if the path is absent then.
    pub oracle_only: Option<Vec<u8>>,
}

/// A path that differs from the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Path in the workspace.
    pub path: Vec<u8>,
    /// Its set or sets.
    pub split: Split,
    /// Why, in words for a person: `test directory`, `run by the verify command`.
    pub why: String,
    /// The path existed at the baseline.
    pub existed: bool,
    /// The path exists now.
    pub exists: bool,
    /// Documentation: nobody is asked for a test of it.
    pub docs: bool,
    /// A parser shows that the oracle part means the same as before.
    pub layout_only: bool,
}

/// What a room shows at a changed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomContent<'a> {
    /// The baseline's version, which may be no file at all.
    Baseline,
    /// The current version, which may be no file at all.
    Now,
    /// A file made of both, with the current mode.
    Made(&'a [u8]),
    /// Nothing.
    Absent,
}

impl Change {
    /// What a room of these sets shows at this path.
    pub fn in_room(&self, sets: Sets) -> RoomContent<'_> {
        let whole = |taken| if taken { RoomContent::Now } else { RoomContent::Baseline };
        match &self.split {
            Split::Work => whole(sets.work),
            Split::Ambiguous => whole(sets.ambiguous),
            Split::Oracle => whole(sets.oracle),
            Split::Parts(parts) => {
                let rest = if parts.work { sets.work } else { sets.ambiguous };
                match (rest, sets.oracle) {
                    (true, true) => RoomContent::Now,
                    (false, false) => RoomContent::Baseline,
                    (true, false) => made(parts.without_oracle.as_deref()),
                    (false, true) => made(parts.oracle_only.as_deref()),
                }
            }
        }
    }

    /// Whether the change has a part in the work.
    pub fn has_work(&self) -> bool {
        match &self.split {
            Split::Work => true,
            Split::Parts(parts) => parts.work,
            _ => false,
        }
    }

    /// Whether the change has a part that may be either.
    pub fn has_ambiguous(&self) -> bool {
        match &self.split {
            Split::Ambiguous => true,
            Split::Parts(parts) => !parts.work,
            _ => false,
        }
    }

    /// Whether the change has a part in the oracle.
    pub fn has_oracle(&self) -> bool {
        matches!(self.split, Split::Oracle | Split::Parts(_))
    }
}

fn made(content: Option<&[u8]>) -> RoomContent<'_> {
    content.map_or(RoomContent::Absent, RoomContent::Made)
}
