//! What one change is: the whole file, or its parts.

use super::reach::expectation_like;
use super::standing::Place;
use super::table::Named;
use super::{Classifier, paths};
use crate::change::{Change, Parts, Split};
use crate::files::{FileFacts, Kind};
use crate::layout::same_meaning;
use crate::parts::manifest::{self, ManifestSplit};
use crate::parts::rust::Moved;
use crate::parts::{SourceSplit, python, rust};

/// Tests that are read to find out whether they name a file.
const MOST_TESTS: usize = 300;

/// A split and its reason.
type Decision = (Split, String);

impl Classifier<'_> {
    /// What the change at this path is.
    pub fn decide(&self, path: &[u8], moved: &Moved) -> Change {
        let (before, now) = (self.inputs.before.get(path), self.inputs.now.get(path));
        let mut docs = false;
        let (split, why) = match self.standing(path) {
            Place::Oracle(why) => (Split::Oracle, why),
            Place::Ambiguous { why, docs: is_docs } => {
                docs = is_docs;
                (Split::Ambiguous, why)
            }
            Place::Work { why, docs: is_docs } => {
                docs = is_docs;
                (Split::Work, why)
            }
            Place::Manifest(why) => self.manifest(path, why),
            place if !is_regular(before) || !is_regular(now) => self.irregular(path, &place),
            Place::Rust => self.rust(path, moved),
            Place::Source(why) => self.source(path, why),
            Place::Unknown => self.unknown(path),
        };
        let layout_only = split == Split::Oracle && self.means_the_same(path, before, now);
        Change {
            path: path.to_vec(),
            split,
            why,
            existed: before.is_some(),
            exists: now.is_some(),
            docs,
            layout_only,
        }
    }

    fn means_the_same(&self, path: &[u8], before: Option<FileFacts>, now: Option<FileFacts>) -> bool {
        let (Some(old), Some(new)) = (before, now) else { return false };
        let (Some(before), Some(now)) = (self.inputs.before.text(path), self.inputs.now.text(path)) else {
            return false;
        };
        old.executable == new.executable && same_meaning(path, &before, &now)
    }

    /// A link, a FIFO or a submodule where source code was expected.
    fn irregular(&self, path: &[u8], place: &Place) -> Decision {
        let link = [self.inputs.before, self.inputs.now]
            .into_iter()
            .filter_map(|side| side.get(path))
            .any(|facts| facts.kind == Kind::Link);
        let why = if link { "a link" } else { "not a regular file" };
        match place {
            Place::Rust if self.is_test_module(path) => (Split::Oracle, "test module".into()),
            _ => (Split::Ambiguous, why.into()),
        }
    }

    /// Both sides as text: none where a side is there and cannot be read.
    fn texts(&self, path: &[u8]) -> Option<(Option<String>, Option<String>)> {
        let read = |side: &crate::files::Files<'_>| match side.get(path) {
            Some(_) => side.text(path).map(Some),
            None => Some(None),
        };
        Some((read(self.inputs.before)?, read(self.inputs.now)?))
    }

    fn manifest(&self, path: &[u8], what: &str) -> Decision {
        let Some((before, now)) = self.texts(path) else {
            return (Split::Oracle, format!("{what}, cannot be read"));
        };
        let Some(now) = now else { return (Split::Oracle, format!("{what}, gone")) };
        let name = paths::shown(paths::name(path)).to_ascii_lowercase();
        let Some(found) = manifest::split(&name, before.as_deref(), &now, &self.reach.targets) else {
            return (Split::Oracle, format!("{what}, cannot be read"));
        };
        let why = |usual: &str| found.why.clone().unwrap_or_else(|| format!("{what}, {usual}"));
        match &found.split {
            ManifestSplit::Rest => (Split::Ambiguous, why("not its checks")),
            ManifestSplit::Oracle => (Split::Oracle, why("its checks")),
            ManifestSplit::Both { without_oracle, oracle_only } => {
                let alone = before.is_some() || !found.needs_rest;
                let parts = Parts {
                    work: false,
                    without_oracle: Some(without_oracle.clone().into_bytes()),
                    oracle_only: alone.then(|| oracle_only.clone().into_bytes()),
                };
                (Split::Parts(parts), why("both parts"))
            }
        }
    }

    fn rust(&self, path: &[u8], moved: &Moved) -> Decision {
        if self.is_test_module(path) {
            return (Split::Oracle, "test module".into());
        }
        if self.is_expectation(path) {
            return (Split::Ambiguous, "named like an expectation, and by tests".into());
        }
        if self.is_in_test_only_crate(path) {
            return (Split::Ambiguous, "crate that only tests use".into());
        }
        let Some((before, now)) = self.texts(path) else {
            return (Split::Oracle, "Rust, cannot be read".into());
        };
        let Some(now) = now else {
            let kept = |text: &String| rust::split(Some(text), "", moved) == Some(SourceSplit::Work);
            return if before.as_ref().is_some_and(|text| !kept(text)) {
                (Split::Oracle, "gone with its tests".into())
            } else {
                (Split::Work, "Rust source".into())
            };
        };
        source_split(rust::split(before.as_deref(), &now, moved), "Rust")
    }

    fn source(&self, path: &[u8], why: &str) -> Decision {
        if self.is_expectation(path) {
            return (Split::Ambiguous, "named like an expectation, and by tests".into());
        }
        if !self.reach.doctests || paths::extension(path) != b"py" {
            return (Split::Work, why.into());
        }
        match self.texts(path) {
            Some((before, Some(now))) => source_split(python::split(before.as_deref(), &now), "Python"),
            Some((_, None)) => (Split::Work, why.into()),
            None => (Split::Oracle, "Python, cannot be read".into()),
        }
    }

    /// A name that says nothing: a script is work, anything else may be either.
    fn unknown(&self, path: &[u8]) -> Decision {
        let side = if self.inputs.now.contains(path) { self.inputs.now } else { self.inputs.before };
        let script = side.bytes(path).is_some_and(|bytes| bytes.starts_with(b"#!"));
        if script {
            (Split::Work, "script".into())
        } else {
            (Split::Ambiguous, "unknown kind of file".into())
        }
    }

    /// A source file of the baseline that is named like what tests expect, and that a test names.
    fn is_expectation(&self, path: &[u8]) -> bool {
        let before = self.inputs.before;
        if !before.contains(path) || !expectation_like(path) {
            return false;
        }
        let stem = match paths::stem(path) {
            b"__init__" | b"mod" | b"index" | b"lib" | b"main" => paths::name(paths::parent(path)),
            stem => stem,
        };
        let is_rust = path.ends_with(b".rs");
        let holds_tests = |other: &&[u8]| {
            let named = self.table.row(other, false).is_some_and(|row| row.set == Named::Test);
            *other != path && self.table.is_source(other) && (named || is_rust && other.ends_with(b".rs"))
        };
        before.paths().filter(holds_tests).take(MOST_TESTS).any(|test| {
            before.text(test).is_some_and(|text| {
                let tests = !is_rust
                    || super::is_rust_test_by_name(test)
                    || memchr::memmem::find(text.as_bytes(), b"cfg(test)").is_some();
                tests && names_word(text.as_bytes(), stem)
            })
        })
    }
}

fn is_regular(facts: Option<FileFacts>) -> bool {
    facts.is_none_or(|facts| facts.kind == Kind::File)
}

/// A whole word of a text.
fn names_word(text: &[u8], word: &[u8]) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !word.is_empty()
        && memchr::memmem::find_iter(text, word).any(|at| {
            let before = at.checked_sub(1).and_then(|at| text.get(at));
            !letter(before) && !letter(text.get(at + word.len()))
        })
}

fn source_split(found: Option<SourceSplit>, language: &str) -> Decision {
    match found {
        None => (Split::Oracle, format!("{language}, cannot be read")),
        Some(SourceSplit::Work) => (Split::Work, format!("{language} source")),
        Some(SourceSplit::Oracle) => (Split::Oracle, format!("{language} source, its tests")),
        Some(SourceSplit::Both { without_oracle, oracle_only }) => {
            let parts = Parts {
                work: true,
                without_oracle: Some(without_oracle.into_bytes()),
                oracle_only: oracle_only.map(String::into_bytes),
            };
            (Split::Parts(parts), format!("{language} source with tests"))
        }
    }
}
