//! GitHub Copilot CLI: how it is started. `copilot/reader.rs` understands what it prints; its tokens are only in
//! a file that it writes at the end. Every call is a fresh conversation; of one that the user's own arguments
//! resume, the file counts what it counts, and that is booked.

mod event;
mod reader;
mod verdict;

pub use crate::copilot::reader::CopilotReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// Where it writes what it used.
const USAGE: &str = "usage.json";

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

/// Flags by which users choose permissions themselves.
const PERMISSIONS: &[&str] =
    &["--allow-all-tools", "--allow-all", "--yolo", "--allow-tool", "--assisted-approval"];

/// The adapter.
pub struct Copilot;

impl Agent for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn can(&self) -> Abilities {
        Abilities { shows_tool_start: true, resumes: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        Launch {
            program: call.program.clone().unwrap_or_else(|| "copilot".to_owned()),
            args: args(call),
            reports: if reports(call) { vec![USAGE.to_owned()] } else { Vec::new() },
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        let may_be_text = names(call, &["--output-format", "-s", "--silent"]);
        Box::new(EventReader::<CopilotReader>::new(&call.prompt, may_be_text).on(Terms::of(call, &[])))
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<CopilotReader>::offline_reader()
    }
}

fn reports(call: &Call) -> bool {
    !call.scratch.is_empty() && !names(call, &["--usage-output-file"])
}

/// The command line; the prompt comes on stdin, without `-p`.
fn args(call: &Call) -> Vec<String> {
    let mut args: Vec<String> = ALWAYS.iter().map(|arg| (*arg).to_owned()).collect();
    // All tools, since an allow list has no entry for a shell command that writes a file. What is left on: files
    // are only touched inside the workspace and the temporary directory, and web addresses are refused.
    if !names(call, PERMISSIONS) {
        args.push("--allow-all-tools".to_owned());
    }
    if reports(call) {
        args.extend(["--usage-output-file".to_owned(), format!("{}/{USAGE}", call.scratch)]);
    }
    if let Some(model) = call.model.as_deref().filter(|_| !names(call, &["--model"])) {
        args.extend(["--model".to_owned(), model.to_owned()]);
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
        let at = args.iter().position(|a| a == flag)?;
        args.get(at + 1).map(String::as_str)
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = Call {
            prompt: "do the work".into(),
            model: Some("gpt-5".into()),
            scratch: "/run/call".into(),
            args: vec!["--add-dir".into(), "/x".into()],
            ..Call::default()
        };
        let launch = Copilot.launch(&call);
        assert_eq!((launch.program.as_str(), launch.reports), ("copilot", vec!["usage.json".to_owned()]));
        assert_eq!(after(&launch.args, "--output-format"), Some("json"));
        assert_eq!(after(&launch.args, "--usage-output-file"), Some("/run/call/usage.json"));
        assert_eq!(after(&launch.args, "--model"), Some("gpt-5"));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--add-dir", "/x"]);
        assert!(launch.args.contains(&"--no-auto-update".to_owned()));
        assert!(!launch.args.iter().any(|a| a == "-p" || a.contains("do the work")));
    }

    #[test]
    fn paths_and_addresses_stay_guarded() {
        let args = Copilot.launch(&Call::default()).args;
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
        let launch = Copilot.launch(&call);
        assert!(!launch.args.contains(&"--allow-all-tools".to_owned()));
        assert_eq!(after(&launch.args, "--usage-output-file"), Some("mine.json"));
        assert!(launch.reports.is_empty() && !launch.args.contains(&"other".to_owned()));
    }
}
