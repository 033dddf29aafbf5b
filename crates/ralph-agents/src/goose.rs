//! Goose: what ralph knows about it and how it is started. `goose/reader.rs` understands what it prints,
//! `goose/failure.rs` how it words its errors. Every call is a fresh conversation that is not kept; where the user's own
//! arguments continue one (`-r`, `-n`), it reports the tokens of all its calls together, and they are booked as reported.

mod event;
mod failure;
mod reader;

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, Permissions, PromptVia,
    ReaderSetup, Tier, event_reader,
};
use crate::call::Call;
use crate::configured_model;
use crate::contained::{AS_OUTSIDE, Contained, PROVIDER_KEYS, PROVIDER_URLS};
use crate::detect::count_events;
use crate::goose::reader::GooseReader;
use crate::launch::LaunchBuilder;
use crate::provider_settings::ProviderFile;

/// Set for every call. Its retries have no setting: three per request, seven seconds in all, silent.
const ENV: &[(&str, &str)] = &[
    // The modes that ask end the whole call where nobody can answer, and there is none between asking and allowing:
    // this is the one that works without a person.
    ("GOOSE_MODE", "auto"),
    ("GOOSE_TELEMETRY_OFF", "1"),
    // A title for the conversation is a request of its own, and paid.
    ("GOOSE_DISABLE_SESSION_NAMING", "true"),
];

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "goose",
    title: "Goose",
    program: Some("goose"),
    package: Package::Npm("@aaif/goose"),
    setup: "`goose configure`",
    tier: Tier::First,
    tried: "1.34",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: ENV,
    env_remove: &[],
    format_flags: &["--output-format"],
    resume_flags: &["--resume", "-r"],
    permissions: Permissions {
        defaults: &[],
        read_only: &[],
        summary: "anything: its other modes need a person to answer (GOOSE_MODE=auto)",
        allow_more: None,
    },
    contained: Contained {
        passed: &[PROVIDER_KEYS],
        base_url_env: PROVIDER_URLS,
        provider_files: &[ProviderFile {
            path: ".config/goose/config.yaml",
            addresses: PROVIDER_URLS,
            variables: &[],
        }],
        env_prefixes: &["GOOSE_", "OPENAI_", "ANTHROPIC_"],
        ..AS_OUTSIDE
    },
    credentials: Credentials { env: &["GOOSE_PROVIDER"], files: &[".config/goose/config.yaml"] },
    hosts: &[],
    any_provider: true,
    state_dirs: &[".config/goose", ".local/share/goose", ".local/state/goose"],
    model: ModelInfo {
        flags: &["--model"],
        reported: "its events, only where the model changes; otherwise that of its settings",
        configured: Some(configured_model::goose),
        session_log: None,
    },
    abilities: Abilities { shows_tool_start: true, system_prompt: true, ..NO_ABILITIES },
    launch,
    reader: |setup| {
        event_reader::<GooseReader>(ReaderSetup {
            stdin: setup.call.map(prompt).unwrap_or_default(),
            ..setup
        })
    },
    detect: Detect::Events(count_events::<GooseReader>),
};

/// It takes only one system text: where the user brings theirs, ours goes along with the prompt.
fn prompt(call: &Call) -> String {
    if call.system.is_empty() || !call.sets(&["--system"]) {
        return call.prompt.clone();
    }
    format!("{}\n\n{}", call.prompt, call.system)
}

/// The user's own extensions are loaded as ever; the one that edits files and runs commands is added in case they have
/// switched it off.
fn launch(line: &mut LaunchBuilder<'_>) {
    line.args(&["run", "-i", "-", "--with-builtin", "developer"]);
    line.flag(&["--quiet", "-q"]);
    // The client refuses this together with an argument that keeps the conversation.
    line.flag(&["--no-session", "-n", "--name", "-r", "--resume", "--session-id", "--path"]);
    line.option(&["--output-format"], "stream-json");
    line.system_prompt("--system");
    line.model();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::value_of;
    use crate::reader::ReaderEvent;

    fn call(args: &[&str]) -> Call {
        Call {
            prompt: "do the work".into(),
            system: "---RALPH_STATUS---".into(),
            model: Some("gpt-4o".into()),
            args: args.iter().map(|a| (*a).to_owned()).collect(),
            ..Call::default()
        }
    }

    fn sent(call: &Call) -> Vec<ReaderEvent> {
        let mut out = Vec::new();
        INFO.reader(call).start(&mut out);
        out
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = call(&["--max-turns", "9"]);
        let launch = INFO.launch(&call);
        let args = &launch.args;
        assert_eq!((args[0].as_str(), value_of(args, "-i")), ("run", Some("-")));
        assert_eq!(value_of(args, "--output-format"), Some("stream-json"));
        assert_eq!(value_of(args, "--system"), Some("---RALPH_STATUS---"));
        assert_eq!(value_of(args, "--model"), Some("gpt-4o"));
        assert!(args.contains(&"--no-session".to_owned()));
        assert_eq!(args[args.len() - 2..], ["--max-turns", "9"]);
        assert!(!args.iter().any(|a| a.contains("do the work")));
        assert!(launch.env.contains(&("GOOSE_MODE".into(), "auto".into())));
        assert!(!launch.env.iter().any(|(name, _)| name.contains("PROVIDER") || name.contains("KEY")));
        assert_eq!(sent(&call), [ReaderEvent::Send(b"do the work".to_vec()), ReaderEvent::CloseStdin]);
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let call = call(&["-n", "mine", "-r", "--output-format=json", "-q", "--model", "o3"]);
        let args = INFO.launch(&call).args;
        for flag in ["--no-session", "--quiet", "--output-format"] {
            assert!(!args.contains(&flag.to_owned()), "{flag}");
        }
        assert_eq!(args.iter().filter(|a| *a == "--model").count(), 1);
    }

    #[test]
    fn a_system_text_of_the_users_own_does_not_lose_ours() {
        let call = call(&["--system", "be brief"]);
        assert_eq!(value_of(&INFO.launch(&call).args, "--system"), Some("be brief"));
        let text = b"do the work\n\n---RALPH_STATUS---".to_vec();
        assert_eq!(sent(&call), [ReaderEvent::Send(text), ReaderEvent::CloseStdin]);
    }
}
