//! pi: what ralph knows about it and how it is started. `pi/reader.rs` understands what it prints. Every call is a fresh
//! conversation; it adds up nothing over calls, so what a resumed one reports is its own too.

mod event;
mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, Permissions, PromptVia,
    Tier, event_reader,
};
use crate::contained::{AS_OUTSIDE, Contained, PROVIDER_KEYS};
use crate::detect::count_events;
use crate::launch::LaunchBuilder;
use crate::pi::reader::PiReader;
use crate::provider_settings::ProviderFile;

/// No update check, no downloads, no telemetry. Its retries (three, 14 seconds together) are a setting in the user's own
/// file; no flag turns them down, and they are shown.
const ENV: &[(&str, &str)] = &[("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")];

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "pi",
    title: "pi",
    program: Some("pi"),
    package: Package::Npm("@mariozechner/pi-coding-agent"),
    setup: "",
    tier: Tier::Second,
    tried: "0.73",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: ENV,
    env_remove: &[],
    format_flags: &["--mode"],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[],
        read_only: &[],
        summary: "anything: it does not ask for permission",
        allow_more: None,
    },
    contained: Contained {
        passed: &[PROVIDER_KEYS],
        provider_files: &[ProviderFile {
            path: ".pi/agent/models.json",
            addresses: &["baseUrl"],
            variables: &["apiKey"],
        }],
        brought_back: &[".pi/agent/auth.json"],
        env_prefixes: &["PI_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
        files: &[".pi/agent/auth.json"],
    },
    hosts: &[],
    any_provider: true,
    state_dirs: &[".pi"],
    model: ModelInfo {
        flags: &["--model"],
        reported: "each of its messages",
        configured: None,
        session_log: None,
    },
    abilities: Abilities {
        live_usage: true,
        cost: true,
        shows_tool_start: true,
        resumes: true,
        system_prompt: true,
        ..NO_ABILITIES
    },
    launch,
    reader: event_reader::<PiReader>,
    detect: Detect::Events(count_events::<PiReader>),
};

/// `-p` is followed by a flag, since it takes a bare word after it for the prompt. `--mode` comes first, so that a later
/// one of the user's wins.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(&["-p", "--mode", "json"]);
    line.system_prompt("--append-system-prompt");
    line.model();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = Call {
            prompt: "do the work".into(),
            system: "be brief".into(),
            model: Some("fake/m".into()),
            args: vec!["--tools".into(), "read".into()],
            ..Call::default()
        };
        let launch = INFO.launch(&call);
        let expected = [
            "-p",
            "--mode",
            "json",
            "--append-system-prompt",
            "be brief",
            "--model",
            "fake/m",
            "--tools",
            "read",
        ];
        assert_eq!((launch.program.as_str(), launch.args), ("pi", expected.map(str::to_owned).to_vec()));
        assert!(launch.env.contains(&("PI_OFFLINE".into(), "1".into())));
        assert!(launch.files.is_empty());
    }

    #[test]
    fn the_users_model_is_not_set_twice() {
        let args = ["--model", "mine"].map(str::to_owned).to_vec();
        let call = Call { model: Some("other".into()), args, ..Call::default() };
        assert_eq!(INFO.launch(&call).args, ["-p", "--mode", "json", "--model", "mine"]);
    }
}
