//! Codex: how it is started. `codex/reader.rs` understands what it prints. Every call is a fresh conversation; where
//! the user's own arguments resume one (`-- resume --last`), it reports the tokens of all its calls together, and
//! they are booked as reported: too much is safe, too little is not.

mod event;
mod fault;
mod legacy;
mod reader;
mod tool;

pub use reader::CodexReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

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

/// How a user may choose what it is allowed to do.
const PERMISSIONS: &[&str] = &[
    "-s",
    "--sandbox",
    "--dangerously-bypass-approvals-and-sandbox",
    "--yolo",
    "--full-auto",
    "--approve-for-me",
];

/// What makes it go on with an earlier conversation.
const RESUMING: &[&str] = &["resume"];

/// The adapter.
pub struct Codex;

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn can(&self) -> Abilities {
        // No system prompt: `developer_instructions` can be set but not added to, and what the user wrote there
        // would be lost without a word.
        Abilities { shows_tool_start: true, resumes: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        Launch {
            program: call.program.clone().unwrap_or_else(|| "codex".to_owned()),
            args: args(call),
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(EventReader::<CodexReader>::new(&call.prompt, false).on(Terms::of(call, RESUMING)))
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<CodexReader>::offline_reader()
    }
}

/// The command line. The user's own arguments come last; what they set is not set before, because it refuses a
/// flag that is given twice. Without a prompt among them it reads the one on stdin, also after `resume`.
fn args(call: &Call) -> Vec<String> {
    let mut args = vec!["exec".to_owned()];
    let flags = ["--json", "--skip-git-repo-check"];
    args.extend(flags.into_iter().filter(|flag| !names(call, &[flag])).map(str::to_owned));
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    SETTINGS.iter().for_each(|setting| put("-c", setting));
    // By itself it may only read. This mode lets it write in the workspace and in the temporary directory, with
    // no network for its commands, and never asks. It keeps `.git` read-only, so the agent cannot commit: ralph
    // looks at the tree, not at commits. A user who wants more says so: `-- --add-dir .git` for commits,
    // `-- --dangerously-bypass-approvals-and-sandbox` for everything.
    let chosen = names(call, PERMISSIONS) || call.args.iter().any(|arg| arg.contains("sandbox_mode="));
    if !chosen {
        put("--sandbox", "workspace-write");
    }
    if let Some(model) = call.model.as_ref().filter(|_| !names(call, &["-m", "--model"])) {
        put("--model", model);
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::ReaderEvent;

    fn launched(args: &[&str]) -> Vec<String> {
        let args = args.iter().map(|a| (*a).to_owned()).collect();
        let call =
            Call { prompt: "do the work".into(), model: Some("gpt-5".into()), args, ..Call::default() };
        Codex.launch(&call).args
    }

    fn value<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
        let at = args.iter().position(|a| a == flag)?;
        args.get(at + 1).map(String::as_str)
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let args = launched(&["resume", "--last"]);
        assert_eq!(args[0], "exec");
        assert!(args.contains(&"--json".to_owned()) && args.contains(&"--skip-git-repo-check".to_owned()));
        assert_eq!(value(&args, "--sandbox"), Some("workspace-write"));
        assert_eq!(value(&args, "--model"), Some("gpt-5"));
        assert!(args.contains(&"analytics.enabled=false".to_owned()));
        assert_eq!(args[args.len() - 2..], ["resume", "--last"]);
        assert!(!args.iter().any(|a| a.contains("do the work") || a.contains("dangerously")));
        assert!(!args.iter().any(|a| a.contains("model_provider") || a.contains("base_url")));
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
        assert_eq!((value(&args, "--model"), value(&args, "-m")), (None, Some("o3")));
    }

    #[test]
    fn the_prompt_is_sent_and_stdin_closed() {
        let call = Call { prompt: "go".into(), ..Call::default() };
        let mut out = Vec::new();
        Codex.reader(&call).start(&mut out);
        assert_eq!(out, [ReaderEvent::Send(b"go".to_vec()), ReaderEvent::CloseStdin]);
    }
}
