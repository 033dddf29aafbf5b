//! A run as lists show it: which group it belongs to, one word, one sentence, its strip. Made from rows alone, so that a
//! thousand runs cost a thousand rows and no journal.

use crate::fact_text::{ago, clock_until, seconds};
use crate::listed_run::ListedRun;
use crate::needs_you::{Standing, needs_you};
use crate::plain::plain;
use crate::run_state::{RunState, ended_by_signal, short_id};
use crate::strip::Strip;
use ralph_rules::counting::counted;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::grade::Grade;
use ralph_rules::record::Ms;
use ralph_store::{IterationRow, RunRow};
use serde::Serialize;
use std::path::Path;

/// The groups of a list, in the order a person asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Somebody has to look.
    NeedsYou,
    /// An agent or a verification is at work.
    Working,
    /// It waits for a limit, or a person paused it.
    Waiting,
    /// It completed; the card says what was shown.
    Completed,
    /// A person stopped it, put it away, or started another run in its workspace.
    Ended,
}

impl Group {
    /// Every group, in order.
    pub const ALL: [Group; 5] =
        [Group::NeedsYou, Group::Working, Group::Waiting, Group::Completed, Group::Ended];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::NeedsYou => "Needs you",
            Group::Working => "Working",
            Group::Waiting => "Waiting",
            Group::Completed => "Completed",
            Group::Ended => "Ended",
        }
    }

    /// The group of a run in this state.
    pub fn of(state: RunState, standing: Standing) -> Group {
        match state {
            _ if needs_you(state, standing) => Group::NeedsYou,
            RunState::Running | RunState::Verifying | RunState::Stopping | RunState::InSession => {
                Group::Working
            }
            RunState::Waiting { .. } | RunState::Paused => Group::Waiting,
            RunState::Ended(Status::Completed) => Group::Completed,
            RunState::Ended(_) | RunState::Crashed => Group::Ended,
        }
    }
}

/// What a mark and a colour say; the word says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Under way: a ring, blue.
    Live,
    /// Waiting: a clock, grey.
    Wait,
    /// Completed, and the work was shown by experiment: a tick, green.
    Good,
    /// Completed without such an experiment, or ended by a person: a dash, grey.
    Quiet,
    /// A person has to decide or answer: a triangle, amber.
    Need,
    /// Something went wrong: a cross, red.
    Bad,
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Card {
    /// Its row, as `ralph list --json` has it.
    #[serde(flatten)]
    pub run: ListedRun,
    /// The last characters of its id, which commands take.
    pub short: String,
    /// The last name of its workspace.
    pub name: String,
    /// Where it is listed.
    pub group: Group,
    /// Which mark it has.
    pub tone: Tone,
    /// Its state in a word or two.
    pub word: String,
    /// One sentence: what it does, what it waits for, why it ended.
    pub line: String,
    /// The iteration under way; of a run that is over, how many it had, as every other screen counts them.
    pub iteration: u32,
    /// A person put it away.
    pub put_away: bool,
    /// Its bars.
    pub strip: Strip,
}

/// What a card is made of besides the rows.
#[derive(Clone, Copy, Debug)]
pub struct CardContext<'a> {
    /// Its state, with its process looked at.
    pub state: RunState,
    /// Whether somebody has seen it.
    pub standing: Standing,
    /// What the agent does now, where that is known.
    pub doing: Option<&'a str>,
    /// The time, UTC milliseconds.
    pub now: Ms,
    /// The zone for times of day.
    pub zone: &'a str,
}

impl Card {
    /// The card of a run with its latest iterations, in order.
    pub fn of(run: ListedRun, iterations: &[IterationRow], context: CardContext<'_>) -> Card {
        let CardContext { state, standing, .. } = context;
        let mut strip = Strip::of(&run.row, iterations, state.is_open());
        if let Some(reserved) = run.cut_off() {
            strip.cut_off(reserved);
        }
        let begun = strip.bars.last().map_or(0, |bar| bar.n).max(run.row.iterations);
        let iteration = if state.is_open() { begun } else { run.row.iterations };
        let group = Group::of(state, standing);
        let proof = run.row.proof.as_deref().and_then(Grade::of);
        Card {
            short: plain(short_id(&run.row.id)),
            name: plain(&workspace_name(&run.row.workspace)),
            group,
            tone: tone(state, group, &run.row, proof),
            word: word(state, &run.row, proof),
            line: plain(&line(state, &run.row, &strip, context)),
            iteration,
            put_away: standing.put_away,
            strip,
            run: shown(run),
        }
    }

    /// The word, and in or after which iteration it came to that. One that was cut off, or was never made because the
    /// provider turned it away, is no iteration that the run had.
    pub fn outcome(&self) -> String {
        let last = self.strip.bars.last().map_or(0, |bar| bar.n);
        match self.run.row.iterations {
            done if last > done => format!("{} in iteration {last}", self.word),
            0 => format!("{} before the first iteration", self.word),
            done => format!("{} after {}", self.word, counted(done, "iteration")),
        }
    }

    /// How long ago it began, or for how long it has waited or been over.
    pub fn age(&self, now: Ms) -> String {
        let row = &self.run.row;
        let since = if self.group == Group::Working { row.started } else { row.updated };
        match self.group {
            Group::Working | Group::Waiting => seconds((now - since).max(0)),
            _ => ago((now - since).max(0)),
        }
    }
}

/// The last name of a workspace's path.
pub fn workspace_name(workspace: &str) -> String {
    let name = Path::new(workspace).file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| workspace.to_owned())
}

/// What others wrote, made plain: screens show it as it is.
fn shown(run: ListedRun) -> ListedRun {
    let plain_row = |row: RunRow| RunRow {
        task: plain(&row.task),
        workspace: plain(&row.workspace),
        agent: plain(&row.agent),
        model: row.model.as_deref().map(plain),
        why: row.why.as_deref().map(plain),
        ..row
    };
    ListedRun { row: plain_row(run.row), ..run }
}

fn tone(state: RunState, group: Group, row: &RunRow, proof: Option<Grade>) -> Tone {
    let went_wrong =
        matches!(state, RunState::Crashed | RunState::Ended(Status::Error | Status::Interrupted));
    match group {
        Group::NeedsYou if went_wrong || is_tampering(row) => Tone::Bad,
        Group::NeedsYou => Tone::Need,
        Group::Working => Tone::Live,
        Group::Waiting => Tone::Wait,
        Group::Completed if proof.is_some_and(Grade::shows_work) => Tone::Good,
        Group::Completed | Group::Ended => Tone::Quiet,
    }
}

/// The agent changed what it must not.
fn is_tampering(row: &RunRow) -> bool {
    let reason = row.reason.as_deref().unwrap_or_default();
    [Reason::ProhibitedPath, Reason::OracleChanged].iter().any(|tampering| tampering.name() == reason)
}

/// The state in a word or two. A completed run is called what was shown of it, never more.
fn word(state: RunState, row: &RunRow, proof: Option<Grade>) -> String {
    let reason = row.reason.as_deref().unwrap_or_default();
    match state {
        RunState::Running => "Working".into(),
        RunState::Verifying => "Verifying".into(),
        RunState::Stopping => "Stopping".into(),
        RunState::Waiting { .. } => "Waiting".into(),
        RunState::Paused => "Paused".into(),
        RunState::InSession => "In a session".into(),
        RunState::Crashed => "Crashed".into(),
        RunState::Ended(Status::Interrupted) => match ended_by_signal(row) {
            Some(_) => "Interrupted".into(),
            None => "Stopped".into(),
        },
        RunState::Ended(Status::Completed) if reason == Reason::Accepted.name() => "Accepted".into(),
        RunState::Ended(Status::Completed) => match proof {
            Some(grade) => sentence_case(grade.name()),
            None => "Completed".into(),
        },
        RunState::Ended(Status::Aborted | Status::Error) => sentence_case(&reason.replace('_', " ")),
    }
}

fn sentence_case(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase()).into_iter();
    first.chain(letters.map(|c| c.to_ascii_lowercase())).collect()
}

fn line(state: RunState, row: &RunRow, strip: &Strip, context: CardContext<'_>) -> String {
    let doing = || context.doing.map(str::to_owned);
    match state {
        RunState::Running | RunState::Stopping | RunState::InSession => {
            doing().unwrap_or_else(|| iteration_of(row, strip))
        }
        RunState::Verifying => doing().unwrap_or_else(|| format!("verifying, {}", iteration_of(row, strip))),
        RunState::Waiting { .. } => match row.until {
            Some(until) => format!("continues at {}", clock_until(until, context.now, context.zone)),
            None => "waits for a limit to pass".into(),
        },
        RunState::Paused => "paused before the next call".into(),
        RunState::Crashed => "its process is gone; `ralph resume` continues it".into(),
        RunState::Ended(Status::Completed) => completed_line(row, strip),
        RunState::Ended(_) => row.why.clone().unwrap_or_else(|| counted(row.iterations, "iteration")),
    }
}

fn iteration_of(row: &RunRow, strip: &Strip) -> String {
    match (strip.bars.last(), row.max_iterations) {
        (Some(bar), 0) => format!("iteration {}", bar.n),
        (Some(bar), most) => format!("iteration {} of {most}", bar.n),
        (None, _) => "before the first iteration".into(),
    }
}

/// How much it took; tests that were fixed, where they were counted.
fn completed_line(row: &RunRow, strip: &Strip) -> String {
    let iterations = counted(row.iterations, "iteration");
    let failing = strip.failing();
    match (row.failing_before, failing.last()) {
        (Some(before), Some(after)) if before > *after => {
            format!("{iterations}, {} fixed", counted(before - after, "test"))
        }
        _ => iterations,
    }
}
