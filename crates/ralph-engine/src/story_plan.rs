//! The plan of a run that takes it story by story. Whatever changes it while the agent or a verify command runs is not
//! the person's: ticks are put back, and what was asked of a story stays asked (`ralph_rules::plan::Ledger`). ralph
//! itself writes nothing but ticks, each after the decision is on disk, and the whole file at once. `world/plan.rs` is
//! the step, `story_plan/file.rs` reads and writes the file.

mod file;

use self::file::PlanFile;
use crate::bound_files;
use crate::redact::Redactor;
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_rules::plan::{Choice, Item, Ledger, TickEdit, choose};
use ralph_rules::record::{RunStarted, StoryGiven, StoryGrant};
use ralph_rules::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is kept of the plan between steps and processes, in the run's folder.
const KEPT: &str = "stories.json";
/// How many stories that are left are named.
const NAMES: usize = 50;

/// The plan of a run, and what its steps know about it.
pub struct StoryPlan {
    file: PlanFile,
    folder: PathBuf,
    kept: Mutex<Kept>,
}

/// What the next process has to know.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    ledger: Ledger,
    /// The plan could not be read when nothing ran: that is the person's, and is left alone.
    unreadable: bool,
    /// The marker file when the story began, if one did.
    marker: Option<Option<String>>,
}

/// What the plan says after it was read and ticked.
pub struct Reading {
    /// The story to work on.
    pub story: Option<StoryGiven>,
    /// It is another one than before.
    pub another: bool,
    /// Stories done.
    pub done: u32,
    /// Required stories open.
    pub open: u32,
    /// Those that are left, if none can be taken.
    pub left: Vec<String>,
    /// The story that was ticked.
    pub ticked: Option<String>,
    /// Stories whose tick was put back.
    pub put_back: Vec<String>,
    /// Other changes that do not count.
    pub ignored: Vec<String>,
}

impl StoryPlan {
    /// The plan of this run, if it is taken story by story.
    pub fn of(start: &RunStarted, folder: &Path) -> Option<StoryPlan> {
        let plan = start.plan.as_ref().filter(|_| start.stories.is_some())?;
        let kept = std::fs::read(folder.join(KEPT)).unwrap_or_default();
        let kept = serde_json::from_slice(&kept).unwrap_or_default();
        let file = PlanFile::new(Path::new(&plan.path), folder);
        Some(StoryPlan { file, folder: folder.to_owned(), kept: Mutex::new(kept) })
    }

    /// A command of the run is about to run. Until now, changes are the person's.
    pub fn before_commands(&self, call: bool) {
        let mut kept = self.kept();
        self.settle(&mut kept);
        let read = self.file.read();
        kept.unreadable = read.is_err();
        if let Ok((bytes, document)) = read {
            kept.ledger.trust(&document);
            self.file.remember(&bytes);
        }
        if call {
            // The prompt has told them.
            kept.ledger.put_back.clear();
            kept.ledger.ignored.clear();
        }
        kept.ledger.running = true;
        self.save(&kept);
    }

    /// The commands have ended, and everything they started: ticks are put back.
    pub fn after_commands(&self) {
        let mut kept = self.kept();
        self.settle(&mut kept);
        self.save(&kept);
    }

    fn settle(&self, kept: &mut Kept) {
        if !std::mem::take(&mut kept.ledger.running) {
            return;
        }
        match self.file.read() {
            Ok((_, document)) => {
                let before = kept.ledger.clone();
                if !kept.ledger.distrust(&document).is_empty()
                    && let Err(why) = self.file.write_ticks(|document| before.clone().distrust(document))
                {
                    kept.ledger.ignored.push(format!("the ticks, which could not be put back: {why}"));
                }
                if let Ok((bytes, document)) = self.file.read() {
                    kept.ledger.written(&document);
                    self.file.remember(&bytes);
                }
            }
            Err(_) if kept.unreadable => {}
            Err(why) => kept.ledger.ignored.extend(self.file.put_back_whole(&why)),
        }
    }

    /// Ticks a story that was granted, reads the plan and chooses the next story. `Err` says why the plan cannot be used.
    pub fn read(
        &self,
        grant: Option<&StoryGrant>,
        state: &State,
        redactor: &Redactor,
    ) -> Result<Reading, String> {
        let mut kept = self.kept();
        self.settle(&mut kept);
        let (_, document) = self.file.read()?;
        kept.ledger.trust(&document);
        let clean = |text: &str| redactor.redact(text).into_owned();
        let is = |item: &Item, key: &str| item.key == key || clean(&item.key) == key;
        let mut ticked = None;
        if let Some(grant) = grant {
            let tick = |document: &ralph_rules::plan::Document| {
                let open = document.items.iter().filter(|item| is(item, &grant.key) && !item.done);
                open.map(TickEdit::done).collect()
            };
            self.file.write_ticks(tick)?;
            let (_, document) = self.file.read()?;
            kept.ledger.written(&document);
            let own: Vec<String> =
                kept.ledger.items().iter().filter(|i| is(i, &grant.key)).map(|i| i.key.clone()).collect();
            own.iter().for_each(|key| kept.ledger.granted(key));
            ticked = document.items.iter().find(|item| is(item, &grant.key)).map(|_| grant.key.clone());
        }
        let (bytes, _) = self.file.read()?;
        self.file.remember(&bytes);
        let reading = reading(&kept.ledger, ticked, state, &clean);
        self.save(&kept);
        Ok(reading)
    }

    /// Work on a story begins: only a marker file written from now on is a claim.
    pub fn story_begins(&self, ctx: &StepContext) {
        let marker = ctx.start.policy.gate.marker_file.as_deref();
        let now = marker.and_then(|file| bound_files::marker(&ctx.workspace, file));
        let mut kept = self.kept();
        kept.marker = Some(now);
        self.save(&kept);
    }

    /// The marker file when the story began, if one did.
    pub fn marker(&self) -> Option<Option<String>> {
        self.kept().marker.clone()
    }

    /// The commands of the story with this key, with the secrets that the journal does not hold: each command as the
    /// plan has it, otherwise as it was recorded.
    pub fn commands(&self, key: &str, recorded: &[String], redactor: &Redactor) -> Vec<String> {
        let kept = self.kept();
        let same = |item: &&Item| item.key == key || redactor.redact(&item.key) == key;
        let item = kept.ledger.items().iter().find(same);
        let whole = |command: &String| {
            let is = |own: &&String| redactor.redact(own) == command.as_str();
            let own = item.and_then(|item| item.verify.iter().find(is));
            own.unwrap_or(command).clone()
        };
        recorded.iter().map(whole).collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, kept: &Kept) {
        let text = serde_json::to_vec(kept).unwrap_or_default();
        ralph_os::write_durably(&self.folder.join(KEPT), &text).discard("save what is known of the plan");
    }
}

/// The next story, and the counts.
fn reading(
    ledger: &Ledger,
    ticked: Option<String>,
    state: &State,
    clean: &impl Fn(&str) -> String,
) -> Reading {
    let items = ledger.items();
    let set_aside = &state.stories.aside;
    let aside: BTreeSet<String> = items
        .iter()
        .filter(|item| set_aside.contains_key(&item.key) || set_aside.contains_key(&clean(&item.key)))
        .map(|item| item.key.clone())
        .collect();
    let choice = choose_kept(items, &aside, state, clean);
    let left = match &choice {
        Choice::Stuck(items) => items.iter().take(NAMES).map(|item| clean(&item.label())).collect(),
        _ => Vec::new(),
    };
    let story = match choice {
        Choice::Take(item) => Some(StoryGiven::from(item)),
        _ => None,
    };
    let count =
        |which: fn(&&Item) -> bool| u32::try_from(items.iter().filter(which).count()).unwrap_or(u32::MAX);
    let before = state.stories.current.as_ref().map(|story| story.key.as_str());
    let another = story.as_ref().is_some_and(|story| {
        ticked.is_some() || before.is_none_or(|before| before != story.key && before != clean(&story.key))
    });
    Reading {
        story,
        another,
        done: count(|item| item.done),
        open: count(|item| !item.done && !item.optional),
        left,
        ticked,
        put_back: ledger.put_back.clone(),
        ignored: ledger.ignored.clone(),
    }
}

/// The story that is worked on stays the one until it is granted, set aside, or ticked by a person.
fn choose_kept<'a>(
    items: &'a [Item],
    aside: &BTreeSet<String>,
    state: &State,
    clean: &impl Fn(&str) -> String,
) -> Choice<'a> {
    let current = state.stories.current.as_ref();
    let same = |item: &&Item| {
        let is = |story: &StoryGiven| item.key == story.key || clean(&item.key) == story.key;
        !item.done && !aside.contains(&item.key) && current.is_some_and(is)
    };
    match items.iter().find(same) {
        Some(item) => Choice::Take(item),
        None => choose(items, aside),
    }
}
