//! The flags of `ralph run` that are settings. They are made from the declarations, so that a key gets its flag, its
//! variable and their help from one line.

use super::key::{Flag, Key};
use super::kind::{Kind, Mismatch};
use super::origin::{Entry, Layer, Origin};
use super::sections::{find, keys};
use crate::problem::{Code, Problem};
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, Error};
use ralph_agents::registry;
use toml::Value;

/// Keys whose flags `ralph analyze` has, too.
pub const ANALYZE_FLAGS: [&str; 2] = ["preset", "gate.promise"];

/// Keys whose flags `ralph resume` and `ralph verify` have, too.
pub const SANDBOX_FLAGS: [&str; 2] = ["sandbox.mode", "sandbox.network"];

/// Settings that were typed as flags.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<(&'static Key, Value)>);

impl Flags {
    /// These keys as if typed; names that are not keys are left out.
    pub fn of<'a>(typed: impl IntoIterator<Item = (&'a str, Value)>) -> Flags {
        Flags(typed.into_iter().filter_map(|(name, value)| Some((find(name)?, value))).collect())
    }

    /// The same flags and this one; a name that is not a key is left out.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Flags {
        self.0.retain(|(key, _)| key.name != name);
        self.0.extend(find(name).map(|key| (key, value)));
        self
    }

    /// Those of `[sandbox]`.
    #[must_use]
    pub fn of_sandbox(&self) -> Flags {
        let typed = self.0.iter().filter(|(key, _)| SANDBOX_FLAGS.contains(&key.name));
        Flags(typed.cloned().collect())
    }

    /// Whether this key was typed.
    pub fn is_set(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key.name == name)
    }

    /// The text of this key, if it was typed.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key.name == name)?.1.as_str()
    }

    /// The same flags, with another text for this key where it was typed.
    #[must_use]
    pub fn with_text(mut self, name: &str, text: &str) -> Flags {
        for (_, value) in self.0.iter_mut().filter(|(key, _)| key.name == name) {
            *value = Value::String(text.to_owned());
        }
        self
    }

    /// What they set, and what is wrong with them.
    pub fn layer(&self) -> (Layer, Vec<Problem>) {
        let (mut entries, mut problems) = (Vec::new(), Vec::new());
        for (key, value) in &self.0 {
            match key.kind.change(value) {
                Ok(_) => entries.push(Entry::new(key, value.clone())),
                Err(Mismatch { what, hint }) => {
                    let flag = key.flag.map_or(key.name, |flag| flag.name);
                    let explain = || format!("see `ralph config explain {}`", key.name);
                    let problem = Problem::new(Code::Usage, format!("{flag} {what}"));
                    problems.push(problem.hint(hint.unwrap_or_else(explain)));
                }
            }
        }
        (Layer { origin: Origin::Flags, entries }, problems)
    }
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        keys().filter_map(|key| Some(arg(key, key.flag?))).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Flags, Error> {
        let typed = keys().filter_map(|key| Some((key, value(key, key.flag?, matches)?)));
        Ok(Flags(typed.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flags of `[sandbox]` alone, for commands that have no other settings as flags.
#[derive(Clone, Debug, Default)]
pub struct SandboxFlags(pub Flags);

impl clap::Args for SandboxFlags {
    fn augment_args(command: Command) -> Command {
        let keys = SANDBOX_FLAGS.into_iter().filter_map(find);
        keys.filter_map(|key| Some(arg(key, key.flag?))).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SandboxFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SandboxFlags, Error> {
        let keys = SANDBOX_FLAGS.into_iter().filter_map(find);
        let typed = keys.filter_map(|key| Some((key, value(key, key.flag?, matches)?)));
        Ok(SandboxFlags(Flags(typed.collect())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = SandboxFlags::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What other arguments and completions call it.
fn id(flag: Flag) -> &'static str {
    flag.name.trim_start_matches('-')
}

fn arg(key: &'static Key, flag: Flag) -> Arg {
    let numeric =
        matches!(key.kind, Kind::Count(_) | Kind::Number(_) | Kind::LargeNumber(_) | Kind::Dollars(_));
    Arg::new(id(flag))
        .long(id(flag))
        .value_name(flag.value)
        .help(help(key))
        .value_parser(parser(key))
        .action(if key.kind.is_list() { ArgAction::Append } else { ArgAction::Set })
        .allow_negative_numbers(numeric)
        .hide_possible_values(true)
}

/// What the key does, its words and its built-in value.
fn help(key: &Key) -> String {
    let mut notes = Vec::new();
    if key.kind.is_list() {
        notes.push("may be repeated".to_string());
    }
    if let Some(words) = key.kind.words().filter(|words| !words.iter().all(|word| key.doc.contains(word))) {
        notes.push(words.join(", "));
    }
    if matches!(key.kind, Kind::Agent(_)) {
        notes.push(format!("{}; `command` is any program, named after --", registry::name_list()));
    }
    if let Some(default) = key.built_in().filter(|_| !key.kind.is_list()) {
        notes.push(format!("default: {}", default.as_str().map_or_else(|| default.to_string(), Into::into)));
    }
    let summary = key.summary();
    if notes.is_empty() { summary.into() } else { format!("{summary} ({})", notes.join("; ")) }
}

/// A list takes one item at a time, so that a command may have several lines.
fn parser(key: &'static Key) -> ValueParser {
    match key.kind {
        _ if key.kind.is_list() => ValueParser::new(|text: &str| Ok::<_, String>(Value::String(text.into()))),
        Kind::OneOf(words) => {
            PossibleValuesParser::new(words.iter().map(|word| word.word)).map(Value::String).into()
        }
        _ => ValueParser::new(|text: &str| key.kind.parse_text(text)),
    }
}

fn value(key: &Key, flag: Flag, matches: &ArgMatches) -> Option<Value> {
    let mut values = matches.get_many::<Value>(id(flag))?.cloned();
    if key.kind.is_list() { Some(Value::Array(values.collect())) } else { values.next() }
}
