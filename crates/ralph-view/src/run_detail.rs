//! One run in depth: what it does, what is missing, what it may still take, how it ended and what comes next. Folds the
//! run's own journal and no other.

use crate::board::{Board, BoardError, Doing, ShownCall};
use crate::card::{Card, Tone};
use crate::conditions::{BreakerView, Condition, breaker_view, conditions};
use crate::fact_text::{capital, ending_words, judgement_words, money, seconds};
use crate::iteration_parts::{who, with_rungs};
use crate::next_steps::next_commands;
use crate::plain::plain;
use crate::run_state::{RunState, short_id};
use crate::seen_before::{SeenBefore, latest_error, seen_before};
use crate::strip::{Bar, RUN_BARS};
use ralph_engine::history::estimate;
use ralph_engine::journal;
use ralph_engine::outcome::{Outcome, last_ending, outcome};
use ralph_rules::ending::Status;
use ralph_rules::estimate::Estimate;
use ralph_rules::record::{Ms, Record, RunStarted};
use ralph_rules::state::State;
use ralph_store::{IterationRow, RunRow, Store};
use serde::Serialize;

/// Runs that an estimate needs behind it.
pub const ENOUGH_RUNS: u32 = 5;

/// One run in depth.
#[derive(Clone, Debug, Serialize)]
pub struct RunDetail {
    /// Its card, with the bars of its latest hundred iterations.
    pub card: Card,
    /// Who works now: the agent, and its model where one was chosen.
    pub who: String,
    /// The commands that decide.
    pub verify: Vec<String>,
    /// Its zone, for times of day.
    pub zone: String,
    /// Who works on which rung; empty without a ladder.
    pub ladder: Vec<String>,
    /// What it does now.
    pub doing: Option<Doing>,
    /// How it ended and what comes next.
    pub note: Option<EndNote>,
    /// What it takes to be proven.
    pub conditions: Vec<Condition>,
    /// How much of each limit is used.
    pub limits: Vec<Meter>,
    /// What would stop it.
    pub breaker: BreakerView,
    /// Newest first.
    pub iterations: Vec<IterationView>,
    /// What runs like this took, from five of them on.
    pub expected: Option<Expected>,
    /// Earlier runs here that had the latest error.
    pub seen_before: Vec<SeenBefore>,
    /// The call that the lines are of.
    pub call: Option<ShownCall>,
    /// The latest lines of the call under way, or of the one before.
    pub lines: Vec<crate::activity_line::ActivityLine>,
    /// The result, once it ended.
    pub result: Option<Outcome>,
}

/// How a run ended and what comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndNote {
    /// Which colour and mark it has.
    pub tone: Tone,
    /// How it ended.
    pub title: String,
    /// Why, in a sentence.
    pub text: String,
    /// What to type next.
    pub commands: Vec<NextCommand>,
}

/// A command that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextCommand {
    /// As it is typed.
    pub command: String,
    /// What it is good for.
    pub what: String,
}

/// How much of a limit is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meter {
    /// Of what.
    pub name: &'static str,
    /// How much.
    pub used: i64,
    /// The most.
    pub limit: i64,
    /// Reserved besides.
    pub held: i64,
    /// From here on it is near.
    pub warn_at: i64,
    /// `used` in words.
    pub used_text: String,
    /// `limit` in words.
    pub limit_text: String,
}

/// One iteration in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IterationView {
    /// Its bar.
    #[serde(flatten)]
    pub bar: Bar,
    /// Result of its verification.
    pub verified: Option<bool>,
    /// What was decided after it, as scripts match it.
    pub decision: String,
    /// The same in words, where they are known.
    pub why: String,
    /// Class of its failure.
    pub failure: Option<String>,
    /// Who worked; only of a run with a ladder.
    pub who: Option<String>,
}

/// What runs of the same agent and model in this workspace took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Runs behind it.
    pub runs: u32,
    /// Half of them took no more iterations.
    pub iterations_p50: u32,
    /// Nine in ten took no more.
    pub iterations_p90: u32,
    /// Half of their iterations cost no more, in micro-dollars.
    pub cost_p50_micro: i64,
    /// Nine in ten cost no more.
    pub cost_p90_micro: i64,
}

impl Expected {
    /// Enough runs are behind it to say something.
    pub fn of(estimate: Estimate) -> Option<Expected> {
        let Estimate { runs, iterations_p50, iterations_p90, cost_p50, cost_p90, .. } = estimate;
        let (cost_p50_micro, cost_p90_micro) = (cost_p50.0, cost_p90.0);
        (runs >= ENOUGH_RUNS).then_some(Expected {
            runs,
            iterations_p50,
            iterations_p90,
            cost_p50_micro,
            cost_p90_micro,
        })
    }
}

impl Board {
    /// One run in depth; none if there is no such run.
    pub fn detail(&self, run: &str, now: Ms) -> Result<Option<RunDetail>, BoardError> {
        let Some(store) = self.store() else { return Ok(None) };
        let Some(row) = store.run(run)? else { return Ok(None) };
        let mut card = self.card_of(store, row.clone(), RUN_BARS, now)?;
        let (row, now_state) = self.row_now(row);
        let records = journal::read(store, run).map_err(BoardError::Journal)?;
        let rows = with_rungs(store.latest_iterations(run, RUN_BARS)?, &records);
        for bar in &mut card.strip.bars {
            let worked = rows.iter().rev().find(|row| row.n == bar.n);
            bar.rung = worked.map_or(bar.rung, |row| row.rung);
        }
        let state = State::of(&records);
        let start = state.start.as_deref();
        let ended = state.ending.and(last_ending(&records));
        let ended = ended.map(|(ending, why)| (outcome(&state, ending, why), ending_words(&ending, why)));
        let skill = start.and_then(|start| start.skill.as_ref()).map(|skill| skill.name.as_str());
        let history = start.and_then(|start| estimate(store, &row.workspace, &start.agent, skill));
        Ok(Some(RunDetail {
            who: start.map(|start| plain(&state.caller(start).title())).unwrap_or_default(),
            verify: state.commands().map(|command| plain(command)).collect(),
            zone: start.map_or("UTC".into(), |start| start.zone.clone()),
            ladder: start.map(ladder).unwrap_or_default(),
            doing: self.doing(run),
            note: end_note(&card, &row, now_state, &state, ended.as_ref()),
            conditions: conditions(&state),
            limits: limits(&row, &card, &state),
            breaker: breaker_view(&state),
            iterations: iterations(&card, &rows, &state, &records),
            expected: history.and_then(Expected::of),
            seen_before: match latest_error(&rows) {
                Some(error) => seen_before(store, &row.workspace, error, run)?,
                None => Vec::new(),
            },
            call: self.shown_call(run),
            lines: self.lines(run),
            result: ended.map(|(outcome, _)| outcome),
            card,
        }))
    }
}

fn ladder(start: &RunStarted) -> Vec<String> {
    if start.ladder.is_empty() {
        return Vec::new();
    }
    (0..start.rungs()).map(|rung| plain(&start.rung(rung).title())).collect()
}

/// How it ended: what the receipt says first, and what to type next.
fn end_note(
    card: &Card,
    row: &RunRow,
    now: RunState,
    state: &State,
    ended: Option<&(Outcome, String)>,
) -> Option<EndNote> {
    let title = card.outcome();
    let short = short_id(&row.id);
    match (now, ended) {
        (RunState::Crashed, _) => Some(EndNote {
            tone: card.tone,
            title,
            text: "Its process ended without recording a result. What it wrote until then is safe.".into(),
            commands: vec![
                next_command((format!("ralph resume {short}"), "continue from here".into())),
                next_command((format!("ralph status {short}"), "what is known of it".into())),
            ],
        }),
        (RunState::Ended(status), Some((outcome, words))) => {
            // What proven and tested mean is among the reasons; what less than that means is not.
            let less = outcome.proof.filter(|grade| status == Status::Completed && !grade.shows_work());
            let sentences = less.map(|grade| grade.meaning().to_owned()).into_iter().chain([words.clone()]);
            let text: Vec<String> =
                sentences.map(|words| capital(words.trim_end_matches('.')) + ".").collect();
            let commands = next_commands(outcome, state, short).into_iter().map(next_command).collect();
            Some(EndNote { tone: card.tone, title, text: plain(&text.join(" ")), commands })
        }
        _ => None,
    }
}

fn next_command((command, what): (String, String)) -> NextCommand {
    NextCommand { command: plain(&command), what: plain(&what) }
}

fn limits(row: &RunRow, card: &Card, state: &State) -> Vec<Meter> {
    // A call that was cut off counts as its reservation, as in `ralph list`.
    let cut_off = card.run.cut_off();
    let spent = row.cost_micro.saturating_add(cut_off.unwrap_or(row.live_micro));
    let reserved = if cut_off.is_some() { 0 } else { card.run.reserved_micro };
    let held = reserved.saturating_sub(row.live_micro).max(0);
    let near = |limit: i64, tenths: i64| limit.saturating_mul(tenths) / 10;
    let mut meters = vec![
        Meter {
            name: "cost",
            used: spent,
            limit: row.max_cost_micro,
            held,
            warn_at: near(row.max_cost_micro, 8),
            used_text: money(spent, card.run.row.cost_complete),
            limit_text: money(row.max_cost_micro, true),
        },
        Meter {
            name: "iterations",
            used: row.iterations.into(),
            limit: row.max_iterations.into(),
            held: 0,
            warn_at: near(row.max_iterations.into(), 9),
            used_text: row.iterations.to_string(),
            limit_text: row.max_iterations.to_string(),
        },
    ];
    meters.extend(row.max_ms.map(|limit| Meter {
        name: "time",
        used: state.ran,
        limit,
        held: 0,
        warn_at: near(limit, 9),
        used_text: seconds(state.ran),
        limit_text: seconds(limit),
    }));
    meters.retain(|meter| meter.limit > 0);
    meters
}

fn iterations(card: &Card, rows: &[IterationRow], state: &State, records: &[Record]) -> Vec<IterationView> {
    let words = decision_words(records);
    let view = |bar: &Bar| {
        let row = rows.iter().rev().find(|row| row.n == bar.n)?;
        Some(IterationView {
            bar: bar.clone(),
            verified: row.verified,
            decision: row.decision.clone(),
            why: words.get(&bar.n).cloned().unwrap_or_default(),
            failure: row.failure.clone(),
            who: who(state, bar.rung),
        })
    };
    card.strip.bars.iter().rev().filter_map(view).collect()
}

/// By iteration: why the run continued or ended after it.
fn decision_words(records: &[Record]) -> std::collections::BTreeMap<u32, String> {
    crate::iteration_parts::judgements(records)
        .filter_map(|(n, decision)| Some((n, plain(&judgement_words(decision)?))))
        .collect()
}
