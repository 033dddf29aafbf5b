//! Goose: how it is started. `goose/reader.rs` understands what it prints, `goose/fault.rs` how it words its errors.
//! Every call is a fresh conversation that is not kept; where the user's own arguments go on with one (`-r`, `-n`), it
//! reports the tokens of all its calls together, and they are booked as reported.

mod event;
mod fault;
mod reader;

pub use reader::GooseReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// Set for every call. Its retries have no setting: three per request, seven seconds in all, silent.
const ENV: &[(&str, &str)] = &[
    // The modes that ask end the whole call where nobody is there to answer, and there is none between asking and
    // allowing: this is the one that works without a person.
    ("GOOSE_MODE", "auto"),
    ("GOOSE_TELEMETRY_OFF", "1"),
    // A title for the conversation is a request of its own, and paid.
    ("GOOSE_DISABLE_SESSION_NAMING", "true"),
];

/// How a user may choose a conversation that is kept; the client refuses to be told both.
const KEPT: &[&str] = &["--no-session", "-n", "--name", "-r", "--resume", "--session-id", "--path"];

/// What makes it go on with an earlier conversation.
const RESUMING: &[&str] = &["--resume", "-r"];

/// The adapter.
pub struct Goose;

impl Agent for Goose {
    fn name(&self) -> &'static str {
        "goose"
    }

    fn can(&self) -> Abilities {
        Abilities { shows_tool_start: true, system_prompt: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: call.program.clone().unwrap_or_else(|| "goose".to_owned()),
            args: args(call),
            env: ENV.iter().map(pair).collect(),
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(
            EventReader::<GooseReader>::new(&prompt(call), names(call, &["--output-format"]))
                .on(Terms::of(call, RESUMING)),
        )
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<GooseReader>::offline_reader()
    }
}

/// What is sent. It takes only one system text: where the user brings theirs, ours goes along with the prompt.
fn prompt(call: &Call) -> String {
    if call.system.is_empty() || !names(call, &["--system"]) {
        return call.prompt.clone();
    }
    format!("{}\n\n{}", call.prompt, call.system)
}

/// The command line. The user's own arguments come last; what they set is not set before, because it refuses a
/// flag that is given twice. The user's own extensions are loaded as ever; the one that edits files and runs
/// commands is added in case they have switched it off.
fn args(call: &Call) -> Vec<String> {
    let mut args: Vec<String> = ["run", "-i", "-", "--with-builtin", "developer"].map(str::to_owned).to_vec();
    if !names(call, &["-q", "--quiet"]) {
        args.push("--quiet".to_owned());
    }
    if !names(call, KEPT) {
        args.push("--no-session".to_owned());
    }
    let mut put = |flag: &str, value: &str| {
        if !value.is_empty() && !names(call, &[flag]) {
            args.extend([flag.to_owned(), value.to_owned()]);
        }
    };
    put("--output-format", "stream-json");
    put("--system", &call.system);
    put("--model", call.model.as_deref().unwrap_or_default());
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::ReaderEvent;

    fn call(args: &[&str]) -> Call {
        Call {
            prompt: "do the work".into(),
            system: "---RALPH_STATUS---".into(),
            model: Some("gpt-4o".into()),
            args: args.iter().map(|a| (*a).to_owned()).collect(),
            ..Call::default()
        }
    }

    fn value<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
        let at = args.iter().position(|a| a == flag)?;
        args.get(at + 1).map(String::as_str)
    }

    fn sent(call: &Call) -> Vec<ReaderEvent> {
        let mut out = Vec::new();
        Goose.reader(call).start(&mut out);
        out
    }

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = call(&["--max-turns", "9"]);
        let launch = Goose.launch(&call);
        let args = &launch.args;
        assert_eq!((args[0].as_str(), value(args, "-i")), ("run", Some("-")));
        assert_eq!(value(args, "--output-format"), Some("stream-json"));
        assert_eq!(value(args, "--system"), Some("---RALPH_STATUS---"));
        assert_eq!(value(args, "--model"), Some("gpt-4o"));
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
        let args = Goose.launch(&call).args;
        for flag in ["--no-session", "--quiet", "--output-format"] {
            assert!(!args.contains(&flag.to_owned()), "{flag}");
        }
        assert_eq!(args.iter().filter(|a| *a == "--model").count(), 1);
    }

    #[test]
    fn a_system_text_of_the_users_own_does_not_lose_ours() {
        let call = call(&["--system", "be brief"]);
        assert_eq!(value(&Goose.launch(&call).args, "--system"), Some("be brief"));
        let text = b"do the work\n\n---RALPH_STATUS---".to_vec();
        assert_eq!(sent(&call), [ReaderEvent::Send(text), ReaderEvent::CloseStdin]);
    }
}
