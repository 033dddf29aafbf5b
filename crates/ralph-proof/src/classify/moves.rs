//! Tests that moved: between Rust files, or with their whole file.

use std::collections::{BTreeMap, BTreeSet};

use super::{Classifier, paths};
use crate::change::{Change, Split};
use crate::files::{Files, Kind};
use crate::parts::rust::{self, Moved};

impl Classifier<'_> {
    /// Rust tests that are in another of the changed files now.
    pub fn moved_rust_tests(&self, changed: &BTreeSet<&[u8]>) -> Moved {
        let files: Vec<&[u8]> = changed.iter().copied().filter(|path| path.ends_with(b".rs")).collect();
        if files.len() < 2 {
            return Moved::new();
        }
        let tests = |side: &Files<'_>, to: &dyn Fn(&[u8]) -> bool| {
            let mut found: BTreeMap<String, BTreeSet<&[u8]>> = BTreeMap::new();
            for path in files.iter().filter(|path| to(path)) {
                for test in side.text(path).map(|text| rust::tests(&text)).unwrap_or_default() {
                    found.entry(test).or_default().insert(path);
                }
            }
            found
        };
        // A file of tests alone is not in a room without the oracle: what moved there would be lost.
        let old = tests(self.inputs.before, &|_| true);
        let new = tests(self.inputs.now, &|path| !self.is_oracle(path));
        new.into_iter()
            .filter(|(test, at)| old.get(test).is_some_and(|was| was != at))
            .map(|(test, _)| test)
            .collect()
    }

    /// Marks test files that were renamed and would still be collected.
    pub fn mark_renamed_tests(&self, changes: &mut [Change]) {
        let key = |change: &Change, side: &Files<'_>| {
            let facts = side.get(&change.path).filter(|facts| facts.kind == Kind::File)?;
            let name = self.table.by_name(&change.path, false)?.line;
            let dir = self.table.row(&change.path, false)?.line;
            // Cargo collects only what lies directly in its directory of tests.
            let parent = change.path.ends_with(b".rs").then(|| paths::parent(&change.path).to_vec());
            let extension = paths::extension(&change.path);
            // Runners tell `Test_a.py` from `test_a.py`.
            let cased = paths::name(&change.path).iter().any(u8::is_ascii_uppercase);
            Some((facts.hash, facts.executable, name, dir, parent, extension, cased))
        };
        let whole =
            |change: &&mut Change| change.split == Split::Oracle && self.table.is_source(&change.path);
        let mut gone = BTreeMap::new();
        for (at, change) in
            changes.iter_mut().enumerate().filter(|(_, change)| change.existed && !change.exists)
        {
            if whole(&change)
                && let Some(key) = key(change, self.inputs.before)
            {
                gone.insert(key, at);
            }
        }
        let mut renamed = Vec::new();
        for (at, change) in
            changes.iter_mut().enumerate().filter(|(_, change)| !change.existed && change.exists)
        {
            if whole(&change)
                && let Some(key) = key(change, self.inputs.now)
                && let Some(old) = gone.remove(&key)
            {
                renamed.extend([at, old]);
            }
        }
        for at in renamed {
            if let Some(change) = changes.get_mut(at) {
                change.layout_only = true;
                change.why.push_str(", renamed");
            }
        }
    }
}
