//! Kimi Code: what ralph knows about it and how it is started. `kimi/reader.rs` understands what it prints. It takes its
//! prompt only as an argument; one that is too long for that is put into a file, and it is asked to read it. Every call
//! is a fresh conversation.

mod event;
mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, Permissions, PromptVia,
    Tier, event_reader,
};
use crate::configured_model;
use crate::contained::{AS_OUTSIDE, Contained};
use crate::detect::count_events;
use crate::kimi::reader::KimiReader;
use crate::launch::LaunchBuilder;
use crate::provider_settings::ProviderFile;

/// Set for every call.
const ENV: &[(&str, &str)] = &[
    // By itself it tries ten times over two and a half minutes. We wait instead, visibly.
    ("KIMI_LOOP_MAX_ATTEMPTS_PER_STEP", "2"),
    // No update, no telemetry in the middle of a run: the client that started is the one that ends.
    ("KIMI_CODE_NO_AUTO_UPDATE", "1"),
    ("KIMI_DISABLE_TELEMETRY", "1"),
];

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "kimi",
    title: "Kimi Code",
    program: Some("kimi"),
    package: Package::Npm("@moonshot-ai/kimi-code"),
    setup: "log in with `kimi`",
    tier: Tier::Second,
    tried: "2.1",
    version_args: &["--version"],
    prompt: PromptVia::Argument,
    output: "JSON events",
    env: ENV,
    env_remove: &[],
    format_flags: &["--output-format"],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[],
        read_only: &[],
        summary: "anything: with a prompt it decides about its tools itself, whatever its configuration says",
        allow_more: None,
    },
    contained: Contained {
        base_url_env: &["KIMI_BASE_URL", "OPENAI_BASE_URL"],
        provider_files: &[ProviderFile {
            path: ".kimi-code/config.toml",
            addresses: &["base_url"],
            variables: &[],
        }],
        env_prefixes: &["KIMI_", "MOONSHOT_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials {
        env: &["KIMI_API_KEY", "MOONSHOT_API_KEY"],
        files: &[".kimi-code/config.toml"],
    },
    hosts: &["api.kimi.com", "api.moonshot.ai", "api.moonshot.cn"],
    any_provider: true,
    state_dirs: &[".kimi-code"],
    model: ModelInfo {
        flags: &["-m", "--model"],
        reported: "not reported; ralph assumes the one it asked for, or that of its settings",
        configured: Some(configured_model::kimi),
        session_log: None,
    },
    // No tool start: it prints a tool's use only when the tool has ended. No usage of any kind.
    abilities: Abilities { resumes: true, ..NO_ABILITIES },
    launch,
    reader: event_reader::<KimiReader>,
    detect: Detect::Events(count_events::<KimiReader>),
};

fn launch(line: &mut LaunchBuilder<'_>) {
    if line.prompt_needs_file() {
        line.args(&["--add-dir", &line.call.scratch]);
    }
    let prompt = line.prompt_argument();
    line.args(&["-p", &prompt]);
    line.option(&["--output-format"], "stream-json");
    line.model();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;

    fn call(prompt: String) -> Call {
        Call { prompt, model: Some("k2".into()), scratch: "/run/call".into(), ..Call::default() }
    }

    #[test]
    fn a_short_prompt_is_an_argument() {
        let launch = INFO.launch(&call("do the work".into()));
        assert_eq!(launch.program, "kimi");
        assert_eq!(launch.args, ["-p", "do the work", "--output-format", "stream-json", "-m", "k2"]);
        assert!(launch.files.is_empty());
        assert!(launch.env.contains(&("KIMI_LOOP_MAX_ATTEMPTS_PER_STEP".into(), "2".into())));
    }

    #[test]
    fn a_prompt_that_fits_no_argument_is_a_file() {
        for prompt in ["x".repeat(100_000), "a\0b".to_owned()] {
            let launch = INFO.launch(&call(prompt.clone()));
            assert_eq!(launch.files, [("prompt.md".to_owned(), prompt.into_bytes())]);
            assert_eq!(launch.args[..2], ["--add-dir", "/run/call"]);
            assert!(launch.args[3].contains("/run/call/prompt.md"));
            assert!(launch.args.iter().all(|arg| arg.len() < 200));
        }
    }

    #[test]
    fn the_users_own_arguments_come_last_and_once() {
        let args = ["-m", "mine", "--output-format", "text"].map(str::to_owned).to_vec();
        let call = Call { args, ..call("go".into()) };
        assert_eq!(INFO.launch(&call).args, ["-p", "go", "-m", "mine", "--output-format", "text"]);
    }
}
