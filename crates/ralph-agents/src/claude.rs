//! Claude Code: what ralph knows about it and how it is started. `claude/reader.rs` understands what it prints, and
//! `sim.rs` reuses that. Every call is a fresh conversation: a resumed one ignores a changed system prompt and, in new
//! versions, reports the cost of all its calls together.

pub(crate) mod event;
pub(crate) mod failure;
pub(crate) mod line_prefix;
pub(crate) mod meter;
pub(crate) mod reader;
pub(crate) mod token_usage;
pub(crate) mod variant;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier, event_reader,
};
use crate::claude::reader::ClaudeReader;
use crate::contained::{AS_OUTSIDE, Contained, PassedEnv};
use crate::detect::count_events;
use crate::launch::LaunchBuilder;
use crate::provider_settings::ProviderFile;

/// Tools allowed without asking. Not the bare `Write` and `Edit`: allowed by name they also write outside the
/// workspace, while the edit-accepting mode lets them write inside it and nowhere else.
macro_rules! allowed_tools {
    () => {
        "Bash,Read,Glob,Grep,LS,TodoWrite,Task,WebFetch,WebSearch"
    };
}

/// For looking only: without the edit-accepting mode, whatever is not in this list is refused.
const READ_ONLY: PermissionArgs = PermissionArgs {
    args: &["--allowedTools", "Read,Glob,Grep,LS,TodoWrite,Task"],
    unless: &["--allowedTools", "--allowed-tools", "--dangerously-skip-permissions"],
};

/// Where its services are, in variables and in its settings, which set variables.
const BASE_URLS: &[&str] = &["ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"];

/// Set for every call.
const ENV: &[(&str, &str)] = &[
    // No update, no telemetry in the middle of a run: the client that started is the one that ends.
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    // By itself it tries eleven times over three minutes, which looks like silence. We wait instead, visibly.
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
];

/// Set by a surrounding session of the same client, which would make it refuse to start inside.
const ENV_REMOVE: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "claude",
    title: "Claude Code",
    program: Some("claude"),
    package: Package::Npm("@anthropic-ai/claude-code"),
    setup: "log in with `claude`",
    tier: Tier::First,
    tried: "1.0.60 to 2.1.325",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: ENV,
    env_remove: ENV_REMOVE,
    format_flags: &["--output-format"],
    resume_flags: &["--resume", "-r", "--continue", "-c"],
    permissions: Permissions {
        defaults: &[
            PermissionArgs {
                args: &["--allowedTools", allowed_tools!()],
                unless: &["--allowedTools", "--allowed-tools"],
            },
            PermissionArgs {
                args: &["--permission-mode", "acceptEdits"],
                unless: &["--permission-mode", "--dangerously-skip-permissions"],
            },
        ],
        read_only: &[READ_ONLY],
        summary: "edits files in the workspace, runs shell commands, reads the web",
        allow_more: Some(concat!(
            "`agents.claude.args = [\"--allowedTools\", \"",
            allowed_tools!(),
            ",{tools}\"]` in ralph.toml"
        )),
    },
    contained: Contained {
        args: &["--dangerously-skip-permissions"],
        unless: &["--dangerously-skip-permissions", "--permission-mode", "--allowedTools", "--allowed-tools"],
        // Without it, it refuses that argument as root.
        env: &[("IS_SANDBOX", "1")],
        passed: &[
            PassedEnv {
                with: "CLAUDE_CODE_USE_BEDROCK",
                names: &[
                    "AWS_ACCESS_KEY_ID",
                    "AWS_SECRET_ACCESS_KEY",
                    "AWS_SESSION_TOKEN",
                    "AWS_BEARER_TOKEN_BEDROCK",
                ],
            },
            PassedEnv { with: "CLAUDE_CODE_USE_VERTEX", names: &["GOOGLE_APPLICATION_CREDENTIALS"] },
        ],
        base_url_env: BASE_URLS,
        provider_files: &[ProviderFile {
            path: ".claude/settings.json",
            addresses: BASE_URLS,
            variables: &[],
        }],
        moved_by: Some(("CLAUDE_CONFIG_DIR", ".claude")),
        brought_back: &[".claude/.credentials.json"],
        env_prefixes: &["ANTHROPIC_", "CLAUDE_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        files: &[".claude/.credentials.json"],
    },
    hosts: &["api.anthropic.com", "claude.ai", "platform.claude.com"],
    any_provider: true,
    state_dirs: &[".claude", ".claude.json"],
    model: ModelInfo {
        flags: &["--model"],
        reported: "its first event",
        configured: None,
        session_log: None,
    },
    abilities: Abilities {
        live_usage: true,
        cost: true,
        shows_tool_start: true,
        native_budget: true,
        system_prompt: true,
        ..NO_ABILITIES
    },
    launch,
    reader: event_reader::<ClaudeReader>,
    detect: Detect::Events(count_events::<ClaudeReader>),
};

/// No prompt in it, which could overflow it and would be swallowed by the variadic `--allowedTools`.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(&["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]);
    line.permissions();
    line.system_prompt("--append-system-prompt");
    line.model();
    line.budget(&["--max-budget-usd"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::launch::value_of;
    use ralph_rules::money::Micro;

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = Call {
            prompt: "do the work".into(),
            system: "---RALPH_STATUS---".into(),
            model: Some("opus".into()),
            budget: Some(Micro(500_000)),
            args: vec!["--max-turns".into(), "9".into()],
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        assert_eq!(launch.program, "claude");
        assert_eq!(value_of(&launch.args, "--output-format"), Some("stream-json"));
        assert_eq!(value_of(&launch.args, "--append-system-prompt"), Some("---RALPH_STATUS---"));
        assert_eq!(value_of(&launch.args, "--model"), Some("opus"));
        assert_eq!(value_of(&launch.args, "--max-budget-usd"), Some("0.5"));
        assert_eq!(value_of(&launch.args, "--permission-mode"), Some("acceptEdits"));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--max-turns", "9"]);
        assert!(!launch.args.iter().any(|a| a.contains("do the work")));
        assert!(launch.env.contains(&("CLAUDE_CODE_MAX_RETRIES".into(), "1".into())));
    }

    #[test]
    fn no_tool_is_allowed_to_write_anywhere() {
        let launch = INFO.launch(&Call::default());
        let allowed: Vec<&str> = value_of(&launch.args, "--allowedTools").unwrap().split(',').collect();
        assert!(allowed.contains(&"Bash"));
        for tool in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
            assert!(!allowed.contains(&tool), "{tool}");
        }
        assert!(!launch.args.iter().any(|a| a.contains("dangerously")));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--allowedTools", "Read", "--permission-mode=plan", "--output-format", "text"];
        let call = Call { args: args.map(str::to_owned).to_vec(), ..Call::default() };
        let args = INFO.launch(&call).args;
        assert_eq!(value_of(&args, "--allowedTools"), Some("Read"));
        assert!(!args.contains(&"--permission-mode".to_owned()));
    }
}
