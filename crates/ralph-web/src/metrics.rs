//! `/metrics` for Prometheus: totals over all runs of real agents, from their accounts; scripted runs are in none of them. No
//! run is named: every id would be a series of its own for ever.

use crate::answer::{Answer, Fault, of_kind};
use crate::routes::{App, STREAMS};
use axum::extract::State;
use ralph_engine::home::Home;
use ralph_engine::rows::accounts;
use ralph_rules::account::{RunAccount, SCRIPTED_AGENT};
use ralph_rules::ending::Status;
use ralph_rules::grade::Grade;
use ralph_rules::money::{Micro, Usage};
use ralph_store::{AccountFilter, Position, RunFilter, Store, StoreError};
use ralph_view::card::Group;
use ralph_view::overview::{Overview, Today};
use ralph_view::plain::plain;
use ralph_view::run_state::state_of_row;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Pairs of agent and model that have series of their own; the model is what an agent says it is.
const PAIRS: usize = 50;
/// Characters of a label at most.
const LABEL: usize = 80;

/// What is counted over all runs.
#[derive(Debug, Default)]
pub struct Totals {
    /// The runs that nothing else here counts.
    scripted: BTreeSet<String>,
    /// Runs by the name of their state.
    pub states: BTreeMap<&'static str, u64>,
    /// Runs that were started.
    pub runs: u64,
    /// Runs that completed, by grade of proof.
    pub grades: BTreeMap<&'static str, u64>,
    /// Iterations of all runs.
    pub iterations: u64,
    /// By agent and model.
    pub shares: BTreeMap<(String, String), Share>,
}

/// What one agent with one model took.
#[derive(Debug, Default, Clone)]
pub struct Share {
    calls: u64,
    cost: Micro,
    usage: Usage,
}

impl Share {
    fn add(&mut self, more: &Share) {
        self.calls += more.calls;
        self.cost = Micro(self.cost.0.saturating_add(more.cost.0));
        self.usage = self.usage.plus(&more.usage);
    }
}

/// What holds now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gauges {
    needs_you: usize,
    today: Today,
    position: Position,
    streams: usize,
}

/// `GET /metrics`
pub async fn metrics(State(app): State<App>) -> Answer {
    let overview: Overview = app.reader.board(|board, now| board.overview(now)).await?;
    let totals = match overview.cards.is_empty() {
        true => Totals::default(),
        false => {
            let failed = |error: StoreError| Fault::database(error.to_string());
            app.reader.store(move |home, store| Totals::read(home, store).map_err(failed)).await?
        }
    };
    let gauges = Gauges {
        needs_you: totals.needing(&overview),
        today: overview.today,
        position: overview.position,
        streams: STREAMS - app.streams.available_permits(),
    };
    Ok(of_kind("text/plain; version=0.0.4; charset=utf-8", text(&totals, gauges)))
}

impl Totals {
    /// Of all runs in the store.
    fn read(home: &Home, store: &dyn Store) -> Result<Totals, StoreError> {
        let mut totals = Totals::default();
        let mut real = BTreeSet::new();
        for account in accounts(store, &AccountFilter::default())? {
            totals.add(&account);
            if !account.is_scripted() {
                real.insert(account.run);
            }
        }
        totals.add_up_others();
        for row in store.runs(&RunFilter::default())? {
            // A run of an earlier ralph may have no account.
            if row.agent == SCRIPTED_AGENT && !real.contains(&row.id) {
                totals.scripted.insert(row.id);
                continue;
            }
            *totals.states.entry(state_of_row(&row, home).name()).or_default() += 1;
        }
        Ok(totals)
    }

    /// How many runs need somebody.
    fn needing(&self, overview: &Overview) -> usize {
        let needing = overview.cards.iter().filter(|card| card.group == Group::NeedsYou);
        let scripted = needing.filter(|card| self.scripted.contains(&card.run.row.id)).count();
        overview.counts.needs_you.saturating_sub(scripted)
    }

    /// Adds one run, unless a script played it.
    pub fn add(&mut self, run: &RunAccount) {
        if run.is_scripted() {
            return;
        }
        self.runs += 1;
        self.iterations += u64::from(run.iterations());
        if run.status == Some(Status::Completed) {
            *self.grades.entry(run.grade.map_or("none", Grade::name)).or_default() += 1;
        }
        // A ladder may have a script on one of its rungs.
        for share in run.shares.iter().filter(|share| share.agent != SCRIPTED_AGENT) {
            let key = (label(&share.agent), label(share.model.as_deref().unwrap_or_default()));
            self.shares.entry(key).or_default().add(&Share {
                calls: u64::from(share.calls),
                cost: share.cost,
                usage: share.usage,
            });
        }
    }

    /// Makes one of all pairs but the first in the order of their names. Which these are does not depend on the order of
    /// the runs, and one that was added to the others stays there: no counter goes down.
    fn add_up_others(&mut self) {
        let Some(first) = self.shares.keys().nth(PAIRS).cloned() else { return };
        let others = self.shares.split_off(&first);
        let total = self.shares.entry(("other".into(), "other".into())).or_default();
        others.values().for_each(|share| total.add(share));
    }
}

/// A label's value: plain, short, and with nothing that ends it early.
fn label(text: &str) -> String {
    let text: String = plain(text).chars().take(LABEL).collect();
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

/// The answer.
fn text(totals: &Totals, gauges: Gauges) -> String {
    let mut out = String::new();
    let version = env!("CARGO_PKG_VERSION");
    family(
        &mut out,
        "ralph_build_info",
        "gauge",
        "The version that serves.",
        [(format!("version=\"{version}\""), 1.0)],
    );
    let states =
        totals.states.iter().map(|(state, n)| (format!("state=\"{}\"", state.to_lowercase()), count(*n)));
    family(&mut out, "ralph_runs", "gauge", "Runs by state.", states);
    let now = |value: f64| [(String::new(), value)];
    let needs_you = count(u64::try_from(gauges.needs_you).unwrap_or(0));
    family(&mut out, "ralph_runs_needing_attention", "gauge", "Runs that need somebody.", now(needs_you));
    family(
        &mut out,
        "ralph_runs_started_total",
        "counter",
        "Runs that were started.",
        now(count(totals.runs)),
    );
    let grades = totals.grades.iter().map(|(grade, n)| (format!("proof=\"{}\"", grade), count(*n)));
    family(
        &mut out,
        "ralph_runs_completed_total",
        "counter",
        "Runs that completed, by what was shown of their work.",
        grades,
    );
    family(
        &mut out,
        "ralph_iterations_total",
        "counter",
        "Iterations of all runs.",
        now(count(totals.iterations)),
    );
    shares(&mut out, totals);
    let spent = Micro(gauges.today.spent_micro).usd();
    family(&mut out, "ralph_day_cost_dollars", "gauge", "What the calls that ended today cost.", now(spent));
    let held = Micro(gauges.today.held_micro).usd();
    family(&mut out, "ralph_held_cost_dollars", "gauge", "What is reserved for calls under way.", now(held));
    family(
        &mut out,
        "ralph_store_position",
        "gauge",
        "The newest record that the server has seen.",
        now(count(gauges.position)),
    );
    let streams = count(u64::try_from(gauges.streams).unwrap_or(0));
    family(&mut out, "ralph_event_streams", "gauge", "Streams of events that are open.", now(streams));
    out
}

fn shares(out: &mut String, totals: &Totals) {
    let labels = |(agent, model): &(String, String)| format!("agent=\"{agent}\",model=\"{model}\"");
    let calls = totals.shares.iter().map(|(key, share)| (labels(key), count(share.calls)));
    family(out, "ralph_calls_total", "counter", "Calls of agents.", calls);
    let costs = totals.shares.iter().map(|(key, share)| (labels(key), share.cost.usd()));
    family(out, "ralph_cost_dollars_total", "counter", "What the calls cost, as far as it is known.", costs);
    // An agent that does not report them has used tokens nevertheless: nobody knows how many.
    let reported = totals.shares.iter().filter(|(_, share)| share.usage.total() > 0);
    let tokens = reported.flat_map(|(key, share)| {
        let Usage { input, output, cache_read, cache_write } = share.usage;
        let kinds =
            [("input", input), ("output", output), ("cache_read", cache_read), ("cache_write", cache_write)];
        kinds.map(|(kind, n)| (format!("{},kind=\"{kind}\"", labels(key)), count(n)))
    });
    family(out, "ralph_tokens_total", "counter", "Tokens of the calls.", tokens);
}

/// One family of series; one without series is left out.
fn family(
    out: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    series: impl IntoIterator<Item = (String, f64)>,
) {
    let mut series = series.into_iter().peekable();
    if series.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in series {
        let _ = match labels.is_empty() {
            true => writeln!(out, "{name} {value}"),
            false => writeln!(out, "{name}{{{labels}}} {value}"),
        };
    }
}

/// Prometheus knows only floating point numbers; these are exact up to 2^53.
#[allow(clippy::cast_precision_loss)]
fn count(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::account;

    fn run(agent: &str, model: &str) -> RunAccount {
        let usage = Usage { input: 10, output: 2, cache_read: 3, cache_write: 4 };
        let share = account::Share {
            agent: agent.into(),
            model: Some(model.into()),
            calls: 2,
            usage,
            cost: Micro(1_500_000),
            ..account::Share::default()
        };
        RunAccount {
            status: Some(Status::Completed),
            grade: Some(Grade::Proven),
            shares: vec![share],
            ..RunAccount::default()
        }
    }

    #[test]
    fn totals_are_added_by_agent_and_model() {
        let mut totals = Totals::default();
        totals.add(&run("claude", "opus"));
        totals.add(&run("claude", "opus"));
        totals.add(&run("co\"dex\\", "x\n\u{1b}[31m"));
        let text = text(&totals, Gauges::default());
        for line in [
            "ralph_runs_started_total 3",
            "ralph_cost_dollars_total{agent=\"claude\",model=\"opus\"} 3",
            "ralph_calls_total{agent=\"co\\\"dex\\\\\",model=\"x \\\\u{1b}[31m\"} 2",
            "ralph_tokens_total{agent=\"claude\",model=\"opus\",kind=\"input\"} 20",
            "# TYPE ralph_tokens_total counter",
            "ralph_runs_needing_attention 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\nin\n{text}");
        }
    }

    #[test]
    fn a_scripted_run_is_in_no_total() {
        let mut totals = Totals::default();
        totals.add(&run("claude", "opus"));
        let scripted =
            RunAccount { agent: SCRIPTED_AGENT.into(), costs: vec![Micro(1)], ..run(SCRIPTED_AGENT, "") };
        totals.add(&scripted);
        // One that has not called anybody yet.
        totals.add(&RunAccount { shares: Vec::new(), ..scripted });
        let text = text(&totals, Gauges::default());
        for line in [
            "ralph_runs_started_total 1",
            "ralph_runs_completed_total{proof=\"proven\"} 1",
            "ralph_iterations_total 0",
            "ralph_calls_total{agent=\"claude\",model=\"opus\"} 2",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\nin\n{text}");
        }
        assert!(!text.contains(SCRIPTED_AGENT), "{text}");
    }

    #[test]
    fn tokens_that_nobody_reported_are_not_zero() {
        let mut totals = Totals::default();
        let mut silent = run("aider", "");
        silent.shares[0].usage = Usage::default();
        totals.add(&silent);
        let alone = text(&totals, Gauges::default());
        assert!(!alone.contains("ralph_tokens_total"), "{alone}");
        totals.add(&run("claude", "opus"));
        let both = text(&totals, Gauges::default());
        let named = |agent: &str| both.matches(&format!("ralph_tokens_total{{agent=\"{agent}\"")).count();
        assert_eq!((named("aider"), named("claude")), (0, 4), "{both}");
        assert!(both.contains("ralph_calls_total{agent=\"aider\",model=\"\"} 2"), "{both}");
    }

    #[test]
    fn an_agent_that_invents_models_does_not_make_series_without_end() {
        let mut totals = Totals::default();
        (0..200).rev().for_each(|n| totals.add(&run("claude", &format!("model {n:03}"))));
        totals.add_up_others();
        assert_eq!(totals.shares.len(), PAIRS + 1);
        assert!(totals.shares.contains_key(&("claude".into(), "model 049".into())));
        assert_eq!(totals.shares[&("other".into(), "other".into())].calls, 300);
        assert_eq!(totals.shares.values().map(|share| share.calls).sum::<u64>(), 400);
    }
}
