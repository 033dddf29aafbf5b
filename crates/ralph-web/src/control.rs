//! Requests to a run, as the commands `pause`, `continue`, `stop` and `hint` leave them: in its inbox, until the run has
//! recorded them. Nothing here starts a program, raises a limit or turns a check off.

use crate::answer::{Answer, Fault, json_answer};
use crate::routes::App;
use crate::run_address::RunAddress;
use axum::body::to_bytes;
use axum::extract::{Request as HttpRequest, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use ralph_engine::home::Home;
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use ralph_store::{Database, RunRow, Store, StoreError};
use ralph_view::put_away::put_away;
use ralph_view::requests::{Sent, send};
use ralph_view::run_state::{row_now, short_id, state_of_row};
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Bytes of a request at most.
const MOST: usize = 16 * 1024;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// What can be asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wish {
    Pause,
    Continue,
    Stop,
    StopAfter,
    Hint,
    PutAway,
    TakeBack,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    request: Wish,
    text: Option<String>,
}

/// `POST /api/v1/runs/{id}/requests`
pub async fn request(State(app): State<App>, request: HttpRequest) -> Answer {
    if !app.allow_control {
        return Err(Fault::read_only());
    }
    let place = RunAddress::of(request.uri().path())?;
    let asked = read(request).await?;
    let action = asked.checked()?;
    let run = app.reader.board(move |board, _| board.find(&place.run)).await?;
    let run = run.ok_or_else(|| Fault::not_found("such run"))?;
    let redactor = app.redactor.clone();
    let sent = app.reader.store(move |home, store| {
        let row =
            store.run(&run).map_err(|error| database(&error))?.ok_or_else(|| Fault::not_found("such run"))?;
        let row = row_now(row, home);
        let redact = |text: &str| redactor(Path::new(&row.workspace)).redact(text).into_owned();
        match action {
            Action::Ask(request) => ask(store, home, &row, &request, &redact),
            Action::PutAway(true) if state_of_row(&row, home).is_open() => Err(Fault::active(format!(
                "run {} is active (status: {}): a run can be put away once it has ended",
                short_id(&row.id),
                row.status
            ))),
            Action::PutAway(away) => {
                put_away(store, &row, away).map_err(|error| Fault::database(error.to_string()))?;
                Ok(true)
            }
        }
    });
    let mut answer = json_answer(json!({ "recorded": sent.await? }), &[]).await?;
    *answer.status_mut() = StatusCode::ACCEPTED;
    Ok(answer)
}

async fn read(request: HttpRequest) -> Result<Asked, Fault> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Fault::not_json());
    }
    let body = tokio::time::timeout(ARRIVAL, to_bytes(request.into_body(), MOST)).await;
    let body = body.map_err(|_| Fault::too_slow())?.map_err(|_| Fault::too_large(MOST))?;
    parsed(&body)
}

/// A request is an object: a list of its values in order would be read as one, too.
fn parsed(body: &[u8]) -> Result<Asked, Fault> {
    let example = r#"send an object such as {"request":"pause"}"#;
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Fault::bad("the request is not a JSON object").hint(example));
    }
    let unreadable = |error| Fault::bad(format!("the request cannot be read: {error}")).hint(example);
    serde_json::from_slice(body).map_err(unreadable)
}

/// What is asked for, understood.
enum Action {
    Ask(Request),
    PutAway(bool),
}

impl Asked {
    /// What is asked, if it can be.
    fn checked(self) -> Result<Action, Fault> {
        if self.text.is_some() && self.request != Wish::Hint {
            return Err(Fault::invalid("only a hint has a `text`"));
        }
        Ok(match self.request {
            Wish::Pause => Action::Ask(Request::Pause),
            Wish::Continue => Action::Ask(Request::Continue),
            Wish::Stop => Action::Ask(Request::Stop { after: false, signal: 2 }),
            Wish::StopAfter => Action::Ask(Request::Stop { after: true, signal: 2 }),
            Wish::Hint => {
                Action::Ask(Request::Hint { text: hint(self.text.as_deref().unwrap_or_default())? })
            }
            Wish::PutAway => Action::PutAway(true),
            Wish::TakeBack => Action::PutAway(false),
        })
    }
}

fn hint(text: &str) -> Result<String, Fault> {
    let text = text.trim();
    if text.is_empty() || text == "…" || text == "..." {
        return Err(Fault::invalid("the hint has no words").hint("say what the agent should know or do"));
    }
    if text.len() > HINT_BYTES {
        let message = format!("the hint is too long: {} bytes, the maximum is {HINT_BYTES}", text.len());
        return Err(Fault::invalid(message)
            .hint("write it to a file in the workspace and name that file in the hint"));
    }
    Ok(text.to_owned())
}

/// Whether the run has recorded it by now.
fn ask(
    store: &Database,
    home: &Home,
    row: &RunRow,
    request: &Request,
    redact: &dyn Fn(&str) -> String,
) -> Result<bool, Fault> {
    match send(store, home, row, request, redact).map_err(|error| database(&error))? {
        Sent::Recorded => Ok(true),
        Sent::Waiting | Sent::Kept => Ok(false),
        Sent::NotActive => {
            let short = short_id(&row.id);
            let fault = Fault::conflict(format!("run {short} is not active (status: {})", row.status));
            Err(match row.resumable {
                true => fault.hint(format!("`ralph resume {short}` continues it")),
                false => fault.hint("it has ended; start a new run with `ralph run`"),
            })
        }
    }
}

fn database(error: &StoreError) -> Fault {
    Fault::database(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_has_words_and_a_limit() {
        assert_eq!(hint("  look at parse.rs ").unwrap(), "look at parse.rs");
        for text in ["", "  ", "…", "...", &"a".repeat(HINT_BYTES + 1)] {
            assert!(hint(text).is_err(), "{text:.10}");
        }
    }

    #[test]
    fn only_what_is_listed_can_be_asked() {
        let asked = |text: &str| {
            parsed(text.as_bytes()).map_err(|_| ()).and_then(|asked| asked.checked().map_err(|_| ()))
        };
        for text in ["pause", "continue", "stop", "stop_after", "put_away", "take_back"] {
            assert!(asked(&format!(r#"{{"request":"{text}"}}"#)).is_ok(), "{text}");
            assert!(asked(&format!(r#"{{"request":"{text}","text":"x"}}"#)).is_err(), "{text}");
        }
        for text in [
            r#"{"request":"hint","text":"x","signal":9}"#,
            r#"{"request":"hint"}"#,
            r#"{"request":"run"}"#,
            "{}",
            "[]",
            r#"["pause",null]"#,
            "",
            "null",
            r#""pause""#,
        ] {
            assert!(asked(text).is_err(), "{text}");
        }
    }
}
