//! Gemini CLI: how it is started. `gemini/reader.rs` understands what it prints. Every call is a fresh
//! conversation; it adds up nothing over calls, so what a resumed one reports is its own too.

mod event;
mod fault;
mod reader;
mod stderr;

pub use crate::gemini::reader::GeminiReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};

/// Tools allowed without asking, beside those that only read. Not the tools that write files: the edit-accepting
/// mode lets them write inside the workspace and nowhere else.
const ALLOWED: &str =
    "run_shell_command,web_fetch,google_web_search,read_many_files,write_todos,activate_skill";

/// Set for every call. Without trust it refuses to start in a folder that nobody opened by hand; `--skip-trust`
/// says the same and is unknown to older versions. Its retries (ten tries, 200 seconds) and its usage statistics
/// can only be turned down in the user's or the system's settings, which are not ours to write; it looks for
/// updates in interactive sessions only.
const ENV: &[(&str, &str)] = &[("GEMINI_CLI_TRUST_WORKSPACE", "true")];

/// The adapter.
pub struct Gemini;

impl Agent for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    /// Tokens come at the end only, dollars never. A system prompt could be replaced, not added to.
    fn can(&self) -> Abilities {
        Abilities { shows_tool_start: true, resumes: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: call.program.clone().unwrap_or_else(|| "gemini".to_owned()),
            args: args(call),
            env: ENV.iter().map(pair).collect(),
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(EventReader::<GeminiReader>::new(&call.prompt, names(call, &["--output-format", "-o"])))
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<GeminiReader>::offline_reader()
    }
}

/// The command line. A flag given twice becomes a list that the client cannot use, so nothing is set that the user
/// sets. The list of tools takes every bare word after it, so it never comes last.
fn args(call: &Call) -> Vec<String> {
    let mut args = Vec::new();
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    let permitted = names(call, &["--approval-mode", "--yolo", "-y"]);
    if !permitted && !names(call, &["--allowed-tools"]) {
        put("--allowed-tools", ALLOWED);
    }
    if !permitted {
        put("--approval-mode", "auto_edit");
    }
    if !names(call, &["--output-format", "-o"]) {
        put("--output-format", "stream-json");
    }
    if let Some(model) = call.model.as_deref().filter(|_| !names(call, &["--model", "-m"])) {
        put("--model", model);
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::ReaderEvent;

    fn called(args: &[&str]) -> Call {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Call { prompt: "do the work".into(), model: Some("gemini-2.5-pro".into()), args, ..Call::default() }
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let launch = Gemini.launch(&called(&["--include-directories", "../lib"]));
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
        assert!(!Gemini.launch(&called(&[])).args.iter().any(|arg| arg.contains("yolo")));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let own = ["--yolo", "-o", "json", "--model=gemini-flash"];
        assert_eq!(Gemini.launch(&called(&own)).args, own);
        let args = Gemini.launch(&called(&["--allowed-tools", "glob"])).args;
        assert_eq!(args.iter().filter(|arg| *arg == "--allowed-tools").count(), 1);
        assert!(args.contains(&"auto_edit".to_owned()));
    }

    #[test]
    fn the_prompt_is_sent_and_stdin_closed() {
        let mut out = Vec::new();
        Gemini.reader(&called(&[])).start(&mut out);
        assert_eq!(out, [ReaderEvent::Send(b"do the work".to_vec()), ReaderEvent::CloseStdin]);
    }
}
