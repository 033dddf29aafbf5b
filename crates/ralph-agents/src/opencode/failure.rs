//! What an error of opencode means: its name, then what the provider answered, then words. And what it says on
//! stderr where it printed no event at all. `reader.rs` decides whether the error was the end.

use crate::dialect::Ended;
use crate::error_phrases::{MESSAGE, class_of, class_of_answer, worded};
use crate::json::Field;
use crate::opencode::event::{Data, Error, Headers};
use crate::reset::{epoch, reset_in};
use crate::text::short;
use crate::{Denial, Failure, Reset};
use ralph_rules::failure::Class;
use serde::Deserialize;

/// How much of an answer's body is looked at.
const BODY: usize = 4096;

/// The failure an `error` event tells of.
pub fn failure(error: Field<'_>) -> Failure {
    let error: Error<'_> = error.read().unwrap_or_default();
    let data: Data<'_> = error.data.read().unwrap_or_default();
    let told = [data.message, error.message, error.name];
    let words = told.into_iter().find_map(|f| f.head(BODY).filter(|t| !t.is_empty())).unwrap_or_default();
    let name = error.name.head(100).unwrap_or_default();
    let class = by_name(&name).or_else(|| by_answer(&data, &words)).unwrap_or(Class::Unknown);
    let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
    let reset = if limited { reset(&data).or_else(|| reset_in(&words)) } else { None };
    Failure { class, message: short(&words, MESSAGE), reset }
}

/// Names that say it all.
fn by_name(name: &str) -> Option<Class> {
    Some(match name.strip_prefix("AI_").unwrap_or(name) {
        "ProviderAuthError" | "LoadAPIKeyError" => Class::Auth,
        "ProviderModelNotFoundError" | "ProviderNotFoundError" | "ProviderInitError" => Class::BadRequest,
        "ContextOverflowError" => Class::ContextTooLong,
        "ContentFilterError" => Class::Refusal,
        "MessageOutputLengthError" => Class::Truncated,
        "MessageAbortedError" | "AbortError" => Class::Aborted,
        _ => return None,
    })
}

fn by_answer(data: &Data<'_>, words: &str) -> Option<Class> {
    let body = data.body.head(BODY).unwrap_or_default();
    let status = data.status.count();
    // A status of the provider's own trouble needs no words; the others stand for several things each.
    let by_code = if status.is_some_and(|s| s >= 500) { None } else { by_code(data, &body) };
    let silent = data.retryable.truth() == Some(true) && status.is_none();
    by_code
        .or_else(|| class_of_answer(status?, words))
        .or_else(|| class_of(words))
        .or_else(|| class_of(&body))
        // An error worth a retry that came without any answer: the provider was not reached.
        .or(silent.then_some(Class::Network))
}

/// The provider's own code for the error, in the body it answered with.
fn by_code(data: &Data<'_>, body: &str) -> Option<Class> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Answer<'a> {
        #[serde(borrow)]
        error: Field<'a>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(rename = "type", borrow)]
        kind: Field<'a>,
        #[serde(borrow)]
        code: Field<'a>,
    }
    let answer: Answer<'_> = serde_json::from_str(body).unwrap_or_default();
    let inner: Inner<'_> = answer.error.read().unwrap_or_default();
    let class = [inner.code, inner.kind].into_iter().find_map(|code| class_of_code(&code.head(100)?));
    let limited = matches!(class, None | Some(Class::RateLimited));
    let used_up = headers(data).window.is("rejected") && headers(data).window_reset.number().is_some();
    if limited && used_up { Some(Class::UsageLimit) } else { class }
}

fn class_of_code(code: &str) -> Option<Class> {
    Some(match code {
        "insufficient_quota" | "billing_error" | "CreditsError" => Class::Billing,
        "usage_limit_reached" | "GoUsageLimitError" | "FreeUsageLimitError" => Class::UsageLimit,
        "rate_limit_exceeded" | "rate_limit_error" => Class::RateLimited,
        "context_length_exceeded" => Class::ContextTooLong,
        "authentication_error" | "invalid_api_key" => Class::Auth,
        "overloaded_error" => Class::Outage,
        _ => return None,
    })
}

fn headers<'a>(data: &Data<'a>) -> Headers<'a> {
    data.headers.read().unwrap_or_default()
}

/// When it may work again, as the provider's headers say it.
fn reset(data: &Data<'_>) -> Option<Reset> {
    let headers = headers(data);
    let window = headers.window_reset.number().and_then(epoch).filter(|_| headers.window.is("rejected"));
    let millis = |count: u64| i64::try_from(count).ok().map(Reset::After);
    window
        .or_else(|| headers.after_ms.count().and_then(millis))
        .or_else(|| headers.after.count().and_then(|s| millis(s.saturating_mul(1000))))
}

/// What the client said on stderr before it gave up: an error, or its help where it did not like its arguments.
pub fn on_stderr(ended: &Ended<'_>) -> Option<Failure> {
    if ended.exit.code.is_none_or(|code| code == 0) {
        return None;
    }
    if ended.stderr.trim_start().starts_with("opencode run [message") {
        return Some(worded(
            Class::BadRequest,
            "opencode does not know one of its arguments; it printed its help",
        ));
    }
    let said = ended.stderr.rsplit_once("Error: ").map(|(_, said)| said.trim())?;
    let class = match said {
        "Session not found" | "You must provide a message or a command" => Class::BadRequest,
        said => class_of(said)?,
    };
    Some(worded(class, said))
}

/// The permissions that were asked for and refused, as stderr tells it: `permission requested: bash (ls); auto-rejecting`.
pub fn refusals(stderr: &str) -> Vec<Denial> {
    let asked = stderr.lines().filter_map(|line| line.split_once("permission requested: "));
    let refused = asked.filter_map(|(_, what)| what.strip_suffix("; auto-rejecting"));
    let denial = |what: &str| {
        let (tool, detail) = what.split_once(" (").unwrap_or((what, ""));
        Denial { tool: short(tool, 100), detail: short(detail.strip_suffix(')').unwrap_or(detail), 200) }
    };
    refused.map(denial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    fn told(error: &str) -> Failure {
        failure(serde_json::from_str(error).unwrap())
    }

    fn api(status: u64, message: &str, kind: &str) -> Failure {
        let body = format!(r#"{{\"error\":{{\"type\":\"{kind}\",\"code\":null}}}}"#);
        told(&format!(
            r#"{{"name":"APIError","data":{{"message":"{message}","statusCode":{status},"responseBody":"{body}"}}}}"#
        ))
    }

    #[test]
    fn names_decide_first() {
        for (name, class) in [
            ("ProviderAuthError", Class::Auth),
            ("AI_LoadAPIKeyError", Class::Auth),
            ("ContextOverflowError", Class::ContextTooLong),
            ("MessageOutputLengthError", Class::Truncated),
            ("MessageAbortedError", Class::Aborted),
            ("ProviderModelNotFoundError", Class::BadRequest),
            ("SomethingNewError", Class::Unknown),
        ] {
            let error = format!(r#"{{"name":"{name}","data":{{"message":"what it says"}}}}"#);
            assert_eq!(told(&error).class, class, "{name}");
        }
        assert_eq!(told(r#"{"name":"UnknownError"}"#).message, "UnknownError");
        assert_eq!(told("7").class, Class::Unknown);
    }

    #[test]
    fn the_answer_decides_next() {
        let see = "see account/billing to raise your rate limit";
        for (status, message, kind, class) in [
            (429, see, "rate_limit_exceeded", Class::RateLimited),
            (429, "check your plan and billing details", "insufficient_quota", Class::Billing),
            (429, "Upgrade to go on", "GoUsageLimitError", Class::UsageLimit),
            (400, "messages: bad", "invalid_request_error", Class::BadRequest),
            (400, "too many", "context_length_exceeded", Class::ContextTooLong),
            (403, "no permission", "permission_error", Class::Auth),
            (500, "boom", "rate_limit_error", Class::Outage),
            (529, "Overloaded", "overloaded_error", Class::Outage),
        ] {
            assert_eq!(api(status, message, kind).class, class, "{status} {message}");
        }
        let mute = r#"{"name":"APIError","data":{"message":"hm","isRetryable":true}}"#;
        assert_eq!(told(mute).class, Class::Network);
    }

    #[test]
    fn headers_say_when_it_works_again() {
        let limited = |headers: &str| {
            told(&format!(
                r#"{{"name":"APIError","data":{{"message":"m","statusCode":429,"responseHeaders":{headers}}}}}"#
            ))
        };
        assert_eq!(limited(r#"{"retry-after":"7"}"#).reset, Some(Reset::After(7000)));
        assert_eq!(limited(r#"{"retry-after-ms":"70","retry-after":"7"}"#).reset, Some(Reset::After(70)));
        assert_eq!(limited(r#"{"retry-after":"soon"}"#).reset, None);
        let window = r#"{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"1794730237"}"#;
        let told = limited(window);
        assert_eq!((told.class, told.reset), (Class::UsageLimit, Some(Reset::At(1_794_730_237_000))));
    }

    #[test]
    fn refusals_are_found_among_other_lines() {
        let stderr =
            "> build · m\n! permission requested: bash (ls (a), cat b); auto-rejecting\nError: The user …";
        let want = Denial { tool: "bash".into(), detail: "ls (a), cat b".into() };
        assert_eq!(refusals(stderr), [want]);
        assert!(refusals("permission requested: bash (ls)").is_empty());
    }

    #[test]
    fn stderr_is_asked_where_there_is_no_event() {
        let said = |code: i32, stderr: &str| {
            let exit = Exit { code: Some(code), ..Exit::default() };
            on_stderr(&Ended { exit, stderr }).map(|failure| failure.class)
        };
        assert_eq!(said(1, "Error: Session not found"), Some(Class::BadRequest));
        assert_eq!(said(1, "opencode run [message..]\n\nrun opencode …"), Some(Class::BadRequest));
        assert_eq!(said(1, "> build · m\n\nError: invalid x-api-key"), Some(Class::Auth));
        assert_eq!(said(1, "Error: a new one"), None);
        assert_eq!(said(0, "Error: Session not found"), None);
    }
}
