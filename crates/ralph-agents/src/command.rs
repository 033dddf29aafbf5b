//! Any program as an agent: the prompt on its stdin, its output read as one of the known formats if it is one,
//! otherwise as plain text. Nothing is known of it while it runs, and its exit code decides whether it failed.

use crate::agent_info::{
    AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, Permissions, PromptVia, Tier,
};
use crate::call::Exit;
use crate::claude::reader::ClaudeReader;
use crate::contained::AS_OUTSIDE;
use crate::error_phrases::{class_of_plain, worded};
use crate::output::{Output, aborted};
use crate::reader::{Activity, Reader, ReaderEvent};
use crate::reply::{Failure, Reply};
use ralph_rules::failure::Class;

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "command",
    title: "any program",
    program: None,
    package: Package::None("name it after --: ralph run --agent command … -- ./my-agent"),
    setup: "",
    tier: Tier::BuiltIn,
    tried: "-",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "text or a known format",
    env: &[],
    env_remove: &[],
    format_flags: &[],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[],
        read_only: &[],
        summary: "whatever the program does",
        allow_more: None,
    },
    contained: AS_OUTSIDE,
    credentials: Credentials { env: &[], files: &[] },
    hosts: &[],
    any_provider: true,
    state_dirs: &[],
    model: ModelInfo {
        flags: &[],
        reported: "its output, where that is a known format",
        configured: None,
        session_log: None,
    },
    abilities: NO_ABILITIES,
    launch: |line| line.program_from_args(),
    reader: |setup| {
        let (stdin, output) = (setup.stdin.into_bytes(), Output::new(setup.pricing));
        Box::new(CommandReader { stdin, output })
    },
    detect: Detect::Never,
};

/// The reader of one call of a program.
pub struct CommandReader {
    stdin: Vec<u8>,
    output: Output<ClaudeReader>,
}

impl Reader for CommandReader {
    fn start(&mut self, out: &mut Vec<ReaderEvent>) {
        out.push(ReaderEvent::Send(std::mem::take(&mut self.stdin)));
        out.push(ReaderEvent::CloseStdin);
    }

    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        self.output.line(line, out, |text| Activity::Said { text });
    }

    fn read_stderr(&mut self, line: &[u8]) {
        self.output.stderr(line);
    }

    fn read_document(&mut self, bytes: &[u8], out: &mut Vec<ReaderEvent>) -> bool {
        self.output.document(bytes, out)
    }

    fn close(mut self: Box<Self>, exit: Exit) -> Reply {
        self.output.try_document();
        if self.output.has_events() {
            return self.output.event_reply(exit);
        }
        let failure = failure(&self.output, exit);
        let finished = failure.is_none();
        self.output.text_reply(finished, failure).with_output_opened()
    }
}

fn failure(output: &Output<ClaudeReader>, exit: Exit) -> Option<Failure> {
    if exit.not_started || exit.by_us || exit.signal.is_some() {
        return Some(aborted(exit));
    }
    if exit.code == Some(0) {
        return None;
    }
    let text = output.plain();
    // A wrapped agent in text mode prints its error as its only line.
    if let Some(class) = class_of_plain(&text) {
        return Some(worded(class, &text));
    }
    let code = match exit.code {
        Some(code) => code,
        None if text.trim().is_empty() => return Some(aborted(exit)),
        None => return None,
    };
    let last =
        |said: &str| said.get(said.ceil_char_boundary(said.len().saturating_sub(400))..).map(str::to_owned);
    let stderr = last(output.stderr_text().trim()).unwrap_or_default();
    let said = if stderr.is_empty() { last(text.trim()).unwrap_or_default() } else { stderr };
    Some(worded(Class::Unknown, format!("exit code {code}: {said}").trim_end_matches([' ', ':'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::reply::{Format, Reset};

    fn run(stdout: &str, stderr: &str, exit: Exit) -> Reply {
        let mut reader = INFO.reader(&Call::default());
        let mut out = Vec::new();
        for line in stdout.lines() {
            reader.read(line.as_bytes(), &mut out);
        }
        for line in stderr.lines() {
            reader.read_stderr(line.as_bytes());
        }
        reader.close(exit)
    }

    fn code(code: i32) -> Exit {
        Exit { code: Some(code), ..Exit::default() }
    }

    #[test]
    fn the_program_may_be_named_or_be_the_first_argument() {
        let call = Call { args: vec!["sh".into(), "-c".into(), "true".into()], ..Call::default() };
        let launch = INFO.launch(&call);
        assert_eq!((launch.program.as_str(), launch.args.len()), ("sh", 2));
        let call = Call { program: Some("/bin/sh".into()), args: vec!["x".into()], ..Call::default() };
        assert_eq!(INFO.launch(&call).args, ["x"]);
        assert_eq!(INFO.launch(&Call::default()).program, "");
    }

    #[test]
    fn text_is_the_final_message() {
        let reply = run("\u{1b}[1mhello\u{1b}[0m\r\n\nworld\n", "warning", code(0));
        assert_eq!(
            (reply.text.as_str(), reply.finished, reply.format),
            ("hello\n\nworld", true, Format::Text)
        );
        assert_eq!((reply.failure, reply.garbled, reply.cost), (None, 0, None));
    }

    #[test]
    fn an_exit_code_is_a_failure_with_the_end_of_stderr() {
        let failure = run("partial", "first\nboom", code(3)).failure.unwrap();
        assert_eq!((failure.class, failure.message.as_str()), (Class::Unknown, "exit code 3: first boom"));
        assert_eq!(run("", "", code(1)).failure.unwrap().message, "exit code 1");
        let signal = Exit { signal: Some(9), ..Exit::default() };
        assert_eq!(run("all done", "", signal).failure.unwrap().class, Class::Aborted);
    }

    #[test]
    fn a_wrapped_agent_that_prints_its_limit_is_understood() {
        let failure = run("5-hour limit reached ∙ resets 3pm\n", "", code(1)).failure.unwrap();
        assert_eq!(failure.class, Class::UsageLimit);
        assert!(matches!(failure.reset, Some(Reset::Clock { hour: 15, .. })));
        assert_eq!(run("5-hour limit reached ∙ resets 3pm\n", "", code(0)).failure, None);
    }

    #[test]
    fn known_formats_are_opened() {
        let reply =
            run("{\n \"result\": \"hi\\nyou\",\n \"sessionId\": \"s\", \"metadata\": {}\n}\n", "", code(0));
        assert_eq!((reply.text.as_str(), reply.session.as_deref()), ("hi\nyou", Some("s")));
        assert_eq!(reply.format, Format::Json);
        let lines = "{\"type\":\"tick\"}\n{\"type\":\"result\",\"result\":\"end\"}\n";
        let reply = run(lines, "", code(0));
        assert_eq!((reply.text.as_str(), reply.finished), ("end", true));
        let array = "[{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"},\n\
                     {\"type\":\"result\",\"is_error\":false,\"result\":\"end\"}]";
        let reply = run(array, "", code(0));
        assert_eq!((reply.text.as_str(), reply.format), ("end", Format::Json));
    }

    #[test]
    fn a_json_reply_brings_its_status_fields() {
        let text = "{\"result\": \"hi\", \"exit_signal\": true, \"metadata\": {\"files_changed\": 2}}\n";
        let status = run(text, "", code(0)).status.unwrap();
        assert_eq!(
            (status.exit_signal.as_deref(), status.files_modified.as_deref()),
            (Some("true"), Some("2"))
        );
        let broken = run("{\n \"result\": \"hi\\nyou\",\n exit_signal: true\n", "", code(0));
        assert_eq!((broken.text.as_str(), broken.format, broken.text_bytes), ("hi\nyou", Format::Json, 6));
        let status = broken.status.unwrap();
        assert_eq!(status.exit_signal.as_deref(), Some("true"));
        assert_eq!(status.malformed.unwrap().what, "line 3, column 2: a key without quotes");
    }

    #[test]
    fn json_of_another_kind_is_text() {
        for text in ["{\"type\":\"tick\"}", "{\"a\":1}", "[1,2]", "{\"type\":\"result\"}"] {
            let reply = run(text, "", code(0));
            assert_eq!((reply.text.as_str(), reply.format), (text, Format::Text));
        }
    }
}
