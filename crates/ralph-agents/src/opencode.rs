//! opencode: how it is started. `opencode/reader.rs` understands what it prints. Every call is a fresh conversation;
//! costs are told per step, so what a resumed one reports is its own too.

mod event;
mod fault;
mod reader;

pub use crate::opencode::reader::OpencodeReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// Set for every call: the client that started is the one that ends. Its retries (nine tries, up to 90 seconds,
/// without a word) have no switch.
const ENV: &[(&str, &str)] = &[("OPENCODE_DISABLE_AUTOUPDATE", "1")];

/// The adapter.
pub struct Opencode;

impl Agent for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    /// A tool is shown when it ended, not when it starts.
    fn can(&self) -> Abilities {
        Abilities { live_usage: true, cost: true, resumes: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: call.program.clone().unwrap_or_else(|| "opencode".to_owned()),
            args: args(call),
            env: ENV.iter().map(pair).collect(),
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(
            EventReader::<OpencodeReader>::new(&call.prompt, names(call, &["--format"]))
                .on(Terms::of(call, &[])),
        )
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<OpencodeReader>::offline_reader()
    }
}

/// The command line. A flag given twice becomes a list that the client cannot use, so nothing is set that the user
/// sets. Not `--auto`: without it the client lets tools work inside the workspace as the user's configuration
/// says, and refuses what it would have to ask for, such as files elsewhere.
fn args(call: &Call) -> Vec<String> {
    let mut args = vec!["run".to_owned()];
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    if !names(call, &["--format"]) {
        put("--format", "json");
    }
    // Without a title it asks the model for one, which costs and is in no account.
    if !names(call, &["--title", "--session", "-s", "--continue", "-c"]) {
        put("--title", "ralph");
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
        Call { prompt: "do the work".into(), model: Some("a/b".into()), args, ..Call::default() }
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let launch = Opencode.launch(&called(&["--agent", "build"]));
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
        assert_eq!(Opencode.launch(&called(&own)).args, want);
    }

    #[test]
    fn the_prompt_is_sent_and_stdin_closed() {
        let mut out = Vec::new();
        Opencode.reader(&called(&[])).start(&mut out);
        assert_eq!(out, [ReaderEvent::Send(b"do the work".to_vec()), ReaderEvent::CloseStdin]);
    }
}
