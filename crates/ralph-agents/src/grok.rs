//! Grok Build: what ralph knows about it and how it is started. Of its output formats the one that is Claude's tells most
//! and is asked for; `grok/reader.rs` reads that one and `grok/native.rs` its own. Every call is a fresh conversation.

mod event;
mod failure;
mod native;
mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier, event_reader,
};
use crate::contained::{AS_OUTSIDE, Contained};
use crate::detect::count_events;
use crate::grok::reader::GrokReader;
use crate::launch::LaunchBuilder;
use crate::provider_settings::ProviderFile;

/// Laid over the user's configuration, where a model's own setting still wins: no waiting of its own, which
/// with a broken provider lasts for minutes and looks like silence. We wait instead, visibly.
const OVERLAY: &str = r#"{"models":{"max_retries":0}}"#;
const OVERLAY_FILE: &str = "grok-overlay.json";

/// Between asking and allowing all there is nothing that works without a person: the edit-accepting mode and allow
/// rules still ask about a shell command that writes a file, and a question ends the whole call.
const ALWAYS_APPROVE: PermissionArgs = PermissionArgs {
    args: &["--always-approve"],
    unless: &["--always-approve", "--yolo", "--permission-mode", "--allow", "--tools"],
};

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "grok",
    title: "Grok Build",
    program: Some("grok"),
    package: Package::Npm("@xai-official/grok"),
    setup: "log in with `grok`",
    tier: Tier::Second,
    tried: "1.0.41",
    version_args: &["--version"],
    prompt: PromptVia::File,
    output: "JSON events",
    // No update, no reports in the middle of a run.
    env: &[("GROK_DISABLE_AUTOUPDATER", "1"), ("GROK_TELEMETRY_ENABLED", "0")],
    env_remove: &[],
    format_flags: &["--output-format"],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[ALWAYS_APPROVE],
        read_only: &[],
        summary: "anything: its other modes need a person to answer",
        allow_more: None,
    },
    contained: Contained {
        brought_back: &[".grok/auth.json"],
        provider_files: &[ProviderFile {
            path: ".grok/config.toml",
            addresses: &["base_url"],
            variables: &["env_key"],
        }],
        env_prefixes: &["GROK_", "XAI_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials { env: &["XAI_API_KEY", "GROK_API_KEY"], files: &[".grok/auth.json"] },
    hosts: &["api.x.ai", "accounts.x.ai"],
    any_provider: true,
    state_dirs: &[".grok"],
    model: ModelInfo {
        flags: &["--model", "-m"],
        reported: "its first event",
        configured: None,
        session_log: None,
    },
    abilities: Abilities {
        live_usage: true,
        cost: true,
        shows_tool_start: true,
        system_prompt: true,
        ..NO_ABILITIES
    },
    launch,
    reader: event_reader::<GrokReader>,
    detect: Detect::Events(count_events::<GrokReader>),
};

fn launch(line: &mut LaunchBuilder<'_>) {
    line.env("GROK_CONFIG_PATH", line.scratch_path(OVERLAY_FILE));
    let prompt = line.prompt_file();
    line.file(OVERLAY_FILE, OVERLAY.as_bytes());
    let path = line.scratch_path(prompt);
    line.option(&["--prompt-file", "-p", "--single", "--prompt-json"], &path);
    line.option(&["--output-format"], "streaming-messages-json");
    line.system_prompt("--rules");
    line.model();
    line.flag(&["--include-partial-messages", "--output-format"]);
    line.permissions();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::launch::value_of;
    use crate::reader::ReaderEvent;

    fn call() -> Call {
        Call { prompt: "do the work".into(), scratch: "/run/call".into(), ..Call::default() }
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = Call {
            system: "---RALPH_STATUS---".into(),
            model: Some("grok-4.6".into()),
            args: vec!["--max-turns".into(), "9".into()],
            ..call()
        };
        let launch = INFO.launch(&call);
        assert_eq!(launch.program, "grok");
        assert_eq!(value_of(&launch.args, "--output-format"), Some("streaming-messages-json"));
        assert_eq!(value_of(&launch.args, "--rules"), Some("---RALPH_STATUS---"));
        assert_eq!(value_of(&launch.args, "--model"), Some("grok-4.6"));
        assert!(launch.args.contains(&"--always-approve".to_owned()));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--max-turns", "9"]);
        assert!(!launch.args.iter().any(|a| a.contains("do the work")));
    }

    #[test]
    fn the_prompt_goes_by_file_and_stdin_is_closed() {
        let launch = INFO.launch(&call());
        assert_eq!(value_of(&launch.args, "--prompt-file"), Some("/run/call/prompt.md"));
        assert_eq!(launch.files[0], ("prompt.md".to_owned(), b"do the work".to_vec()));
        let mut out = Vec::new();
        INFO.reader(&call()).start(&mut out);
        assert_eq!(out, [ReaderEvent::CloseStdin]);
    }

    #[test]
    fn its_own_retries_are_turned_down() {
        let launch = INFO.launch(&call());
        assert!(launch.env.contains(&("GROK_CONFIG_PATH".into(), "/run/call/grok-overlay.json".into())));
        let overlay: serde_json::Value = serde_json::from_slice(&launch.files[1].1).unwrap();
        assert_eq!(overlay["models"]["max_retries"], 0);
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--prompt-file", "p", "--output-format=plain", "--permission-mode", "auto", "-m", "mine"];
        let args = args.map(str::to_owned).to_vec();
        let call = Call { args: args.clone(), model: Some("ours".into()), ..call() };
        assert_eq!(INFO.launch(&call).args, args);
    }
}
