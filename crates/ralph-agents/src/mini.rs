//! mini-swe-agent: what ralph knows about it, how it is started and what its end means. The trajectory that it saves after
//! every step says it all (`mini/trajectory.rs`); where there is none, the screen must do (`mini/screen.rs`).

mod screen;
mod trajectory;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier,
};
use crate::call::Exit;
use crate::contained::{AS_OUTSIDE, Contained, PROVIDER_KEYS, PROVIDER_URLS};
use crate::error_phrases::{class_of, worded};
use crate::launch::LaunchBuilder;
use crate::mini::screen::Screen;
use crate::mini::trajectory::Trajectory;
use crate::output::aborted;
use crate::reader::{Reader, ReaderEvent};
use crate::reply::{Failure, Format, Reply};
use crate::text::{Tail, clean};
use ralph_rules::failure::Class;

/// How much of stderr is kept.
const STDERR: usize = 8 << 10;

/// Set for every call.
const ENV: &[(&str, &str)] = &[
    // Where it was never set up it would ask for it, and there is nobody to answer.
    ("MSWEA_CONFIGURED", "true"),
    // By itself it tries ten times over minutes. We wait instead, visibly.
    ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "2"),
    // Wide enough that it does not break lines of its own accord.
    ("COLUMNS", "1000"),
    ("LINES", "100"),
];

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "mini",
    title: "mini-swe-agent",
    program: Some("mini"),
    package: Package::Pip("mini-swe-agent"),
    setup: "",
    tier: Tier::Recorded,
    tried: "2.4",
    // It has no flag for it, and prints it before everything else.
    version_args: &["--help"],
    prompt: PromptVia::Argument,
    output: "trajectory",
    env: ENV,
    env_remove: &[],
    format_flags: &[],
    resume_flags: &[],
    permissions: Permissions {
        // The other modes ask a person before each command, or need one.
        defaults: &[PermissionArgs { args: &["-y"], unless: &[] }],
        read_only: &[],
        summary: "anything: it runs every command without asking",
        allow_more: None,
    },
    contained: Contained {
        passed: &[PROVIDER_KEYS],
        base_url_env: PROVIDER_URLS,
        env_prefixes: &["MSWEA_", "OPENAI_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
        files: &[".config/mini-swe-agent/.env"],
    },
    hosts: &[],
    any_provider: true,
    state_dirs: &[".config/mini-swe-agent"],
    model: ModelInfo {
        flags: &["-m", "--model"],
        reported: "the trajectory it saves",
        configured: None,
        session_log: None,
    },
    abilities: Abilities {
        live_usage: true,
        cost: true,
        shows_tool_start: true,
        native_budget: true,
        ..NO_ABILITIES
    },
    launch,
    reader: |_| {
        Box::new(MiniReader { screen: Screen::default(), trajectory: None, stderr: Tail::new(STDERR) })
    },
    detect: Detect::Banner("This is mini-swe-agent version "),
};

fn launch(line: &mut LaunchBuilder<'_>) {
    line.permissions();
    line.args(&["--exit-immediately"]);
    let task = line.prompt_argument();
    if !line.call.sets(&["-t", "--task"]) {
        line.args(&["-t", &task]);
    }
    line.report(&["-o", "--output"], "trajectory.json");
    line.model();
    line.budget(&["-l", "--cost-limit"]);
}

/// The reader of one call.
struct MiniReader {
    screen: Screen,
    trajectory: Option<Trajectory>,
    stderr: Tail,
}

impl Reader for MiniReader {
    fn start(&mut self, out: &mut Vec<ReaderEvent>) {
        out.push(ReaderEvent::CloseStdin);
    }

    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        self.screen.line(&clean(&String::from_utf8_lossy(line)), out);
    }

    fn read_stderr(&mut self, line: &[u8]) {
        self.stderr.push_line(line);
    }

    fn read_report(&mut self, _name: &str, bytes: &[u8]) {
        self.trajectory = Trajectory::read(bytes);
    }

    fn read_document(&mut self, bytes: &[u8], _out: &mut Vec<ReaderEvent>) -> bool {
        self.trajectory = Trajectory::read(bytes);
        self.trajectory.is_some()
    }

    fn close(self: Box<Self>, exit: Exit) -> Reply {
        let ended = self.ended(exit);
        let reader = *self;
        match reader.trajectory {
            Some(trajectory) => trajectory.reply(ended),
            None => {
                let finished = reader.screen.finished();
                let failure = reader.screen.failure().or_else(|| (!finished).then_some(ended));
                let (text, text_bytes) =
                    if failure.is_none() { reader.screen.submission() } else { (String::new(), 0) };
                Reply {
                    text,
                    text_bytes,
                    finished: finished && failure.is_none(),
                    failure,
                    turns: Some(reader.screen.steps).filter(|turns| *turns > 0),
                    cost: reader.screen.cost(),
                    format: Format::Text,
                    ..Reply::default()
                }
            }
        }
    }
}

impl MiniReader {
    /// What an end without its own word means: the exit, and what was said about it on stderr.
    fn ended(&self, exit: Exit) -> Failure {
        let code = match exit.code {
            Some(code) if code != 0 && !exit.was_killed() && !exit.by_us => code,
            _ => return aborted(exit),
        };
        let stderr = clean(&self.stderr.text()).trim().to_owned();
        let said = stderr.get(stderr.ceil_char_boundary(stderr.len().saturating_sub(400))..).unwrap_or("");
        let class = class_of(said).unwrap_or(Class::Unknown);
        worded(class, format!("exit code {code}: {said}").trim_end_matches([' ', ':']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use ralph_rules::money::Micro;

    #[test]
    fn the_command_line_has_the_task_the_report_and_the_budget() {
        let call = Call {
            prompt: "do the work".into(),
            model: Some("openai/m".into()),
            budget: Some(Micro(500_000)),
            scratch: "/run/call".into(),
            args: vec!["-c".into(), "mini.yaml".into()],
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        let expected = [
            "-y",
            "--exit-immediately",
            "-t",
            "do the work",
            "-o",
            "/run/call/trajectory.json",
            "-m",
            "openai/m",
            "-l",
            "0.5",
            "-c",
            "mini.yaml",
        ];
        assert_eq!((launch.program.as_str(), launch.args), ("mini", expected.map(str::to_owned).to_vec()));
        assert_eq!((launch.files.len(), launch.reports), (0, vec!["trajectory.json".to_owned()]));
    }

    #[test]
    fn a_long_task_is_a_file() {
        let call = Call { prompt: "x".repeat(100_000), scratch: "/run/call".into(), ..Call::default() };
        let launch = INFO.launch(&call);
        assert_eq!(launch.files.len(), 1);
        assert!(launch.args[3].contains("/run/call/prompt.md"));
        assert!(launch.args.iter().all(|arg| arg.len() < 200));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["-o", "mine.json", "--model=m", "--cost-limit", "0"].map(str::to_owned).to_vec();
        let call = Call {
            args,
            model: Some("other".into()),
            budget: Some(Micro(1)),
            scratch: "/run/call".into(),
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        assert!(launch.reports.is_empty());
        assert_eq!(launch.args[4..], ["-o", "mine.json", "--model=m", "--cost-limit", "0"]);
    }
}
