//! The wordings by which agents report a failure, of every version seen, where no structured fact says it.
//! Only text that is known to be an error is asked here: a model that merely writes such words did not fail.
//! The dialects, `events.rs` and `command.rs` ask; `reset.rs` reads the time in the same words.

use crate::plain::short;
use crate::reset::reset_in;
use crate::seam::Failure;
use ralph_rules::failure::Class;

/// How much of the agent's words a failure carries.
pub const MESSAGE: usize = 500;

/// Class by words, in this order: the first row with a match wins. All lower case.
const TABLE: &[(Class, &[&str])] = &[
    (Class::MaxTurns, &["reached max turns", "maximum number of turns"]),
    (Class::Budget, &["maximum budget", "budget_exhausted"]),
    (Class::Truncated, &["output token maximum", "max_output_tokens", "output token limit"]),
    (Class::Refusal, &["safeguards flagged", "violate our usage policy", "content filter"]),
    (Class::Billing, &["credit balance", "billing", "insufficient_quota", "payment required"]),
    (
        Class::ContextTooLong,
        &[
            "prompt is too long",
            "request too large",
            "input is too long",
            "context length",
            "context window",
            "maximum context",
        ],
    ),
    // These name a limit too, so they stand before the usage limits.
    (Class::RateLimited, &["not your usage limit", "rate limit reached", "rate limit exceeded"]),
    (
        Class::UsageLimit,
        &["usage limit", "usage_limit_reached", "limit reached", "daily quota", "out of extra usage"],
    ),
    (
        Class::Auth,
        &[
            "not logged in",
            "please run /login",
            "invalid api key",
            "invalid x-api-key",
            "authentication_error",
            "authentication_failed",
            "failed to authenticate",
            "authentication required",
            "oauth token",
            "unauthorized",
            "permission_error",
        ],
    ),
    (Class::RateLimited, &["rate limit", "rate_limit", "too many requests", "limiting requests"]),
    (
        Class::Network,
        &[
            "econnrefused",
            "econnreset",
            "enotfound",
            "etimedout",
            "eai_again",
            "epipe",
            "connection refused",
            "connection dropped",
            "connection error",
            "connection reset",
            "connection_failed",
            "connection closed",
            "unable to connect",
            "fetch failed",
            "network error",
            "socket hang up",
            "getaddrinfo",
            "request timed out",
        ],
    ),
    (
        Class::Outage,
        &[
            "overloaded",
            "internal server error",
            "service unavailable",
            "bad gateway",
            "gateway timeout",
            "server_error",
            "server-side issue",
            "malformed response",
        ],
    ),
    (
        Class::BadRequest,
        &[
            "issue with the selected model",
            "unknown option",
            "unknown argument",
            "unexpected argument",
            "missing required argument",
            "allowed choices are",
            "no conversation found",
            "is already in use",
            "input must be provided",
            "requires --verbose",
            "cannot be used with root",
            "invalid_request",
            "not_found_error",
            "model not found",
        ],
    ),
    (Class::Aborted, &["interrupted by user", "ede_diagnostic", "aborted"]),
];

/// How much of an error text is searched; an error that needs more has said it twice.
const LOOKED_AT: usize = 4096;

/// The class an error text speaks of, by its words, then by an HTTP status in it.
pub fn class_of(error: &str) -> Option<Class> {
    let text = error.get(..error.floor_char_boundary(LOOKED_AT)).unwrap_or(error).to_lowercase();
    let worded = TABLE.iter().find(|(_, words)| words.iter().any(|w| text.contains(w)));
    match worded {
        Some((class, _)) => Some(*class),
        None if names_a_limit(&text) => Some(Class::UsageLimit),
        None => status_in(&text).and_then(class_of_status),
    }
}

/// "You've hit your … limit", whatever the window is called this year.
fn names_a_limit(text: &str) -> bool {
    text.split("hit your ")
        .skip(1)
        .any(|rest| rest.get(..rest.floor_char_boundary(40)).is_some_and(|near| near.contains(" limit")))
}

/// An HTTP status as an error text gives it: `API Error: 529 …`, `… (429) …`, `status 503`.
fn status_in(text: &str) -> Option<u64> {
    ["error: ", "(", "status ", "status code ", "http "].iter().find_map(|before| {
        text.split(before).skip(1).find_map(|rest| {
            let digits = rest.get(..3)?;
            let ends = !rest.as_bytes().get(3).is_some_and(u8::is_ascii_alphanumeric);
            let status: u64 = digits.parse().ok()?;
            (ends && (400..600).contains(&status)).then_some(status)
        })
    })
}

/// What an HTTP status of the provider means.
pub fn class_of_status(status: u64) -> Option<Class> {
    Some(match status {
        401 | 403 => Class::Auth,
        402 => Class::Billing,
        408 | 500..=599 => Class::Outage,
        413 => Class::ContextTooLong,
        429 => Class::RateLimited,
        400..=499 => Class::BadRequest,
        _ => return None,
    })
}

/// What a failed request means by its status and its words. A status is a fact, but 400, 403 and 429 each
/// stand for several things that only the words tell apart.
pub fn class_of_answer(status: u64, words: &str) -> Option<Class> {
    let class = class_of_status(status)?;
    let finer = class_of(words).filter(|worded| match class {
        Class::BadRequest => {
            matches!(worded, Class::Billing | Class::ContextTooLong | Class::Refusal | Class::UsageLimit)
        }
        Class::Auth => matches!(worded, Class::Billing | Class::Refusal),
        Class::RateLimited => matches!(worded, Class::Billing | Class::UsageLimit),
        _ => false,
    });
    Some(finer.unwrap_or(class))
}

/// A failure that is told by words alone, with the reset time they name.
pub fn worded(class: Class, words: &str) -> Failure {
    let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
    Failure { class, message: short(words, MESSAGE), reset: if limited { reset_in(words) } else { None } }
}

/// How the lines begin that Claude prints in text mode instead of an answer.
const OPENINGS: &[&str] = &[
    "API Error: ",
    "Claude AI usage limit reached|",
    "Claude usage limit reached",
    "You've hit your ",
    "You’ve hit your ",
    "You're out of extra usage",
    "Invalid API key",
    "Not logged in",
    "Failed to authenticate",
    "Credit balance is too low",
    "Prompt is too long",
    "Request too large",
    "There's an issue with the selected model",
    "Error: Reached max turns",
    "Error: Reached maximum budget",
    "Execution error",
];

/// The class where a plain text is nothing but one such line: a text that only mentions it is an answer.
pub fn class_of_plain(text: &str) -> Option<Class> {
    let text = text.trim();
    if text.is_empty() || text.len() > 600 || text.contains('\n') {
        return None;
    }
    let window = text.split_once(" limit reached ").is_some_and(|(name, rest)| {
        !name.contains(' ') && rest.trim_start_matches(['∙', '·', ' ']).starts_with("resets ")
    });
    let known = window || OPENINGS.iter().any(|opening| text.starts_with(opening));
    known.then(|| class_of(text).unwrap_or(Class::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wording_has_its_class() {
        for (text, class) in [
            ("Claude AI usage limit reached|1794730237", Class::UsageLimit),
            ("5-hour limit reached ∙ resets 8:12am", Class::UsageLimit),
            ("You've hit your session limit · resets 7:18am (UTC)", Class::UsageLimit),
            ("You’ve hit your usage limit. Upgrade to Pro or try again at 7:21 AM.", Class::UsageLimit),
            ("You have exhausted your daily quota on this model.", Class::UsageLimit),
            (
                "API Error: Server is temporarily limiting requests (not your usage limit) · …",
                Class::RateLimited,
            ),
            ("API Error: Request rejected (429) · slow down", Class::RateLimited),
            ("Credit balance is too low", Class::Billing),
            ("Quota exceeded. Check your plan and billing details.", Class::Billing),
            ("Invalid API key · Fix external API key", Class::Auth),
            ("Not logged in · Please run /login", Class::Auth),
            ("Failed to authenticate. API Error: 403 no permission", Class::Auth),
            ("Prompt is too long · the request is ~212345 tokens", Class::ContextTooLong),
            ("API Error: 529 {\"type\":\"error\"}", Class::Outage),
            ("API Error: 503 upstream", Class::Outage),
            ("API Error: Connection dropped (ECONNRESET).", Class::Network),
            ("API Error: 400 messages: bad request", Class::BadRequest),
            ("error: unknown option '--nonsense'", Class::BadRequest),
            ("Reached maximum number of turns (3)", Class::MaxTurns),
            ("Reached maximum budget ($0.02)", Class::Budget),
        ] {
            assert_eq!(class_of(text), Some(class), "{text}");
        }
        for text in ["", "everything is fine", "error: 4294967295 apples", "(500ms)"] {
            assert_eq!(class_of(text), None, "{text}");
        }
    }

    #[test]
    fn plain_text_fails_only_when_it_is_nothing_else() {
        assert_eq!(class_of_plain("Weekly limit reached ∙ resets Nov 18, 7:25am\n"), Some(Class::UsageLimit));
        assert_eq!(class_of_plain("API Error: something new"), Some(Class::Unknown));
        for answer in [
            "I saw '5-hour limit reached ∙ resets 3pm' in the log and fixed it.",
            "Session limit reached ∙ resets 3pm\nThat is what the file says.",
            "The retry limit reached resets the counter",
            "All done.",
            "",
        ] {
            assert_eq!(class_of_plain(answer), None, "{answer}");
        }
    }
}
