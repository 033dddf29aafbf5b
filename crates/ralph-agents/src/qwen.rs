//! Qwen Code: what ralph knows about it and how it is started. It prints Claude's format with differences that
//! `qwen/reader.rs` knows. Every call is a fresh conversation. Where the user's own arguments resume one, it reports the
//! usage of the whole conversation; that is booked as reported, which may be too much and never too little.

mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier, event_reader,
};
use crate::contained::{AS_OUTSIDE, Contained};
use crate::detect::count_events;
use crate::launch::LaunchBuilder;
use crate::qwen::reader::QwenReader;

/// Tools allowed without asking, beside the file tools of the edit-accepting mode.
const ALLOWED: &str = "run_shell_command,web_fetch";

/// Defaults that are weaker than every settings file of the user: no update and no reports in the middle of a
/// run, and no waiting of its own (by itself it waits ten times, for up to minutes; we wait instead, visibly).
const DEFAULTS: &str = r#"{"model":{"generationConfig":{"maxRetries":0}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}"#;
const DEFAULTS_FILE: &str = "qwen-defaults.json";

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "qwen",
    title: "Qwen Code",
    program: Some("qwen"),
    package: Package::Npm("@qwen-code/qwen-code"),
    setup: "log in with `qwen`",
    tier: Tier::Second,
    tried: "0.24",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    // A warning that says what this adapter decided on purpose.
    env: &[("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1")],
    env_remove: &[],
    format_flags: &["-o", "--output-format"],
    resume_flags: &["--resume", "-r", "--continue", "-c"],
    permissions: Permissions {
        defaults: &[
            PermissionArgs {
                args: &["--approval-mode", "auto-edit"],
                unless: &["--approval-mode", "-y", "--yolo"],
            },
            PermissionArgs { args: &["--allowed-tools", ALLOWED], unless: &["--allowed-tools"] },
        ],
        read_only: &[],
        summary: "edits files in the workspace, runs shell commands, reads the web",
        allow_more: None,
    },
    contained: Contained {
        args: &["--approval-mode", "yolo"],
        unless: &["--allowed-tools", "--approval-mode", "--yolo", "-y"],
        env: &[("GEMINI_SANDBOX", "false"), ("QWEN_SANDBOX", "false")],
        base_url_env: &["OPENAI_BASE_URL"],
        brought_back: &[".qwen/oauth_creds.json"],
        env_prefixes: &["QWEN_", "OPENAI_", "DASHSCOPE_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        files: &[".qwen/oauth_creds.json"],
    },
    hosts: &["portal.qwen.ai", "chat.qwen.ai", "dashscope.aliyuncs.com"],
    any_provider: true,
    state_dirs: &[".qwen"],
    model: ModelInfo {
        flags: &["--model", "-m"],
        reported: "its first event",
        configured: None,
        session_log: None,
    },
    abilities: Abilities { live_usage: true, shows_tool_start: true, system_prompt: true, ..NO_ABILITIES },
    launch,
    reader: event_reader::<QwenReader>,
    detect: Detect::Events(count_events::<QwenReader>),
};

fn launch(line: &mut LaunchBuilder<'_>) {
    if !line.call.scratch.is_empty() {
        line.env("QWEN_CODE_SYSTEM_DEFAULTS_PATH", line.scratch_path(DEFAULTS_FILE));
        line.file(DEFAULTS_FILE, DEFAULTS.as_bytes());
    }
    line.option(&["--output-format", "-o"], "stream-json");
    line.permissions();
    line.system_prompt("--append-system-prompt");
    line.model();
    line.flag(&["--include-partial-messages", "-o", "--output-format"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::launch::value_of;

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = Call {
            prompt: "do the work".into(),
            system: "---RALPH_STATUS---".into(),
            model: Some("qwen3-coder".into()),
            args: vec!["--max-session-turns".into(), "9".into()],
            scratch: "/run/call/".into(),
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        assert_eq!(launch.program, "qwen");
        assert_eq!(value_of(&launch.args, "--output-format"), Some("stream-json"));
        assert_eq!(value_of(&launch.args, "--approval-mode"), Some("auto-edit"));
        assert_eq!(value_of(&launch.args, "--append-system-prompt"), Some("---RALPH_STATUS---"));
        assert_eq!(value_of(&launch.args, "--model"), Some("qwen3-coder"));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--max-session-turns", "9"]);
        assert!(!launch.args.iter().any(|a| a.contains("do the work") || a.contains("yolo")));
    }

    #[test]
    fn its_own_retries_are_turned_down_by_the_weakest_settings() {
        let launch = INFO.launch(&Call { scratch: "/run/call/".into(), ..Call::default() });
        let path = launch.env.iter().find(|(name, _)| name == "QWEN_CODE_SYSTEM_DEFAULTS_PATH").unwrap();
        assert_eq!(path.1, "/run/call/qwen-defaults.json");
        let (name, bytes) = &launch.files[0];
        assert_eq!(name, "qwen-defaults.json");
        let defaults: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(defaults["model"]["generationConfig"]["maxRetries"], 0);
        assert_eq!(defaults["general"]["enableAutoUpdate"], false);
        // Without a directory of its own there is no file to name.
        assert!(INFO.launch(&Call::default()).files.is_empty());
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["-o", "text", "--yolo", "--allowed-tools=read_file", "-m", "mine"];
        let call =
            Call { args: args.map(str::to_owned).to_vec(), model: Some("ours".into()), ..Call::default() };
        assert_eq!(INFO.launch(&call).args, args);
    }
}
