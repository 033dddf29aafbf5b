//! Failures as litellm names them, the library through which Aider and mini-swe-agent speak to every provider:
//! `litellm.RateLimitError: RateLimitError: OpenAIException - words`. The name is a fact, the words refine it.

use crate::error_phrases::{class_of, class_of_answer, worded};
use crate::reply::Failure;
use ralph_rules::failure::Class;

/// How an error line of theirs begins.
const OPENING: &str = "litellm.";

/// The exception's name where a line begins like such an error.
pub fn name_in(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix(OPENING)?.split_once(':')?;
    class(name, "").is_some().then_some(name)
}

/// The class of an exception by its name; none where it is not one of litellm's.
pub fn class(name: &str, words: &str) -> Option<Class> {
    let status = match name {
        "AuthenticationError" => 401,
        "PermissionDeniedError" => 403,
        "NotFoundError" => 404,
        "UnprocessableEntityError" => 422,
        "RateLimitError" | "RouterRateLimitError" => 429,
        "BadRequestError" | "InvalidRequestError" | "UnsupportedParamsError" | "ImageFetchError" => 400,
        "ContextWindowExceededError" => return Some(Class::ContextTooLong),
        "ContentPolicyViolationError" => return Some(Class::Refusal),
        "BudgetExceededError" => return Some(Class::Budget),
        "APIConnectionError" | "Timeout" => return Some(Class::Network),
        "InternalServerError"
        | "BadGatewayError"
        | "ServiceUnavailableError"
        | "APIError"
        | "OpenAIError"
        | "AzureOpenAIError"
        | "APIResponseValidationError"
        | "JSONSchemaValidationError" => {
            // It also has these names for a server that nobody reached, and for providers it does not know well.
            let finer = [Class::Network, Class::Billing, Class::ContextTooLong];
            return class_of(words).filter(|class| finer.contains(class)).or(Some(Class::Outage));
        }
        _ => return None,
    };
    class_of_answer(status, words)
}

/// The failure that an error's words tell, with the name in front or without.
pub fn failure(words: &str) -> Failure {
    let named = words.trim_start().strip_prefix(OPENING).and_then(|rest| rest.split_once(':'));
    let class = named.and_then(|(name, words)| class(name, words)).or_else(|| class_of(words));
    worded(class.unwrap_or(Class::Unknown), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exception_has_its_class() {
        for (words, class) in [
            ("litellm.AuthenticationError: AuthenticationError: … invalid x-api-key", Class::Auth),
            ("litellm.RateLimitError: … rate limit of 50 requests", Class::RateLimited),
            ("litellm.RateLimitError: … You exceeded your current quota, check your billing", Class::Billing),
            ("litellm.BadRequestError: … prompt is too long: 212345 tokens", Class::ContextTooLong),
            ("litellm.BadRequestError: … no such thing", Class::BadRequest),
            ("litellm.NotFoundError: … model: nope", Class::BadRequest),
            ("litellm.InternalServerError: … Internal server error", Class::Outage),
            ("litellm.InternalServerError: … Connection error.", Class::Network),
            ("litellm.ContentPolicyViolationError: …", Class::Refusal),
            ("litellm.SomethingNew: … nobody knows", Class::Unknown),
            ("rate limit, without a name", Class::RateLimited),
        ] {
            assert_eq!(failure(words).class, class, "{words}");
        }
    }

    #[test]
    fn only_its_own_lines_begin_like_its_errors() {
        assert_eq!(name_in("litellm.Timeout: no answer"), Some("Timeout"));
        for line in
            ["litellm.turn_on_debug()", "litellm.Foo: x", " litellm.Timeout: x", "RateLimitError: x", ""]
        {
            assert_eq!(name_in(line), None, "{line}");
        }
    }
}
