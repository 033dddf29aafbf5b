//! A verification in a room.

use super::comparison::Comparison;
use super::room_files::{InPlace, RoomFiles};
use super::site::ProofSite;
use crate::room::RoomFolder;
use crate::verification::{Room, Runner, VerifyCommand, not_run};
use ralph_diagnostics::Discard;
use ralph_proof::canary::Canary;
use ralph_rules::record::{CanarySeen, CheckOutcome, CheckResult, RoomSeen, RoomSets};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Eight digits that the work cannot know, for the names of a canary's tests.
pub fn token() -> String {
    format!("{:08x}", RandomState::new().build_hasher().finish() >> 32)
}

/// How the commands came out in a room.
#[derive(Debug)]
pub struct RoomResult {
    /// One per command.
    pub results: Vec<CheckResult>,
    /// What else was seen.
    pub seen: RoomSeen,
}

/// What is run in a room, and what is told.
pub struct RoomRun<'a> {
    /// Which sets, and whether a canary is added.
    pub sets: RoomSets,
    /// What is in place of what the sets give.
    pub replaced: BTreeMap<Vec<u8>, InPlace>,
    /// The commands ran in such a room before: nothing that was built then is used.
    pub again: bool,
    /// Commands that prepare the room.
    pub setup: &'a [String],
    /// The directory of the workspace's rooms.
    pub dir: &'a Path,
    /// The file that keeps a command's output, by the command's number from 1.
    pub output: &'a dyn Fn(usize) -> Option<PathBuf>,
    /// Makes the names of the canary's tests unpredictable.
    pub token: &'a str,
}

impl RoomRun<'_> {
    /// Fills the room and runs the commands in it.
    pub fn run(
        &self,
        site: &ProofSite<'_>,
        comparison: &Comparison,
        runner: &Runner<'_>,
        on_result: &mut dyn FnMut(&CheckResult),
    ) -> io::Result<RoomResult> {
        let began = Instant::now();
        let mut files = RoomFiles::new(site, comparison, self.sets);
        files.replace(site, &self.replaced);
        let canary = if self.sets.canary { files.add_canary(site, self.token) } else { None };
        let mut folder = RoomFolder::open(self.dir)?;
        // Builds do not notice that a header or a rule is gone again: what another room built would decide this one.
        let from_nothing = self.again || comparison.changes_untracked_inputs();
        if from_nothing {
            folder.empty()?;
        }
        folder.fill(&files.files, site.root, site.blobs)?;
        folder.remove_loose()?;
        if let Some(before) = site.before {
            before.ignored.seed(&folder, site.workspace).discard("show ignored files in a room");
        }
        let mut room = Room::kept(&folder, site.workspace, &comparison.dependencies)?;
        let prepared_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut failed = BTreeSet::new();
        let mut results = Vec::new();
        let problem = self.set_up(runner, &mut room)?;
        if let Some(why) = &problem {
            results.extend(site.commands.iter().map(|line| not_run(line, why.as_str())));
        } else {
            let mut on_output = |result: &CheckResult, text: &str| {
                failed.extend(canary.iter().flat_map(|canary| canary.seen(text)).map(str::to_owned));
                on_result(result);
            };
            let numbered = (1..).zip(site.commands);
            let commands: Vec<_> =
                numbered.map(|(n, line)| VerifyCommand { line, output: (self.output)(n) }).collect();
            results.extend(runner.run(&commands, &mut room, &mut on_output)?);
        }
        let place = room.kind().to_owned();
        drop(room);
        let rewritten = folder.rewritten(&|path| comparison.oracle.contains(path));
        if comparison.changes_untracked_inputs() {
            folder.empty()?;
        }
        let canary = canary.map(|canary| self.canary_seen(&canary, &failed));
        let rewritten = rewritten.iter().map(ToString::to_string).collect();
        let seen = RoomSeen { place, rewritten, canary, prepared_ms, problem, changed_since: Vec::new() };
        Ok(RoomResult { results, seen })
    }

    /// Runs the commands that prepare the room; the first failure says why it cannot be used.
    fn set_up(&self, runner: &Runner<'_>, room: &mut Room<'_>) -> io::Result<Option<String>> {
        let commands: Vec<_> = self.setup.iter().map(|line| VerifyCommand { line, output: None }).collect();
        let results = runner.run(&commands, room, &mut |_, _| ())?;
        let failed = results.iter().find(|result| result.how != CheckOutcome::Passed);
        Ok(failed
            .map(|result| format!("verify.setup `{}` failed in the room: {}", result.command, result.tail)))
    }

    /// The names without the token, so that two rooms can be compared.
    fn canary_seen(&self, canary: &Canary, failed: &BTreeSet<String>) -> CanarySeen {
        let plain = |name: &String| name.replace(&format!("{}_", self.token), "");
        let tried = canary.names.iter().map(plain).collect();
        CanarySeen { tried, failed: failed.iter().map(plain).collect() }
    }
}
