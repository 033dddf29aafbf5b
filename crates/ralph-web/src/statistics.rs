//! The numbers over many runs.

use crate::answer::{Answer, Fault, json_answer};
use crate::bounded::List;
use crate::query::Query;
use crate::routes::App;
use axum::extract::State;
use axum::http::request::Parts;
use ralph_engine::clock::utc;
use ralph_engine::metrics::with_unsettled;
use ralph_engine::reset_time::day_of;
use ralph_rules::account::RunAccount;
use ralph_rules::record::Ms;
use ralph_store::AccountFilter;
use ralph_view::statistics::Statistics;
use serde::Serialize;

/// Days that can be asked for at most.
const MOST_DAYS: u64 = 3_650;
/// A day in milliseconds.
const DAY: Ms = 24 * 3_600_000;

/// The numbers, and which day it is where `days` of them are counted. A browser may be in another zone.
#[derive(Serialize)]
struct Dated {
    today: String,
    #[serde(flatten)]
    statistics: Statistics,
}

/// `GET /api/v1/stats`
pub async fn statistics(State(app): State<App>, head: Parts) -> Answer {
    let query = Query::of(head.uri.query())?;
    let workspace = query.path("workspace")?;
    let days = query.number("days")?;
    if days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
        return Err(Fault::bad(format!("`days` must be 1 to {MOST_DAYS}")));
    }
    let from = days.and_then(|days| Ms::try_from(days).ok()).map(|days| utc() - days * DAY);
    let (zone, has_runs) =
        app.reader.board(|board, _| Ok((board.zone().to_owned(), board.store().is_some()))).await?;
    let today = day_of(utc(), &zone);
    let filter = AccountFilter { workspace: workspace.clone(), from, ..AccountFilter::default() };
    let statistics = match has_runs {
        true => {
            let read = app.reader.store(move |_, store| {
                let runs = with_unsettled(store, &filter);
                Ok(of_runs(runs.map_err(|error| Fault::database(error.to_string()))?, workspace, &zone))
            });
            read.await?
        }
        false => of_runs(Vec::new(), workspace, &zone),
    };
    json_answer(
        Dated { today, statistics },
        &[List::KeepsFirst("/byAgent"), List::KeepsFirst("/bySkill"), List::KeepsFirst("/estimates")],
    )
    .await
}

fn of_runs(mut runs: Vec<RunAccount>, workspace: Option<String>, zone: &str) -> Statistics {
    runs.reverse();
    let all = runs.len();
    runs.retain(|run| !run.is_scripted());
    let scripted = u32::try_from(all - runs.len()).unwrap_or(u32::MAX);
    Statistics::of(&runs, workspace, scripted, zone).with_enough_runs()
}
