//! Gemini CLI: what ralph knows about it and how it is started. `gemini/reader.rs` understands what it prints. Every call
//! is a fresh conversation; it adds up nothing over calls, so what a resumed one reports is its own too.

mod event;
mod failure;
mod reader;
mod stderr;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, PermissionArgs, Permissions,
    PromptVia, Tier, event_reader,
};
use crate::contained::{AS_OUTSIDE, Contained};
use crate::detect::count_events;
use crate::gemini::reader::GeminiReader;
use crate::launch::LaunchBuilder;

/// Tools allowed without asking, beside those that only read. Not the tools that write files: the edit-accepting
/// mode lets them write inside the workspace and nowhere else.
const ALLOWED: &str =
    "run_shell_command,web_fetch,google_web_search,read_many_files,write_todos,activate_skill";

/// Without trust it refuses to start in a folder that nobody opened by hand; `--skip-trust` says the same and is unknown
/// to older versions. Its retries (ten tries, 200 seconds) and its usage statistics can only be turned down in the
/// user's or the system's settings, which are not ours to write; it looks for updates in interactive sessions only.
const ENV: &[(&str, &str)] = &[("GEMINI_CLI_TRUST_WORKSPACE", "true")];

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "gemini",
    title: "Gemini CLI",
    program: Some("gemini"),
    package: Package::Npm("@google/gemini-cli"),
    setup: "log in with `gemini`",
    tier: Tier::First,
    tried: "0.11 to 0.61",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: ENV,
    env_remove: &[],
    format_flags: &["--output-format", "-o"],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[
            PermissionArgs {
                args: &["--allowed-tools", ALLOWED],
                unless: &["--allowed-tools", "--approval-mode", "--yolo", "-y"],
            },
            PermissionArgs {
                args: &["--approval-mode", "auto_edit"],
                unless: &["--approval-mode", "--yolo", "-y"],
            },
        ],
        read_only: &[],
        summary: "edits files in the workspace, runs shell commands, reads the web",
        allow_more: None,
    },
    contained: Contained {
        args: &["--approval-mode", "yolo"],
        unless: &["--allowed-tools", "--approval-mode", "--yolo", "-y"],
        env: &[("GEMINI_SANDBOX", "false")],
        base_url_env: &["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"],
        brought_back: &[".gemini/oauth_creds.json"],
        env_prefixes: &["GEMINI_", "GOOGLE_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
        files: &[".gemini/oauth_creds.json"],
    },
    hosts: &[
        "generativelanguage.googleapis.com",
        "cloudcode-pa.googleapis.com",
        "oauth2.googleapis.com",
        "aiplatform.googleapis.com",
    ],
    any_provider: false,
    state_dirs: &[".gemini"],
    model: ModelInfo {
        flags: &["--model", "-m"],
        reported: "its first event; where that says auto, the model with most tokens in its statistics",
        configured: None,
        session_log: None,
    },
    // Tokens come at the end only, dollars never. A system prompt could be replaced, not added to.
    abilities: Abilities { shows_tool_start: true, resumes: true, ..NO_ABILITIES },
    launch,
    reader: event_reader::<GeminiReader>,
    detect: Detect::Events(count_events::<GeminiReader>),
};

/// A flag given twice becomes a list that the client cannot use. The list of tools takes every bare word after it, so it
/// never comes last.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.permissions();
    line.option(&["--output-format", "-o"], "stream-json");
    line.model();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;

    fn called(args: &[&str]) -> Call {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Call { prompt: "do the work".into(), model: Some("gemini-2.5-pro".into()), args, ..Call::default() }
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let launch = INFO.launch(&called(&["--include-directories", "../lib"]));
        assert_eq!(launch.program, "gemini");
        let want = [
            "--allowed-tools",
            ALLOWED,
            "--approval-mode",
            "auto_edit",
            "--output-format",
            "stream-json",
            "--model",
            "gemini-2.5-pro",
            "--include-directories",
            "../lib",
        ];
        assert_eq!(launch.args, want);
        assert!(launch.env.contains(&("GEMINI_CLI_TRUST_WORKSPACE".into(), "true".into())));
    }

    #[test]
    fn no_tool_is_allowed_to_write_anywhere() {
        for tool in ["write_file", "replace", "edit"] {
            assert!(!ALLOWED.split(',').any(|allowed| allowed == tool), "{tool}");
        }
        assert!(!INFO.launch(&called(&[])).args.iter().any(|arg| arg.contains("yolo")));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let own = ["--yolo", "-o", "json", "--model=gemini-flash"];
        assert_eq!(INFO.launch(&called(&own)).args, own);
        let args = INFO.launch(&called(&["--allowed-tools", "glob"])).args;
        assert_eq!(args.iter().filter(|arg| *arg == "--allowed-tools").count(), 1);
        assert!(args.contains(&"auto_edit".to_owned()));
    }
}
