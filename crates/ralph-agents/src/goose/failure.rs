//! How Goose tells of a failure: as a message of its own among the model's, with no flag. Such a message has no id (or
//! one the client made up), comes in one piece, and is worded in one of a few ways from its first word to its last;
//! what a model writes about such words is not one.

use crate::Failure;
use crate::error_phrases::{class_of, class_of_answer, worded};
use ralph_rules::failure::Class;

/// How its messages about a failure begin and end.
const FRAMES: &[(&str, &str)] = &[
    ("Ran into this error trying to compact: ", "Please try again or create a new session"),
    ("Ran into this error: ", "Please retry if you think this is a transient or recoverable error."),
    ("Network error: ", "Please resend your message to try again."),
    ("Credits exhausted: ", "then resend your message to continue."),
    ("Unable to continue: ", "or start a new session."),
];

/// Said when it was told to make no more steps.
const MAX_TURNS: &str = "I've reached the maximum number of actions I can do without user input";
/// Said when it was interrupted.
pub const INTERRUPTED: &str = "Yes — what would you like me to do?";

/// What kinds of errors it knows, as it names them; the provider's words follow.
const KINDS: &[(&str, Kind)] = &[
    ("Authentication error: ", Kind::Status(401)),
    ("Rate limit exceeded: ", Kind::Status(429)),
    ("Server error: ", Kind::Status(500)),
    ("Context length exceeded: ", Kind::Is(Class::ContextTooLong)),
    ("Network error: ", Kind::Is(Class::Network)),
    ("Credits exhausted: ", Kind::Is(Class::Billing)),
    ("Unable to continue: Context limit", Kind::Is(Class::ContextTooLong)),
];

#[derive(Clone, Copy)]
enum Kind {
    /// As an answer with this status would be.
    Status(u64),
    Is(Class),
}

/// The failure a message tells of, where it is the client's own. `named`: it has an id like the model's messages; then
/// only the whole wording counts.
pub fn failure(text: &str, named: bool) -> Option<Failure> {
    let text = text.trim();
    if text == INTERRUPTED {
        return Some(worded(Class::Aborted, "it was interrupted"));
    }
    if text.starts_with(MAX_TURNS) && text.ends_with('?') && !text.contains('\n') {
        return Some(worded(Class::MaxTurns, text));
    }
    let framed =
        |(opening, closing): &&(&str, &str)| text.starts_with(opening) && (!named || text.ends_with(closing));
    let (opening, closing) = FRAMES.iter().find(framed)?;
    let error = text.strip_suffix(closing).unwrap_or(text).trim_end();
    let error = if opening.starts_with("Ran into") { error.strip_prefix(opening)? } else { error };
    let fallback = if opening.contains("compact") { Class::ContextTooLong } else { Class::Unknown };
    Some(worded(class(error).unwrap_or(fallback), error))
}

fn class(error: &str) -> Option<Class> {
    let known = KINDS.iter().find_map(|(name, kind)| Some((error.strip_prefix(name)?, kind)));
    match known {
        Some((words, Kind::Status(status))) => class_of_answer(*status, words),
        Some((_, Kind::Is(class))) => Some(*class),
        None => class_of(error),
    }
}

/// The failure at the end of a text output: the last of its messages, if it is whole.
pub fn at_the_end(text: &str) -> Option<Failure> {
    let text = text.trim();
    let (opening, _) = FRAMES.iter().find(|(_, closing)| text.ends_with(closing))?;
    let begins = text.match_indices(opening).map(|(at, _)| at).filter(|at| {
        let before = text.get(..*at).unwrap_or_default();
        before.is_empty() || before.ends_with('\n')
    });
    text.get(begins.last()?..).and_then(|message| failure(message, true))
}

/// A tool's result that says it was refused.
pub fn refused(result: &str) -> bool {
    result.contains(r#""text":"The user has declined to run this tool"#)
        || result.contains(r#""text": "The user has declined to run this tool"#)
}

/// Why it gave up before its end, by its last words on stderr.
pub fn gave_up(stderr: &str) -> Option<Failure> {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty())?;
    let words = last.trim().strip_prefix("Error: ")?;
    class_of(words).map(|class| worded(class, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: &str = ".\n\nPlease retry if you think this is a transient or recoverable error.";

    #[test]
    fn every_wording_has_its_class() {
        for (error, class) in [
            (
                "Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no",
                Class::Auth,
            ),
            ("Authentication error: Authentication failed. Status: 403 Forbidden. Response: no", Class::Auth),
            ("Rate limit exceeded: your organization's rate limit of 50", Class::RateLimited),
            ("Rate limit exceeded: The usage limit has been reached", Class::UsageLimit),
            ("Rate limit exceeded: check your plan and billing details.", Class::Billing),
            ("Server error: Server error (503 Service Unavailable): down", Class::Outage),
            ("Server error: Server error (529 <unknown status code>): Overloaded", Class::Outage),
            ("Request failed: Bad request (400): messages: bad request", Class::BadRequest),
            ("Request failed: Bad request (400): Your credit balance is too low", Class::Billing),
            ("Request failed: Resource not found (404): model: nope", Class::BadRequest),
            ("Context length exceeded: 2 > 1", Class::ContextTooLong),
            ("Network error: connection closed", Class::Network),
            ("Execution error: something new", Class::Unknown),
        ] {
            let text = format!("Ran into this error: {error}{RETRY}");
            for named in [false, true] {
                let told = failure(&text, named).unwrap();
                assert_eq!(told.class, class, "{text}");
                assert!(!told.message.contains("Please retry"), "{}", told.message);
            }
        }
        let compact = "Ran into this error trying to compact: Failed to compact: context limit exceeded even after \
                       removing all tool responses.\n\nPlease try again or create a new session";
        assert_eq!(failure(compact, false).unwrap().class, Class::ContextTooLong);
        let down = "Network error: Could not connect to h:1 — check your network connection and try again.\n\n\
                    Please resend your message to try again.";
        assert_eq!(failure(down, false).unwrap().class, Class::Network);
        let turns = "I've reached the maximum number of actions I can do without user input. Would you like me to \
                     continue?";
        assert_eq!(failure(turns, false).unwrap().class, Class::MaxTurns);
        assert_eq!(failure(INTERRUPTED, false).unwrap().class, Class::Aborted);
    }

    #[test]
    fn what_a_model_writes_is_no_failure() {
        for text in [
            "Ran into this error: the tests do not compile. I fixed it.",
            "Network error: handled now, with a test.",
            "The log says: Ran into this error: 401.\n\nPlease retry if you think this is a transient or recoverable error.",
            "I've reached the maximum number of actions I can do without user input?\nThat is in the code.",
            "",
        ] {
            assert_eq!(failure(text, true), None, "{text}");
            assert_eq!(at_the_end(text), None, "{text}");
        }
        assert!(
            failure("Ran into this error: some new frame", false).is_some(),
            "the client's own: it has no id"
        );
    }

    #[test]
    fn a_text_output_fails_by_its_last_message() {
        let text = format!("\n  ▸ shell\n\nok\nRan into this error: Server error: down{RETRY}\n");
        assert_eq!(at_the_end(&text).unwrap().class, Class::Outage);
        assert_eq!(at_the_end(&format!("{text}\nAll fine after all.")), None);
    }
}
