//! GitHub Copilot CLI: what ralph knows about it and how it is started. `copilot/reader.rs` understands what it prints;
//! its tokens are only in a file that it writes at the end. Every call is a fresh conversation; for one that the user's
//! own arguments resume, what the file counts is booked.

mod event;
mod failure;
mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier, event_reader,
};
use crate::contained::{AS_OUTSIDE, Contained};
use crate::copilot::reader::CopilotReader;
use crate::detect::count_events;
use crate::launch::LaunchBuilder;

/// For every call: no update in the middle of a run, no telemetry, nobody is there to be asked. Nothing turns its
/// five retries down (up to a minute together); they are shown.
const ALWAYS: &[&str] = &[
    "--no-auto-update",
    "--disable-client-telemetry",
    "--no-ask-user",
    "--no-color",
    "--output-format",
    "json",
];

/// All tools, since an allow list has no entry for a shell command that writes a file. What is left on: files are only
/// touched inside the workspace and the temporary directory, and web addresses are refused.
const ALL_TOOLS: PermissionArgs = PermissionArgs {
    args: &["--allow-all-tools"],
    unless: &["--allow-all-tools", "--allow-all", "--yolo", "--allow-tool", "--assisted-approval"],
};

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "copilot",
    title: "GitHub Copilot CLI",
    program: Some("copilot"),
    package: Package::Npm("@github/copilot"),
    setup: "log in with `copilot`",
    tier: Tier::Second,
    tried: "1.0.102",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: &[],
    env_remove: &[],
    format_flags: &["--output-format", "-s", "--silent"],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[ALL_TOOLS],
        read_only: &[],
        summary: "every tool, on files in the workspace and the temporary directory; no web addresses",
        allow_more: None,
    },
    contained: Contained {
        args: &["--allow-all"],
        unless: ALL_TOOLS.unless,
        base_url_env: &["COPILOT_PROVIDER_BASE_URL"],
        env_prefixes: &["COPILOT_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
        files: &[".copilot/config.json"],
    },
    hosts: &["api.githubcopilot.com", "api.github.com", "github.com"],
    any_provider: true,
    state_dirs: &[".copilot"],
    model: ModelInfo {
        flags: &["--model"],
        reported: "its first events and each message",
        configured: None,
        session_log: None,
    },
    abilities: Abilities { shows_tool_start: true, resumes: true, ..NO_ABILITIES },
    launch,
    reader: event_reader::<CopilotReader>,
    detect: Detect::Events(count_events::<CopilotReader>),
};

/// The prompt comes on stdin, without `-p`.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(ALWAYS);
    line.permissions();
    line.report(&["--usage-output-file"], "usage.json");
    line.model();
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
            model: Some("gpt-5".into()),
            scratch: "/run/call".into(),
            args: vec!["--add-dir".into(), "/x".into()],
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        assert_eq!((launch.program.as_str(), launch.reports), ("copilot", vec!["usage.json".to_owned()]));
        assert_eq!(value_of(&launch.args, "--output-format"), Some("json"));
        assert_eq!(value_of(&launch.args, "--usage-output-file"), Some("/run/call/usage.json"));
        assert_eq!(value_of(&launch.args, "--model"), Some("gpt-5"));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--add-dir", "/x"]);
        assert!(launch.args.contains(&"--no-auto-update".to_owned()));
        assert!(!launch.args.iter().any(|a| a == "-p" || a.contains("do the work")));
    }

    #[test]
    fn paths_and_addresses_stay_guarded() {
        let args = INFO.launch(&Call::default()).args;
        assert!(args.contains(&"--allow-all-tools".to_owned()));
        for broad in ["--allow-all", "--yolo", "--allow-all-paths", "--allow-all-urls"] {
            assert!(!args.contains(&broad.to_owned()), "{broad}");
        }
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--allow-tool=shell", "--usage-output-file", "mine.json", "--model=m"].map(str::to_owned);
        let call = Call {
            args: args.to_vec(),
            model: Some("other".into()),
            scratch: "/run/call".into(),
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        assert!(!launch.args.contains(&"--allow-all-tools".to_owned()));
        assert_eq!(value_of(&launch.args, "--usage-output-file"), Some("mine.json"));
        assert!(launch.reports.is_empty() && !launch.args.contains(&"other".to_owned()));
    }
}
