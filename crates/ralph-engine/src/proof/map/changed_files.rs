//! What can be put back: hunks of text files, and other files as a whole.

use super::Replaced;
use crate::proof::comparison::Comparison;
use crate::proof::room_files::InPlace;
use crate::proof::site::ProofSite;
use crate::redact::Redactor;
use ralph_proof::hunks::{self, Hunk};
use ralph_proof::{Change, RoomContent, Sets};
use ralph_rules::record::MappedHunk;
use ralph_tree::{Kind, TreePath};
use std::collections::BTreeMap;
use std::ops::Range;

/// Only the oracle's changes.
const WITHOUT_WORK: Sets = Sets { work: false, ambiguous: false, oracle: true };

/// Everything that can be put back, in the order of paths and lines.
pub struct Units {
    files: Vec<ChangedFile>,
    units: Vec<Unit>,
}

/// A changed file of the work or of the ambiguous set.
pub(super) struct ChangedFile {
    pub path: Vec<u8>,
    /// Without the work; empty where the file is absent or not text.
    pub before: String,
    /// Now.
    pub now: String,
    /// What is there without the work.
    without: InPlace,
    /// Both sides are text, and both exist.
    in_parts: bool,
    /// One of them is not text.
    pub not_text: bool,
}

/// One hunk, or a whole file.
pub(super) struct Unit {
    file: usize,
    pub hunk: Hunk,
}

impl Units {
    pub fn of(site: &ProofSite<'_>, comparison: &Comparison) -> Units {
        let taken = |change: &&Change| (change.has_work() || change.has_ambiguous()) && !change.docs;
        let changes = comparison.changes.iter().filter(taken);
        Units::from_files(changes.map(|change| ChangedFile::of(site, change)).collect())
    }

    pub(super) fn from_files(files: Vec<ChangedFile>) -> Units {
        let mut units = Vec::new();
        for (file, changed) in files.iter().enumerate() {
            units.extend(changed.hunks().into_iter().map(|hunk| Unit { file, hunk }));
        }
        Units { files, units }
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Only comments, blank lines or documentation.
    pub fn is_trivial(&self, unit: usize) -> bool {
        self.units.get(unit).is_some_and(|unit| unit.hunk.trivial)
    }

    /// Every unit with its file.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Unit, &ChangedFile)> {
        self.units.iter().filter_map(|unit| Some((unit, self.files.get(unit.file)?)))
    }

    /// Units that belong together.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let (mut groups, mut first) = (Vec::new(), 0);
        for (number, file) in self.files.iter().enumerate() {
            let hunks: Vec<Hunk> = self
                .units
                .iter()
                .skip(first)
                .take_while(|u| u.file == number)
                .map(|u| u.hunk.clone())
                .collect();
            let shifted = |group: Vec<usize>| group.into_iter().map(|unit| unit + first).collect();
            groups.extend(hunks::groups(&file.now, &hunks).into_iter().map(shifted));
            first += hunks.len();
        }
        groups
    }

    /// What is in place with these units put back.
    pub fn put_back(&self, units: &[usize]) -> Replaced {
        let mut by_file: BTreeMap<usize, Vec<Hunk>> = BTreeMap::new();
        for unit in units.iter().filter_map(|unit| self.units.get(*unit)) {
            by_file.entry(unit.file).or_default().push(unit.hunk.clone());
        }
        let replaced = by_file.into_iter().filter_map(|(file, hunks)| {
            let file = self.files.get(file)?;
            Some((file.path.clone(), file.put_back(&hunks)))
        });
        replaced.collect()
    }

    /// `src/a.py:10-12`, without secrets.
    pub fn place(&self, unit: usize, redactor: &Redactor) -> String {
        let found = self.units.get(unit).and_then(|unit| Some((unit, self.files.get(unit.file)?)));
        found.map(|(unit, file)| numbered(unit, file, redactor).place()).unwrap_or_default()
    }
}

impl ChangedFile {
    fn of(site: &ProofSite<'_>, change: &Change) -> ChangedFile {
        let path = change.path.clone();
        let plain = |kind: Kind| kind == Kind::File;
        let now = site.now.get(&path).filter(|_| change.exists);
        let now = now.map(|entry| text(plain(entry.kind), site.read_now(&path)));
        let (without, before) = match change.in_room(WITHOUT_WORK) {
            RoomContent::Made(bytes) => {
                (InPlace::Bytes(bytes.to_vec()), Some(text(true, Some(bytes.to_vec()))))
            }
            RoomContent::Absent => (InPlace::Absent, None),
            RoomContent::Baseline | RoomContent::Now => {
                let file = site.baseline.file(&path);
                (InPlace::Baseline, file.map(|file| text(plain(file.kind), site.read_before(&path))))
            }
        };
        ChangedFile::new(path, (without, before), now)
    }

    /// Each side is absent, not text, or a text; `without` is put in place of the whole file.
    pub(super) fn new(
        path: Vec<u8>,
        (without, before): (InPlace, Option<Option<String>>),
        now: Option<Option<String>>,
    ) -> ChangedFile {
        let not_text = matches!(now, Some(None)) || matches!(before, Some(None));
        let in_parts = !not_text && now.is_some() && before.is_some();
        let shown = |side: Option<Option<String>>| side.flatten().filter(|_| !not_text).unwrap_or_default();
        ChangedFile { path, before: shown(before), now: shown(now), without, in_parts, not_text }
    }

    fn hunks(&self) -> Vec<Hunk> {
        let found = hunks::hunks(&self.path, &self.before, &self.now);
        if self.in_parts && !found.is_empty() {
            return found;
        }
        // A new or deleted file, one that is not text, or other permissions.
        let all = |text: &str| 0..if self.in_parts { 0 } else { text.split_inclusive('\n').count() };
        let trivial = !found.is_empty() && found.iter().all(|hunk| hunk.trivial);
        vec![Hunk { old: all(&self.before), new: all(&self.now), trivial }]
    }

    fn put_back(&self, hunks: &[Hunk]) -> InPlace {
        let whole = !self.in_parts || hunks.iter().any(|hunk| hunk.old.is_empty() && hunk.new.is_empty());
        if whole {
            return self.without.clone();
        }
        InPlace::Bytes(hunks::put_back(&self.before, &self.now, hunks).into_bytes())
    }
}

/// A side's text; none if it is a link, binary, or too large.
pub(super) fn text(plain: bool, bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.filter(|bytes| plain && !bytes.contains(&0)).and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The unit with its path and line numbers.
pub(super) fn numbered(unit: &Unit, file: &ChangedFile, redactor: &Redactor) -> MappedHunk {
    let path = TreePath::from(file.path.as_slice()).to_string();
    let (old, new) = (&unit.hunk.old, &unit.hunk.new);
    MappedHunk {
        path: redactor.redact(&path).into_owned(),
        old_start: first_line(old),
        old_lines: short(old.len()),
        new_start: first_line(new),
        new_lines: short(new.len()),
        ..MappedHunk::default()
    }
}

/// As in a unified diff: an empty range is named by the line before it.
fn first_line(range: &Range<usize>) -> u32 {
    short(range.start + usize::from(!range.is_empty()))
}

fn short(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
