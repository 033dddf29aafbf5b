//! What Qwen Code's events mean where they are not Claude's: retries, its own limits, which end a call without a
//! terminal event, and answers that were cut off and reported as good. Everything else is read as Claude's.

use crate::accumulator::Accumulator;
use crate::call_pricing::CallPricing;
use crate::claude::reader::ClaudeReader;
use crate::claude::variant::{CLAUDE, ClaudeVariant};
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{MESSAGE, class_of, retry_words, worded};
use crate::json::{first_kind, lenient, read};
use crate::reply::{Failure, Reply};
use crate::text::short;
use memchr::memmem;
use ralph_rules::failure::Class;

const QWEN: ClaudeVariant = ClaudeVariant {
    cache_in_input: true,
    sums_usage: true,
    // It lists refusals at the end; a call without an end says them only here.
    refused: |result| REFUSED.iter().any(|words| near_the_start(result, words)),
    ..CLAUDE
};

/// What the result of a refused tool says.
const REFUSED: &[&str] = &["Qwen Code requires permission to use", "denied by permission rules"];
/// How the client's retries begin.
const RETRY: &str = r#"{"type":"system","subtype":"retry","#;
/// Where a piece of a partial message says so; its many pieces tell nothing new.
const PIECE: &str = r#""event":{"type":"content_block_"#;
/// How often the client lets the model go on with an answer that hit the output limit before it gives up and
/// reports the pieces as a good answer.
const CONTINUED: u32 = 3;

/// What was read so far.
#[derive(Debug)]
pub struct QwenReader {
    claude: ClaudeReader,
    distinctive: bool,
    /// Continuations of the answer that is being given.
    continued: u32,
}

impl Default for QwenReader {
    fn default() -> QwenReader {
        QwenReader { claude: ClaudeReader::with(QWEN), distinctive: false, continued: 0 }
    }
}

impl Dialect for QwenReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.claude.call
    }

    fn price_with(&mut self, pricing: CallPricing) {
        self.claude.price_with(pricing);
    }

    fn object(&mut self, text: &str) -> LineKind {
        self.distinctive = self.distinctive || is_distinctive(text);
        if is_piece(text) {
            return LineKind::Event;
        }
        if text.starts_with(RETRY)
            && let Some(retry) = read::<Retry<'_>>(text).and_then(|event| event.data)
        {
            self.continued += u32::from(retry.preserves_text());
            self.claude.call.retrying(retry.reason());
            return LineKind::Event;
        }
        if text.starts_with(r#"{"type":"user""#) {
            self.continued = 0;
        }
        self.claude.object(text)
    }

    fn document(&mut self, document: &str) -> bool {
        self.claude.document(document)
    }

    fn cut_line(&mut self, line: &[u8]) {
        self.claude.cut_line(line);
    }

    fn failure_in_text(text: &str, stderr: &str) -> Option<Failure> {
        if text.trim().is_empty() { last_complaint(stderr) } else { None }
    }

    fn is_distinctive(&self) -> bool {
        self.distinctive
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let cut_off = self.continued >= CONTINUED;
        let mut reply = self.claude.reply(ended);
        if !reply.finished {
            reply.failure = own_limit(ended).or(reply.failure);
        } else if cut_off && reply.failure.is_none() {
            let words = "the answer hit the output limit, was continued three times and is still cut off";
            reply.failure = Some(worded(Class::Truncated, words));
        }
        reply
    }
}

/// Its messages and their frame name their uuid right after their kind. Claude does so only in a few notices.
fn is_distinctive(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(128)).unwrap_or(text);
    let rest = match first_kind(head) {
        Some("assistant" | "user" | "stream_event") => next_key(head),
        Some("result") => next_key(next_key(head)),
        Some("system") if next_key(head).starts_with(r#""subtype":"init","#) => next_key(next_key(head)),
        _ => return false,
    };
    rest.starts_with("\"uuid\":")
}

/// From the next key after a string value on.
fn next_key(text: &str) -> &str {
    text.split_once("\",").map_or("", |(_, rest)| rest)
}

fn is_piece(text: &str) -> bool {
    text.starts_with(r#"{"type":"stream_event""#) && text.ends_with('}') && near_the_start(text, PIECE)
}

fn near_the_start(text: &str, words: &str) -> bool {
    let head = text.as_bytes().get(..text.len().min(256)).unwrap_or_default();
    memmem::find(head, words.as_bytes()).is_some()
}

/// The client ended the call by a limit of its own: no terminal event, but an exit code that means it.
fn own_limit(ended: &Ended<'_>) -> Option<Failure> {
    if ended.exit.by_us {
        return None;
    }
    let class = match ended.exit.code? {
        53 => Class::MaxTurns,
        55 => Class::Budget,
        _ => return None,
    };
    let last = ended.last_stderr_line();
    Some(Failure { class, message: short(last.unwrap_or(class.words()), MESSAGE), reset: None })
}

/// The last line of stderr that names a failure, among warnings, the client's own retries and its help. In one of
/// its formats it is the message of a JSON error.
fn last_complaint(stderr: &str) -> Option<Failure> {
    const MESSAGE_KEY: &str = "    \"message\": \"";
    stderr.lines().rev().find_map(|line| {
        let told = line.strip_prefix(MESSAGE_KEY).map(|rest| rest.trim_end_matches([',', '"']));
        let ours = |line: &&str| !line.starts_with([' ', '\t', '-']) && !line.starts_with("Retrying ");
        let words = told.or_else(|| Some(line).filter(ours))?;
        class_of(words).map(|class| worded(class, words))
    })
}

lenient! {
    /// `system` with subtype `retry`.
    struct Retry<'a> {
        ;
        #[serde(borrow)] data: Option<RetryData<'a>>,
    }

    struct RetryData<'a> { attempt, most = "maxRetries", delay = "delayMs", preserve_text = "preserveText" }
}

impl RetryData<'_> {
    fn preserves_text(&self) -> bool {
        self.preserve_text.truth() == Some(true)
    }

    fn reason(&self) -> String {
        let what =
            if self.preserves_text() { "the answer was cut off, going on with it" } else { "asking again" };
        retry_words(what, self.attempt.count(), self.most.count(), self.delay.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Exit;
    use crate::reader::{Activity, ReaderEvent};

    fn ended(code: i32, stderr: &str) -> Ended<'_> {
        Ended { exit: Exit { code: Some(code), ..Exit::default() }, stderr }
    }

    fn read_lines(lines: &[&str]) -> (QwenReader, Vec<ReaderEvent>) {
        let mut reader = QwenReader::default();
        for line in lines {
            assert_eq!(reader.object(line), LineKind::Event, "{line}");
        }
        let events = std::mem::take(&mut reader.call().events);
        (reader, events)
    }

    const GO_ON: &str = r#"{"type":"system","subtype":"retry","uuid":"u","data":{"preserveText":true}}"#;
    const RESULT: &str = r#"{"type":"result","subtype":"success","uuid":"u","is_error":false,"result":"r"}"#;
    const TOOL: &str = r#"{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result"}]}}"#;

    #[test]
    fn an_answer_that_was_continued_to_the_last_is_cut_off() {
        let class = |lines: &[&str]| read_lines(lines).0.reply(&ended(0, "")).failure.map(|f| f.class);
        assert_eq!(class(&[GO_ON, GO_ON, GO_ON, RESULT]), Some(Class::Truncated));
        assert_eq!(class(&[GO_ON, GO_ON, RESULT]), None);
        assert_eq!(class(&[GO_ON, GO_ON, GO_ON, TOOL, RESULT]), None);
    }

    #[test]
    fn its_own_limits_are_told_by_the_exit_code() {
        for (code, class) in [(53, Class::MaxTurns), (55, Class::Budget), (1, Class::Aborted)] {
            let (reader, _) = read_lines(&[TOOL]);
            let failure = reader.reply(&ended(code, "Ripgrep not found.\nthe limit\n")).failure.unwrap();
            assert_eq!(failure.class, class);
            assert!(code == 1 || failure.message == "the limit");
        }
        let (reader, _) = read_lines(&[RESULT]);
        assert_eq!(reader.reply(&ended(53, "")).failure, None, "a terminal event stands");
    }

    #[test]
    fn without_an_event_the_last_complaint_counts() {
        for (stderr, class) in [
            ("Ripgrep not available.\n[API Error: 401 invalid x-api-key]\n", Some(Class::Auth)),
            ("{\n  \"error\": {\n    \"message\": \"Reached max session turns\",\n", Some(Class::MaxTurns)),
            ("Unknown argument: x\n\n  --fallback-model  For errors (429/503)\n", Some(Class::BadRequest)),
            ("Retrying in 60s (attempt 1/10): [API Error: 429 slow down]\n", None),
        ] {
            assert_eq!(QwenReader::failure_in_text("", stderr).map(|f| f.class), class, "{stderr}");
        }
        let failure = QwenReader::failure_in_text("", "warning\n[API Error: 401 no]").unwrap();
        assert_eq!(failure.message, "[API Error: 401 no]");
        assert_eq!(QwenReader::failure_in_text("an answer", "[API Error: 401 no]"), None);
    }

    #[test]
    fn retries_say_how_long() {
        let data = r#"{"reason":"retry","attempt":1,"maxRetries":10,"delayMs":60000}"#;
        let line = format!(r#"{{"type":"system","subtype":"retry","uuid":"u","data":{data}}}"#);
        let why = "asking again, try 1 of 10 in 60.0 s".to_owned();
        assert_eq!(read_lines(&[&line]).1, [ReaderEvent::Activity(Activity::Retrying { why })]);
    }

    #[test]
    fn its_events_are_distinctive_and_claudes_are_not() {
        for (line, distinctive) in [
            (r#"{"type":"assistant","uuid":"u","message":{}}"#, true),
            (r#"{"type":"system","subtype":"init","uuid":"u"}"#, true),
            (r#"{"type":"assistant","message":{},"uuid":"u"}"#, false),
            (r#"{"type":"system","subtype":"init","cwd":"/","uuid":"u"}"#, false),
            (r#"{"type":"system","subtype":"notice","uuid":"u"}"#, false),
            ("{}", false),
        ] {
            assert_eq!(is_distinctive(line), distinctive, "{line}");
        }
    }
}
