//! What a key may hold. Each kind carries the setter of its key, so that no key can be declared without a place where
//! its value lands. `kind/read.rs` reads TOML values, `kind/text.rs` reads flags and variables.

mod read;
mod sandbox;
mod text;

pub use read::Mismatch;
pub use sandbox::SandboxKind;

use super::header::{HeaderValue, Headers};
use super::key::At;
use super::settings::Settings;
use ralph_engine::redact::Secret;
use ralph_notify::{Format, Quiet};
use ralph_rules::claim::Means;
use ralph_rules::money::Micro;
use ralph_rules::notice::Event;
use ralph_rules::policy::MapTime;
use ralph_rules::record::Ms;
use std::collections::BTreeMap;

/// Puts a value into the settings.
pub type Set<T> = fn(&mut Settings, &At<'_>, T);

/// What a key may hold, and where it lands.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number above 0.
    Count(Set<u32>),
    /// A whole number; 0 has a meaning of its own.
    Number(Set<u32>),
    /// The same, for numbers of tokens.
    LargeNumber(Set<u64>),
    /// A whole number from 0 to 100.
    Percent(Set<u32>),
    /// Dollars above 0.
    Dollars(Set<Micro>),
    /// Dollars per million tokens; 0 means free.
    Rate(Set<Micro>),
    /// A duration; zero is allowed.
    Duration(Set<Ms>),
    /// A duration, or the word `auto`; zero means off.
    MapTime(Set<MapTime>),
    /// A duration above zero.
    Limit(Set<Ms>),
    /// How long something is kept; none means forever.
    Retention(Set<Option<Ms>>),
    /// Any text.
    Text(Set<String>),
    /// The name of an agent.
    Agent(Set<String>),
    /// The names of several agents, or of none.
    Agents(Set<Vec<String>>),
    /// The text of a completion promise.
    Promise(Set<String>),
    /// A path within the workspace.
    WorkspaceFile(Set<String>),
    /// A JSON file within the workspace.
    JsonFile(Set<String>),
    /// A file of JSON lines within the workspace.
    JsonLinesFile(Set<String>),
    /// A directory within the workspace; `.` is the workspace itself and arrives as an empty path.
    WorkspaceDir(Set<String>),
    /// Texts.
    Texts(Set<Vec<String>>),
    /// Shell commands; an empty list sets nothing.
    Commands(Set<Vec<String>>),
    /// Paths in gitignore syntax; a project may not exempt any with `!`.
    Globs(Set<Vec<String>>),
    /// True or false.
    Switch(Set<bool>),
    /// Phrases: at least one, none of them empty.
    Phrases(Set<Vec<String>>),
    /// What a phrase means.
    Means(Set<Means>),
    /// One of these words. Where layers may only tighten, the strictest comes first.
    OneOf(&'static [Word]),
    /// Environment variables.
    Variables(Set<BTreeMap<String, Secret>>),
    /// The address of an OTLP collector; arrives as the address of its traces.
    OtlpEndpoint(Set<String>),
    /// Headers of requests.
    Headers(Set<Headers>),
    /// What is noted.
    Events(Set<Vec<Event>>),
    /// Hours of the day, such as 22:00-07:00.
    Quiet(Set<Quiet>),
    /// The address of a webhook; it may be secret.
    Url(Set<Secret>),
    /// What the body of a webhook looks like.
    Format(Set<Format>),
    /// A program and its arguments.
    Argv(Set<Vec<String>>),
    /// Of `[sandbox]`.
    Sandbox(SandboxKind),
}

/// A word that a key may hold.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// As it is written.
    pub word: &'static str,
    /// Where it lands.
    set: fn(&mut Settings),
    /// A project's file may not say it.
    own_only: bool,
}

impl Word {
    /// A word that every layer may say.
    pub const fn new(word: &'static str, set: fn(&mut Settings)) -> Word {
        Word { word, set, own_only: false }
    }

    /// Not for a project's file.
    pub const fn own_only(self) -> Word {
        Word { own_only: true, ..self }
    }
}

impl Kind {
    /// What it may hold, in words that fit "must be …".
    pub fn holds(&self) -> String {
        match self {
            Kind::Count(_) => "a whole number above 0".into(),
            Kind::Number(_) | Kind::LargeNumber(_) => "a whole number, 0 or above".into(),
            Kind::Percent(_) => "a whole percentage from 0 to 100".into(),
            Kind::Dollars(_) => "an amount in dollars above 0, such as 5.0".into(),
            Kind::Rate(_) => "a price in dollars per million tokens, such as 3.0; 0 means free".into(),
            Kind::Duration(_) => "a duration such as \"90s\", \"15m\" or \"1h30m\"; \"0s\" is allowed".into(),
            Kind::MapTime(_) => "a duration such as \"5m\", or \"auto\"; \"0s\" turns it off".into(),
            Kind::Limit(_) => "a duration above 0 such as \"90s\", \"15m\" or \"1h30m\"".into(),
            Kind::Retention(_) => "a duration such as \"30d\"; \"forever\" or \"0\" never deletes".into(),
            Kind::Text(_) => "text in quotes".into(),
            Kind::Agent(_) => "the name of an agent (`ralph agents` lists them)".into(),
            Kind::Agents(_) => "a list of at least two agents, such as [\"claude\", \"codex\"], or []".into(),
            Kind::Promise(_) => "one line of text without < and >".into(),
            Kind::WorkspaceFile(_) => "a path within the workspace, such as \"done.txt\"".into(),
            Kind::JsonFile(_) => "a path within the workspace that ends in .json".into(),
            Kind::JsonLinesFile(_) => "a path within the workspace that ends in .jsonl".into(),
            Kind::WorkspaceDir(_) => "a directory within the workspace, such as \"docs/reports\"".into(),
            Kind::Texts(_) => "a list of texts, such as [\"a\", \"b\"]".into(),
            Kind::Phrases(_) => "a list of phrases, such as [\"release candidate\"]".into(),
            Kind::Means(_) => "\"done\", \"object\" or \"note\"".into(),
            Kind::Commands(_) => "a list of shell commands, such as [\"make test\"]".into(),
            Kind::Globs(_) => "a list of paths in gitignore syntax, such as [\"infra/\"]".into(),
            Kind::Switch(_) => "true or false".into(),
            Kind::OneOf(words) => one_of(words),
            Kind::Variables(_) => "a table of names and texts, such as { NAME = \"text\" }".into(),
            Kind::OtlpEndpoint(_) => "the address of a collector, such as \"http://localhost:4318\"".into(),
            Kind::Headers(_) => "a table of names and texts, such as { Authorization = \"env:NAME\" }".into(),
            Kind::Events(_) => {
                format!(
                    "a list of events: {}",
                    Event::ALL.map(|event| format!("\"{}\"", event.name())).join(", ")
                )
            }
            Kind::Quiet(_) => "hours of the day, such as \"22:00-07:00\"".into(),
            Kind::Url(_) => {
                "an address such as \"https://example.org/ralph\", without user name or password".into()
            }
            Kind::Format(_) => "\"standard\", \"slack\" or \"ntfy\"".into(),
            Kind::Argv(_) => {
                "a program and its arguments, such as [\"ntfy\", \"publish\", \"topic\", \"{text}\"]".into()
            }
            Kind::Sandbox(kind) => kind.holds().into(),
        }
    }

    /// A value that is accepted and is not the built-in one, as TOML.
    pub fn example(&self, default: &str) -> String {
        match self {
            Kind::Count(_) | Kind::Number(_) | Kind::LargeNumber(_) | Kind::Percent(_) => "7".into(),
            Kind::Dollars(_) | Kind::Rate(_) => "2.5".into(),
            Kind::Duration(_) | Kind::MapTime(_) | Kind::Limit(_) => "\"90s\"".into(),
            Kind::Retention(_) => "\"90d\"".into(),
            Kind::Text(_) | Kind::Promise(_) => "\"text\"".into(),
            Kind::Agent(_) => "\"codex\"".into(),
            Kind::Agents(_) => "[\"claude\", \"codex\"]".into(),
            Kind::WorkspaceFile(_) => "\"done.txt\"".into(),
            Kind::JsonFile(_) => "\"status/view.json\"".into(),
            Kind::JsonLinesFile(_) => "\"status/runs.jsonl\"".into(),
            Kind::WorkspaceDir(_) => "\"docs/reports\"".into(),
            Kind::Texts(_) | Kind::Phrases(_) => "[\"text\"]".into(),
            Kind::Means(_) => "\"object\"".into(),
            Kind::Commands(_) => "[\"make test\"]".into(),
            Kind::Globs(_) => "[\"infra/\"]".into(),
            Kind::Switch(_) => (default != "true").to_string(),
            Kind::OneOf(words) => {
                let other = |word: &&Word| format!("\"{}\"", word.word) != default;
                format!("\"{}\"", words.iter().find(other).map_or("", |word| word.word))
            }
            Kind::Variables(_) => "{ NAME = \"text\" }".into(),
            Kind::OtlpEndpoint(_) => "\"http://localhost:4318\"".into(),
            Kind::Headers(_) => "{ Authorization = \"env:NAME\" }".into(),
            Kind::Events(_) => "[\"blocked\"]".into(),
            Kind::Quiet(_) => "\"22:00-07:00\"".into(),
            Kind::Url(_) => "\"https://example.org/ralph\"".into(),
            Kind::Format(_) => "\"slack\"".into(),
            Kind::Argv(_) => "[\"my-notifier\", \"{text}\"]".into(),
            Kind::Sandbox(kind) => kind.example().into(),
        }
    }

    /// The words it may hold, where it holds one of a few.
    pub fn words(&self) -> Option<Vec<&'static str>> {
        match self {
            Kind::OneOf(words) => Some(words.iter().map(|word| word.word).collect()),
            Kind::Means(_) => Some(Means::WORDS.to_vec()),
            Kind::Format(_) => Some(Format::WORDS.to_vec()),
            _ => None,
        }
    }

    /// A value as it may be shown: variables for an agent, headers and the address of a webhook can be secret.
    pub fn shown(&self, value: &toml::Value) -> toml::Value {
        match (self, value) {
            (Kind::Variables(_), toml::Value::Table(table)) => {
                let hidden = |name: &String| (name.clone(), toml::Value::String("[hidden]".into()));
                toml::Value::Table(table.keys().map(hidden).collect())
            }
            (Kind::Headers(_), toml::Value::Table(table)) => {
                let shown = |(name, value): (&String, _)| (name.clone(), HeaderValue::shown(value));
                toml::Value::Table(table.iter().map(shown).collect())
            }
            (Kind::Headers(_), _) => toml::Value::String("[hidden]".into()),
            (Kind::Url(_), toml::Value::String(_)) => toml::Value::String("[hidden]".into()),
            _ => value.clone(),
        }
    }

    /// How strict a word or a switch is: 0 is the strictest.
    pub fn strictness(&self, value: &toml::Value) -> Option<usize> {
        if let (Kind::Switch(_), toml::Value::Boolean(on)) = (self, value) {
            return Some(usize::from(!on));
        }
        self.words()?.iter().position(|word| value.as_str() == Some(*word))
    }
}

fn one_of(words: &[Word]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.word)).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
