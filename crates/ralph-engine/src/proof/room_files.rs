//! The files of a room: the baseline's, with the chosen sets of changes.

use super::comparison::Comparison;
use super::site::{ProofSite, facts};
use crate::room::{RoomFile, Source};
use ralph_proof::canary::Canary;
use ralph_proof::{FileFacts, Files, Kind, RoomContent, Sets};
use ralph_rules::record::RoomSets;
use ralph_tree::hash_bytes;
use std::collections::BTreeMap;

/// The mode of a file that exists only in the room.
const PLAIN: u32 = 0o644;

/// What a room shows at a path instead of what its sets give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// A file of these bytes.
    Bytes(Vec<u8>),
    /// What the baseline has there, which may be nothing.
    Baseline,
    /// Nothing.
    Absent,
}

/// The files of a room.
pub(super) struct RoomFiles {
    pub files: BTreeMap<Vec<u8>, RoomFile>,
}

impl RoomFiles {
    /// The baseline with these sets.
    pub fn new(site: &ProofSite<'_>, comparison: &Comparison, sets: RoomSets) -> RoomFiles {
        let mut files: BTreeMap<Vec<u8>, RoomFile> =
            site.baseline.files().filter_map(|(path, file)| Some((path, file.in_room()?))).collect();
        let sets = Sets { work: sets.work, ambiguous: sets.ambiguous, oracle: sets.oracle };
        for change in &comparison.changes {
            let file = match change.in_room(sets) {
                RoomContent::Baseline => continue,
                RoomContent::Now => current(site, &change.path),
                RoomContent::Made(bytes) => Some(made(site, &change.path, bytes)),
                RoomContent::Absent => None,
            };
            match file {
                Some(file) => files.insert(change.path.clone(), file),
                None => files.remove(&change.path),
            };
        }
        let carried = comparison.carried.iter();
        files.extend(carried.filter_map(|path| Some((path.clone(), current(site, path)?))));
        RoomFiles { files }
    }

    /// Puts these in place of whatever is there.
    pub fn replace(&mut self, site: &ProofSite<'_>, replaced: &BTreeMap<Vec<u8>, InPlace>) {
        for (path, in_place) in replaced {
            let file = match in_place {
                InPlace::Bytes(bytes) => Some(self.with_bytes(path, bytes.clone())),
                InPlace::Baseline => site.baseline.file(path).and_then(|file| file.in_room()),
                InPlace::Absent => None,
            };
            match file {
                Some(file) => self.files.insert(path.clone(), file),
                None => self.files.remove(path),
            };
        }
    }

    /// A file of these bytes with the permissions of the one that is there.
    fn with_bytes(&self, path: &[u8], bytes: Vec<u8>) -> RoomFile {
        let mode = self.files.get(path).map_or(PLAIN, |file| file.mode);
        RoomFile { hash: hash_bytes(&bytes), source: Source::Bytes(bytes), mode, link: false }
    }

    /// Adds tests that must fail; none where no runner is known.
    pub fn add_canary(&mut self, site: &ProofSite<'_>, token: &str) -> Option<Canary> {
        let canary = Canary::new(&self.as_files(site), site.commands, token)?;
        for (path, bytes) in &canary.files {
            let file = self.with_bytes(path, bytes.clone());
            self.files.insert(path.clone(), file);
        }
        Some(canary)
    }

    /// The same files for the classification.
    pub fn as_files<'a>(&'a self, site: &'a ProofSite<'_>) -> Files<'a> {
        let facts = self.files.iter().map(|(path, file)| {
            let kind = if file.link { Kind::Link } else { Kind::File };
            (path.clone(), FileFacts { kind, executable: file.mode & 0o100 != 0, hash: file.hash })
        });
        Files::new(facts, Box::new(move |path| self.read(site, path)))
    }

    fn read(&self, site: &ProofSite<'_>, path: &[u8]) -> Option<Vec<u8>> {
        match &self.files.get(path)?.source {
            Source::Bytes(bytes) => Some(bytes.clone()),
            Source::Workspace => site.read_now(path),
            Source::Blob => site.read_before(path),
        }
    }
}

fn current(site: &ProofSite<'_>, path: &[u8]) -> Option<RoomFile> {
    let entry = site.now.get(path).filter(|entry| facts(entry).kind != Kind::Other)?;
    let link = facts(&entry).kind == Kind::Link;
    Some(RoomFile { source: Source::Workspace, hash: entry.hash, mode: u32::from(entry.mode), link })
}

/// A file made of parts, with the current permissions.
fn made(site: &ProofSite<'_>, path: &[u8], bytes: &[u8]) -> RoomFile {
    let now = counted_mode(site, path);
    let mode = now.or_else(|| site.baseline.file(path).map(|file| u32::from(file.mode))).unwrap_or(PLAIN);
    RoomFile { source: Source::Bytes(bytes.to_vec()), hash: hash_bytes(bytes), mode, link: false }
}

fn counted_mode(site: &ProofSite<'_>, path: &[u8]) -> Option<u32> {
    site.now.get(path).map(|entry| u32::from(entry.mode))
}
