//! The wordings by which agents report a failure, of every version seen, where no structured fact says it.
//! Only text that is known to be an error is asked here: a model that merely writes such words did not fail.
//! The dialects, `event_reader.rs` and `command.rs` ask; `reset.rs` reads the time in the same words.

use crate::reply::Failure;
use crate::reset::reset_in;
use crate::text::short;
use ralph_rules::failure::Class;
use std::fmt::Write;

/// How much of the agent's words a failure carries.
pub const MESSAGE: usize = 500;

/// Class by words, in this order: the first row with a match wins. All lower case.
const TABLE: &[(Class, &[&str])] = &[
    (
        Class::MaxTurns,
        &[
            "reached max turns",
            "max turns reached",
            "max session turns",
            "maximum number of turns",
            "maximum session turns",
            "loop detected, stopping",
        ],
    ),
    (Class::Budget, &["maximum budget", "budget_exhausted", "-call budget of", "-clock budget of"]),
    (
        Class::Truncated,
        &[
            "output token maximum",
            "max_output_tokens",
            "output token limit",
            "response was truncated",
            "no final response text",
        ],
    ),
    (
        Class::Refusal,
        &[
            "safeguards flagged",
            "violate our usage policy",
            "content filter",
            "content_filter",
            "has been flagged",
            "safety policy",
            "response was blocked",
        ],
    ),
    (
        Class::Billing,
        &[
            "credit balance",
            "billing",
            "insufficient_quota",
            "out of credits",
            "spend cap",
            "with your chatgpt plan",
            "payment required",
        ],
    ),
    (
        Class::ContextTooLong,
        &[
            "prompt is too long",
            "prompt as too long",
            "request too large",
            "input is too long",
            "context length",
            "context limit",
            "context window",
            "maximum context",
        ],
    ),
    // These name a limit too, so they stand before the usage limits.
    (Class::RateLimited, &["not your usage limit", "rate limit reached", "rate limit exceeded"]),
    (
        Class::UsageLimit,
        &[
            "usage limit",
            "usage_limit_reached",
            "limit reached",
            "daily quota",
            "exhausted your capacity",
            "quota will reset",
            "out of extra usage",
        ],
    ),
    (
        Class::Auth,
        &[
            "not logged in",
            "not signed in",
            "missing api key",
            "please run /login",
            "invalid api key",
            "invalid x-api-key",
            "authentication_error",
            "authentication_failed",
            "failed to authenticate",
            "authentication required",
            "oauth token",
            "missing environment variable",
            "could not be refreshed",
            "no provider configured",
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
            "connection failed",
            "error sending request",
            "failed to lookup address",
            "reading the server response",
            "connection closed",
            "ended without a finish reason",
            "unable to connect",
            "cannot connect to api",
            "could not connect",
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
            "high demand",
            "at capacity",
            "gateway timeout",
            "server_error",
            "server-side issue",
            "malformed response",
            "incomplete json segment",
            "returned an empty response",
            "non-sse response",
        ],
    ),
    (
        Class::BadRequest,
        &[
            "issue with the selected model",
            "error: model: ",
            "is not found for api version",
            "unknown option",
            "unknown argument",
            "unexpected argument",
            "missing required argument",
            "unrecognized argument",
            "no such option",
            "allowed choices are",
            "no conversation found",
            "no saved session found",
            "unknown model id",
            "is already in use",
            "no rollout found",
            "not inside a trusted directory",
            "no prompt provided",
            "error loading config",
            "cannot be used multiple times",
            "cannot be used with '",
            "tool approval required",
            "input must be provided",
            "requires --verbose",
            "only supported in prompt mode",
            "no session found",
            "no session, task, or name matched",
            "cannot be used with root",
            "invalid_request",
            "not_found_error",
            "model not found",
        ],
    ),
    (Class::Aborted, &["interrupted by user", "interrupted (ctrl-c", "ede_diagnostic", "aborted"]),
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

/// The class of an error text that may begin with the HTTP status it reports: `429 This request would …`.
pub fn class_of_error(error: &str) -> Option<Class> {
    let error = error.trim_start();
    let digits = error.get(..3).filter(|_| !error.as_bytes().get(3).is_some_and(u8::is_ascii_alphanumeric));
    let status = digits.and_then(|digits| digits.parse().ok());
    status.and_then(|status| class_of_answer(status, error)).or_else(|| class_of(error))
}

/// A retry in a few words: why, which try it will be, and when.
pub fn retry_words(why: &str, attempt: Option<u64>, most: Option<u64>, delay_ms: Option<f64>) -> String {
    let mut text = short(why, 200);
    // Writing to a string cannot fail.
    if let Some(attempt) = attempt {
        let _ = write!(text, ", try {attempt}");
    }
    if let Some(most) = most {
        let _ = write!(text, " of {most}");
    }
    if let Some(delay) = delay_ms.filter(|delay| (0.0..1e12).contains(delay)) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded just above
        let tenths = (delay / 100.0).round() as u64;
        let _ = write!(text, " in {}.{} s", tenths / 10, tenths % 10);
    }
    text
}

/// A failure that is told by words alone, with the reset time they name.
pub fn worded(class: Class, words: &str) -> Failure {
    let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
    Failure { class, message: short(words, MESSAGE), reset: if limited { reset_in(words) } else { None } }
}

/// How the lines begin that agents print in text mode instead of an answer.
const OPENINGS: &[&str] = &[
    "API Error: ",
    "[API Error: ",
    "Internal error: \"",
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

    /// What the agents really print, each with its class.
    const WORDINGS: &[(&str, Class)] = &[
        ("Claude AI usage limit reached|1794730237", Class::UsageLimit),
        ("5-hour limit reached ∙ resets 8:12am", Class::UsageLimit),
        ("You've hit your session limit · resets 7:18am (UTC)", Class::UsageLimit),
        ("You’ve hit your usage limit. Upgrade to Pro or try again at 7:21 AM.", Class::UsageLimit),
        ("You have exhausted your daily quota on this model.", Class::UsageLimit),
        ("API Error: Server is temporarily limiting requests (not your usage limit) · …", Class::RateLimited),
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
        ("Error: max turns reached", Class::MaxTurns),
        ("Maximum session turns exceeded", Class::MaxTurns),
        ("Loop detected, stopping execution", Class::MaxTurns),
        ("Model response was truncated because it exceeded the token limit.", Class::Truncated),
        ("The model returned reasoning thoughts but no final response text. If …", Class::Truncated),
        ("The model response was blocked due to safety settings.", Class::Refusal),
        (
            "You have exhausted your capacity on this model. Your quota will reset after 3h.",
            Class::UsageLimit,
        ),
        ("Cannot connect to API: The socket connection was closed unexpectedly.", Class::Network),
        ("[API Error: Incomplete JSON segment at the end]", Class::Outage),
        ("The model returned an empty response with no text or thoughts.", Class::Outage),
        ("[API Error: model: claude-nope]", Class::BadRequest),
        ("models/nope is not found for API version v1beta", Class::BadRequest),
        ("Reached max session turns for this session.", Class::MaxTurns),
        ("Run aborted: tool-call budget of 2 exceeded (--max-tool-calls)", Class::Budget),
        ("Run aborted: wall-clock budget of 5s exceeded (--max-wall-time).", Class::Budget),
        ("Missing API key for OpenAI-compatible auth.", Class::Auth),
        ("Not signed in. To authenticate without a browser, run:", Class::Auth),
        ("[API Error: Model stream ended without a finish reason.]", Class::Network),
        ("[API Error: Streaming request received a non-SSE response]", Class::Outage),
        ("No saved session found with ID 9999", Class::BadRequest),
        ("Couldn't set model 'm': Invalid params: \"unknown model id\".", Class::BadRequest),
        ("The provider rejected the prompt as too long, but …", Class::ContextTooLong),
        ("Could not connect to local model provider at http://127.0.0.1:1/v1.", Class::Network),
        ("Provider finish_reason: content_filter", Class::Refusal),
        ("Provider safety policy blocked the response.", Class::Refusal),
        ("error: Output format is only supported in prompt mode.", Class::BadRequest),
        ("No session found matching 'nope'", Class::BadRequest),
        ("aider: error: unrecognized arguments: --nonsense", Class::BadRequest),
        ("No such option: --nonsense", Class::BadRequest),
        ("Error: No session, task, or name matched '9999'.", Class::BadRequest),
    ];

    #[test]
    fn every_wording_has_its_class() {
        for (text, class) in WORDINGS {
            assert_eq!(class_of(text), Some(*class), "{text}");
        }
        for text in ["", "everything is fine", "error: 4294967295 apples", "(500ms)"] {
            assert_eq!(class_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_status_in_front_decides_where_it_is_one() {
        for (text, class) in [
            ("401 rate limit, says a proxy", Some(Class::Auth)),
            ("404 model: nope", Some(Class::BadRequest)),
            ("429 The usage limit has been reached", Some(Class::UsageLimit)),
            ("500 Internal server error", Some(Class::Outage)),
            ("Connection error.", Some(Class::Network)),
            ("4294967295 apples", None),
            ("200 apples", None),
            ("", None),
        ] {
            assert_eq!(class_of_error(text), class, "{text}");
        }
    }

    #[test]
    fn a_retry_is_told_as_far_as_it_is_known() {
        assert_eq!(
            retry_words("429 slow", Some(2), Some(10), Some(1049.03)),
            "429 slow, try 2 of 10 in 1.0 s"
        );
        assert_eq!(retry_words("no", None, None, Some(f64::NAN)), "no");
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
