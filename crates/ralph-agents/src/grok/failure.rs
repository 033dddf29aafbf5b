//! Grok's error texts. It wraps what a provider said twice: in the words "Internal error" and in JSON, with the
//! facts as fields. Unwrapped, the facts count before the words.

use crate::claude::failure::FailureFacts;
use crate::json::{Field, lenient};

const WRAPPED: &str = "Internal error: ";

lenient! {
    /// What an error's JSON tells.
    struct ErrorDetails<'a> { message, http_status, error_kind }
}

/// Whether an error text is in Grok's wrapping.
pub fn is_wrapped(words: &str) -> bool {
    words.starts_with(WRAPPED)
}

/// Adds the facts in the error's text to those about the end.
pub fn explain(facts: &mut FailureFacts) {
    // A refused tool ends the whole call in this way, and so does a person.
    facts.interrupted |= facts.stop_reason == "cancelled";
    let Some(inside) = facts.words.strip_prefix(WRAPPED) else { return };
    let Ok(field) = serde_json::from_str::<Field<'_>>(inside) else { return };
    if let Some(text) = field.filled() {
        facts.words = text.into_owned();
        return;
    }
    let details: ErrorDetails<'_> = field.read().unwrap_or_default();
    facts.api.status = details.http_status.count().or(facts.api.status);
    match details.error_kind.text().unwrap_or_default().as_ref() {
        "max_tokens_truncation" => "max_tokens".clone_into(&mut facts.stop_reason),
        kind => kind.clone_into(&mut facts.api.kind),
    }
    if let Some(message) = details.message.filled() {
        facts.words = message.into_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::failure::failure;
    use ralph_rules::failure::Class;

    fn told(words: &str) -> (Class, String) {
        let mut facts = FailureFacts { is_error: true, words: words.into(), ..FailureFacts::default() };
        explain(&mut facts);
        let failure = failure(&facts).unwrap();
        (failure.class, failure.message)
    }

    #[test]
    fn the_facts_count_before_the_words() {
        for (words, class, message) in [
            (r#"Internal error: {"message":"it broke","http_status":503}"#, Class::Outage, "it broke"),
            (
                r#"Internal error: {"message":"no","error_kind":"max_tokens_truncation"}"#,
                Class::Truncated,
                "no",
            ),
            (
                r#"Internal error: "Unauthorized (401)\n\n  Model: m""#,
                Class::Auth,
                "Unauthorized (401) Model: m",
            ),
            ("rate_limit_error: slow down", Class::RateLimited, "rate_limit_error: slow down"),
            ("Internal error: {half", Class::Unknown, "Internal error: {half"),
        ] {
            assert_eq!(told(words), (class, message.to_owned()), "{words}");
        }
    }

    #[test]
    fn a_cancelled_call_was_aborted() {
        let mut facts = FailureFacts {
            is_error: true,
            stop_reason: "cancelled".into(),
            words: "cancelled".into(),
            ..FailureFacts::default()
        };
        explain(&mut facts);
        assert_eq!(failure(&facts).unwrap().class, Class::Aborted);
    }
}
