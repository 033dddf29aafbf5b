//! Sides made of texts.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::classify::{Classifier, Inputs};
use crate::files::{FileFacts, Files, Kind};

/// The files of one side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    files: BTreeMap<Vec<u8>, (Kind, bool, Vec<u8>)>,
}

impl Side {
    pub fn file(&mut self, path: &str, content: &str) -> &mut Side {
        self.put(path.as_bytes(), Kind::File, content.as_bytes())
    }

    pub fn put(&mut self, path: &[u8], kind: Kind, content: &[u8]) -> &mut Side {
        self.files.insert(path.to_vec(), (kind, false, content.to_vec()));
        self
    }

    pub fn files(&self) -> Files<'_> {
        let facts = self.files.iter().map(|(path, (kind, executable, content))| {
            let hash = content
                .iter()
                .fold(content.len() as u128, |hash, byte| hash.wrapping_mul(1_000_003) ^ u128::from(*byte));
            (path.clone(), FileFacts { kind: *kind, executable: *executable, hash })
        });
        Files::new(facts, Box::new(|path| self.files.get(path).map(|(_, _, content)| content.clone())))
    }
}

pub fn with_classifier<T>(
    before: &Side,
    now: &Side,
    commands: &[&str],
    oracle: &[&str],
    work: &[&str],
    then: impl FnOnce(&Classifier<'_>) -> T,
) -> T {
    let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<String>>();
    let (before, now) = (before.files(), now.files());
    let (commands, oracle, work) = (owned(commands), owned(oracle), owned(work));
    let installed = |name: &str| name == "inst";
    let classifier = Classifier::new(Inputs {
        before: &before,
        now: &now,
        commands: &commands,
        oracle_paths: &oracle,
        work_paths: &work,
        installed: &installed,
    });
    then(&classifier)
}

pub fn with_lists(
    before: &Side,
    now: &Side,
    commands: &[&str],
    oracle: &[&str],
    work: &[&str],
) -> Vec<Change> {
    with_classifier(before, now, commands, oracle, work, |classifier| classifier.changes())
}

pub fn classified(before: &Side, now: &Side, commands: &[&str]) -> Vec<Change> {
    with_lists(before, now, commands, &[], &[])
}
