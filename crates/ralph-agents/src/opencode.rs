//! opencode: what ralph knows about it and how it is started. `opencode/reader.rs` understands what it prints. Every
//! call is a fresh conversation; each step is accounted for on its own, so what a resumed one reports is its own too.

mod event;
mod failure;
mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, Permissions, PromptVia,
    Tier, event_reader,
};
use crate::configured_model;
use crate::contained::{AS_OUTSIDE, Contained, PROVIDER_KEYS, PROVIDER_URLS};
use crate::detect::count_events;
use crate::launch::LaunchBuilder;
use crate::opencode::reader::OpencodeReader;
use crate::provider_settings::ProviderFile;

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "opencode",
    title: "opencode",
    program: Some("opencode"),
    package: Package::Npm("opencode-ai"),
    setup: "log in with `opencode auth login`",
    tier: Tier::First,
    tried: "1.2 to 1.18",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    // The client that started is the one that ends. Its retries (nine tries, up to 90 seconds, without a word) have no
    // switch.
    env: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    env_remove: &[],
    format_flags: &["--format"],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[],
        read_only: &[],
        summary: "as the user's own opencode configuration says; refuses what it would have to ask for, such as files elsewhere",
        allow_more: None,
    },
    contained: Contained {
        // It refuses what is outside the workspace. By variable, since versions before `--auto` refuse an unknown flag.
        env: &[("OPENCODE_PERMISSION", r#"{"external_directory":"allow"}"#)],
        passed: &[PROVIDER_KEYS],
        base_url_env: PROVIDER_URLS,
        provider_files: &[ProviderFile {
            path: ".config/opencode/opencode.json",
            addresses: &["baseURL"],
            variables: &["apiKey"],
        }],
        brought_back: &[".local/share/opencode/auth.json"],
        env_prefixes: &["OPENCODE_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"],
        files: &[".local/share/opencode/auth.json"],
    },
    hosts: &["opencode.ai", "models.opencode.ai", "models.dev"],
    any_provider: true,
    state_dirs: &[".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"],
    model: ModelInfo {
        flags: &["--model", "-m"],
        reported: "not reported; ralph assumes the one it asked for, or that of its settings",
        configured: Some(configured_model::opencode),
        session_log: None,
    },
    // A tool is shown when it ended, not when it starts.
    abilities: Abilities { live_usage: true, cost: true, resumes: true, ..NO_ABILITIES },
    launch,
    reader: event_reader::<OpencodeReader>,
    detect: Detect::Events(count_events::<OpencodeReader>),
};

/// A flag given twice becomes a list that the client cannot use. Not `--auto`: without it the client lets tools work
/// inside the workspace as the user's configuration says, and refuses what it would have to ask for.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(&["run"]);
    line.option(&["--format"], "json");
    // Without a title it asks the model for one, which costs and is in no account.
    line.option(&["--title", "--session", "-s", "--continue", "-c"], "ralph");
    line.model();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;

    fn called(args: &[&str]) -> Call {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Call { prompt: "do the work".into(), model: Some("a/b".into()), args, ..Call::default() }
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let launch = INFO.launch(&called(&["--agent", "build"]));
        assert_eq!(launch.program, "opencode");
        let want = ["run", "--format", "json", "--title", "ralph", "--model", "a/b", "--agent", "build"];
        assert_eq!(launch.args, want);
        assert!(launch.env.contains(&("OPENCODE_DISABLE_AUTOUPDATE".into(), "1".into())));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let own = ["--format=default", "-m", "c/d", "--session", "ses_1"];
        let mut want = vec!["run"];
        want.extend(own);
        assert_eq!(INFO.launch(&called(&own)).args, want);
    }
}
