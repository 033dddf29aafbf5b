//! What is known about the proof of the current files: the three sets, and how the rooms came out.

use crate::objection::Objection;
use crate::record::{CanarySeen, ChangeMap, CheckOutcome, Compared, Ms, RoomSets, Verified};
use crate::suite::Counts;
use std::collections::BTreeMap;

/// The proof of the current files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProofState {
    compared: Option<Compared>,
    rooms: BTreeMap<RoomSets, RoomRun>,
    map: Option<ChangeMap>,
    /// What the comparison found may have been put back since, without a change in the workspace.
    outdated: bool,
    /// How often the files were compared since the latest call.
    comparisons: u32,
    /// Files that changed after they were verified or compared, the latest such ones.
    pub changed_since: Vec<String>,
    /// A step of the proof has closed since the iteration did.
    pub under_way: bool,
    /// How often the agent was asked for a test of its work.
    pub asked: u32,
    /// How often the proof was refused, by the reason's code.
    refusals: BTreeMap<String, u32>,
    /// The work was to be reviewed, and a person resumed the run instead.
    pub sent_back: bool,
}

/// How the commands came out in one room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoomRun {
    /// How often they ran there.
    pub tries: u32,
    /// All passed, at least once.
    pub passed: bool,
    /// They failed and passed on the same files.
    pub flaky: bool,
    /// Tests, if the output has counts.
    pub counts: Option<Counts>,
    /// Names of failing tests.
    pub failed: Vec<String>,
    /// One entry per command: how it ended and its exit code.
    pub outcomes: Vec<(CheckOutcome, Option<i32>)>,
    /// Oracle files that were written meanwhile.
    pub rewritten: Vec<String>,
    /// Tests that had to fail.
    pub canary: Option<CanarySeen>,
    /// How the room was made.
    pub place: String,
    /// Why the room could not be used.
    pub problem: Option<String>,
    /// How long the commands took, all attempts together.
    pub ms: Ms,
}

/// Files that are never the same when they are compared are not compared more often than this after a call: something
/// writes to the workspace all the time, such as a log of ralph's own output.
const MOST_COMPARISONS: u32 = 4;

impl ProofState {
    /// A call begins: its files will be compared anew.
    pub(crate) fn call_begins(&mut self) {
        self.comparisons = 0;
    }

    /// The files may be compared once more.
    pub fn may_compare(&self) -> bool {
        self.comparisons < MOST_COMPARISONS
    }

    /// The changes were split. Rooms of other files are forgotten.
    pub fn compared(&mut self, compared: &Compared) {
        self.under_way = true;
        self.comparisons += 1;
        if self.of_tree(compared.tree).is_none() {
            self.rooms.clear();
            self.map = None;
        }
        self.outdated = false;
        self.changed(&compared.changed_since);
        self.compared = Some(compared.clone());
    }

    /// Files changed after they were verified or compared.
    fn changed(&mut self, files: &[String]) {
        if !files.is_empty() {
            self.changed_since = files.to_vec();
        }
    }

    /// The commands ran in a room of these sets.
    pub fn verified(&mut self, sets: RoomSets, verified: &Verified) {
        self.under_way = true;
        let (passed, room) = (verified.passed(), verified.room.clone().unwrap_or_default());
        self.changed(&room.changed_since);
        let run = self.rooms.entry(sets).or_default();
        run.flaky = run.tries > 0 && run.passed != passed;
        run.tries += 1;
        if passed || !run.passed {
            run.counts = verified.counts();
            run.failed = verified.failed_tests();
            run.outcomes = verified.results.iter().map(|r| (r.how, r.exit)).collect();
            run.canary = room.canary;
        }
        run.passed |= passed;
        run.rewritten.extend(room.rewritten);
        run.place = room.place;
        run.problem = room.problem;
        run.ms = run.ms.saturating_add(verified.results.iter().map(|r| r.ms).sum());
    }

    /// Hunks of the change were put back.
    pub fn mapped(&mut self, map: &ChangeMap) {
        self.map = Some(map.clone());
    }

    /// The map of the latest comparison's files, if there is one.
    pub fn map(&self) -> Option<&ChangeMap> {
        self.map.as_ref()
    }

    /// The commands are known to pass in a room with the whole change.
    pub fn passes_with_everything(&self) -> bool {
        let Some(compared) = &self.compared else { return false };
        let (work, ambiguous) = (compared.work.any(), compared.ambiguous.any());
        let sets = RoomSets { work, ambiguous, oracle: compared.oracle.any(), canary: false };
        self.room(sets).is_some_and(|run| run.passed)
    }

    /// The sets, if they are those of this tree.
    pub fn of_tree(&self, tree: u128) -> Option<&Compared> {
        self.compared.as_ref().filter(|compared| compared.tree == tree && !self.outdated)
    }

    /// The latest comparison, whatever the files are now.
    pub fn latest(&self) -> Option<&Compared> {
        self.compared.as_ref()
    }

    /// How a room came out.
    pub fn room(&self, sets: RoomSets) -> Option<&RoomRun> {
        self.rooms.get(&sets)
    }

    /// Every room that was tried for the latest comparison.
    pub fn rooms(&self) -> impl Iterator<Item = (&RoomSets, &RoomRun)> {
        self.rooms.iter()
    }

    /// Another call is decided, for these reasons.
    pub(crate) fn continues(&mut self, reasons: &[Objection]) {
        self.sent_back = false;
        for reason in reasons {
            if matches!(reason, Objection::AskForTest) {
                self.asked += 1;
            } else if reason.refuses_proof() {
                *self.refusals.entry(reason.code()).or_default() += 1;
            }
            // The agent may put back what lies outside the workspace without changing a file in it.
            self.outdated |= matches!(reason, Objection::OutsideChanged { .. });
        }
    }

    /// How often the proof was refused for this reason before.
    pub fn refusals(&self, reason: &Objection) -> u32 {
        self.refusals.get(&reason.code()).copied().unwrap_or(0)
    }
}
