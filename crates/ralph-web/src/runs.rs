//! The first screen and the list of runs.

use crate::answer::{Answer, Fault, MOST_BYTES, MOST_ROWS, fitting, json_answer};
use crate::query::{Query, SHOWN};
use crate::routes::App;
use axum::extract::State;
use axum::http::request::Parts;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::prompt::head;
use ralph_rules::record::Ms;
use ralph_store::{RunFilter, Store};
use ralph_view::board::{Board, BoardError};
use ralph_view::card::{Card, Group};
use ralph_view::overview::Overview;
use ralph_view::plain::plain;
use ralph_view::run_state::RunState;
use serde::Serialize;

/// What an answer needs besides its cards.
const ROOM: usize = MOST_BYTES - 4096;
/// Runs that are looked through for those of a group.
const LOOKED_THROUGH: usize = 2_000;

/// The first screen, and whether runs can be controlled from it.
#[derive(Serialize)]
struct OverviewAnswer {
    #[serde(flatten)]
    overview: Overview,
    control: bool,
}

/// A page of the list; `next` is what the next page comes before.
#[derive(Serialize)]
struct ListAnswer {
    runs: Vec<Card>,
    next: Option<String>,
}

/// What is asked of the list.
struct Asked {
    filter: RunFilter,
    /// States and reasons; none: all.
    states: Vec<String>,
    group: Option<Group>,
    limit: usize,
}

/// `GET /api/v1/overview`
pub async fn overview(State(app): State<App>) -> Answer {
    let overview = app.reader.board(|board, now| {
        let mut overview = board.overview(now)?;
        let fit = fitting(&overview.cards, ROOM);
        overview.more |= fit < overview.cards.len();
        overview.cards.truncate(fit);
        Ok(overview)
    });
    json_answer(OverviewAnswer { overview: overview.await?, control: app.allow_control }, &[]).await
}

/// `GET /api/v1/runs`
pub async fn list(State(app): State<App>, head: Parts) -> Answer {
    let asked = Asked::of(&Query::of(head.uri.query())?)?;
    let answer = app.reader.board(move |board, now| page(board, &asked, now)).await?;
    json_answer(answer.ok_or_else(|| Fault::bad("`before` must be the whole id of a run"))?, &[]).await
}

impl Asked {
    fn of(query: &Query) -> Result<Asked, Fault> {
        let limit = query.number("limit")?.unwrap_or(u64::from(MOST_ROWS));
        if !(1..=u64::from(MOST_ROWS)).contains(&limit) {
            return Err(Fault::bad(format!("`limit` must be 1 to {MOST_ROWS}")));
        }
        let states = query.text("state")?.map(|names| states(&names)).transpose()?.unwrap_or_default();
        let filter = RunFilter {
            workspace: query.path("workspace")?,
            states: written(&states),
            agent: query.text("agent")?,
            text: query.text("text")?,
            before: query.text("before")?,
            ..RunFilter::default()
        };
        let group = query.word("group")?.map(|name| group(&name)).transpose()?;
        Ok(Asked { filter, states, group, limit: usize::try_from(limit).unwrap_or(1) })
    }

    fn wants(&self, card: &Card) -> bool {
        let row = &card.run.row;
        let named = |name: &String| *name == row.status || Some(name) == row.reason.as_ref();
        self.group.is_none_or(|group| card.group == group)
            && (self.states.is_empty() || self.states.iter().any(named))
    }
}

/// States and reasons, separated by commas.
fn states(names: &str) -> Result<Vec<String>, Fault> {
    let known = |name: &str| RunState::named(name).is_some() || Reason::named(name).is_some();
    match names.split(',').find(|name| !known(name)) {
        None => Ok(names.split(',').map(str::to_owned).collect()),
        Some(wrong) => {
            let wrong = plain(&head(wrong, SHOWN));
            let message = format!("`state` cannot be `{wrong}`: there is no such state or reason");
            Err(Fault::bad(message).hint(format!(
                "the states are {}; or name the reason a run ended for, such as {}",
                RunState::ALL.map(RunState::name).join(", "),
                Reason::Stall.name()
            )))
        }
    }
}

/// What the rows of runs in these states may say: what became of a process that is gone, nobody has written.
fn written(states: &[String]) -> Vec<String> {
    let seen = [RunState::Crashed, RunState::InSession, RunState::Ended(Status::Interrupted)];
    let open = RunState::ALL.into_iter().filter(|state| state.is_open()).map(|state| state.name().to_owned());
    match states.iter().any(|name| seen.iter().any(|state| state.name() == name)) {
        true => states.iter().cloned().chain(open).collect(),
        false => states.to_vec(),
    }
}

fn group(name: &str) -> Result<Group, Fault> {
    let named = Group::ALL.into_iter().find(|group| serde_json::json!(group) == name);
    named.ok_or_else(|| Fault::bad("`group` must be needs_you, working, waiting, completed or ended"))
}

/// The next runs that are asked for; none if the one they come before is not there. A group and the state of a process are
/// not known to the store, so runs are looked through for them.
fn page(board: &Board, asked: &Asked, now: Ms) -> Result<Option<ListAnswer>, BoardError> {
    if let (Some(before), Some(store)) = (&asked.filter.before, board.store())
        && store.run(before)?.is_none()
    {
        return Ok(None);
    }
    let mut filter = RunFilter { limit: Some(MOST_ROWS), ..asked.filter.clone() };
    let (mut runs, mut looked_at, mut left) = (Vec::new(), 0, ROOM);
    loop {
        let cards = board.cards(&filter, now)?;
        let is_last = cards.len() < usize::try_from(MOST_ROWS).unwrap_or(0);
        for card in cards {
            looked_at += 1;
            let is_wanted = asked.wants(&card);
            let size = crate::answer::json_len(&card) + 1;
            if is_wanted && (runs.len() == asked.limit || size > left) {
                return Ok(Some(ListAnswer { runs, next: filter.before }));
            }
            filter.before = Some(card.run.row.id.clone());
            if is_wanted {
                left -= size;
                runs.push(card);
            }
        }
        if is_last || looked_at >= LOOKED_THROUGH {
            let next = filter.before.filter(|_| !is_last);
            return Ok(Some(ListAnswer { runs, next }));
        }
    }
}
