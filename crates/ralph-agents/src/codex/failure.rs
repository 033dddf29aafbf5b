//! Why a Codex call failed, from the one thing it says about it: a message. Most begin with words of its own that
//! name the status or the cause; those are asked first, the rest is left to `error_phrases.rs`.

use crate::Failure;
use crate::error_phrases::{class_of, class_of_answer, worded};
use ralph_rules::failure::Class;

/// How it begins a message about a request that it tries again by itself.
const AGAIN: &[&str] = &["Reconnecting...", "Re-connecting...", "stream error: "];

/// How it names the status of a request that failed.
const STATUS: &[&str] = &["unexpected status ", "last status: "];

/// How it begins where an answer broke off; what the provider said may follow.
const BROKEN_OFF: &str = "stream disconnected before completion: ";

/// Whether it goes on by itself after this.
pub fn tries_again(message: &str) -> bool {
    AGAIN.iter().any(|opening| message.starts_with(opening))
}

/// Whether it waits for the network, which it does without end.
pub fn waits_for_network(message: &str) -> bool {
    tries_again(message) && message.contains("waiting for network")
}

/// The failure a message tells of.
pub fn failure(message: &str) -> Failure {
    let cause = cause(message);
    let waits = waits_for_network(message).then_some(Class::Network);
    worded(class(cause).or(waits).unwrap_or(Class::Unknown), cause)
}

/// Why it tries again, without the part about trying: `Reconnecting... 2/5 (why)`, `stream error: why; retrying …`.
fn cause(message: &str) -> &str {
    if !tries_again(message) {
        return message;
    }
    let inside = message.split_once('(').and_then(|(_, rest)| rest.trim_end().strip_suffix(')'));
    let between = message.strip_prefix("stream error: ").and_then(|rest| rest.rsplit_once("; retrying "));
    inside.or(between.map(|(why, _)| why)).unwrap_or(message)
}

fn class(cause: &str) -> Option<Class> {
    if let Some(class) = status(cause).and_then(|status| class_of_answer(status, cause)) {
        return Some(class);
    }
    // A request that was refused as such is told by the provider's answer alone, as it came.
    if cause.starts_with('{') {
        return class_of_answer(400, cause);
    }
    match cause.strip_prefix(BROKEN_OFF) {
        Some(why) => class_of(why).or(Some(Class::Network)),
        None => class_of(cause),
    }
}

fn status(cause: &str) -> Option<u64> {
    STATUS.iter().find_map(|before| {
        let (_, rest) = cause.split_once(before)?;
        rest.get(..3)?.parse().ok()
    })
}

/// What it printed last on stderr, where its answer is text: its errors are lines there, among the whole transcript.
pub fn last_words(stderr: &str) -> Option<Failure> {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty())?;
    last.trim().strip_prefix("ERROR: ").map(failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reset;

    const MESSAGES: &[(&str, Class)] = &[
        ("unexpected status 401 Unauthorized: rate limit, says a proxy, url: http://h/v1", Class::Auth),
        ("unexpected status 403 Forbidden: Your account does not have permission", Class::Auth),
        ("unexpected status 404 Not Found: model: nope, url: http://h", Class::BadRequest),
        ("unexpected status 413 Payload Too Large: Request exceeds the maximum size", Class::ContextTooLong),
        ("unexpected status 529 <unknown status code>: Overloaded", Class::Outage),
        ("exceeded retry limit, last status: 429 Too Many Requests", Class::RateLimited),
        ("exceeded retry limit, last status: 503 Service Unavailable, request id: r", Class::Outage),
        ("Quota exceeded. Check your plan and billing details.", Class::Billing),
        ("Your workspace is out of credits. Add credits to continue.", Class::Billing),
        ("You hit your spend cap set in your workspace.", Class::Billing),
        ("To use Codex with your ChatGPT plan, upgrade to Plus: https://h.", Class::Billing),
        ("You've hit your usage limit. Try again later.", Class::UsageLimit),
        ("We’re currently experiencing high demand, which may cause temporary errors.", Class::Outage),
        ("Selected model is at capacity. Please try a different model.", Class::Outage),
        ("stream disconnected before completion: stream closed before response.completed", Class::Network),
        ("stream disconnected before completion: Rate limit reached for gpt-5. …", Class::RateLimited),
        (
            "stream disconnected before completion: Incomplete response returned, reason: content_filter",
            Class::Refusal,
        ),
        ("Connection failed: error sending request", Class::Network),
        ("Incomplete response returned, reason: max_output_tokens", Class::Truncated),
        ("Codex ran out of room in the model's context window. Start a new thread …", Class::ContextTooLong),
        ("This request has been flagged for possible cybersecurity risk.", Class::Refusal),
        ("Missing environment variable: `OPENAI_API_KEY`.", Class::Auth),
        (
            "Your access token could not be refreshed because it was revoked. Please sign in again.",
            Class::Auth,
        ),
        (
            r#"{"error": {"message": "prompt is too long: 2 > 1", "type": "invalid_request_error"}}"#,
            Class::ContextTooLong,
        ),
        (
            r#"{"error": {"message": "the word overloaded was in it", "type": "invalid_request_error"}}"#,
            Class::BadRequest,
        ),
        (
            r#"{"detail":"The 'x' model is not supported when using Codex with a ChatGPT account."}"#,
            Class::BadRequest,
        ),
        ("Reconnecting... 2/5 (unexpected status 401 Unauthorized: no)", Class::Auth),
        ("Reconnecting... waiting for network (Connection failed: error sending request)", Class::Network),
        ("Reconnecting... waiting for network", Class::Network),
        (
            "stream error: exceeded retry limit, last status: 401 Unauthorized; retrying 1/1 in 219ms…",
            Class::Auth,
        ),
        ("turn aborted. Something went wrong?", Class::Aborted),
        ("interrupted (Ctrl-C). Something went wrong?", Class::Aborted),
        ("Error while reading the server response: eof", Class::Network),
        ("stream disconnected before completion: failed to lookup address information", Class::Network),
        ("something new", Class::Unknown),
    ];

    #[test]
    fn every_message_has_its_class() {
        for (message, class) in MESSAGES {
            assert_eq!(failure(message).class, *class, "{message}");
        }
    }

    #[test]
    fn what_stops_it_before_its_first_event_has_its_class() {
        for (words, class) in [
            ("error: unexpected argument '--nonsense' found", Class::BadRequest),
            ("error: the argument '--json' cannot be used multiple times", Class::BadRequest),
            ("error: the argument '--last' cannot be used with '[SESSION_ID]'", Class::BadRequest),
            ("Error loading config.toml: invalid type", Class::BadRequest),
            ("Error: thread/resume failed: no rollout found for thread id 9", Class::BadRequest),
            (
                "Not inside a trusted directory and --skip-git-repo-check was not specified.",
                Class::BadRequest,
            ),
            ("No prompt provided via stdin.", Class::BadRequest),
        ] {
            assert_eq!(class_of(words), Some(class), "{words}");
        }
    }

    #[test]
    fn only_the_last_line_of_a_transcript_is_its_last_word() {
        let limit = "user\nmy prompt is too long\nERROR: Reconnecting... 1/5\n\
                     ERROR: You’ve hit your usage limit. Visit h or try again at Nov 20th, 2026 1:05 PM.\n";
        let told = last_words(limit).unwrap();
        let at = Reset::Clock { date: Some((11, 20)), hour: 13, minute: 5, zone: None };
        assert_eq!((told.class, told.reset), (Class::UsageLimit, Some(at)));
        assert_eq!(last_words("ERROR: Reconnecting... 1/5\ncodex\ndone\ntokens used\n1,700\n"), None);
        assert_eq!(last_words(""), None);
    }
}
