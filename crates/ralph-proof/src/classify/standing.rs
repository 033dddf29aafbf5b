//! What one path is, before its content is looked at.

use super::globs::Chosen;
use super::reach::Standing;
use super::table::{Named, Row};
use super::{Classifier, is_make, paths};

/// What a path is by its name, by what the commands reach, and by the user's own lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Belongs to the oracle.
    Oracle(String),
    /// May be either.
    Ambiguous {
        /// In words.
        why: String,
        /// Documentation.
        docs: bool,
    },
    /// Is work.
    Work {
        /// In words.
        why: String,
        /// Documentation that a command examines.
        docs: bool,
    },
    /// Is taken apart as a manifest.
    Manifest(&'static str),
    /// A Rust file that is no test by its name.
    Rust,
    /// Source code; the extension's row.
    Source(&'static str),
    /// Nothing is known of such a name.
    Unknown,
}

impl Classifier<'_> {
    /// What a path is.
    pub fn standing(&self, path: &[u8]) -> Place {
        match (self.oracle_paths.chosen(path), self.work_paths.chosen(path)) {
            (Chosen::Named, _) => return Place::Oracle("named in verify.oracle_paths".into()),
            (_, Chosen::Named) => {
                return Place::Work { why: "named in verify.work_paths".into(), docs: false };
            }
            (Chosen::TakenOut, _) => return self.taken_out(path),
            (Chosen::No, _) => {}
        }
        if self.is_behind_link(path) {
            return Place::Oracle("behind a link of the tests".into());
        }
        let is_new = !self.inputs.before.contains(path);
        let row = self.table.row(path, is_new);
        self.reached(path, row).unwrap_or_else(|| self.by_row(path, row))
    }

    /// The user says that it is not the oracle's.
    fn taken_out(&self, path: &[u8]) -> Place {
        match self.table.row(path, false) {
            Some(row) if matches!(row.set, Named::Ambiguous | Named::Docs) => {
                Place::Ambiguous { why: row.why.into(), docs: row.set == Named::Docs }
            }
            _ => Place::Work { why: "taken out by verify.oracle_paths".into(), docs: false },
        }
    }

    fn is_behind_link(&self, path: &[u8]) -> bool {
        if self.behind_links.is_empty() {
            return false;
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes
            .chain([path.len()])
            .any(|at| path.get(..at).is_some_and(|part| self.behind_links.contains(part)))
    }

    /// What the commands say of it, where that decides.
    fn reached(&self, path: &[u8], row: Option<Row>) -> Option<Place> {
        let reached = self.reach.get(path)?;
        let set = row.map(|row| row.set);
        match (reached.standing, set) {
            (Standing::Oracle, Some(Named::Part))
                if is_make(path) || path.ends_with(b".json") || path.ends_with(b".toml") =>
            {
                None
            }
            (Standing::Oracle, _) => Some(Place::Oracle(reached.why.clone())),
            (_, Some(Named::Test | Named::Oracle | Named::Shadow | Named::Part)) => None,
            _ if self.shadowed_module(path).is_some() => None,
            (Standing::Examined, set) => {
                Some(Place::Work { why: reached.why.clone(), docs: set == Some(Named::Docs) })
            }
            (Standing::Ambiguous, _) => Some(Place::Ambiguous { why: reached.why.clone(), docs: false }),
        }
    }

    fn by_row(&self, path: &[u8], row: Option<Row>) -> Place {
        if let Some(why) = self.stands_in(path) {
            return Place::Oracle(why);
        }
        let is_third_party =
            row.is_some_and(|row| row.set == Named::Ambiguous && row.why == "third-party folder");
        if !is_third_party
            && !row.is_some_and(|row| row.set == Named::Oracle)
            && let Some(module) = self.shadowed_module(path)
        {
            return Place::Oracle(format!("shadows the module {module}"));
        }
        let is_rust = paths::extension(path) == b"rs";
        match row {
            Some(Row { set: Named::Oracle | Named::Shadow, why, .. }) => Place::Oracle(why.into()),
            Some(Row { set: Named::Test, why, .. }) if !is_rust || super::is_rust_test_by_name(path) => {
                Place::Oracle(why.into())
            }
            Some(Row { set: Named::Part, why, .. }) => Place::Manifest(why),
            Some(Row { set: set @ (Named::Ambiguous | Named::Docs), why, .. }) => {
                Place::Ambiguous { why: why.into(), docs: set == Named::Docs }
            }
            Some(_) if is_rust => Place::Rust,
            Some(row) => Place::Source(row.why),
            None => Place::Unknown,
        }
    }
}
