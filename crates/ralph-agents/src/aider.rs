//! Aider: how it is started and what its end means. `aider/screen.rs` reads what it prints, which is text for
//! people: it exits with 0 whatever happened, so only its own words at the start of a line decide.

mod account;
mod screen;

use crate::aider::screen::Screen;
use crate::args::names;
use crate::error_phrases::{class_of, worded};
use crate::output::aborted;
use crate::plain::{Tail, clean};
use crate::seam::{Abilities, Agent, Call, Exit, Failure, Launch, Reader, ReaderEvent, Reply};
use ralph_rules::failure::Class;

/// The prompt's file; its own flag reads it, so a prompt of any length is whole.
const PROMPT: &str = "prompt.md";
/// Its histories, which it would leave in the workspace.
const HISTORY: &str = "chat.md";
const TYPED: &str = "typed";

/// For every call: nobody is asked, nothing is fetched, checked or reported, and the text is plain and comes once.
/// Files that it would add to `.gitignore`, and web pages named in the prompt, are none of its business. Nothing
/// turns its retries down (nine, over two minutes); they are shown. It commits what it edits, unless the user's
/// own configuration says otherwise.
const ALWAYS: &[&str] = &[
    "--no-check-update",
    "--no-analytics",
    "--no-show-model-warnings",
    "--no-show-release-notes",
    "--no-pretty",
    "--no-stream",
    "--no-fancy-input",
    "--no-gitignore",
    "--no-detect-urls",
];

/// Wide enough that it does not break lines of its own accord.
pub(crate) const WIDE: &[(&str, &str)] = &[("COLUMNS", "1000"), ("LINES", "100")];

/// How much of stderr is kept.
const STDERR: usize = 8 << 10;

/// The adapter.
pub struct Aider;

impl Agent for Aider {
    fn name(&self) -> &'static str {
        "aider"
    }

    /// Its cost comes with each whole answer, in cents; while one is written nothing is known.
    fn can(&self) -> Abilities {
        Abilities { cost: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: call.program.clone().unwrap_or_else(|| "aider".to_owned()),
            args: args(call),
            env: WIDE.iter().map(pair).collect(),
            files: vec![(PROMPT.to_owned(), call.prompt.clone().into_bytes())],
            ..Launch::default()
        }
    }

    fn reader(&self, _call: &Call) -> Box<dyn Reader> {
        Box::new(AiderReader { screen: Screen::default(), stderr: Tail::new(STDERR) })
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        self.reader(&Call::default())
    }
}

/// The command line. `--yes-always` accepts edits and refuses shell commands: there is no other headless mode.
fn args(call: &Call) -> Vec<String> {
    let mut args: Vec<String> = ALWAYS.iter().map(|arg| (*arg).to_owned()).collect();
    if !names(call, &["--yes-always"]) {
        args.push("--yes-always".to_owned());
    }
    let mut put = |flag: &str, name: &str| {
        if !names(call, &[flag]) {
            args.extend([flag.to_owned(), format!("{}/{name}", call.scratch)]);
        }
    };
    put("--chat-history-file", HISTORY);
    put("--input-history-file", TYPED);
    put("--message-file", PROMPT);
    if let Some(model) = call.model.as_deref().filter(|_| !names(call, &["--model"])) {
        args.extend(["--model".to_owned(), model.to_owned()]);
    }
    args.extend(call.args.iter().cloned());
    args
}

/// The reader of one call.
struct AiderReader {
    screen: Screen,
    stderr: Tail,
}

impl Reader for AiderReader {
    fn start(&mut self, out: &mut Vec<ReaderEvent>) {
        out.push(ReaderEvent::CloseStdin);
    }

    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        self.screen.line(&clean(&String::from_utf8_lossy(line)), out);
    }

    fn read_stderr(&mut self, line: &[u8]) {
        self.stderr.push_line(line);
    }

    fn close(self: Box<Self>, exit: Exit) -> Reply {
        let failure = self.failure(exit);
        let screen = self.screen;
        let finished = screen.answered() && failure.is_none();
        let (text, text_bytes) = if finished { screen.answer() } else { (String::new(), 0) };
        Reply {
            text,
            text_bytes,
            finished,
            failure,
            model: screen.model.clone(),
            usage: screen.usage,
            cost: screen.cost,
            turns: Some(screen.answers).filter(|turns| *turns > 0),
            ..Reply::default()
        }
    }
}

impl AiderReader {
    fn failure(&self, exit: Exit) -> Option<Failure> {
        let killed = exit.signal.is_some() || exit.code.is_some_and(|code| code > 128);
        let told = self.screen.failure();
        if exit.not_started || exit.by_us || killed {
            return Some(told.unwrap_or_else(|| aborted(exit)));
        }
        if told.is_some() {
            return told;
        }
        match exit.code {
            Some(code) if code != 0 => {
                let stderr = clean(&self.stderr.text()).trim().to_owned();
                let said = stderr.lines().last().unwrap_or("");
                let class = class_of(said).or_else(|| class_of(&stderr)).unwrap_or(Class::Unknown);
                Some(worded(class, format!("exit code {code}: {said}").trim_end_matches([' ', ':'])))
            }
            _ if self.screen.answered() => None,
            _ => Some(aborted(exit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
        let at = args.iter().position(|a| a == flag)?;
        args.get(at + 1).map(String::as_str)
    }

    #[test]
    fn the_prompt_is_a_file_outside_the_workspace() {
        let call = Call {
            prompt: "p".repeat(1 << 20),
            model: Some("openai/m".into()),
            scratch: "/run/call".into(),
            args: vec!["--no-auto-commits".into()],
            ..Call::default()
        };
        let launch = Aider.launch(&call);
        assert_eq!(launch.files, [("prompt.md".to_owned(), call.prompt.clone().into_bytes())]);
        assert_eq!(after(&launch.args, "--message-file"), Some("/run/call/prompt.md"));
        assert_eq!(after(&launch.args, "--chat-history-file"), Some("/run/call/chat.md"));
        assert_eq!(after(&launch.args, "--model"), Some("openai/m"));
        assert_eq!(launch.args.last().map(String::as_str), Some("--no-auto-commits"));
        assert!(launch.args.iter().all(|arg| arg.len() < 200));
        let mut out = Vec::new();
        Aider.reader(&call).start(&mut out);
        assert_eq!(out, [ReaderEvent::CloseStdin]);
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--model", "mine", "--chat-history-file=h", "--yes-always"].map(str::to_owned).to_vec();
        let call = Call { args, model: Some("other".into()), ..Call::default() };
        let args = Aider.launch(&call).args;
        assert_eq!(args.iter().filter(|a| a.starts_with("--chat-history-file")).count(), 1);
        assert_eq!(args.iter().filter(|a| *a == "--yes-always").count(), 1);
        assert!(!args.contains(&"other".to_owned()));
    }
}
