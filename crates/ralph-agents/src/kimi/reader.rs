//! Kimi Code's event stream. It ends with `session.resume_hint`; where that is missing the reason is on stderr, as
//! `error: failed to run prompt: CODE: words`, in between what its tools wrote there.

use crate::accumulator::Accumulator;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{MESSAGE, class_of_answer, class_of_error, retry_words, worded};
use crate::json::{Field, read};
use crate::kimi::event::{Line, ToolCall};
use crate::output::aborted;
use crate::reader::Activity;
use crate::reply::{Failure, Reply};
use crate::text::short_bytes;
use ralph_rules::failure::Class;

/// Arguments longer than this are not decoded for a screen.
const ARGUMENTS: usize = 64 << 10;
/// How its last words begin.
const FAILED: &str = "error: failed to run prompt: ";

/// What was read so far.
#[derive(Debug, Default)]
pub struct KimiReader {
    call: Accumulator,
    /// A request that failed and is tried again.
    retried: Option<Retried>,
    /// Its last words, where they came among the events.
    words: Option<String>,
    over: bool,
}

/// What was said of it; its class is only asked where it was the end.
#[derive(Debug, Default)]
struct Retried {
    status: Option<u64>,
    words: String,
}

impl Dialect for KimiReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, text: &str) -> LineKind {
        let Some(line) = read::<Line<'_>>(text) else { return LineKind::NotAnEvent };
        let known = match line.role.text().as_deref() {
            Some("meta") => self.meta(&line),
            Some("assistant") => self.message(&line),
            Some("tool") => {
                self.call.tool_end(line.tool_call_id, command_failed(line.content), false);
                line.tool_call_id.0.is_some()
            }
            _ => false,
        };
        known.into()
    }

    fn cut_line(&mut self, line: &[u8]) {
        if line.starts_with(br#"{"role":"tool","#) {
            self.call.tool_end_cut();
        } else if let Some(words) = line.strip_prefix(FAILED.as_bytes()) {
            // Where both streams went into one file.
            self.words = Some(short_bytes(words, MESSAGE));
        }
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let failure = if self.over { None } else { Some(self.stopped(ended)) };
        self.call.reply(self.over, failure)
    }
}

impl KimiReader {
    fn meta(&mut self, line: &Line<'_>) -> bool {
        match line.kind.text().as_deref() {
            Some("system.version") => self.call.activity(Activity::Began { session: None, model: None }),
            Some("turn.step.retrying") => self.retries(line),
            Some("session.resume_hint") => {
                self.call.set_session(line.session_id);
                self.call.finish();
                self.over = true;
            }
            kind => return kind.is_some(),
        }
        true
    }

    fn retries(&mut self, line: &Line<'_>) {
        let why = line.error_message.head(400).unwrap_or_default();
        let (attempt, most) = (line.next_attempt.count(), line.max_attempts.count());
        self.call.retrying(retry_words(&why, attempt, most, line.delay_ms.number()));
        self.retried = Some(Retried { status: line.status_code.count(), words: why.into_owned() });
    }

    /// A whole message: what it says, or the tools it used.
    fn message(&mut self, line: &Line<'_>) -> bool {
        let calls: Vec<ToolCall<'_>> = line.tool_calls.read().unwrap_or_default();
        let content = if line.content.text().is_some() { line.content } else { Field::default() };
        if content.0.is_none() && calls.is_empty() {
            return false;
        }
        self.call.turns = self.call.turns.saturating_add(1);
        self.retried = None;
        self.call.replace_text(content);
        self.call.show_field(content);
        for call in &calls {
            let Some(function) = &call.function else { continue };
            let arguments = function.arguments.head(ARGUMENTS).unwrap_or_default();
            self.call.tool_start(call.id, function.name, read(&arguments).unwrap_or_default());
        }
        true
    }

    /// Why it stopped: its own last words, otherwise the failure it was about to try again, otherwise unknown.
    fn stopped(&self, ended: &Ended<'_>) -> Failure {
        let words = last_words(ended.stderr).or(self.words.as_deref());
        let told = words.filter(|_| !ended.was_killed() && ended.exit.code != Some(0)).map(failure);
        told.or_else(|| self.retried.as_ref()?.failure()).unwrap_or_else(|| aborted(ended.exit))
    }
}

impl Retried {
    fn failure(&self) -> Option<Failure> {
        let class = self.status.and_then(|status| class_of_answer(status, &self.words));
        class.or_else(|| class_of_error(&self.words)).map(|class| worded(class, &self.words))
    }
}

/// What it said when it gave up.
fn last_words(stderr: &str) -> Option<&str> {
    stderr.lines().rev().find_map(|line| line.strip_prefix(FAILED))
}

/// A failure by its code; one without a code is words alone.
fn failure(said: &str) -> Failure {
    let (code, words) = said.split_once(": ").unwrap_or(("", said));
    let class = match code {
        "provider.connection_error" => Some(Class::Network),
        "provider.filtered" => Some(Class::Refusal),
        "context.overflow" => Some(Class::ContextTooLong),
        "loop.max_steps_exceeded" => Some(Class::MaxTurns),
        "auth.login_required" => Some(Class::Auth),
        "model.not_configured" | "model.config_invalid" => Some(Class::BadRequest),
        // The words begin with the provider's status, or name what went wrong inside.
        _ => class_of_error(words).or_else(|| by_provider(code)).or_else(|| class_of_error(said)),
    };
    worded(class.unwrap_or(Class::Unknown), said)
}

fn by_provider(code: &str) -> Option<Class> {
    match code {
        "provider.auth_error" => Some(Class::Auth),
        "provider.rate_limit" => Some(Class::RateLimited),
        "provider.overloaded" | "provider.api_error" => Some(Class::Outage),
        _ => None,
    }
}

/// A command's end as its result words it; there is no flag for it.
fn command_failed(content: Field<'_>) -> bool {
    const SAYS: &str = "Command failed with exit code: ";
    let raw = content.raw().unwrap_or("");
    let end = raw.get(raw.ceil_char_boundary(raw.len().saturating_sub(64))..).unwrap_or("");
    end.rsplit_once(SAYS).is_some_and(|(_, code)| code.trim_end_matches(['.', '"']).parse::<i32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_last_words_have_their_class() {
        for (said, class) in [
            ("provider.auth_error: 401 invalid x-api-key", Class::Auth),
            ("provider.rate_limit: 429 This request would exceed …", Class::RateLimited),
            ("provider.rate_limit: 429 The usage limit has been reached", Class::UsageLimit),
            ("provider.api_error: 400 Your credit balance is too low", Class::Billing),
            ("provider.api_error: 404 model: nope", Class::BadRequest),
            ("provider.api_error: 413 Request exceeds the maximum size", Class::ContextTooLong),
            ("provider.api_error: 500 Internal server error", Class::Outage),
            ("provider.overloaded: 529 Overloaded", Class::Outage),
            ("provider.connection_error: Connection error.", Class::Network),
            ("compaction.failed: APIContextOverflowError: 400 prompt is too long", Class::ContextTooLong),
            ("Provider safety policy blocked the response.", Class::Refusal),
            ("loop.max_steps_exceeded: Turn exceeded max steps", Class::MaxTurns),
            ("auth.login_required: run /login", Class::Auth),
            ("something.new: of which nothing is known", Class::Unknown),
        ] {
            assert_eq!(failure(said).class, class, "{said}");
        }
    }

    #[test]
    fn only_its_own_line_counts_among_what_tools_write() {
        let stderr =
            "hello\nrate limit\nerror: failed to run prompt: provider.auth_error: 401 no\nSee log: x";
        assert_eq!(last_words(stderr), Some("provider.auth_error: 401 no"));
        assert_eq!(last_words("error: 401\nnot mine: error: failed to run prompt: x"), None);
    }

    #[test]
    fn a_failed_command_is_told_by_its_last_line() {
        let failed = |raw: &str| command_failed(read(raw).unwrap());
        assert!(failed(r#""boom\nCommand failed with exit code: 3.""#));
        assert!(!failed(r#""Command failed with exit code: 3. And then it was fine.""#));
        assert!(!failed("\"\"") && !failed("7"));
    }
}
