//! A plan that is taken story by story, in a made-up world: real bytes, read and ticked by the rules' own reader and
//! ledger, while the agent ticks, unticks, weakens and removes stories, a person edits the plan between calls, and power
//! is cut. The invariant: a story is ticked only if its files had passed when it was granted, or a person ticked it.

use super::site::Site;
use ralph_rules::ending::{Ending, Reason, Status};
use ralph_rules::plan::{Choice, Document, Item, Ledger, TickEdit, choose, document};
use ralph_rules::record::{Planned, RunStarted, Seen, StoryGiven, StoryGrant};
use ralph_rules::state::State;
use std::collections::BTreeSet;

/// The plan and what is on disk about it.
pub struct SimulatedPlan {
    text: Vec<u8>,
    ledger: Ledger,
    /// Stories that were granted on files that had passed.
    granted: BTreeSet<String>,
    /// Stories that a person ticked while nothing ran.
    by_person: BTreeSet<String>,
    added: u32,
}

impl SimulatedPlan {
    /// The plan of a run, if it is taken story by story.
    pub fn of(start: &RunStarted) -> Option<SimulatedPlan> {
        start.stories?;
        let seen = &start.plan.as_ref()?.seen;
        let total = seen.done + seen.pending;
        let story = |n: u32| {
            let on = if n % 3 == 2 { format!("\"US-{}\"", n - 1) } else { String::new() };
            let (done, priority) = (n < seen.done, (n * 7) % 4);
            format!("{{\"id\":\"US-{n}\",\"priority\":{priority},\"dependsOn\":[{on}],\"passes\":{done}}}")
        };
        let stories: Vec<String> = (0..total).map(story).collect();
        let by_person = (0..seen.done).map(|n| format!("US-{n}")).collect();
        let text = format!("{{\"userStories\":[\n{}\n]}}\n", stories.join(",\n")).into_bytes();
        Some(SimulatedPlan { text, ledger: Ledger::default(), granted: BTreeSet::new(), by_person, added: 0 })
    }

    /// How many stories count, also those that an agent removed.
    pub fn stories(&self) -> u32 {
        self.document().items.len().max(self.ledger.items().len()) as u32
    }

    fn document(&self) -> Document {
        document("prd.json", &self.text).unwrap()
    }

    /// Ticks or unticks a story, as an editor does.
    fn set(&mut self, key: &str, done: bool) {
        let document = self.document();
        let Some(item) = document.item(key) else { return };
        let bytes = if done { item.tick.done.clone() } else { item.tick.open.clone() };
        self.text = TickEdit::apply(vec![TickEdit { tick: item.tick.clone(), bytes }], &self.text);
    }

    fn before_commands(&mut self) {
        self.settle();
        let document = self.document();
        self.ledger.trust(&document);
        self.ledger.running = true;
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.ledger.running) {
            let edits = self.ledger.distrust(&self.document());
            self.text = TickEdit::apply(edits, &self.text);
            let document = self.document();
            self.ledger.written(&document);
        }
    }
}

impl Site {
    /// The verify commands: all stories have those of the run.
    pub fn commands(&self) -> Vec<String> {
        self.like.start.verify.clone()
    }

    pub fn commands_begin(&mut self) {
        if let Some(plan) = &mut self.stories {
            plan.before_commands();
        }
    }

    /// The agent's call is over, or was cut off: what it did to the plan.
    pub fn meddle_with_plan(&mut self) {
        let healed = self.healed();
        let (Some(plan), dice) = (&mut self.stories, &mut self.dice) else { return };
        let keys: Vec<String> = plan.document().items.iter().map(|item| item.key.clone()).collect();
        for key in keys.iter().filter(|_| !healed) {
            match dice.below(12) {
                0 | 1 => plan.set(key, true),
                2 => plan.set(key, false),
                _ => {}
            }
        }
        if !healed && dice.one_in(12) {
            let text = String::from_utf8(plan.text.clone()).unwrap();
            // Some stories vanish, or a ticked one appears.
            plan.text = match dice.below(2) {
                0 => b"{\"userStories\":[]}".to_vec(),
                _ if keys.iter().any(|key| key == "forged") => text.into_bytes(),
                _ => with_story(&text, "forged", true),
            };
        }
        // Left to the next process where power is cut.
        if !dice.one_in(3) {
            plan.settle();
        }
    }

    /// A person edits the plan while nothing runs.
    fn person_edits(&mut self) {
        let healed = self.healed();
        let (Some(plan), dice) = (&mut self.stories, &mut self.dice) else { return };
        if healed || plan.ledger.running || !dice.one_in(12) {
            return;
        }
        let keys: Vec<String> = plan.document().items.iter().map(|item| item.key.clone()).collect();
        match dice.below(3) {
            0 if !keys.is_empty() => {
                let key = &keys[dice.below(keys.len() as u64) as usize];
                plan.set(key, true);
                plan.by_person.insert(key.clone());
            }
            1 if plan.added < 2 => {
                plan.added += 1;
                let text = String::from_utf8(plan.text.clone()).unwrap();
                plan.text = with_story(&text, &format!("new-{}", plan.added), false);
            }
            _ => {}
        }
    }

    /// Step Plan.
    pub fn take_story(&mut self, grant: Option<&StoryGrant>, state: &State) {
        let current = self.proof == Some((self.version, true));
        if let Some(plan) = &mut self.stories {
            plan.settle();
        }
        self.person_edits();
        let broken = !self.healed() && self.dice.one_in(150);
        if broken {
            let problem = Some("line 1, column 1: the JSON ends too early".to_string());
            return self.will_tell(
                2,
                Seen::Planned(Box::new(Planned { tree: self.tree, problem, ..Planned::default() })),
            );
        }
        let plan = self.stories.as_mut().unwrap();
        let document = plan.document();
        plan.ledger.trust(&document);
        if let Some(grant) = grant {
            let again = plan.granted.contains(&grant.key);
            assert!(again || current, "{}: {} granted without proof", self.run, grant.key);
            plan.granted.insert(grant.key.clone());
            plan.set(&grant.key, true);
            let document = plan.document();
            plan.ledger.written(&document);
            plan.ledger.granted(&grant.key);
            self.tree = self.dice.tree();
            self.version += 1;
        }
        let plan = self.stories.as_ref().unwrap();
        let planned = planned(plan.ledger.items(), state);
        let planned = Planned { tree: self.tree, ticked: grant.map(|grant| grant.key.clone()), ..planned };
        self.will_tell(2, Seen::Planned(Box::new(planned)));
    }

    /// Every tick was granted on files that had passed, or is a person's; a completed run has no required story left.
    pub fn ticks_are_proven(&mut self, state: &State, ending: Ending) {
        let Some(plan) = &mut self.stories else { return };
        plan.settle();
        for item in plan.document().items.iter().filter(|item| item.done) {
            let proven = plan.granted.contains(&item.key) || plan.by_person.contains(&item.key);
            assert!(proven, "{}: {} is ticked unproven", self.run, item.key);
        }
        if ending.status() == Status::Completed && ending.reason != Reason::Accepted {
            assert_eq!(state.stories.current, None, "{}: completed with a story open", self.run);
            let open: Vec<&Item> = plan.ledger.items().iter().filter(|item| !item.done).collect();
            assert!(open.is_empty(), "{}: completed with {open:?}", self.run);
        }
    }
}

/// The plan with one more story at its beginning.
fn with_story(text: &str, id: &str, done: bool) -> Vec<u8> {
    let comma = if text.contains("\"id\"") { "," } else { "" };
    let new = format!("[{{\"id\":\"{id}\",\"passes\":{done}}}{comma}");
    text.replacen('[', &new, 1).into_bytes()
}

fn planned(items: &[Item], state: &State) -> Planned {
    let aside: BTreeSet<String> = state.stories.aside.keys().cloned().collect();
    let current = state.stories.current.as_ref().map(|story| story.key.as_str());
    let same = |item: &&Item| !item.done && !aside.contains(&item.key) && current == Some(item.key.as_str());
    let choice = items.iter().find(same).map_or_else(|| choose(items, &aside), Choice::Take);
    let (story, left) = match &choice {
        Choice::Take(item) => (Some(StoryGiven::from(*item)), Vec::new()),
        Choice::Complete => (None, Vec::new()),
        Choice::Stuck(items) => (None, items.iter().map(|item| item.label()).collect()),
    };
    let count = |done: bool| items.iter().filter(|item| item.done == done).count() as u32;
    Planned { story, left, done: count(true), open: count(false), ..Planned::default() }
}
