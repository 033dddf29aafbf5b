//! The stories of a plan that is taken story by story: which one is worked on and since when, which were granted, and
//! which were set aside. Without stories this part stays empty and has no effect.

use super::{Phase, RecentIterations, State};
use crate::claim::Claim;
use crate::claim_check::ClaimCheck;
use crate::gate::Signals;
use crate::guard::decline::Decline;
use crate::guard::denials::Denials;
use crate::guard::repeat::Repeat;
use crate::guard::saturation::Saturation;
use crate::guard::stall::Stall;
use crate::record::{CheckResult, Planned, StoriesGiven, StoryGiven, StoryGrant, Verified};
use crate::state::ProofState;
use std::collections::BTreeMap;

/// The stories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stories {
    given: Option<StoriesGiven>,
    /// The story that is worked on; none before the first, and when all are done.
    pub current: Option<StoryGiven>,
    /// Iterations that it took so far.
    pub attempts: u32,
    /// Every story that was granted in this run, in order.
    pub granted: Vec<GrantedStory>,
    /// Stories that were set aside, each with its iterations.
    pub aside: BTreeMap<String, u32>,
    /// What the plan said last.
    pub latest: Option<Box<Planned>>,
    /// The plan has to be read before the next call.
    due: bool,
    /// A story was granted and is not ticked yet.
    unticked: Option<StoryGrant>,
    /// The verification before the run.
    run_baseline: Option<Verified>,
    /// The plan is read once more before the run ends.
    ends: bool,
    /// Every story is done: the run as a whole is judged.
    whole: bool,
    /// Files changed in this run before the story that is worked on.
    progressed: bool,
}

/// A story that was granted.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedStory {
    /// Which one, and its grade.
    pub grant: StoryGrant,
    /// After which iteration.
    pub iteration: u32,
    /// Its own commands: they have to pass for every later story, too.
    pub verify: Vec<String>,
    /// How they came out before the work on it.
    before: Vec<CheckResult>,
}

impl Stories {
    pub(crate) fn began(&mut self, given: Option<StoriesGiven>) {
        self.given = given;
        self.due = given.is_some();
    }

    /// Whether stories are taken one by one.
    pub fn is_on(&self) -> bool {
        self.given.is_some()
    }

    /// The plan may have changed: read it before the next call.
    pub(crate) fn read_again(&mut self) {
        self.due = self.is_on();
    }

    pub(crate) fn call_begins(&mut self) {
        self.read_again();
    }

    /// The plan has to be read before the next call.
    pub(crate) fn due(&self) -> bool {
        self.due
    }

    /// A story that was granted and is not ticked yet.
    pub(crate) fn unticked(&self) -> Option<&StoryGrant> {
        self.unticked.as_ref()
    }

    /// The plan is read once more before the run ends.
    pub(crate) fn ends(&self) -> bool {
        self.ends
    }

    /// How many stories are done, if every required one is.
    pub fn complete(&self) -> Option<u32> {
        let planned = self.latest.as_ref().filter(|_| self.current.is_none())?;
        let all = planned.problem.is_none() && planned.left.is_empty() && planned.done > 0;
        all.then_some(planned.done)
    }

    /// The plan is about to be read; what was decided about the current story is on disk.
    pub(crate) fn plan_begins(
        &mut self,
        (grant, aside): (Option<&StoryGrant>, Option<&str>),
        (iteration, judged): (u32, bool),
        baseline: Option<&Verified>,
    ) {
        self.ends = judged && self.current.is_none();
        if let Some(aside) = aside {
            self.aside.insert(aside.to_owned(), self.attempts);
        }
        if let Some(grant) = grant.filter(|_| self.unticked.is_none()) {
            let own = self.current.iter().filter(|story| story.key == grant.key);
            let verify: Vec<String> = own.flat_map(|story| story.verify.clone()).collect();
            let results = baseline.into_iter().flat_map(|baseline| &baseline.results);
            let before = results.filter(|result| verify.contains(&result.command)).cloned().collect();
            self.granted.push(GrantedStory { grant: grant.clone(), iteration, verify, before });
            self.unticked = Some(grant.clone());
        }
    }

    pub(crate) fn iteration_closed(&mut self) {
        if self.current.is_some() {
            self.attempts += 1;
        }
    }

    /// The story that is worked on has used its iterations up.
    pub fn had_its_iterations(&self) -> bool {
        let limit = self.given.map_or(u32::MAX, |given| given.attempts);
        self.current.is_some() && self.attempts >= limit
    }

    /// The verification before the run, together with what each granted story's own commands showed before its work.
    fn baseline_of_all(&self) -> Option<Verified> {
        let mut all = self.run_baseline.clone()?;
        for result in self.granted.iter().flat_map(|story| &story.before) {
            if all.results.iter().all(|known| known.command != result.command) {
                all.results.push(result.clone());
            }
        }
        Some(all)
    }

    /// A person has looked: stories that were set aside get their iterations again.
    pub(crate) fn answered(&mut self) {
        self.aside.clear();
        self.attempts = 0;
    }
}

impl State {
    pub(super) fn planned(&mut self, planned: &Planned) {
        let same_files = self.trees.now == planned.tree;
        self.trees.settled(planned.tree, &[], self.calls.id.iteration);
        self.phase = Phase::Ready;
        let stories = &mut self.stories;
        stories.due = false;
        stories.latest = Some(Box::new(planned.clone()));
        if planned.problem.is_some() {
            return;
        }
        let ended = stories.unticked.take().is_some();
        let key = |story: &Option<StoryGiven>| story.as_ref().map(|story| story.key.clone());
        let (before, now) = (key(&stories.current), key(&planned.story));
        stories.current.clone_from(&planned.story);
        match (before, now) {
            (Some(_), None) => self.whole_run(),
            (before, Some(now)) if before.as_ref() != Some(&now) || ended => self.story_begins(),
            (None, None) if self.stories.ends && same_files => self.phase = Phase::Judging,
            (None, None) if self.stories.ends => self.verify_again(planned.tree),
            // A person has ticked or removed what was left.
            (None, None) if !self.stories.whole && self.stories.complete().is_some() => self.whole_run(),
            _ => {}
        }
    }

    /// Work on a story begins: what was found out about the one before does not count for it.
    fn story_begins(&mut self) {
        self.keep_run();
        self.stories.whole = false;
        self.stories.attempts = 0;
        self.checks.compare_with(None);
        self.proof = ProofState::default();
        self.claim = Claim::default();
        self.claim_check = ClaimCheck::default();
        self.signals = Signals::default();
        self.recent = RecentIterations::default();
        self.guards_begin_anew();
        self.objections.clear();
    }

    /// What the guards counted belongs to the past: a story that is not worked on any more, or what a person has looked at.
    pub(super) fn guards_begin_anew(&mut self) {
        self.stall = Stall::default();
        self.repeat = Repeat::default();
        self.first_error = None;
        self.saturation = Saturation::default();
        self.decline = Decline::default();
        self.denials = Denials::default();
    }

    /// No story is left. If one was granted, the run is judged as a whole, on the claim that was made last; files that
    /// ralph ticked a story in are verified again.
    fn whole_run(&mut self) {
        self.stories.whole = self.stories.complete().is_some();
        self.keep_run();
        self.guards_begin_anew();
        let progressed = self.stories.progressed;
        self.trees.begin_anew(progressed);
        self.checks.compare_with(self.stories.baseline_of_all());
        self.proof = ProofState::default();
        // Every story was asked for a test of its own.
        self.proof.asked = u32::MAX;
        if !self.stories.granted.is_empty() && self.verifies() && self.stories.complete().is_some() {
            self.phase = Phase::Inspected;
        }
    }

    /// What the run as a whole is compared with, and whether it changed files.
    fn keep_run(&mut self) {
        let commands = self.start.as_ref().map_or(0, |start| start.verify.len());
        let stories = &mut self.stories;
        if stories.run_baseline.is_none() {
            stories.run_baseline = self.checks.baseline.clone().map(|mut baseline| {
                baseline.results.truncate(commands);
                baseline
            });
        }
        stories.progressed |= self.trees.begin_anew(false);
    }
}
