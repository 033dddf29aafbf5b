//! pi: how it is started. `pi/reader.rs` understands what it prints. Every call is a fresh conversation; it adds
//! up nothing over calls, so what a resumed one reports is its own too.

mod event;
mod reader;

pub use crate::pi::reader::PiReader;

use crate::args::names;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// Set for every call: no update check, no downloads, no telemetry. Its retries (three, 14 seconds together) are
/// a setting in the user's own file; no flag turns them down, and they are shown.
const ENV: &[(&str, &str)] = &[("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")];

/// The adapter.
pub struct Pi;

impl Agent for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn can(&self) -> Abilities {
        Abilities {
            live_usage: true,
            cost: true,
            shows_tool_start: true,
            resumes: true,
            system_prompt: true,
            ..Abilities::default()
        }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: call.program.clone().unwrap_or_else(|| "pi".to_owned()),
            args: args(call),
            env: ENV.iter().map(pair).collect(),
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(
            EventReader::<PiReader>::new(&call.prompt, names(call, &["--mode"])).on(Terms::of(call, &[])),
        )
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<PiReader>::offline_reader()
    }
}

/// The command line. There is no permission to give: pi asks for none, every tool it has may do anything. `-p` is
/// followed by a flag, since it takes a bare word after it for the prompt.
fn args(call: &Call) -> Vec<String> {
    let mut args = vec!["-p".to_owned()];
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    // Asked for first, so that a later `--mode` of the user's wins.
    put("--mode", "json");
    if !call.system.is_empty() {
        put("--append-system-prompt", &call.system);
    }
    if let Some(model) = call.model.as_deref().filter(|_| !names(call, &["--model"])) {
        put("--model", model);
    }
    args.extend(call.args.iter().cloned());
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_says_everything_but_the_prompt() {
        let call = Call {
            prompt: "do the work".into(),
            system: "be brief".into(),
            model: Some("fake/m".into()),
            args: vec!["--tools".into(), "read".into()],
            ..Call::default()
        };
        let launch = Pi.launch(&call);
        let expected = [
            "-p",
            "--mode",
            "json",
            "--append-system-prompt",
            "be brief",
            "--model",
            "fake/m",
            "--tools",
            "read",
        ];
        assert_eq!((launch.program.as_str(), launch.args), ("pi", expected.map(str::to_owned).to_vec()));
        assert!(launch.env.contains(&("PI_OFFLINE".into(), "1".into())));
        assert!(launch.files.is_empty());
    }

    #[test]
    fn the_users_model_is_not_set_twice() {
        let args = ["--model", "mine"].map(str::to_owned).to_vec();
        let call = Call { model: Some("other".into()), args, ..Call::default() };
        assert_eq!(Pi.launch(&call).args, ["-p", "--mode", "json", "--model", "mine"]);
    }
}
