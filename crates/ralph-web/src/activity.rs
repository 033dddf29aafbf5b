//! What an agent said and did in one attempt, page by page.

use crate::answer::{Answer, Fault, MOST_ROWS, json_answer};
use crate::query::Query;
use crate::routes::App;
use crate::run_parts::{Opened, no_iteration, opened};
use axum::extract::State;
use axum::http::request::Parts;
use ralph_rules::prices::Prices;
use ralph_rules::record::Attempt;
use ralph_view::activity_line::ActivityLine;
use ralph_view::call_tail::{AttemptActivity, CallSource, attempt_activity};
use ralph_view::run_state::is_running;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// A page of lines.
#[derive(Serialize)]
struct ActivityAnswer {
    lines: Vec<ActivityLine>,
    next: Option<u64>,
    pruned: bool,
}

/// `GET /api/v1/runs/{id}/iterations/{n}/activity`
pub async fn activity(State(app): State<App>, head: Parts) -> Answer {
    let query = Query::of(head.uri.query())?;
    let (attempt, after) = (query.number("attempt")?, query.number("after")?.unwrap_or(0));
    let limit = query.number("limit")?.unwrap_or(u64::from(MOST_ROWS));
    if !(1..=u64::from(MOST_ROWS)).contains(&limit) {
        return Err(Fault::bad(format!("`limit` must be 1 to {MOST_ROWS}")));
    }
    let (redactor, prices) = (app.redactor.clone(), Prices::default());
    let page = opened(&app, &head, move |opened| {
        let Opened { home, state, .. } = &opened;
        let (id, rung) = wanted_call(&opened, attempt).ok_or_else(no_iteration)?;
        let start = state.start.as_deref().ok_or_else(no_iteration)?;
        let under_way = state.calls.id == id && is_running(&opened.row, home);
        let call = CallSource {
            folder: &home.run(&opened.row.id),
            id,
            agent: start.caller(rung, state.is_review(id)),
            workspace: &opened.row.workspace,
            prices: &prices,
            redactor: &Arc::new(redactor(Path::new(&opened.row.workspace))),
        };
        let most = usize::try_from(limit).unwrap_or(1);
        let read = attempt_activity(&call, !under_way, after, most);
        let read = read.map_err(|error| Fault::gone(format!("the transcript cannot be read: {error}")))?;
        Ok(match read {
            AttemptActivity::Page { lines, next } => ActivityAnswer { lines, next, pruned: false },
            AttemptActivity::Pruned => ActivityAnswer { lines: Vec::new(), next: None, pruned: true },
        })
    });
    json_answer(page.await?, &[]).await
}

/// The call of this attempt, or of the agent's latest one, and its rung. A review has no row of its own.
fn wanted_call(opened: &Opened, attempt: Option<u64>) -> Option<(Attempt, u32)> {
    let mut its_own = opened.attempts.iter().filter(|row| row.n == opened.n);
    let row = match attempt {
        Some(wanted) => its_own.clone().find(|row| u64::from(row.attempt) == wanted),
        None => its_own.clone().next_back(),
    };
    if let Some(row) = row {
        return Some((Attempt { iteration: row.n, attempt: row.attempt }, row.rung));
    }
    let review = Attempt { iteration: opened.n, attempt: u32::try_from(attempt?).ok()? };
    opened.state.is_review(review).then_some((review, its_own.next_back()?.rung))
}
