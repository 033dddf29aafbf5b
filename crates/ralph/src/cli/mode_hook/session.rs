//! One session of Claude Code: interactive on a terminal, otherwise headless with what ralph's hooks say on stderr.

use crate::cli::hook::plugin::{self, Plugin};
use crate::cli::resolve::Resolved;
use crate::cli::{Here, agent};
use crate::env::SESSION;
use crate::plain::plain;
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_agents::{AgentInfo, Call};
use ralph_engine::session::Handover;
use ralph_rules::money::Micro;
use ralph_rules::prompt::protocol;
use ralph_rules::record::AgentChoice;
use ralph_rules::state::State;
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What makes a call headless, as the adapter begins its command line.
const HEADLESS: &[&str] =
    &["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"];
/// Ends a turn after so many answers of a hook in a row without a tool call; 0 switches it off. ralph has its own limits.
const CAP: (&str, &str) = ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
/// How the client is told to give up on a provider at once, because a loop waits instead. Nobody waits here but itself.
const RETRIES: &str = "CLAUDE_CODE_MAX_RETRIES";
/// A longer prompt does not fit into an argument.
const LONGEST_ARGUMENT: usize = 64 << 10;

/// A session that is to be started.
pub struct Session {
    id: String,
    info: &'static AgentInfo,
    choice: AgentChoice,
    env: Vec<(OsString, OsString)>,
    budget: Micro,
    dir: PathBuf,
    plugin: PathBuf,
    ralph: PathBuf,
    interactive: bool,
}

impl Session {
    /// For this run.
    pub fn of(resolved: &Resolved, id: &str, here: &Here) -> Result<Session, Problem> {
        let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let binding = resolved.deps.caller(0, false);
        Ok(Session {
            id: id.to_owned(),
            info: binding.agent,
            choice: resolved.plan.agent.clone(),
            env: binding.env.clone(),
            budget: resolved.plan.policy.max_cost,
            dir: here.workspace.clone(),
            plugin: here.home()?.run(id).join("plugin"),
            ralph: agent::own_program()?,
            interactive,
        })
    }

    /// Runs it to its end, however that comes about: what the run is worth is in its journal.
    pub fn run(&self, call: &Handover, state: &State, quiet: bool) -> Result<(), Problem> {
        Plugin::current().write(&self.plugin).map_err(|error| {
            Problem::new(Code::Busy, format!("cannot write {}", self.plugin.display())).cause(&error)
        })?;
        let mut command = self.command(call, state);
        let cannot = |error: &std::io::Error| {
            Problem::new(Code::Unavailable, format!("cannot start {}", self.info.title)).cause(error)
        };
        if self.interactive {
            command.status().map_err(|error| cannot(&error))?;
            return Ok(());
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| cannot(&error))?;
        if let Some(mut input) = child.stdin.take() {
            // One that does not read its prompt says why, or never calls a hook.
            let _ = input.write_all(call.prompt.as_bytes());
        }
        for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).split(b'\n')) {
            let told = line.ok().and_then(|line| words(&line)).filter(|_| !quiet);
            told.into_iter().for_each(|told| say(&format!("{}\n", plain(&told))));
        }
        child.wait().map(drop).map_err(|error| cannot(&error))
    }

    /// The plugin was for this session only.
    pub fn clean_up(&self) {
        let _ = plugin::remove(&self.plugin);
    }

    fn command(&self, call: &Handover, state: &State) -> Command {
        let system = state.start.as_deref().map(protocol).unwrap_or_default();
        let line = self.info.launch(&Call {
            system,
            model: self.choice.model.clone(),
            program: Some(self.choice.program.clone()),
            args: self.choice.args.clone(),
            budget: Some(self.budget).filter(|_| !self.interactive),
            ..Call::default()
        });
        let mut command = Command::new(&line.program);
        if self.interactive {
            command.arg(argument(&call.prompt));
        }
        command.args(["--session-id", &self.id, "--plugin-dir"]).arg(plugin::of(&self.plugin));
        let own = line.args.iter().map(String::as_str);
        let headless = own.clone().zip(HEADLESS).take_while(|(own, known)| own == *known).count();
        command.args(own.skip(if self.interactive { headless } else { 0 }));
        for name in &line.env_remove {
            command.env_remove(name);
        }
        let env = line.env.iter().filter(|(name, _)| name != RETRIES);
        command.envs(env.map(|(name, value)| (name, value))).env(CAP.0, CAP.1);
        // Last, so that the user's own settings win.
        command.envs(self.env.iter().cloned()).env("RALPH_BIN", &self.ralph).env(SESSION, &self.id);
        command.current_dir(&self.dir);
        command
    }
}

/// A prompt as the first argument: no flag, and no longer than one may be.
fn argument(prompt: &str) -> String {
    let mut end = prompt.len().min(LONGEST_ARGUMENT);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{}", if prompt.starts_with('-') { "\n" } else { "" }, prompt.get(..end).unwrap_or_default())
}

/// What one of ralph's hooks says to the user.
fn words(line: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(line).ok()?;
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let said = text("content").filter(|_| text("type") == Some("system"))?;
    said.split_once(" says: ")
        .map(|(_, said)| said)
        .filter(|said| said.starts_with("ralph"))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_our_hooks_say_is_shown() {
        let event = |content: &str| {
            serde_json::json!({"type": "system", "subtype": "informational", "content": content}).to_string()
        };
        let shown = |content: &str| words(event(content).as_bytes());
        assert_eq!(shown("Stop says: ralph: iteration 2").as_deref(), Some("ralph: iteration 2"));
        assert_eq!(shown("Stop says: another hook"), None);
        assert_eq!(shown("anything"), None);
        assert_eq!(words(b"{"), None);
        assert_eq!(words(br#"{"type":"assistant","content":"Stop says: ralph: done"}"#), None);
    }

    #[test]
    fn a_prompt_is_never_a_flag_nor_too_long() {
        assert_eq!(argument("--help me"), "\n--help me");
        assert_eq!(argument("Fix it"), "Fix it");
        assert!(argument(&"ä".repeat(LONGEST_ARGUMENT)).len() <= LONGEST_ARGUMENT);
    }
}
