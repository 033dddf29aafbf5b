//! Why a call of Copilot failed: its own type of error and the provider's status first, words last. The session's
//! error is the client's summary; the failed request before it often knows more, so both are kept.

use crate::Failure;
use crate::copilot::event::RequestError;
use crate::error_phrases::{MESSAGE, class_of, class_of_answer};
use crate::json::Field;
use crate::reset::reset_in;
use crate::text::short;
use ralph_rules::failure::Class;

/// How much of an error's words is kept.
const WORDS: usize = 4096;

/// What was said of a failure that nothing undid yet.
#[derive(Clone, Debug, Default)]
pub struct FailureFacts {
    /// The client's type of error.
    kind: String,
    /// The provider's code.
    code: String,
    /// HTTP status.
    status: Option<u64>,
    /// The client's words.
    message: String,
    /// The provider's words.
    provider: String,
    /// The request never got a whole answer.
    transport: bool,
    /// The client stopped by itself, by this reason.
    stopped: String,
}

impl FailureFacts {
    /// A request failed; it may be tried again.
    pub fn request(&mut self, error: &RequestError<'_>) {
        let kind = std::mem::take(&mut self.kind);
        let message = std::mem::take(&mut self.message);
        *self = FailureFacts {
            kind,
            message,
            code: own(error.code),
            status: error.status.count(),
            provider: own(error.provider),
            transport: error.boundary.is("transport"),
            stopped: String::new(),
        };
    }

    /// The session reports an error.
    pub fn session(&mut self, error: &RequestError<'_>) {
        self.kind = own(error.kind);
        self.message = own(error.message);
        self.status = error.status.count().or(self.status);
        if let Some(code) = error.code.filled() {
            self.code = short(&code, 200);
        }
    }

    /// The client ended the turn itself.
    pub fn stop(&mut self, reason: Field<'_>) {
        self.stopped = own(reason);
    }

    /// Whether the session itself failed.
    pub fn failed(&self) -> bool {
        !self.kind.is_empty() || !self.message.is_empty() || !self.stopped.is_empty()
    }

    /// The failure these facts amount to, if there are any.
    pub fn failure(&self) -> Option<Failure> {
        let told = self.failed() || !self.provider.is_empty() || self.status.is_some();
        let class = told.then(|| self.class().unwrap_or(Class::Unknown))?;
        let words = if self.message.is_empty() { &self.provider } else { &self.message };
        let limited = matches!(class, Class::UsageLimit | Class::RateLimited);
        let reset = if limited { reset_in(&self.message).or_else(|| reset_in(&self.provider)) } else { None };
        let words = if words.is_empty() { &self.stopped } else { words };
        Some(Failure { class, message: short(words, MESSAGE), reset })
    }

    fn class(&self) -> Option<Class> {
        self.by_code()
            .or_else(|| class_of_answer(self.status?, &format!("{} {}", self.message, self.provider)))
            .or_else(|| self.by_kind())
            .or_else(|| class_of(&self.message))
            .or_else(|| class_of(&self.provider))
            .or_else(|| self.transport.then(|| self.by_transport()))
    }

    fn by_code(&self) -> Option<Class> {
        match (self.stopped.as_str(), self.code.as_str()) {
            ("autopilot_credit_limit" | "session_limits", _) => Some(Class::Budget),
            ("", "user_weekly_rate_limited" | "quota_exceeded") => Some(Class::UsageLimit),
            ("", "session_quota_exceeded") => Some(Class::Budget),
            ("", "billing_not_configured" | "insufficient_quota") => Some(Class::Billing),
            ("", _) => None,
            _ => Some(Class::Aborted),
        }
    }

    fn by_kind(&self) -> Option<Class> {
        match self.kind.as_str() {
            "authentication" | "authorization" | "policy" => Some(Class::Auth),
            "quota" => Some(Class::UsageLimit),
            "rate_limit" => Some(Class::RateLimited),
            "context_limit" => Some(Class::ContextTooLong),
            _ => None,
        }
    }

    /// No status and no known word: a connection that broke off while it answered, or an answer that was none.
    fn by_transport(&self) -> Class {
        let empty = self.provider.contains("without sending any chunks");
        if empty { Class::Outage } else { Class::Network }
    }
}

fn own(field: Field<'_>) -> String {
    field.head(WORDS).unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(request: Option<&str>, session: Option<&str>) -> Option<Class> {
        let mut facts = FailureFacts::default();
        if let Some(request) = request {
            facts.request(&serde_json::from_str(request).unwrap());
        }
        if let Some(session) = session {
            facts.session(&serde_json::from_str(session).unwrap());
        }
        facts.failure().map(|failure| failure.class)
    }

    #[test]
    fn a_session_error_has_its_class() {
        for (session, class) in [
            (r#"{"errorType":"authentication","message":"…","statusCode":401}"#, Class::Auth),
            (r#"{"errorType":"authorization","message":"not licensed"}"#, Class::Auth),
            (r#"{"errorType":"rate_limit","message":"slow down"}"#, Class::RateLimited),
            (
                r#"{"errorType":"rate_limit","errorCode":"user_weekly_rate_limited","statusCode":429}"#,
                Class::UsageLimit,
            ),
            (
                r#"{"errorType":"quota","errorCode":"quota_exceeded","message":"…","statusCode":402}"#,
                Class::UsageLimit,
            ),
            (r#"{"errorType":"quota","errorCode":"billing_not_configured"}"#, Class::Billing),
            (r#"{"errorType":"context_limit","message":"too big"}"#, Class::ContextTooLong),
            (r#"{"errorType":"query","message":"No response was returned."}"#, Class::Unknown),
            (r#"{"errorType":"query","message":"…","statusCode":500}"#, Class::Outage),
        ] {
            assert_eq!(facts(None, Some(session)), Some(class), "{session}");
        }
    }

    #[test]
    fn the_failed_request_knows_what_the_session_does_not_say() {
        let refused = r#"{"failureKind":"transport","errorMessage":"tcp connect error [ECONNREFUSED]"}"#;
        let cut = r#"{"failureKind":"transport","errorMessage":"missing finish_reason for choice 0"}"#;
        let summary = r#"{"errorType":"query","message":"Failed to get response from the AI model"}"#;
        assert_eq!(facts(Some(refused), Some(summary)), Some(Class::Network));
        assert_eq!(facts(Some(cut), Some(summary)), Some(Class::Network));
        assert_eq!(facts(Some(r#"{"statusCode":429}"#), None), Some(Class::RateLimited));
        assert_eq!(facts(None, None), None);
    }
}
