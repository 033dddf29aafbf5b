//! Why a call failed: structured facts first, words last. A flag, a status or a reason that the client sets is
//! a fact; what the model writes is not. One function per source, asked in the order of `class`.

use crate::error_phrases::{MESSAGE, class_of, class_of_answer};
use crate::reset::reset_in;
use crate::text::short;
use crate::{Failure, Reset};
use ralph_rules::failure::Class;

/// What the stream and its terminal event said about the end, gathered on the way.
#[derive(Clone, Debug, Default)]
pub struct FailureFacts {
    /// The terminal event's own name of the end.
    pub subtype: String,
    /// Its error flag.
    pub is_error: bool,
    /// Why the model stopped.
    pub stop_reason: String,
    /// Why the client stopped.
    pub terminal_reason: String,
    /// What the provider said, where a request failed.
    pub api: ApiError,
    /// The error's text.
    pub words: String,
    /// The client noted that it was interrupted.
    pub interrupted: bool,
    /// A usage window was reported as used up: when it ends. (A rejection that names no window is only a
    /// rate limit.)
    pub used_up: Option<Reset>,
}

/// A failed request, as the client describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub status: Option<u64>,
    /// The provider's type of error.
    pub kind: String,
    /// The client's name for it.
    pub code: String,
    /// The client's category on the message.
    pub category: String,
}

/// The failure these facts amount to, if any.
pub fn failure(facts: &FailureFacts) -> Option<Failure> {
    let class = class(facts)?;
    let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
    let told = facts.used_up.clone().filter(|_| class == Class::UsageLimit);
    let reset = if limited { told.or_else(|| reset_in(&facts.words)) } else { None };
    Some(Failure { class, message: message(class, facts), reset })
}

fn class(facts: &FailureFacts) -> Option<Class> {
    if let Some(class) = by_reason(facts) {
        return Some(class);
    }
    if !facts.is_error && !facts.subtype.starts_with("error") {
        return None;
    }
    let class = by_code(facts)
        .or_else(|| class_of_answer(facts.api.status?, &facts.words))
        .or_else(|| by_kind(&facts.api.kind))
        .or_else(|| class_of(&facts.words))
        .or_else(|| class_of(&facts.api.category));
    Some(class.unwrap_or_else(|| by_silence(facts)))
}

/// Reasons that hold whatever the error flag says: versions up to 2.0.50 report max turns without it.
fn by_reason(facts: &FailureFacts) -> Option<Class> {
    match facts.subtype.as_str() {
        "error_max_turns" => return Some(Class::MaxTurns),
        "error_max_budget_usd" => return Some(Class::Budget),
        _ => {}
    }
    match facts.terminal_reason.as_str() {
        "max_turns" => return Some(Class::MaxTurns),
        "budget_exhausted" => return Some(Class::Budget),
        "prompt_too_long" => return Some(Class::ContextTooLong),
        reason if reason.starts_with("aborted") => return Some(Class::Aborted),
        _ => {}
    }
    match facts.stop_reason.as_str() {
        "refusal" => Some(Class::Refusal),
        "max_tokens" => Some(Class::Truncated),
        "model_context_window_exceeded" => Some(Class::ContextTooLong),
        _ => None,
    }
}

fn by_code(facts: &FailureFacts) -> Option<Class> {
    match facts.api.code.as_str() {
        "usage_limit_reached" => Some(Class::UsageLimit),
        "max_output_tokens" => Some(Class::Truncated),
        "connection_failed" => Some(Class::Network),
        _ if facts.used_up.is_some() && matches!(facts.api.status, None | Some(429)) => {
            Some(Class::UsageLimit)
        }
        _ => None,
    }
}

fn by_kind(kind: &str) -> Option<Class> {
    match kind {
        "" => None,
        "api_error" | "timeout_error" => Some(Class::Outage),
        kind => class_of(kind),
    }
}

/// An error without a known word: an execution that just ended was interrupted.
fn by_silence(facts: &FailureFacts) -> Class {
    let mute = facts.words.is_empty() && facts.subtype == "error_during_execution";
    if facts.interrupted || mute { Class::Aborted } else { Class::Unknown }
}

fn message(class: Class, facts: &FailureFacts) -> String {
    if !facts.words.is_empty() {
        return short(&facts.words, MESSAGE);
    }
    let said = match class {
        Class::MaxTurns => "it reached its own limit of turns",
        Class::Budget => "it reached its own budget",
        Class::Truncated => "the answer was cut off at the model's limit",
        Class::Refusal => "the model declined",
        Class::Aborted => "it was interrupted",
        _ => "it reported an error without a message",
    };
    let named = [&facts.terminal_reason, &facts.subtype].into_iter().find(|s| !s.is_empty());
    named.map_or_else(|| said.to_owned(), |name| format!("{said} ({})", short(name, 100)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: Option<u64>, words: &str) -> FailureFacts {
        let api = ApiError { status, ..ApiError::default() };
        FailureFacts {
            subtype: "success".into(),
            is_error: true,
            api,
            words: words.into(),
            ..FailureFacts::default()
        }
    }

    #[test]
    fn a_status_is_refined_by_words_only_where_it_is_ambiguous() {
        for (status, words, class) in [
            (400, "Credit balance is too low", Class::Billing),
            (400, "messages.1: the word overloaded was in the request", Class::BadRequest),
            (401, "rate limit, says a proxy", Class::Auth),
            (403, "no permission", Class::Auth),
            (404, "no such model", Class::BadRequest),
            (413, "", Class::ContextTooLong),
            (429, "slow down", Class::RateLimited),
            (429, "You've hit your weekly limit · resets 3pm", Class::UsageLimit),
            (500, "Invalid API key", Class::Outage),
            (529, "", Class::Outage),
        ] {
            let failure = failure(&error(Some(status), words)).unwrap();
            assert_eq!(failure.class, class, "{status} {words}");
        }
    }

    #[test]
    fn words_of_a_model_are_no_failure() {
        let mut facts = error(None, "5-hour limit reached ∙ resets 3pm");
        facts.is_error = false;
        assert_eq!(failure(&facts), None);
    }

    #[test]
    fn a_used_up_window_brings_its_end_along() {
        let mut facts = error(Some(429), "Request rejected (429) · try again in 5 minutes");
        facts.used_up = Some(Reset::At(7));
        let told = failure(&facts).unwrap();
        assert_eq!((told.class, told.reset), (Class::UsageLimit, Some(Reset::At(7))));
        facts.api.status = Some(500);
        assert_eq!(failure(&facts).unwrap().reset, None);
    }

    #[test]
    fn reasons_hold_without_the_error_flag() {
        let quiet = |subtype: &str, stop: &str, terminal: &str| {
            failure(&FailureFacts {
                subtype: subtype.into(),
                stop_reason: stop.into(),
                terminal_reason: terminal.into(),
                ..FailureFacts::default()
            })
            .map(|f| f.class)
        };
        assert_eq!(quiet("error_max_turns", "", ""), Some(Class::MaxTurns));
        assert_eq!(quiet("success", "max_tokens", ""), Some(Class::Truncated));
        assert_eq!(quiet("success", "refusal", ""), Some(Class::Refusal));
        assert_eq!(quiet("success", "end_turn", "aborted_streaming"), Some(Class::Aborted));
        assert_eq!(quiet("error_during_execution", "", ""), Some(Class::Aborted));
        assert_eq!(quiet("success", "end_turn", "completed"), None);
        assert_eq!(quiet("", "", ""), None);
    }
}
