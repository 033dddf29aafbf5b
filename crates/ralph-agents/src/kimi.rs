//! Kimi Code: how it is started. `kimi/reader.rs` understands what it prints. It takes its prompt only as an
//! argument; one that is too long for that is put into a file, and it is asked to read it. Every call is a fresh
//! conversation.

mod event;
mod reader;

pub use crate::kimi::reader::KimiReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};

/// Set for every call.
const ENV: &[(&str, &str)] = &[
    // By itself it tries ten times over two and a half minutes. We wait instead, visibly.
    ("KIMI_LOOP_MAX_ATTEMPTS_PER_STEP", "2"),
    // No update, no telemetry in the middle of a run: the client that started is the one that ends.
    ("KIMI_CODE_NO_AUTO_UPDATE", "1"),
    ("KIMI_DISABLE_TELEMETRY", "1"),
];

/// The longest prompt that is passed as an argument: half of what Linux takes for one.
const LONGEST: usize = 64 << 10;
/// The file of a longer one.
const PROMPT: &str = "prompt.md";

/// The adapter.
pub struct Kimi;

impl Agent for Kimi {
    fn name(&self) -> &'static str {
        "kimi"
    }

    /// No tool start: it prints a tool's use only when the tool has ended. No usage of any kind.
    fn can(&self) -> Abilities {
        Abilities { resumes: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let by_file = by_file(call);
        Launch {
            program: call.program.clone().unwrap_or_else(|| "kimi".to_owned()),
            args: args(call, by_file),
            env: ENV.iter().map(pair).collect(),
            files: if by_file {
                vec![(PROMPT.to_owned(), call.prompt.clone().into_bytes())]
            } else {
                Vec::new()
            },
            ..Launch::default()
        }
    }

    /// Its stdin is closed at once: the prompt is not sent there.
    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(EventReader::<KimiReader>::new("", names(call, &["--output-format"])))
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<KimiReader>::offline_reader()
    }
}

/// Whether the prompt goes into a file: too long, or with a byte that no argument can hold.
fn by_file(call: &Call) -> bool {
    call.prompt.len() > LONGEST || call.prompt.contains('\0')
}

/// The command line. With a prompt it always decides about its tools itself, whatever its configuration says, and
/// takes no flag that would make it ask: there is nothing between that and no tools at all.
fn args(call: &Call, by_file: bool) -> Vec<String> {
    let mut args = Vec::new();
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    if by_file {
        put("--add-dir", &call.scratch);
        put("-p", &format!("Read the whole file {}/{PROMPT} and do what it says.", call.scratch));
    } else {
        put("-p", &call.prompt);
    }
    if !names(call, &["--output-format"]) {
        put("--output-format", "stream-json");
    }
    if let Some(model) = call.model.as_deref().filter(|_| !names(call, &["-m", "--model"])) {
        put("-m", model);
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::ReaderEvent;

    fn call(prompt: String) -> Call {
        Call { prompt, model: Some("k2".into()), scratch: "/run/call".into(), ..Call::default() }
    }

    #[test]
    fn a_short_prompt_is_an_argument() {
        let launch = Kimi.launch(&call("do the work".into()));
        assert_eq!(launch.program, "kimi");
        assert_eq!(launch.args, ["-p", "do the work", "--output-format", "stream-json", "-m", "k2"]);
        assert!(launch.files.is_empty());
        assert!(launch.env.contains(&("KIMI_LOOP_MAX_ATTEMPTS_PER_STEP".into(), "2".into())));
    }

    #[test]
    fn a_prompt_that_fits_no_argument_is_a_file() {
        for prompt in ["x".repeat(LONGEST + 1), "a\0b".to_owned()] {
            let launch = Kimi.launch(&call(prompt.clone()));
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
        assert_eq!(Kimi.launch(&call).args, ["-p", "go", "-m", "mine", "--output-format", "text"]);
    }

    #[test]
    fn nothing_is_sent_and_stdin_is_closed() {
        let mut out = Vec::new();
        Kimi.reader(&call("go".into())).start(&mut out);
        assert_eq!(out, [ReaderEvent::CloseStdin]);
    }
}
