//! Why a call of Gemini failed: the error's type, then the API's answer inside its message, then the exit code,
//! then words. The exit code is one of the client's own or the HTTP status, of which only the low byte is left.

use crate::Failure;
use crate::error_phrases::{MESSAGE, class_of, class_of_answer};
use crate::json::Field;
use crate::reset::reset_in;
use crate::text::short;
use ralph_rules::failure::Class;
use serde::Deserialize;

/// What is known of a failure.
#[derive(Clone, Debug, Default)]
pub struct FailureFacts {
    /// The client's name for the error.
    pub kind: String,
    /// Its words.
    pub words: String,
    /// Its code, or the program's exit code.
    pub code: Option<i64>,
}

/// The failure these facts amount to.
pub fn failure(facts: &FailureFacts) -> Failure {
    let answer = answer(&facts.words);
    let words = answer.as_ref().map_or(facts.words.as_str(), |(_, message)| message);
    let status = answer.as_ref().and_then(|(code, _)| *code).or_else(|| facts.code.and_then(status_of));
    let class = by_kind(&facts.kind, status, words)
        .or_else(|| by_answer(status?, words))
        .or_else(|| by_exit(facts.code?))
        .or_else(|| class_of(words))
        .unwrap_or(Class::Unknown);
    let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
    let reset = if limited { reset_in(&facts.words) } else { None };
    let words = if words.is_empty() { "it reported an error without a message" } else { words };
    Failure { class, message: short(words, MESSAGE), reset }
}

/// The client's own errors, by the names it gives them.
fn by_kind(kind: &str, status: Option<u64>, words: &str) -> Option<Class> {
    Some(match kind {
        "FatalTurnLimitedError" => Class::MaxTurns,
        "FatalAuthenticationError" | "UnauthorizedError" | "ForbiddenError" | "AccountSuspendedError" => {
            Class::Auth
        }
        "ValidationRequiredError" => Class::Auth,
        "FatalInputError" | "FatalConfigError" | "FatalSandboxError" | "FatalUntrustedWorkspaceError" => {
            Class::BadRequest
        }
        "ModelNotFoundError" => Class::BadRequest,
        "FatalCancellationError" | "AbortError" | "CanceledError" => Class::Aborted,
        "TerminalQuotaError" | "RetryableQuotaError" => {
            // A server that has no room for more answers 503, and that is called a quota too.
            let told = by_answer(status.unwrap_or(429), words).unwrap_or(Class::RateLimited);
            let ends = kind == "TerminalQuotaError" && told == Class::RateLimited;
            if ends { Class::UsageLimit } else { told }
        }
        _ => return None,
    })
}

/// What the API's answer means. It words every used-up quota, also that of a minute, as a matter of plan and
/// billing; one that names its metric or a time is waited for.
fn by_answer(status: u64, words: &str) -> Option<Class> {
    let class = class_of_answer(status, words)?;
    let lower = words.to_lowercase();
    let waits =
        ["please retry in", "retry after", "quota exceeded for metric"].iter().any(|w| lower.contains(w));
    if class == Class::Billing && status == 429 && waits {
        let daily = lower.contains("perday") || lower.contains("per_day") || lower.contains("daily");
        return Some(if daily { Class::UsageLimit } else { Class::RateLimited });
    }
    Some(class)
}

/// The client's own exit codes.
fn by_exit(code: i64) -> Option<Class> {
    Some(match code {
        41 => Class::Auth,
        42 | 44 | 52 | 55 => Class::BadRequest,
        53 => Class::MaxTurns,
        130 => Class::Aborted,
        _ => return None,
    })
}

/// The HTTP status a code stands for: itself, or what is left of it in an exit code.
fn status_of(code: i64) -> Option<u64> {
    const STATUSES: &[i64] =
        &[400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 499, 500, 501, 502, 503, 504, 529];
    let status = STATUSES.iter().find(|status| **status == code || **status & 0xff == code)?;
    u64::try_from(*status).ok()
}

/// The API's answer that the client passes on inside its own words: its code and its message.
fn answer(words: &str) -> Option<(Option<u64>, String)> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        error: Inner<'a>,
    }
    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, default)]
        code: Field<'a>,
        #[serde(borrow, default)]
        message: Field<'a>,
    }
    let json = words.get(words.find(r#"{"error""#)?..)?;
    let outer: Outer<'_> = serde_json::Deserializer::from_str(json).into_iter().next()?.ok()?;
    let message = outer.error.message.head(4096)?.into_owned();
    // The message may be such an answer once more, as text.
    let inside = if message.starts_with('{') { answer_once(&message) } else { None };
    Some((outer.error.code.count(), inside.unwrap_or(message)))
}

fn answer_once(message: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        error: Inner<'a>,
    }
    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, default)]
        message: Field<'a>,
    }
    let outer: Outer<'_> = serde_json::from_str(message).ok()?;
    Some(outer.error.message.head(4096)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reset;

    fn told(kind: &str, words: &str, code: Option<i64>) -> Failure {
        failure(&FailureFacts { kind: kind.into(), words: words.into(), code })
    }

    #[test]
    fn type_answer_exit_and_words_in_this_order() {
        let inside =
            r#"[API Error: {"error":{"code":401,"message":"invalid x-api-key","status":"UNAUTHENTICATED"}}]"#;
        for (kind, words, code, class) in [
            ("FatalTurnLimitedError", "whatever", Some(53), Class::MaxTurns),
            ("unknown", inside, Some(1), Class::Auth),
            ("unknown", "[API Error: hm]", Some(247), Class::Outage),
            ("unknown", "[API Error: hm]", Some(17), Class::Outage),
            ("RetryableQuotaError", "hm", Some(247), Class::Outage),
            ("RetryableQuotaError", "hm", Some(1), Class::RateLimited),
            ("TerminalQuotaError", "hm", Some(173), Class::UsageLimit),
            ("unknown", "[API Error: hm]", Some(173), Class::RateLimited),
            (
                "unknown",
                "[API Error: You have exhausted your daily quota on this model.]",
                Some(173),
                Class::UsageLimit,
            ),
            ("Error", "prompt is too long: 3 tokens > 2 maximum", Some(400), Class::ContextTooLong),
            ("unknown", "", Some(41), Class::Auth),
            ("unknown", "", Some(55), Class::BadRequest),
            ("unknown", "exception TypeError: fetch failed sending request", Some(1), Class::Network),
            ("unknown", "something new", Some(1), Class::Unknown),
            ("", "", None, Class::Unknown),
        ] {
            assert_eq!(told(kind, words, code).class, class, "{kind} {words} {code:?}");
        }
        assert_eq!(told("unknown", inside, None).message, "invalid x-api-key");
    }

    #[test]
    fn a_quota_that_names_its_time_is_waited_for() {
        let quota = "You exceeded your current quota, please check your plan and billing details.";
        assert_eq!(told("unknown", quota, Some(173)).class, Class::Billing);
        let minute =
            format!("{quota} * Quota exceeded for metric: requests, limit: 2\nPlease retry in 41.5s.");
        let failure = told("unknown", &minute, Some(173));
        assert_eq!((failure.class, failure.reset), (Class::RateLimited, Some(Reset::After(41_500))));
        let day = format!("{quota} Quota exceeded for metric: GenerateRequestsPerDay");
        assert_eq!(told("unknown", &day, Some(173)).class, Class::UsageLimit);
        let capacity = "You have exhausted your capacity on this model. Your quota will reset after 3h24m5s.";
        let failure = told("TerminalQuotaError", capacity, Some(173));
        assert_eq!((failure.class, failure.reset), (Class::UsageLimit, Some(Reset::After(12_245_000))));
    }
}
