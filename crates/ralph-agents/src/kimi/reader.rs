//! Everything heard in one call of Kimi Code. It ends with `session.resume_hint`; where that is missing the reason
//! is on stderr, as `error: failed to run prompt: CODE: words`, in between what its tools wrote there.

use crate::claude::tools::Tools;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{MESSAGE, class_of_answer, class_of_error, retry_words, worded};
use crate::json::{Field, read};
use crate::kimi::event::{Line, ToolCall};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short, short_bytes};
use crate::seam::{Activity, Failure, ReaderEvent, Reply};
use ralph_rules::failure::Class;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;
/// Arguments longer than this are not decoded for a screen.
const ARGUMENTS: usize = 64 << 10;
/// How its last words begin.
const FAILED: &str = "error: failed to run prompt: ";

/// What was heard so far.
#[derive(Debug, Default)]
pub struct KimiReader {
    session: Option<String>,
    text: Option<Tail>,
    tools: Tools,
    turns: u32,
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
    fn object(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        let Some(line) = read::<Line<'_>>(text) else { return LineKind::NotAnEvent };
        let known = match line.role.text().as_deref() {
            Some("meta") => self.meta(&line, out),
            Some("assistant") => self.says(&line, out),
            Some("tool") => self.tool_ended(&line, out),
            _ => false,
        };
        if known { LineKind::Event } else { LineKind::Unknown }
    }

    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        if line.starts_with(br#"{"role":"tool","#) {
            out.push(ReaderEvent::Activity(self.tools.end("", false, false)));
        } else if let Some(words) = line.strip_prefix(FAILED.as_bytes()) {
            // Where both streams went into one file.
            self.words = Some(short_bytes(words, MESSAGE));
        }
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let failure = if self.over { None } else { Some(self.stopped(ended)) };
        let text = self.text.filter(|_| self.over).unwrap_or_else(|| Tail::new(KEPT));
        Reply {
            text: text.text().into_owned(),
            text_bytes: text.length(),
            finished: self.over,
            failure,
            session: self.session,
            turns: Some(self.turns).filter(|turns| *turns > 0),
            denials: self.tools.into_refused(),
            ..Reply::default()
        }
    }
}

impl KimiReader {
    fn meta(&mut self, line: &Line<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        match line.kind.text().as_deref() {
            Some("system.version") => {
                out.push(ReaderEvent::Activity(Activity::Began { session: None, model: None }));
            }
            Some("turn.step.retrying") => self.retries(line, out),
            Some("session.resume_hint") => {
                self.session = line.session_id.filled().map(|id| short(&id, 200));
                if !self.over {
                    out.push(ReaderEvent::Final);
                }
                self.over = true;
            }
            kind => return kind.is_some(),
        }
        true
    }

    fn retries(&mut self, line: &Line<'_>, out: &mut Vec<ReaderEvent>) {
        let why = line.error_message.head(400).unwrap_or_default();
        let retried = self.retried.get_or_insert_default();
        retried.status = line.status_code.count();
        retried.words.clear();
        retried.words.push_str(&why);
        let (attempt, most) = (line.next_attempt.count(), line.max_attempts.count());
        let why = retry_words(&why, attempt, most, line.delay_ms.number());
        out.push(ReaderEvent::Activity(Activity::Retrying { why }));
    }

    /// A whole message: what it says, or the tools it used.
    fn says(&mut self, line: &Line<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let calls: Vec<ToolCall<'_>> = line.tool_calls.read().unwrap_or_default();
        let said = line.content.text();
        if said.is_none() && calls.is_empty() {
            return false;
        }
        self.turns = self.turns.saturating_add(1);
        self.retried = None;
        let said = said.unwrap_or_default();
        let mut text = Tail::new(KEPT);
        text.push(said.as_bytes());
        self.text = Some(text);
        if !said.trim().is_empty() {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&said, SAID) }));
        }
        for call in &calls {
            let id = call.id.text().unwrap_or_default();
            let Some(function) = &call.function else { continue };
            let arguments = function.arguments.head(ARGUMENTS).unwrap_or_default();
            let input = read(&arguments).unwrap_or_default();
            let name = function.name.text().unwrap_or_default();
            out.push(ReaderEvent::Activity(self.tools.start(&id, &name, input)));
        }
        true
    }

    fn tool_ended(&mut self, line: &Line<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let id = line.tool_call_id.text().unwrap_or_default();
        out.push(ReaderEvent::Activity(self.tools.end(&id, command_failed(line.content), false)));
        line.tool_call_id.0.is_some()
    }

    /// Why it stopped: its own last words, else the failure it was about to try again, else nobody knows.
    fn stopped(&self, ended: &Ended<'_>) -> Failure {
        let killed = ended.exit.signal.is_some() || ended.exit.code.is_some_and(|code| code > 128);
        let words = last_words(ended.stderr).or(self.words.as_deref());
        let told = words.filter(|_| !killed && ended.exit.code != Some(0)).map(failure);
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
