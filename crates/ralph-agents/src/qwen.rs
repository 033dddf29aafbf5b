//! Qwen Code: how it is started. It speaks Claude's dialect with an accent, which `qwen/reader.rs` knows.
//! Every call is a fresh conversation. Where the user's own arguments resume one, its account is that of the
//! whole conversation; it is booked as told, which may be too much and never too little.

mod reader;

pub use reader::QwenReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// Tools allowed without asking, beside the file tools of the edit-accepting mode.
const ALLOWED: &str = "run_shell_command,web_fetch";

/// Defaults that are weaker than every settings file of the user: no update and no reports in the middle of a
/// run, and no waiting of its own (by itself it waits ten times, for up to minutes; we wait instead, visibly).
const DEFAULTS: &str = r#"{"model":{"generationConfig":{"maxRetries":0}},"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false}}"#;
const DEFAULTS_FILE: &str = "qwen-defaults.json";

/// What makes it go on with an earlier conversation.
const RESUMING: &[&str] = &["--resume", "-r", "--continue", "-c"];

/// The adapter.
pub struct Qwen;

impl Agent for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
    }

    fn can(&self) -> Abilities {
        Abilities { live_usage: true, shows_tool_start: true, system_prompt: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let mut launch = Launch {
            program: call.program.clone().unwrap_or_else(|| "qwen".to_owned()),
            args: args(call),
            ..Launch::default()
        };
        // A warning that says what this adapter decided on purpose.
        launch.env.push(("QWEN_CODE_SUPPRESS_YOLO_WARNING".to_owned(), "1".to_owned()));
        if !call.scratch.is_empty() {
            let path = format!("{}/{DEFAULTS_FILE}", call.scratch.trim_end_matches('/'));
            launch.env.push(("QWEN_CODE_SYSTEM_DEFAULTS_PATH".to_owned(), path));
            launch.files.push((DEFAULTS_FILE.to_owned(), DEFAULTS.as_bytes().to_vec()));
        }
        launch
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(
            EventReader::<QwenReader>::new(&call.prompt, names(call, &["-o", "--output-format"]))
                .on(Terms::of(call, RESUMING)),
        )
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<QwenReader>::offline_reader()
    }
}

/// The command line. The user's own arguments come last and win; what they set is not set before, because
/// the client makes a list of a flag that is given twice.
fn args(call: &Call) -> Vec<String> {
    let mut args = Vec::new();
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    if !names(call, &["-o", "--output-format"]) {
        put("--output-format", "stream-json");
    }
    if !names(call, &["--approval-mode", "-y", "--yolo"]) {
        put("--approval-mode", "auto-edit");
    }
    if !names(call, &["--allowed-tools"]) {
        put("--allowed-tools", ALLOWED);
    }
    if !call.system.is_empty() && !names(call, &["--append-system-prompt"]) {
        put("--append-system-prompt", &call.system);
    }
    if let Some(model) = call.model.as_ref().filter(|_| !names(call, &["-m", "--model"])) {
        put("--model", model);
    }
    if !names(call, &["-o", "--output-format", "--include-partial-messages"]) {
        args.push("--include-partial-messages".to_owned());
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
        let at = args.iter().position(|a| a == flag)?;
        args.get(at + 1).map(String::as_str)
    }

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
        let launch = Qwen.launch(&call);
        assert_eq!(launch.program, "qwen");
        assert_eq!(value(&launch.args, "--output-format"), Some("stream-json"));
        assert_eq!(value(&launch.args, "--approval-mode"), Some("auto-edit"));
        assert_eq!(value(&launch.args, "--append-system-prompt"), Some("---RALPH_STATUS---"));
        assert_eq!(value(&launch.args, "--model"), Some("qwen3-coder"));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--max-session-turns", "9"]);
        assert!(!launch.args.iter().any(|a| a.contains("do the work") || a.contains("yolo")));
    }

    #[test]
    fn its_own_retries_are_turned_down_by_the_weakest_settings() {
        let launch = Qwen.launch(&Call { scratch: "/run/call/".into(), ..Call::default() });
        let path = launch.env.iter().find(|(name, _)| name == "QWEN_CODE_SYSTEM_DEFAULTS_PATH").unwrap();
        assert_eq!(path.1, "/run/call/qwen-defaults.json");
        let (name, bytes) = &launch.files[0];
        assert_eq!(name, "qwen-defaults.json");
        let defaults: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(defaults["model"]["generationConfig"]["maxRetries"], 0);
        assert_eq!(defaults["general"]["enableAutoUpdate"], false);
        // Without a directory of its own there is no file to name.
        assert!(Qwen.launch(&Call::default()).files.is_empty());
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["-o", "text", "--yolo", "--allowed-tools=read_file", "-m", "mine"];
        let call =
            Call { args: args.map(str::to_owned).to_vec(), model: Some("ours".into()), ..Call::default() };
        assert_eq!(Qwen.launch(&call).args, args);
    }
}
