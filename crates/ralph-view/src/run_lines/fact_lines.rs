//! The lines that a fact adds to a run's screen: what was found, verified, reviewed or asked for.

use super::RunLines;
use crate::fact_text::{
    clock_words, fact_words, no_snapshot_words, planned_words, review_words, sandbox_words, seconds,
};
use crate::plain::plain;
use crate::run_state::short_id;
use ralph_rules::record::{
    Asked, Check, CheckOutcome, CheckResult, Ms, Planned, Request, RoomSets, Seen, Verified,
};
use ralph_rules::state::Phase;

/// Said where verify commands fail before the agent has worked, and they run contained.
pub const RED_IN_SANDBOX: &str =
    "if `ralph verify --sandbox off` passes, open what it needs (docs/sandbox.md)";

impl RunLines {
    pub(super) fn seen(&mut self, seen: &Seen) {
        match seen {
            Seen::RunStarted(start) => {
                self.title("with");
                self.sandbox();
                self.clock(start.clock_behind);
            }
            Seen::Resumed(resumed) => {
                self.title("resumed with");
                if let Some(workspace) = &resumed.workspace {
                    self.line(format!("  the workspace was moved to {}", plain(workspace)));
                }
                self.sandbox();
                self.clock(resumed.clock_behind);
            }
            Seen::Admitted(admitted) => {
                if let Some(mistake) = &admitted.template_failed {
                    let words = plain(&format!("a template failed, so the built-in one was used: {mistake}"));
                    self.line(format!("  {}", self.style.warn(words)));
                }
                if let Some(why) = &admitted.no_snapshot {
                    let words = plain(&no_snapshot_words(why));
                    self.line(format!("  {}", self.style.warn(words)));
                }
            }
            Seen::CallEnded(_) | Seen::CallLost(_) | Seen::Inspected(_) | Seen::Refused(_) => {
                self.output.call_ended();
                self.doing.clear();
                self.facts(seen);
                self.review(seen);
            }
            Seen::Asked(Asked { request: Request::Stop { after: false, .. } }) => self.stopping(),
            // The agent continues with what it does.
            Seen::Asked(_) | Seen::PolicyChanged(_) | Seen::CallsFound(_) => self.facts(seen),
            Seen::Compared(_) => self.doing.clear(),
            Seen::Planned(planned) => self.planned(planned),
            Seen::Verified(Verified { check: Check::InRoom(sets), results, room, .. }) => {
                self.doing.clear();
                let problem = room.as_ref().and_then(|room| room.problem.as_deref());
                let words = problem.map_or_else(|| room_words(*sets, results), plain);
                self.line(format!("  {}", self.style.faint(words)));
            }
            Seen::Verified(verified) => self.verified(seen, verified),
            _ => {}
        }
    }

    /// The results of a verification, and what to do about a baseline that shows nothing.
    fn verified(&mut self, seen: &Seen, verified: &Verified) {
        self.doing.clear();
        let before = match verified.check {
            Check::Baseline => "before: ",
            Check::AsIs | Check::InRoom(_) => "",
            Check::WithBaselineOracle => "with the original tests: ",
        };
        let lines = fact_words(seen);
        let about_sandbox = seen.sandbox().map_or(0, |it| sandbox_words(it).len());
        let results = lines.len().saturating_sub(about_sandbox);
        for (n, words) in lines.into_iter().enumerate() {
            let passed = verified.results.get(n).is_some_and(|result| result.how == CheckOutcome::Passed);
            let mark = if passed { self.style.good("✓") } else { self.style.bad("✗") };
            match n < results {
                true => self.line(format!("  {mark} {before}{words}")),
                false => self.line(format!("  {}", self.style.faint(words))),
            }
        }
        if verified.check == Check::Baseline && verified.passed() {
            let words = "your checks already pass, so they cannot show this task; a failing test first would";
            self.line(format!("  {} {}", self.style.warn("!"), self.style.warn(words)));
        }
        let contained = self.state.start.as_ref().and_then(|start| start.contained.as_ref());
        let red = verified.check == Check::Baseline && !verified.passed() && !verified.interrupted;
        if red && contained.is_some_and(|sandbox| sandbox.contains()) {
            self.line(format!("  {}", self.style.faint(RED_IN_SANDBOX)));
        }
    }

    /// What contains the run, where one was chosen; that nothing does is a warning.
    fn sandbox(&mut self) {
        let start = self.state.start.as_ref();
        let Some((words, sandbox)) = start.and_then(|start| Some((&start.sandbox, start.contained.clone()?)))
        else {
            return;
        };
        let words = plain(&format!("sandbox: {words}"));
        if sandbox.contains() {
            self.line(format!("  {}", self.style.faint(words)));
        } else {
            let words = format!("{words}: the agent can do anything you can");
            self.line(format!("  {} {}", self.style.warn("!"), self.style.warn(words)));
        }
        for note in &sandbox.notes {
            self.line(format!("  {}", self.style.faint(plain(note))));
        }
    }

    /// What a review came to: one line, and the findings below it.
    fn review(&mut self, seen: &Seen) {
        let id = match seen {
            Seen::CallEnded(call) => call.id,
            Seen::CallLost(lost) => lost.id,
            _ => return,
        };
        let given = self.state.start.as_ref().and_then(|start| start.review.clone());
        let made = self.state.reviews.made.last().filter(|review| review.id == id).cloned();
        let Some((given, made)) = given.zip(made) else { return };
        for line in review_words(&given, self.state.reviews.used(), &made) {
            self.line(format!("  {}", self.style.note(line)));
        }
    }

    /// A story that begins is named; of one that continues only what was put back.
    fn planned(&mut self, planned: &Planned) {
        let begins = self.state.stories.attempts == 0 && planned.story.is_some();
        let words = planned_words(planned);
        for words in words.into_iter().skip(usize::from(!begins && planned.problem.is_none())) {
            self.line(format!("  {}", self.style.note(plain(&words))));
        }
    }

    fn facts(&mut self, seen: &Seen) {
        for words in fact_words(seen) {
            self.line(format!("  {words}"));
        }
    }

    fn clock(&mut self, behind: Option<Ms>) {
        if let Some(behind) = behind {
            self.line(format!("  {} {}", self.style.warn("!"), self.style.warn(clock_words(behind))));
        }
    }

    fn title(&mut self, how: &str) {
        let Some(start) = &self.state.start else { return };
        let verify = match start.verify.as_slice() {
            [] if start.stories.is_some() => "each story verified by its own commands".into(),
            [] => "no verify command: completion cannot be verified".into(),
            commands => format!("verified by {}", plain(&commands.join(" && "))),
        };
        let id = self.style.strong(short_id(&start.run));
        self.line(format!("Run {id} {how} {}, {verify}", start.agent.name));
    }

    /// A person asked to stop now: what is waited for, and how not to.
    fn stopping(&mut self) {
        let ended = match self.state.phase {
            Phase::Calling { .. } | Phase::Ending => " after the agent is ended",
            Phase::Verifying(_) | Phase::Mapping => " after the verification is ended",
            _ => "",
        };
        let again = if self.own { " (Ctrl-C again to force)" } else { "" };
        self.line(format!("  Stopping{ended}{again}"));
    }
}

/// How the checks came out in a room.
fn room_words(sets: RoomSets, results: &[CheckResult]) -> String {
    let passed = results.iter().all(|result| result.how == CheckOutcome::Passed);
    let (how, ms) = (if passed { "pass" } else { "fail" }, results.iter().map(|result| result.ms).sum());
    format!("the checks {how} on {} ({})", sets.words(), seconds(ms))
}
