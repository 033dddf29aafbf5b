//! Codex: what ralph knows about it and how it is started. `codex/reader.rs` understands what it prints. Every call is a
//! fresh conversation; where the user's own arguments resume one (`-- resume --last`), it reports the tokens of all its
//! calls together, and they are booked as reported: too much is safe, too little is not.

pub(crate) mod event;
mod failure;
mod legacy;
mod reader;
mod tool;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier, event_reader,
};
use crate::codex::reader::CodexReader;
use crate::configured_model;
use crate::contained::{AS_OUTSIDE, Contained};
use crate::detect::count_events;
use crate::launch::LaunchBuilder;
use crate::provider_settings::ProviderFile;

/// Settings laid over the user's own for one call. Nothing here names a provider: that is the user's.
///
/// Its retries are not among them. They belong to the provider (`model_providers.NAME.request_max_retries`), whose
/// name only the user's configuration knows, and for the built-in ones it refuses to be told. They last half a minute
/// at most, are shown as they happen, and the one that has no end (`reader.rs`, the network) is ended by us.
const SETTINGS: &[&str] = &[
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    // These two keep it for seconds at its end where their servers cannot be reached. By setting, not by
    // `--disable`: versions that have no such feature refuse the flag and pass over the setting.
    "otel.metrics_exporter=\"none\"",
    "features.plugins=false",
];

/// By itself it may only read. This mode lets it write in the workspace and in the temporary directory, with no network
/// for its commands, and never asks. It keeps `.git` read-only, so the agent cannot commit: ralph looks at the tree, not
/// at commits. A user who wants more says so: `-- --add-dir .git` for commits,
/// `-- --dangerously-bypass-approvals-and-sandbox` for everything.
const SANDBOX: PermissionArgs = PermissionArgs {
    args: &["--sandbox", "workspace-write"],
    unless: &[
        "-s",
        "--sandbox",
        "--dangerously-bypass-approvals-and-sandbox",
        "--yolo",
        "--full-auto",
        "--approve-for-me",
        "sandbox_mode=",
    ],
};

/// Its own mode for looking only.
const READ_ONLY: PermissionArgs = PermissionArgs { args: &["--sandbox", "read-only"], ..SANDBOX };

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "codex",
    title: "Codex",
    program: Some("codex"),
    package: Package::Npm("@openai/codex"),
    setup: "log in with `codex login`",
    tier: Tier::First,
    tried: "0.36 to 0.166",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: &[],
    env_remove: &[],
    format_flags: &[],
    resume_flags: &["resume"],
    permissions: Permissions {
        defaults: &[SANDBOX],
        read_only: &[READ_ONLY],
        summary: "writes in the workspace and the temporary directory, not in .git; no network for its commands",
        allow_more: None,
    },
    contained: Contained {
        args: &["--dangerously-bypass-approvals-and-sandbox"],
        unless: SANDBOX.unless,
        no_read_only_mode: true,
        base_url_env: &["OPENAI_BASE_URL"],
        provider_files: &[ProviderFile {
            path: ".codex/config.toml",
            addresses: &["base_url", "openai_base_url", "chatgpt_base_url"],
            variables: &["env_key"],
        }],
        brought_back: &[".codex/auth.json"],
        env_prefixes: &["CODEX_", "OPENAI_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials { env: &["OPENAI_API_KEY", "CODEX_API_KEY"], files: &[".codex/auth.json"] },
    hosts: &["api.openai.com", "chatgpt.com", "auth.openai.com"],
    any_provider: true,
    state_dirs: &[".codex"],
    model: ModelInfo {
        flags: &["--model", "-m"],
        reported: "the record it keeps of the conversation",
        configured: Some(configured_model::codex),
        session_log: Some(&configured_model::CODEX_LOG),
    },
    // No system prompt: `developer_instructions` can be set but not added to, and what the user wrote there would be
    // lost without a word.
    abilities: Abilities { shows_tool_start: true, resumes: true, ..NO_ABILITIES },
    launch,
    reader: event_reader::<CodexReader>,
    detect: Detect::Events(count_events::<CodexReader>),
};

/// Without a prompt among the arguments it reads the one on stdin, also after `resume`.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(&["exec"]);
    line.flag(&["--json"]);
    line.flag(&["--skip-git-repo-check"]);
    SETTINGS.iter().for_each(|setting| line.args(&["-c", setting]));
    line.permissions();
    line.model();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;
    use crate::launch::value_of;

    fn launched(args: &[&str]) -> Vec<String> {
        let args = args.iter().map(|a| (*a).to_owned()).collect();
        let call =
            Call { prompt: "do the work".into(), model: Some("gpt-5".into()), args, ..Call::default() };
        INFO.launch(&call).args
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let args = launched(&["resume", "--last"]);
        assert_eq!(args[0], "exec");
        assert!(args.contains(&"--json".to_owned()) && args.contains(&"--skip-git-repo-check".to_owned()));
        assert_eq!(value_of(&args, "--sandbox"), Some("workspace-write"));
        assert_eq!(value_of(&args, "--model"), Some("gpt-5"));
        assert!(args.contains(&"analytics.enabled=false".to_owned()));
        assert_eq!(args[args.len() - 2..], ["resume", "--last"]);
        assert!(!args.iter().any(|a| a.contains("do the work") || a.contains("dangerously")));
        assert!(!args.iter().any(|a| a.contains("model_provider") || a.contains("base_url")));
    }

    #[test]
    fn a_call_that_only_reads_is_sandboxed_so() {
        let args = INFO.launch(&Call { read_only: true, ..Call::default() }).args;
        assert_eq!(value_of(&args, "--sandbox"), Some("read-only"));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        for own in [
            &["--dangerously-bypass-approvals-and-sandbox"][..],
            &["-s", "read-only"],
            &["--sandbox=read-only"],
            &["-c", "sandbox_mode=\"danger-full-access\""],
        ] {
            assert!(!launched(own).contains(&"workspace-write".to_owned()), "{own:?}");
        }
        let args = launched(&["-m", "o3", "--json"]);
        assert_eq!(args.iter().filter(|a| *a == "--json").count(), 1);
        assert_eq!((value_of(&args, "--model"), value_of(&args, "-m")), (None, Some("o3")));
    }
}
