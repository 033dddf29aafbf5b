//! The one builder of every agent's command line. The user's own arguments (`-- ARGS`) come last and win: what they set
//! is not set before them, because many clients refuse a flag that is given twice.

use crate::agent_info::{AgentInfo, Permissions};
use crate::call::{Call, Launch};
use ralph_rules::money::Micro;

/// The longest prompt that is passed as an argument: half of what Linux accepts for one.
const LONGEST_ARGUMENT: usize = 64 << 10;
/// The file a prompt is put into.
const PROMPT_FILE: &str = "prompt.md";

/// A command line in the making.
#[derive(Debug)]
pub struct LaunchBuilder<'c> {
    info: &'static AgentInfo,
    /// The call it is for.
    pub call: &'c Call,
    user_args: Vec<String>,
    launch: Launch,
}

impl<'c> LaunchBuilder<'c> {
    /// The program and the environment of this agent; no arguments yet.
    pub fn new(info: &'static AgentInfo, call: &'c Call) -> LaunchBuilder<'c> {
        let program = call.program.as_deref().or(info.program).unwrap_or_default().to_owned();
        let contained = if call.contained { info.contained.env } else { &[] };
        let env = info.env.iter().chain(contained);
        let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let env_remove = info.env_remove.iter().map(|name| (*name).to_owned()).collect();
        let launch = Launch { program, env, env_remove, ..Launch::default() };
        LaunchBuilder { info, call, user_args: call.args.clone(), launch }
    }

    /// Adds arguments as they are.
    pub fn args(&mut self, args: &[&str]) {
        self.launch.args.extend(args.iter().map(|arg| (*arg).to_owned()));
    }

    /// Adds the first of these spellings of a flag, unless the user set one of them.
    pub fn flag(&mut self, spellings: &[&str]) {
        if let Some(flag) = spellings.first().filter(|_| !self.call.sets(spellings)) {
            self.args(&[flag]);
        }
    }

    /// Adds the first of these spellings with a value, unless the value is empty or the user set one of them.
    pub fn option(&mut self, spellings: &[&str], value: &str) {
        if let Some(flag) = spellings.first().filter(|_| !value.is_empty() && !self.call.sets(spellings)) {
            self.args(&[flag, value]);
        }
    }

    /// Adds the agent's default permissions, as far as the user's arguments do not decide. Inside ralph's sandbox these are
    /// the arguments that make the agent leave the decision to it.
    pub fn permissions(&mut self) {
        let Permissions { defaults, read_only, .. } = &self.info.permissions;
        let contained = &self.info.contained;
        let looks_only = self.call.read_only && !read_only.is_empty();
        let given = if looks_only { read_only } else { defaults };
        let leaves_it = !looks_only || contained.no_read_only_mode;
        if self.call.contained && leaves_it && !contained.args.is_empty() && !self.call.sets(contained.unless)
        {
            return self.args(contained.args);
        }
        for permission in *given {
            if !self.call.sets(permission.unless) {
                self.args(permission.args);
            }
        }
    }

    /// Adds the model that was chosen.
    pub fn model(&mut self) {
        self.option(self.info.model.flags, self.call.model.as_deref().unwrap_or_default());
    }

    /// Adds the protocol text as a system prompt.
    pub fn system_prompt(&mut self, flag: &str) {
        self.option(&[flag], &self.call.system);
    }

    /// Adds what the call may cost at most.
    pub fn budget(&mut self, spellings: &[&str]) {
        if let Some(budget) = self.call.budget {
            self.option(spellings, &dollars(budget));
        }
    }

    /// Adds an option that names a file in the call's own directory.
    pub fn path_option(&mut self, flag: &str, name: &str) {
        self.option(&[flag], &self.scratch_path(name));
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: &str, value: String) {
        self.launch.env.push((name.to_owned(), value));
    }

    /// Writes a file into the call's own directory before the start.
    pub fn file(&mut self, name: &str, bytes: &[u8]) {
        self.launch.files.push((name.to_owned(), bytes.to_vec()));
    }

    /// The path of a file in the call's own directory.
    pub fn scratch_path(&self, name: &str) -> String {
        format!("{}/{name}", self.call.scratch.trim_end_matches('/'))
    }

    /// Writes the prompt into a file; gives its name.
    pub fn prompt_file(&mut self) -> &'static str {
        self.file(PROMPT_FILE, self.call.prompt.as_bytes());
        PROMPT_FILE
    }

    /// Whether the prompt does not fit into an argument: too long, or with a byte that none can hold.
    pub fn prompt_needs_file(&self) -> bool {
        self.call.prompt.len() > LONGEST_ARGUMENT || self.call.prompt.contains('\0')
    }

    /// The prompt as an argument; one that does not fit is written to a file, and the argument says to read that.
    pub fn prompt_argument(&mut self) -> String {
        if !self.prompt_needs_file() {
            return self.call.prompt.clone();
        }
        let path = self.prompt_file();
        format!("Read the whole file {} and do what it says.", self.scratch_path(path))
    }

    /// Asks for a report in this file, unless the user asked for one elsewhere or there is no directory for it.
    pub fn report(&mut self, spellings: &[&str], name: &str) {
        if !self.call.scratch.is_empty() && !self.call.sets(spellings) {
            self.option(spellings, &self.scratch_path(name));
            self.launch.reports.push(name.to_owned());
        }
    }

    /// The program where the call names none.
    pub fn default_program(&mut self, program: &str) {
        if self.launch.program.is_empty() {
            program.clone_into(&mut self.launch.program);
        }
    }

    /// The program is the user's first argument where the call names none.
    pub fn program_from_args(&mut self) {
        if self.launch.program.is_empty() && !self.user_args.is_empty() {
            self.launch.program = self.user_args.remove(0);
        }
    }

    /// The whole command line, the user's arguments last.
    pub fn finish(mut self) -> Launch {
        self.launch.args.append(&mut self.user_args);
        self.launch
    }
}

/// Dollars to the last micro-dollar; never zero, which a client may take for no limit.
fn dollars(amount: Micro) -> String {
    let micro = amount.0.max(1);
    let digits = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    let short = digits.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

/// The argument after this flag.
#[cfg(test)]
pub(crate) fn value_of<'a>(args: &'a [String], flag: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg == flag)?;
    args.get(at + 1).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_exact_and_never_zero() {
        for (micro, text) in [(500_000, "0.5"), (22_160, "0.02216"), (3_000_000, "3.0"), (0, "0.000001")] {
            assert_eq!(dollars(Micro(micro)), text);
        }
    }
}
