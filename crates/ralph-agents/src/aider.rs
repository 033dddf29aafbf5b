//! Aider: what ralph knows about it, how it is started and what its end means. `aider/screen.rs` reads what it prints,
//! which is text for people: it exits with 0 whatever happened, so only its own words at the start of a line decide.

mod account;
mod screen;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier,
};
use crate::aider::screen::Screen;
use crate::call::Exit;
use crate::contained::{AS_OUTSIDE, Contained, PROVIDER_KEYS, PROVIDER_URLS};
use crate::error_phrases::{class_of, worded};
use crate::launch::LaunchBuilder;
use crate::output::aborted;
use crate::reader::{Reader, ReaderEvent};
use crate::reply::{Failure, Reply};
use crate::text::{Tail, clean};
use ralph_rules::failure::Class;

/// For every call: nobody is asked, nothing is fetched, checked or reported, and the text is plain and comes once. It
/// edits no `.gitignore` and opens no web page that the prompt names. Nothing turns its retries down (nine, over two
/// minutes); they are shown. It commits what it edits, unless the user's own configuration says otherwise.
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

/// How much of stderr is kept.
const STDERR: usize = 8 << 10;

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "aider",
    title: "Aider",
    program: Some("aider"),
    package: Package::Pip("aider-chat"),
    setup: "",
    tier: Tier::Recorded,
    tried: "0.86",
    version_args: &["--version"],
    prompt: PromptVia::File,
    output: "text",
    // Wide enough that it does not break lines of its own accord.
    env: &[("COLUMNS", "1000"), ("LINES", "100")],
    env_remove: &[],
    format_flags: &[],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[PermissionArgs { args: &["--yes-always"], unless: &["--yes-always"] }],
        read_only: &[],
        summary: "edits files in the workspace and commits; refuses shell commands",
        allow_more: None,
    },
    contained: Contained {
        passed: &[PROVIDER_KEYS],
        base_url_env: PROVIDER_URLS,
        env_prefixes: &["AIDER_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY",
        ],
        files: &[".aider.conf.yml", ".env"],
    },
    hosts: &[],
    any_provider: true,
    state_dirs: &[".aider", ".aider.conf.yml"],
    model: ModelInfo {
        flags: &["--model"],
        reported: "the banner it prints first",
        configured: None,
        session_log: None,
    },
    // Its cost comes with each whole answer, in cents; while one is written nothing is known.
    abilities: Abilities { cost: true, ..NO_ABILITIES },
    launch,
    reader: |_| Box::new(AiderReader { screen: Screen::default(), stderr: Tail::new(STDERR) }),
    detect: Detect::Banner("Aider v"),
};

/// `--yes-always` accepts edits and refuses shell commands: there is no other headless mode. Its own flag reads the
/// prompt's file, so a prompt of any length is whole; its histories would otherwise be left in the workspace.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(ALWAYS);
    line.permissions();
    line.path_option("--chat-history-file", "chat.md");
    line.path_option("--input-history-file", "typed");
    let prompt = line.prompt_file();
    line.path_option("--message-file", prompt);
    line.model();
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
        let told = self.screen.failure();
        if exit.not_started || exit.by_us || exit.was_killed() {
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
    use crate::call::Call;
    use crate::launch::value_of;

    #[test]
    fn the_prompt_is_a_file_outside_the_workspace() {
        let call = Call {
            prompt: "p".repeat(1 << 20),
            model: Some("openai/m".into()),
            scratch: "/run/call".into(),
            args: vec!["--no-auto-commits".into()],
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        assert_eq!(launch.files, [("prompt.md".to_owned(), call.prompt.clone().into_bytes())]);
        assert_eq!(value_of(&launch.args, "--message-file"), Some("/run/call/prompt.md"));
        assert_eq!(value_of(&launch.args, "--chat-history-file"), Some("/run/call/chat.md"));
        assert_eq!(value_of(&launch.args, "--model"), Some("openai/m"));
        assert_eq!(launch.args.last().map(String::as_str), Some("--no-auto-commits"));
        assert!(launch.args.iter().all(|arg| arg.len() < 200));
        let mut out = Vec::new();
        INFO.reader(&call).start(&mut out);
        assert_eq!(out, [ReaderEvent::CloseStdin]);
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--model", "mine", "--chat-history-file=h", "--yes-always"].map(str::to_owned).to_vec();
        let call = Call { args, model: Some("other".into()), ..Call::default() };
        let args = INFO.launch(&call).args;
        assert_eq!(args.iter().filter(|a| a.starts_with("--chat-history-file")).count(), 1);
        assert_eq!(args.iter().filter(|a| *a == "--yes-always").count(), 1);
        assert!(!args.contains(&"other".to_owned()));
    }
}
