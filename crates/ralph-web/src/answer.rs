//! Answers: JSON of bounded size, and errors that say what happened and what to do.

use crate::access::Refusal;
use crate::bounded::{List, bound};
use axum::body::Body;
use axum::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use ralph_engine::journal::JournalError;
use ralph_view::board::BoardError;
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::io;

/// Bytes of an answer at most.
pub const MOST_BYTES: usize = 256 * 1024;
/// Rows of an answer at most.
pub const MOST_ROWS: u32 = 100;

/// An answer, or why there is none.
pub type Answer = Result<Response, Fault>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: Option<String>,
    allow: Option<&'static str>,
}

impl Fault {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Fault {
        Fault { status, code, message: message.into(), hint: None, allow: None }
    }

    /// What to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// There is no such thing.
    pub fn not_found(what: &str) -> Fault {
        Fault::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {what}"))
    }

    /// The request cannot be understood.
    pub fn bad(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// The request can be understood, and what it says cannot be done.
    pub fn invalid(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    /// The request is larger than any that makes sense.
    pub fn too_large(most: usize) -> Fault {
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("a request has at most {most} bytes"))
    }

    /// The request is not JSON.
    pub fn not_json() -> Fault {
        let message = "the request must be JSON";
        Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message)
            .hint("send it with the header Content-Type: application/json")
    }

    /// The request did not come to an end.
    pub fn too_slow() -> Fault {
        Fault::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the request did not arrive in time")
    }

    /// The server only shows.
    pub fn read_only() -> Fault {
        let message = "this server only shows runs";
        Fault::new(StatusCode::FORBIDDEN, "read_only", message).hint(
            "start it with `ralph serve --allow-control`, or use `ralph pause`, `stop`, `hint` in a terminal",
        )
    }

    /// The state of the run does not allow it.
    pub fn conflict(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::CONFLICT, "not_active", message)
    }

    /// The run must have ended for it.
    pub fn active(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::CONFLICT, "active", message)
    }

    /// It was there, and is not kept any more.
    pub fn gone(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::GONE, "gone", message)
    }

    /// Another method is needed.
    pub fn method(allow: &'static str) -> Fault {
        let message = format!("this address takes {allow}");
        Fault { allow: Some(allow), ..Fault::new(StatusCode::METHOD_NOT_ALLOWED, "method", message) }
    }

    /// The database cannot be read now; the words are the store's own.
    pub fn database(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, "database", message).hint(
            "`ralph doctor` says what is wrong; the page continues by itself once the database can be read",
        )
    }

    /// The database has not answered.
    pub fn no_answer() -> Fault {
        Fault::database("the database does not answer: another process may hold it, or the disk is slow")
    }

    /// The run is there, and this version cannot read its journal.
    pub fn unreadable_run(message: impl Into<String>) -> Fault {
        Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "unreadable_run", message)
    }

    /// A thread of the server has ended, which is a bug.
    pub fn stopped() -> Fault {
        let message = "a part of the server has ended unexpectedly";
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
            .hint("end `ralph serve` and start it again; runs do not notice")
    }

    /// Too much is asked at once.
    pub fn busy() -> Fault {
        let message = "the server is busy: too many requests wait for the database";
        Fault::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).hint("ask again in a moment")
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        Fault::new(refusal.status, refusal.code, refusal.message).hint(refusal.hint)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Fault {
        match error {
            JournalError::Store(error) => Fault::database(error.to_string()),
            JournalError::Record(error) => Fault::unreadable_run(error.to_string()),
        }
    }
}

impl From<BoardError> for Fault {
    fn from(error: BoardError) -> Fault {
        match error {
            BoardError::Journal(error) => error.into(),
            other => Fault::database(other.to_string()),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.code, "message": self.message, "hint": self.hint}});
        let mut answer = of_kind("application/json", body.to_string());
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // Whoever may not ask does not keep one of the connections.
        let strangers =
            [StatusCode::UNAUTHORIZED, StatusCode::MISDIRECTED_REQUEST, StatusCode::REQUEST_TIMEOUT];
        if strangers.contains(&self.status) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

/// An answer in JSON: its texts plain, its size bounded. Of its `lists` as much is left out as has to be. This is done on
/// another thread: for large values it takes long enough to hold up other answers.
pub async fn json_answer<T: Serialize + Send + 'static>(value: T, lists: &'static [List]) -> Answer {
    let text = tokio::task::spawn_blocking(move || {
        let mut value = serde_json::to_value(value).map_err(unwritable)?;
        bound(&mut value, lists);
        Ok::<_, Fault>(value.to_string())
    });
    Ok(of_kind("application/json", text.await.map_err(unwritable)??))
}

fn unwritable(error: impl Display) -> Fault {
    Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", format!("cannot write the answer: {error}"))
}

/// An answer of this media type.
pub fn of_kind(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// How many of the first items fit into `room` bytes of JSON.
pub fn fitting<T: Serialize>(items: &[T], room: usize) -> usize {
    let mut left = room;
    let fits = |item: &&T| {
        let Some(rest) = left.checked_sub(json_len(item) + 1) else { return false };
        left = rest;
        true
    };
    items.iter().take_while(fits).count()
}

/// The bytes that a value takes as JSON.
pub fn json_len(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX / 2,
    }
}

/// Counts what is written to it.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_items_as_fit_are_kept() {
        let items = ["aaaa", "bbbb", "cccc"];
        assert_eq!([21, 20, 14, 7, 6, 0].map(|room| fitting(&items, room)), [3, 2, 2, 1, 0, 0]);
    }

    #[test]
    fn a_stranger_does_not_keep_a_connection() {
        let closes = |fault: Fault| fault.into_response().headers().contains_key(CONNECTION);
        assert!(closes(Fault::too_slow()));
        assert!(!closes(Fault::busy()) && !closes(Fault::not_found("run")));
    }
}
