//! The map of a change: hunks of the work and of ambiguous files are put back in a room with everything else as it is
//! now, to see which ones a check notices. `changed_files.rs` finds what can be put back, `listed.rs` makes the record.

mod changed_files;
mod listed;
#[cfg(test)]
mod tests;

use super::comparison::Comparison;
use super::room_files::InPlace;
use super::room_run::RoomRun;
use super::site::ProofSite;
use crate::redact::Redactor;
use crate::verification::Runner;
use changed_files::Units;
use ralph_proof::map::Search;
use ralph_rules::record::{ChangeMap, CheckOutcome, Ms, RoomSets};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that changed.
const ALL: RoomSets = RoomSets { work: true, ambiguous: true, oracle: true, canary: false };

/// How hunks are tried.
pub struct MapRun<'a> {
    /// Commands that prepare the room.
    pub setup: &'a [String],
    /// The directory of the workspace's rooms.
    pub dir: &'a Path,
    /// The commands are known to pass in a room with the whole change. Otherwise that is tried first: hunks can only be
    /// told apart where they do.
    pub passes: bool,
}

/// One verification without some hunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// What was put back, `src/a.py:10-12` each; nothing is the whole change.
    pub places: Vec<String>,
    /// A check failed.
    pub failed: bool,
    /// How long the commands took.
    pub ms: Ms,
}

/// How one verification came out.
enum Answer {
    Passed,
    Failed,
    Ended(End),
}

/// Why no more hunks are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Interrupted,
    OutOfTime,
    Problem(String),
}

impl MapRun<'_> {
    /// Tries the hunks until all are known, the runner's time is over, or it is interrupted.
    pub fn run(
        &self,
        site: &ProofSite<'_>,
        comparison: &Comparison,
        runner: &Runner<'_>,
        on_tried: &mut dyn FnMut(&Tried),
    ) -> ChangeMap {
        let began = runner.clock.ran();
        let units = Units::of(site, comparison);
        let mut search = Search::new(units.len(), |unit| !units.is_trivial(unit), &units.groups());
        let mut trial = Trial { run: self, site, comparison, runner, units: &units, on_tried, runs: 0 };
        let end = trial.search(&mut search);
        let runs = trial.runs;
        let ms = runner.clock.ran().saturating_sub(began);
        let map = ChangeMap { tree: comparison.tree, runs, ms, ..ChangeMap::default() };
        listed::list(map, &units, search.held(), end, runner.redactor)
    }
}

/// A map that could not be made.
pub fn no_map(tree: u128, why: &str, redactor: &Redactor) -> ChangeMap {
    ChangeMap { tree, problem: Some(redactor.redact(why).into_owned()), ..ChangeMap::default() }
}

struct Trial<'a, 's> {
    run: &'a MapRun<'a>,
    site: &'a ProofSite<'s>,
    comparison: &'a Comparison,
    runner: &'a Runner<'a>,
    units: &'a Units,
    on_tried: &'a mut dyn FnMut(&Tried),
    runs: u32,
}

impl Trial<'_, '_> {
    fn search(&mut self, search: &mut Search) -> Option<End> {
        let mut group = search.next_group();
        if group.is_some() && !self.run.passes {
            match self.verify(&[]) {
                Answer::Passed => {}
                Answer::Failed => {
                    return Some(End::Problem("the checks fail in a copy of the whole change".into()));
                }
                Answer::Ended(end) => return Some(end),
            }
        }
        while let Some(units) = group {
            match self.verify(&units) {
                Answer::Passed => search.answer(false),
                Answer::Failed => search.answer(true),
                Answer::Ended(end) => return Some(end),
            }
            group = search.next_group();
        }
        None
    }

    /// Runs the commands with these units put back.
    fn verify(&mut self, units: &[usize]) -> Answer {
        if let Some(end) = self.ended() {
            return Answer::Ended(end);
        }
        let run = RoomRun {
            sets: ALL,
            replaced: self.units.put_back(units),
            again: false,
            setup: self.run.setup,
            dir: self.run.dir,
            output: &|_| None,
            token: "",
        };
        self.runs += 1;
        let results = match run.run(self.site, self.comparison, self.runner, &mut |_| ()) {
            Ok(result) => result.results,
            Err(why) => return Answer::Ended(End::Problem(format!("the room could not be made: {why}"))),
        };
        let is = |how| results.iter().any(|result| result.how == how);
        let complete = results.len() == self.site.commands.len();
        let passed = complete && results.iter().all(|result| result.how == CheckOutcome::Passed);
        // A command that was cut off says nothing.
        if !passed
            && (is(CheckOutcome::TimedOut) || is(CheckOutcome::Interrupted) || !complete)
            && let Some(end) = self.ended()
        {
            return Answer::Ended(end);
        }
        let ms = results.iter().map(|result| result.ms).fold(0, Ms::saturating_add);
        let places = units.iter().map(|unit| self.units.place(*unit, self.runner.redactor)).collect();
        (self.on_tried)(&Tried { places, failed: !passed, ms });
        if passed { Answer::Passed } else { Answer::Failed }
    }

    fn ended(&self) -> Option<End> {
        if self.runner.under_way.interrupted_by().is_some() {
            return Some(End::Interrupted);
        }
        let over = self.runner.until.is_some_and(|until| self.runner.clock.ran() >= until);
        over.then_some(End::OutOfTime)
    }
}

type Replaced = BTreeMap<Vec<u8>, InPlace>;
