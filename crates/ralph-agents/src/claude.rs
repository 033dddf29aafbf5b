//! Claude Code: how it is started. `claude/reader.rs` understands what it prints; `sim.rs` reuses it.
//! Every call is a fresh conversation: a resumed one ignores a changed system prompt and, in new versions,
//! reports the cost of all its calls together.

pub(crate) mod accent;
pub(crate) mod event;
pub(crate) mod meter;
pub(crate) mod opening;
pub(crate) mod reader;
pub(crate) mod tools;
pub(crate) mod used;
pub(crate) mod verdict;

use crate::args::names;
use crate::claude::reader::ClaudeReader;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;
use ralph_rules::money::Micro;

/// Tools allowed without asking. Not the bare `Write` and `Edit`: allowed by name they also write outside the
/// workspace, while the edit-accepting mode lets them write inside it and nowhere else.
pub(crate) const ALLOWED: &str = "Bash,Read,Glob,Grep,LS,TodoWrite,Task,WebFetch,WebSearch";

/// Set for every call.
const ENV: &[(&str, &str)] = &[
    // No update, no telemetry in the middle of a run: the client that started is the one that ends.
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    // By itself it tries eleven times over three minutes, which looks like silence. We wait instead, visibly.
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
];

/// Left behind by a surrounding session of the same client, which would make it refuse to start inside.
const ENV_REMOVE: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

/// What makes it go on with an earlier conversation.
const RESUMING: &[&str] = &["--resume", "-r", "--continue", "-c"];

/// The adapter.
pub struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn can(&self) -> Abilities {
        Abilities {
            live_usage: true,
            cost: true,
            shows_tool_start: true,
            native_budget: true,
            system_prompt: true,
            ..Abilities::default()
        }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: call.program.clone().unwrap_or_else(|| "claude".to_owned()),
            args: args(call),
            env: ENV.iter().map(pair).collect(),
            env_remove: ENV_REMOVE.iter().map(|name| (*name).to_owned()).collect(),
            ..Launch::default()
        }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(
            EventReader::<ClaudeReader>::new(&call.prompt, names(call, &["--output-format"]))
                .on(Terms::of(call, RESUMING)),
        )
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<ClaudeReader>::offline_reader()
    }
}

/// The command line. The user's own arguments come last and win; no prompt in it, which could overflow it and
/// would be swallowed by the variadic `--allowedTools`.
fn args(call: &Call) -> Vec<String> {
    let mut args: Vec<String> =
        ["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
            .map(str::to_owned)
            .to_vec();
    let mut put = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
    if !names(call, &["--allowedTools", "--allowed-tools"]) {
        put("--allowedTools", ALLOWED);
    }
    if !call.system.is_empty() {
        put("--append-system-prompt", &call.system);
    }
    if let Some(model) = &call.model {
        put("--model", model);
    }
    if let Some(budget) = call.budget {
        put("--max-budget-usd", &dollars(budget));
    }
    if !names(call, &["--permission-mode", "--dangerously-skip-permissions"]) {
        put("--permission-mode", "acceptEdits");
    }
    args.extend(call.args.iter().cloned());
    args
}

/// Dollars to the last micro-dollar; never zero, which the client may take for no limit.
pub(crate) fn dollars(amount: Micro) -> String {
    let micro = amount.0.max(1);
    let digits = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    let short = digits.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
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
            model: Some("opus".into()),
            budget: Some(Micro(500_000)),
            args: vec!["--max-turns".into(), "9".into()],
            ..Call::default()
        };
        let launch = Claude.launch(&call);
        assert_eq!(launch.program, "claude");
        assert_eq!(value(&launch.args, "--output-format"), Some("stream-json"));
        assert_eq!(value(&launch.args, "--append-system-prompt"), Some("---RALPH_STATUS---"));
        assert_eq!(value(&launch.args, "--model"), Some("opus"));
        assert_eq!(value(&launch.args, "--max-budget-usd"), Some("0.5"));
        assert_eq!(value(&launch.args, "--permission-mode"), Some("acceptEdits"));
        assert_eq!(launch.args[launch.args.len() - 2..], ["--max-turns", "9"]);
        assert!(!launch.args.iter().any(|a| a.contains("do the work")));
        assert!(launch.env.contains(&("CLAUDE_CODE_MAX_RETRIES".into(), "1".into())));
    }

    #[test]
    fn no_tool_is_allowed_to_write_anywhere() {
        let launch = Claude.launch(&Call::default());
        let allowed: Vec<&str> = value(&launch.args, "--allowedTools").unwrap().split(',').collect();
        assert!(allowed.contains(&"Bash"));
        for tool in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
            assert!(!allowed.contains(&tool), "{tool}");
        }
        assert!(!launch.args.iter().any(|a| a.contains("dangerously")));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["--allowedTools", "Read", "--permission-mode=plan", "--output-format", "text"];
        let call = Call { args: args.map(str::to_owned).to_vec(), ..Call::default() };
        let args = Claude.launch(&call).args;
        assert_eq!(value(&args, "--allowedTools"), Some("Read"));
        assert!(!args.contains(&"--permission-mode".to_owned()));
    }

    #[test]
    fn the_budget_is_exact_and_never_zero() {
        for (micro, text) in [(500_000, "0.5"), (22_160, "0.02216"), (3_000_000, "3.0"), (0, "0.000001")] {
            assert_eq!(dollars(Micro(micro)), text);
        }
    }

    #[test]
    fn the_prompt_is_sent_and_stdin_closed() {
        use crate::seam::ReaderEvent;
        let call = Call { prompt: "go".into(), ..Call::default() };
        let mut out = Vec::new();
        Claude.reader(&call).start(&mut out);
        assert_eq!(out, [ReaderEvent::Send(b"go".to_vec()), ReaderEvent::CloseStdin]);
    }
}
