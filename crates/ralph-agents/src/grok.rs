//! Grok Build: how it is started. Of its output formats the one in Claude's dialect tells most and is asked for;
//! `grok/reader.rs` hears that one and `grok/native.rs` its own. Every call is a fresh conversation.

mod event;
mod fault;
mod native;
mod reader;

pub use reader::GrokReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// Set for every call: no update, no reports in the middle of a run.
const ENV: &[(&str, &str)] = &[("GROK_DISABLE_AUTOUPDATER", "1"), ("GROK_TELEMETRY_ENABLED", "0")];

/// Laid over the user's configuration, where a model's own setting still wins: no waiting of its own, which
/// with a broken provider lasts for minutes and looks like silence. We wait instead, visibly.
const OVERLAY: &str = r#"{"models":{"max_retries":0}}"#;
const OVERLAY_FILE: &str = "grok-overlay.json";
const PROMPT_FILE: &str = "prompt.md";

/// The adapter.
pub struct Grok;

impl Agent for Grok {
    fn name(&self) -> &'static str {
        "grok"
    }

    fn can(&self) -> Abilities {
        Abilities {
            live_usage: true,
            cost: true,
            shows_tool_start: true,
            system_prompt: true,
            ..Abilities::default()
        }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut env: Vec<(String, String)> = ENV.iter().map(pair).collect();
        env.push(("GROK_CONFIG_PATH".to_owned(), in_scratch(call, OVERLAY_FILE)));
        Launch {
            program: call.program.clone().unwrap_or_else(|| "grok".to_owned()),
            args: args(call),
            env,
            files: vec![
                (PROMPT_FILE.to_owned(), call.prompt.as_bytes().to_vec()),
                (OVERLAY_FILE.to_owned(), OVERLAY.as_bytes().to_vec()),
            ],
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        // The prompt goes by file: it reads none from stdin.
        Box::new(
            EventReader::<GrokReader>::new("", names(call, &["--output-format"])).on(Terms::of(call, &[])),
        )
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<GrokReader>::offline_reader()
    }
}

fn in_scratch(call: &Call, name: &str) -> String {
    format!("{}/{name}", call.scratch.trim_end_matches('/'))
}

/// How a user may choose what is allowed.
const PERMISSIONS: &[&str] = &["--always-approve", "--yolo", "--permission-mode", "--allow", "--tools"];

/// The command line. The user's own arguments come last; what they set is not set before, because the client
/// refuses a flag that is given twice.
fn args(call: &Call) -> Vec<String> {
    let mut args = Vec::new();
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    if !names(call, &["-p", "--single", "--prompt-file", "--prompt-json"]) {
        put("--prompt-file", &in_scratch(call, PROMPT_FILE));
    }
    if !names(call, &["--output-format"]) {
        put("--output-format", "streaming-messages-json");
    }
    if !call.system.is_empty() && !names(call, &["--rules"]) {
        put("--rules", &call.system);
    }
    if let Some(model) = call.model.as_ref().filter(|_| !names(call, &["-m", "--model"])) {
        put("--model", model);
    }
    if !names(call, &["--output-format", "--include-partial-messages"]) {
        args.push("--include-partial-messages".to_owned());
    }
    // Between asking and allowing all there is nothing that works without a person: the edit-accepting mode and
    // allow rules still ask about a shell command that writes a file, and a question ends the whole call.
    if !names(call, PERMISSIONS) {
        args.push("--always-approve".to_owned());
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::ReaderEvent;

    fn value<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
        let at = args.iter().position(|a| a == flag)?;
        args.get(at + 1).map(String::as_str)
    }

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
        let launch = Grok.launch(&call);
        assert_eq!(launch.program, "grok");
        assert_eq!(value(&launch.args, "--output-format"), Some("streaming-messages-json"));
        assert_eq!(value(&launch.args, "--rules"), Some("---RALPH_STATUS---"));
        assert_eq!(value(&launch.args, "--model"), Some("grok-4.6"));
        assert!(launch.args.contains(&"--always-approve".to_owned()));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--max-turns", "9"]);
        assert!(!launch.args.iter().any(|a| a.contains("do the work")));
    }

    #[test]
    fn the_prompt_goes_by_file_and_stdin_is_closed() {
        let launch = Grok.launch(&call());
        assert_eq!(value(&launch.args, "--prompt-file"), Some("/run/call/prompt.md"));
        assert_eq!(launch.files[0], ("prompt.md".to_owned(), b"do the work".to_vec()));
        let mut out = Vec::new();
        Grok.reader(&call()).start(&mut out);
        assert_eq!(out, [ReaderEvent::CloseStdin]);
    }

    #[test]
    fn its_own_retries_are_turned_down() {
        let launch = Grok.launch(&call());
        assert!(launch.env.contains(&("GROK_CONFIG_PATH".into(), "/run/call/grok-overlay.json".into())));
        let overlay: serde_json::Value = serde_json::from_slice(&launch.files[1].1).unwrap();
        assert_eq!(overlay["models"]["max_retries"], 0);
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--prompt-file", "p", "--output-format=plain", "--permission-mode", "auto", "-m", "mine"];
        let args = args.map(str::to_owned).to_vec();
        let call = Call { args: args.clone(), model: Some("ours".into()), ..call() };
        assert_eq!(Grok.launch(&call).args, args);
    }
}
