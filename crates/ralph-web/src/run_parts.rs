//! One run in depth, and the parts of one of its iterations.

use crate::answer::{Answer, Fault, MOST_BYTES, MOST_ROWS, json_answer};
use crate::bounded::{List, cut_text};
use crate::routes::App;
use crate::run_address::RunAddress;
use axum::extract::State;
use axum::http::request::Parts;
use ralph_engine::home::Home;
use ralph_engine::journal;
use ralph_rules::record::{Ms, Record};
use ralph_rules::state::State as RunFold;
use ralph_store::{IterationRow, RunRow, Store};
use ralph_view::change_data::{ChangeData, NoChanges, iteration_moments};
use ralph_view::iteration_parts::{
    ObjectionText, objections, prompt as prompt_text, verifications, who, with_rungs,
};
use ralph_view::run_detail::IterationView;
use ralph_view::run_state::{is_running, state_of_row};
use ralph_view::strip::Strip;
use ralph_view::workspace_diff::Contents;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// Bytes of text in an answer; the rest is for what is around it.
const TEXT: usize = MOST_BYTES - 8 * 1024;

/// Rows of a list in an answer.
const ROWS: usize = MOST_ROWS as usize;

/// What a part of an iteration is read from.
pub struct Opened<'a> {
    /// The state directory.
    pub home: &'a Home,
    /// The run.
    pub row: RunRow,
    /// Its journal.
    pub records: Vec<Record>,
    /// Its journal, folded.
    pub state: RunFold,
    /// Its attempts, in order.
    pub attempts: Vec<IterationRow>,
    /// The iteration that is asked for.
    pub n: u32,
}

/// One iteration in depth.
#[derive(Serialize)]
struct IterationAnswer {
    #[serde(flatten)]
    view: IterationView,
    calls: Vec<AttemptAnswer>,
    objections: Vec<ObjectionText>,
}

/// One attempt.
#[derive(Serialize)]
struct AttemptAnswer {
    attempt: u32,
    at: Ms,
    ms: Ms,
    cost_micro: i64,
    failure: Option<String>,
    decision: String,
    rung: u32,
}

/// `GET /api/v1/runs/{id}`
pub async fn detail(State(app): State<App>, head: Parts) -> Answer {
    let place = RunAddress::of(head.uri.path())?;
    let found = app.reader.board(move |board, now| match board.find(&place.run)? {
        Some(run) => board.detail(&run, now),
        None => Ok(None),
    });
    let mut detail = found.await?.ok_or_else(|| Fault::not_found("such run"))?;
    detail.lines.drain(..detail.lines.len().saturating_sub(ROWS));
    let lists = &[
        List::KeepsLast("/lines"),
        List::KeepsFirst("/iterations"),
        List::KeepsLast("/card/strip/bars"),
        List::KeepsFirst("/result/details/files"),
    ];
    json_answer(detail, lists).await
}

/// `GET /api/v1/runs/{id}/iterations/{n}`
pub async fn iteration(State(app): State<App>, head: Parts) -> Answer {
    let answer = opened(&app, &head, |opened| {
        let its_own = || opened.attempts.iter().filter(|row| row.n == opened.n);
        let is_open = state_of_row(&opened.row, opened.home).is_open();
        let bars = Strip::of(&opened.row, &opened.attempts, is_open).bars;
        let bar = bars.into_iter().find(|bar| bar.n == opened.n);
        let (Some(bar), Some(last)) = (bar, its_own().next_back()) else { return Err(no_iteration()) };
        let objections = objections(&opened.records, opened.n);
        Ok(IterationAnswer {
            view: IterationView {
                verified: last.verified,
                decision: last.decision.clone(),
                why: objections.first().map(|first| first.text.clone()).unwrap_or_default(),
                failure: last.failure.clone(),
                who: who(&opened.state, bar.rung),
                bar,
            },
            calls: its_own().map(AttemptAnswer::of).collect(),
            objections,
        })
    });
    json_answer(answer.await?, &[List::KeepsLast("/calls"), List::KeepsFirst("/objections")]).await
}

/// `GET /api/v1/runs/{id}/iterations/{n}/diff`
pub async fn diff(State(app): State<App>, head: Parts) -> Answer {
    let redactor = app.redactor.clone();
    let change = opened(&app, &head, move |opened| {
        let Opened { home, row, state, n, .. } = &opened;
        let (snapshots, moments) =
            iteration_moments(home, row, state, *n, is_running(row, home)).map_err(|why| no_changes(&why))?;
        let redactor = redactor(Path::new(&row.workspace));
        let contents = Contents { blobs: snapshots.store().blobs(), live: None, redactor: &redactor };
        let mut change = ChangeData::of(&row.id, &moments, contents, TEXT).made_plain(ROWS);
        let mut left = TEXT;
        for file in &mut change.files {
            if let Some(diff) = &mut file.diff {
                change.truncated |= cut_text(diff, left);
                left = left.saturating_sub(crate::answer::json_len(diff));
            }
        }
        let mut value = json!(change);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("truncated".into(), change.truncated.into());
        }
        if let Some(Value::Array(left_out)) = value.get_mut("leftOut") {
            left_out.truncate(ROWS);
        }
        Ok(value)
    });
    json_answer(change.await?, &[List::KeepsFirst("/leftOut"), List::KeepsFirst("/files")]).await
}

/// `GET /api/v1/runs/{id}/iterations/{n}/verification`
pub async fn verification(State(app): State<App>, head: Parts) -> Answer {
    let checks = opened(&app, &head, |opened| Ok(verifications(&opened.records, opened.n))).await?;
    json_answer(json!({ "checks": checks }), &[List::KeepsLast("/checks")]).await
}

/// `GET /api/v1/runs/{id}/iterations/{n}/prompt`
pub async fn prompt(State(app): State<App>, head: Parts) -> Answer {
    let prompt = opened(&app, &head, |opened| {
        let folder = opened.home.run(&opened.row.id);
        let mut prompt = prompt_text(&opened.records, opened.n, &folder, TEXT).ok_or_else(no_iteration)?;
        prompt.truncated |= cut_text(&mut prompt.text, TEXT);
        Ok(prompt)
    });
    json_answer(prompt.await?, &[]).await
}

/// Reads the journal of the run that an address names; the run has the iteration.
pub async fn opened<T: Send + 'static>(
    app: &App,
    head: &Parts,
    then: impl FnOnce(Opened<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let RunAddress { run, iteration } = RunAddress::of(head.uri.path())?;
    let n = iteration.ok_or_else(no_iteration)?;
    let run = app.reader.board(move |board, _| board.find(&run)).await?;
    let run = run.ok_or_else(|| Fault::not_found("such run"))?;
    let read = app.reader.store(move |home, store| {
        let failed = |error: ralph_store::StoreError| Fault::database(error.to_string());
        let row = store.run(&run).map_err(failed)?.ok_or_else(|| Fault::not_found("such run"))?;
        let attempts = store.iterations(&run).map_err(failed)?;
        if !attempts.iter().any(|attempt| attempt.n == n) {
            return Err(no_iteration());
        }
        let records = journal::read(store, &run)?;
        let attempts = with_rungs(attempts, &records);
        let state = RunFold::of(&records);
        then(Opened { home, row, records, state, attempts, n })
    });
    read.await
}

/// The run has no such iteration.
pub fn no_iteration() -> Fault {
    Fault::not_found("such iteration")
}

fn no_changes(why: &NoChanges) -> Fault {
    match why {
        NoChanges::UnderWay(_) => Fault::conflict(why.to_string()),
        NoChanges::NotTaken(..) | NoChanges::Missing(_) => Fault::gone(why.to_string()),
    }
}

impl AttemptAnswer {
    fn of(row: &IterationRow) -> AttemptAnswer {
        AttemptAnswer {
            attempt: row.attempt,
            at: row.at,
            ms: row.dur_ms,
            cost_micro: row.cost_micro,
            failure: row.failure.clone(),
            decision: row.decision.clone(),
            rung: row.rung,
        }
    }
}
