//! The order of runs, for each way the baseline can have come out.

use super::{Answer, Conclusion, ProofStep, canary, run_in};
use crate::grade::Grade;
use crate::objection::Objection;
use crate::record::{Check, Compared, RoomSets, Verified};
use crate::state::{Checks, ProofState, RoomRun};

const WORK: RoomSets = RoomSets { work: true, ..RoomSets::BASELINE };
const AMBIGUOUS: RoomSets = RoomSets { ambiguous: true, ..RoomSets::BASELINE };
const WORK_AND_AMBIGUOUS: RoomSets = RoomSets { work: true, ..AMBIGUOUS };
const NOT_WORK: RoomSets = RoomSets { oracle: true, ..AMBIGUOUS };
const ORACLE: RoomSets = RoomSets { oracle: true, ..RoomSets::BASELINE };
const ALL: RoomSets = RoomSets { work: true, ..NOT_WORK };

/// What the order depends on.
pub(super) struct Order<'a> {
    pub compared: &'a Compared,
    pub proof: &'a ProofState,
    pub checks: &'a Checks,
}

/// How a room came out, for the question whether the oracle holds.
enum Held {
    Yes,
    No,
    /// Fewer tests ran, or more were skipped, than before the run.
    Fewer(Objection),
}

impl Order<'_> {
    pub fn answer(&self) -> Answer<Conclusion> {
        let mut conclusion = self.conclusion()?;
        if let Conclusion::Graded(_, reasons) = &mut conclusion {
            let (files, compared) = (self.compared.around.clone(), self.compared);
            reasons.extend((!files.is_empty()).then_some(Objection::AroundChanged { files }));
            reasons.extend(compared.around_cut_short.then_some(Objection::AroundCutShort));
        }
        Ok(conclusion)
    }

    fn conclusion(&self) -> Answer<Conclusion> {
        let compared = self.compared;
        if let Some(why) = &compared.problem {
            let lost = Objection::BaselineLost { why: why.clone() };
            return Ok(Conclusion::Graded(Grade::Unclear, vec![lost]));
        }
        if !compared.outside.is_empty() {
            return refused(Objection::OutsideChanged { files: compared.outside.clone() });
        }
        if !compared.edited.is_empty() {
            return refused(Objection::PackagesEdited { packages: compared.edited.clone() });
        }
        if self.sets(ALL) == RoomSets::BASELINE {
            return self.nothing_differs();
        }
        if self.checks.baseline_green() {
            self.green_before()
        } else if compared.no_tests_before && compared.oracle.any() {
            self.no_tests_before()
        } else {
            self.red_before()
        }
    }

    /// No file differs from the baseline. A red baseline that is green now was flaky, or the world outside changed.
    fn nothing_differs(&self) -> Answer<Conclusion> {
        if self.checks.baseline_green() {
            return Ok(Conclusion::Graded(Grade::Unbroken, vec![self.nothing_shows()]));
        }
        let baseline = self.twice(RoomSets::BASELINE)?;
        if baseline.passed {
            return Ok(Conclusion::Graded(Grade::Unclear, vec![Objection::GreenWithoutWork]));
        }
        refused(Objection::NothingDiffers)
    }

    /// The verification failed before the run: the work must turn it green with the oracle unchanged.
    fn red_before(&self) -> Answer<Conclusion> {
        let compared = self.compared;
        if compared.work.any() {
            match self.held(WORK)? {
                Held::Yes => return self.proven(WORK, Vec::new()),
                Held::Fewer(fewer) => return refused(fewer),
                Held::No => {}
            }
        }
        if compared.ambiguous.any() {
            match self.held(WORK_AND_AMBIGUOUS)? {
                Held::Yes if !compared.work.any() || self.room(AMBIGUOUS)?.passed => {
                    let files = compared.ambiguous.names.clone();
                    let only = Objection::OnlyAmbiguous { files };
                    return Ok(self.graded(Grade::Unclear, vec![only]));
                }
                Held::Yes => {
                    return self.proven(WORK_AND_AMBIGUOUS, compared.ambiguous.names.clone());
                }
                Held::Fewer(fewer) => return refused(fewer),
                Held::No => {}
            }
        }
        if !compared.oracle.any() || !self.room(ALL)?.passed {
            return self.outside_the_room();
        }
        if self.twice(WORK_AND_AMBIGUOUS)?.passed {
            if !compared.work.any() && !compared.ambiguous.any() {
                return Ok(self.graded(Grade::Unclear, vec![Objection::GreenWithoutWork]));
            }
            return self.red_before();
        }
        if compared.layout_only && !self.room(NOT_WORK)?.passed {
            return self.proven(ALL, Vec::new());
        }
        let files = compared.oracle.names.clone();
        Ok(Conclusion::OracleChanged(vec![Objection::OracleChanged { files }]))
    }

    /// There were no tests: those the agent added are its own. They must fail without the work and pass with it.
    fn no_tests_before(&self) -> Answer<Conclusion> {
        if !self.room(ALL)?.passed {
            return self.outside_the_room();
        }
        self.new_tests(None)
    }

    /// The verification passed before the run: earlier tests must hold, and new ones must show the work.
    fn green_before(&self) -> Answer<Conclusion> {
        let compared = self.compared;
        if !compared.work.any() && !compared.ambiguous.any() {
            return Ok(self.only_oracle_changed());
        }
        let held = self.held(WORK_AND_AMBIGUOUS)?;
        if !matches!(held, Held::Yes) {
            if !self.room(ALL)?.passed {
                return self.outside_the_room();
            }
            if !compared.oracle.any() {
                let Held::Fewer(fewer) = held else { return self.outside_the_room() };
                return refused(fewer);
            }
            let earlier = self.twice(WORK_AND_AMBIGUOUS)?;
            let holds = earlier.passed && self.fewer(earlier).is_none();
            if !(compared.layout_only || holds) {
                let (tests, files) = (earlier.failed.clone(), compared.oracle.names.clone());
                return Ok(self.graded(Grade::Revised, vec![Objection::EarlierTestsFail { tests, files }]));
            }
        }
        let nothing_to_show = !compared.work.any() && compared.docs_only;
        if !compared.oracle.any() || compared.configuration_only || nothing_to_show {
            return Ok(self.graded(Grade::Unbroken, vec![self.nothing_shows()]));
        }
        self.new_tests(self.checks.baseline_counts())
    }

    /// Only tests or configuration changed. If fewer tests run, somebody should look.
    fn only_oracle_changed(&self) -> Conclusion {
        match self.checks.fewer_ran() {
            Some(fewer) => {
                let (tests, files) = (Vec::new(), self.compared.oracle.names.clone());
                let revised = Objection::EarlierTestsFail { tests, files };
                Conclusion::Graded(Grade::Revised, vec![revised, fewer])
            }
            None => Conclusion::Graded(Grade::Unbroken, vec![self.nothing_shows()]),
        }
    }

    /// Why no check shows a difference: no test for the work, or nothing changed that a test could show.
    fn nothing_shows(&self) -> Objection {
        let compared = self.compared;
        let changed = compared.work.any() || compared.ambiguous.any();
        if changed && !compared.docs_only {
            return Objection::NothingShowsWork;
        }
        Objection::NothingToShow { documentation: changed, checks: compared.oracle.any() }
    }

    /// The new tests must pass with the work, in the room too, and fail without it.
    fn new_tests(&self, earlier: Option<u32>) -> Answer<Conclusion> {
        let compared = self.compared;
        let unshown = || Ok(self.graded(Grade::Unbroken, vec![self.nothing_shows()]));
        if !compared.work.any() && !compared.ambiguous.any() {
            return unshown();
        }
        let without = if compared.work.any() { NOT_WORK } else { ORACLE };
        if self.room(without)?.passed {
            return unshown();
        }
        if !self.room(ALL)?.passed && !self.twice(ALL)?.passed {
            return self.outside_the_room();
        }
        if self.flaky() && self.twice(without)?.passed {
            return unshown();
        }
        if self.new_tests_are_skipped(without)? {
            return unshown();
        }
        let tests = self.room(without)?.failed.clone();
        canary::check(self, ALL)?.map_or_else(
            || Ok(self.graded(Grade::Tested, vec![Objection::TestsShowWork { tests, earlier }])),
            refused,
        )
    }

    /// More tests are skipped with the new ones, and no more pass: they did not run.
    fn new_tests_are_skipped(&self, without: RoomSets) -> Answer<bool> {
        let before = match self.proof.room(self.sets(WORK_AND_AMBIGUOUS)) {
            Some(run) => run.counts,
            None => self.room(without)?.counts,
        };
        let (Some(before), Some(now)) = (before, self.room(ALL)?.counts) else { return Ok(false) };
        Ok(now.skipped > before.skipped && now.passed <= before.passed)
    }

    /// Green in this room because of the work, with the baseline's oracle.
    fn proven(&self, sets: RoomSets, with: Vec<String>) -> Answer<Conclusion> {
        if self.environment_may_differ() && self.room(RoomSets::BASELINE)?.passed {
            return Ok(self.graded(Grade::Unclear, vec![Objection::GreenWithoutWork]));
        }
        if let Some(survived) = canary::check(self, sets)? {
            return refused(survived);
        }
        let baseline = self.checks.baseline.as_ref();
        let red = |verified: &Verified| verified.failing_commands();
        let commands = baseline.map(red).unwrap_or_default();
        Ok(self.graded(Grade::Proven, vec![Objection::ProvenByWork { commands, with }]))
    }

    /// What failed before may pass for another reason than the files: packages were installed, files around the
    /// workspace changed, the suite is flaky, or the command could not even be run.
    fn environment_may_differ(&self) -> bool {
        let (baseline, compared) = (self.checks.baseline.as_ref(), self.compared);
        let differs = !compared.installed.is_empty() || !compared.around.is_empty();
        differs || self.flaky() || baseline.is_some_and(Verified::could_not_run)
    }

    /// Some verification failed and passed on the same files.
    fn flaky(&self) -> bool {
        self.checks.flaky || self.proof.rooms().any(|(_, run)| run.flaky)
    }

    /// Green in the workspace, red in the room with the same files. If the room comes out for the baseline as the
    /// workspace did, it is complete, and what made the workspace green is ignored by git or was built by the agent.
    /// Otherwise the room lacks something, and the workspace with the baseline's tests has to do.
    fn outside_the_room(&self) -> Answer<Conclusion> {
        if self.twice(ALL)?.passed {
            return Ok(self.graded(Grade::Unclear, vec![Objection::Flaky]));
        }
        let baseline = self.room(RoomSets::BASELINE)?;
        if self.as_before(baseline) {
            return refused(Objection::GreenOutsideRoom);
        }
        let oracle_holds = match self.checks.oracle_holds() {
            _ if !self.compared.oracle.any() => self.checks.fewer_tests().is_none(),
            Some(holds) => holds,
            None => return Err(ProofStep::Verify(Check::WithBaselineOracle)),
        };
        let (files, lacks) = (self.compared.oracle.names.clone(), Objection::RoomLacks);
        Ok(match (oracle_holds, self.checks.baseline_green()) {
            (true, true) => Conclusion::Graded(Grade::Unbroken, vec![self.nothing_shows(), lacks]),
            // No room can tell what the files around the workspace have to do with it.
            (true, false) if !self.compared.around.is_empty() => {
                Conclusion::Graded(Grade::Unclear, vec![lacks])
            }
            (true, false) => {
                let commands =
                    self.checks.baseline.as_ref().map(Verified::failing_commands).unwrap_or_default();
                let proven = Objection::ProvenByWork { commands, with: Vec::new() };
                Conclusion::Graded(Grade::Proven, vec![proven, lacks])
            }
            (false, true) => {
                let tests = self.checks.oracle.as_ref().map(Verified::failed_tests).unwrap_or_default();
                Conclusion::Graded(Grade::Revised, vec![Objection::EarlierTestsFail { tests, files }, lacks])
            }
            (false, false) => Conclusion::OracleChanged(vec![Objection::OracleChanged { files }, lacks]),
        })
    }

    /// The room came out for the baseline as the workspace did before the run.
    fn as_before(&self, room: &RoomRun) -> bool {
        let Some(before) = &self.checks.baseline else { return true };
        let outcomes: Vec<_> = before.results.iter().map(|r| (r.how, r.exit)).collect();
        room.outcomes == outcomes && room.counts == before.counts() && room.failed == before.failed_tests()
    }

    /// The commands pass in a room of these sets, and no test is missing. An oracle file that is written meanwhile
    /// voids the run.
    fn held(&self, sets: RoomSets) -> Answer<Held> {
        let run = self.room(sets)?;
        Ok(match self.failures(run).or_else(|| self.fewer(run)) {
            _ if !run.passed => Held::No,
            Some(fewer) => Held::Fewer(fewer),
            None => Held::Yes,
        })
    }

    /// The command passed, but its output says that tests failed, which it did not say before the run.
    fn failures(&self, run: &RoomRun) -> Option<Objection> {
        let failed = run.counts.map_or(0, |counts| counts.failed);
        let usual = self.checks.baseline.as_ref().filter(|before| before.passed()).and_then(Verified::counts);
        (failed > usual.map_or(0, |counts| counts.failed)).then_some(Objection::FailuresInOutput { failed })
    }

    fn fewer(&self, run: &RoomRun) -> Option<Objection> {
        self.checks.fewer_than_baseline(run.counts)
    }

    /// How the commands came out in a room of these sets.
    pub(super) fn room(&self, sets: RoomSets) -> Answer<&RoomRun> {
        let sets = self.sets(sets);
        let run = self.proof.room(sets).ok_or_else(|| run_in(sets))?;
        if let Some(why) = &run.problem {
            let failed = vec![Objection::RoomFailed { why: why.clone() }];
            return Err(ProofStep::Conclude(Conclusion::Graded(Grade::Unclear, failed)));
        }
        if run.rewritten.is_empty() || sets == RoomSets::BASELINE {
            return Ok(run);
        }
        // What the suite writes anyway does not count.
        let usual = &self.proof.room(RoomSets::BASELINE).ok_or_else(|| run_in(RoomSets::BASELINE))?.rewritten;
        let files: Vec<String> = run.rewritten.iter().filter(|file| !usual.contains(file)).cloned().collect();
        match files.is_empty() {
            true => Ok(run),
            false => Err(ProofStep::Conclude(Conclusion::Refused(Objection::OracleRewritten { files }))),
        }
    }

    /// The same; where it failed, only after a second attempt.
    fn twice(&self, sets: RoomSets) -> Answer<&RoomRun> {
        let run = self.room(sets)?;
        if run.passed || run.tries > 1 { Ok(run) } else { Err(run_in(self.sets(sets))) }
    }

    /// Without sets that nothing belongs to: rooms with the same contents are the same room.
    fn sets(&self, sets: RoomSets) -> RoomSets {
        let compared = self.compared;
        RoomSets {
            work: sets.work && compared.work.any(),
            ambiguous: sets.ambiguous && compared.ambiguous.any(),
            oracle: sets.oracle && compared.oracle.any(),
            canary: sets.canary,
        }
    }

    /// A grade with everything else that a reader should know.
    fn graded(&self, grade: Grade, mut reasons: Vec<Objection>) -> Conclusion {
        reasons.extend(self.flaky().then_some(Objection::Flaky));
        if let Some(sign) = self.compared.signs.first() {
            let signs = u32::try_from(self.compared.signs.len()).unwrap_or(u32::MAX);
            let (what, path) = (sign.what.clone(), format!("{}:{}", sign.path, sign.line));
            reasons.push(Objection::SignsFound { signs, what, path });
        }
        if !self.compared.installed.is_empty() {
            reasons.push(Objection::PackagesInstalled { packages: self.compared.installed.clone() });
        }
        reasons.extend(self.checks.fewer_tests());
        Conclusion::Graded(grade, reasons)
    }
}

fn refused(why: Objection) -> Answer<Conclusion> {
    Ok(Conclusion::Refused(why))
}
