//! TOML value → a change to the settings, or what is wrong with it.

use super::{Kind, Set, Word};
use crate::config::header::headers;
use crate::config::key::At;
use crate::config::parse_duration;
use crate::config::settings::Settings;
use crate::nearest::nearest;
use crate::values;
use ralph_agents::registry::{self, UnknownAgent};
use ralph_engine::redact::Secret;
use ralph_notify::{Address, Format, Quiet};
use ralph_otel::{InvalidEndpoint, traces_url};
use ralph_rules::claim::Means;
use ralph_rules::money::Micro;
use ralph_rules::notice::Event;
use ralph_rules::policy::MapTime;
use ralph_rules::record::Ms;
use ralph_tree::Protect;
use std::collections::BTreeMap;
use std::path::{Component, Path};
use toml::Value;

/// The longest value that is repeated in a message.
const SHOWN: usize = 60;

/// A value that was understood, ready to be put into the settings.
pub type Change = Box<dyn FnOnce(&mut Settings, &At<'_>)>;

/// Why a value cannot be used, in words that follow the name of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// `must be a whole number above 0, not "3"`.
    pub what: String,
    /// What was probably meant, or what to do.
    pub hint: Option<String>,
}

impl Mismatch {
    pub(crate) fn new(what: impl Into<String>) -> Mismatch {
        Mismatch { what: what.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Mismatch {
        Mismatch { hint: Some(hint.into()), ..self }
    }
}

impl Kind {
    /// The change that a value makes.
    pub fn change(&self, value: &Value) -> Result<Change, Mismatch> {
        let wrong = || self.wrong(value);
        Ok(match self {
            Kind::Count(set) => then(*set, whole(value).filter(|n| *n > 0).ok_or_else(wrong)?),
            Kind::Number(set) => then(*set, whole(value).ok_or_else(wrong)?),
            Kind::LargeNumber(set) => then(*set, whole(value).ok_or_else(wrong)?),
            Kind::Percent(set) => then(*set, whole(value).filter(|n| *n <= 100).ok_or_else(wrong)?),
            Kind::Dollars(set) => {
                then(*set, dollars(value).filter(|usd| *usd > Micro::ZERO).ok_or_else(wrong)?)
            }
            Kind::Rate(set) => then(*set, dollars(value).ok_or_else(wrong)?),
            Kind::Duration(set) => then(*set, duration(value).ok_or_else(wrong)?),
            Kind::MapTime(set) => then(*set, map_time(value).ok_or_else(wrong)?),
            Kind::Limit(set) => then(*set, duration(value).filter(|ms| *ms > 0).ok_or_else(wrong)?),
            Kind::Retention(set) => then(*set, retention(value).ok_or_else(wrong)?),
            Kind::Text(set) => then(*set, text(value).ok_or_else(wrong)?),
            Kind::Agent(set) => then(*set, agent(&text(value).ok_or_else(wrong)?)?),
            Kind::Agents(set) => {
                let names = texts(value).filter(|names| names.len() != 1).ok_or_else(wrong)?;
                then(*set, names.iter().map(|name| agent(name)).collect::<Result<_, _>>()?)
            }
            Kind::Promise(set) => {
                then(*set, text(value).and_then(|text| values::promise(&text).ok()).ok_or_else(wrong)?)
            }
            Kind::WorkspaceFile(set) => {
                then(*set, text(value).filter(|path| inside(path)).ok_or_else(wrong)?)
            }
            Kind::JsonFile(set) => then(*set, view_path(value, ".json").ok_or_else(wrong)?),
            Kind::JsonLinesFile(set) => then(*set, view_path(value, ".jsonl").ok_or_else(wrong)?),
            Kind::WorkspaceDir(set) => then(*set, view_path(value, "").ok_or_else(wrong)?),
            Kind::Texts(set) => then(*set, texts(value).ok_or_else(wrong)?),
            Kind::Phrases(set) => {
                let said = |phrases: &Vec<String>| {
                    !phrases.is_empty() && phrases.iter().all(|phrase| !phrase.trim().is_empty())
                };
                then(*set, texts(value).filter(said).ok_or_else(wrong)?)
            }
            Kind::Means(set) => then(*set, text(value).and_then(|word| Means::of(&word)).ok_or_else(wrong)?),
            Kind::Commands(set) => then(*set, commands(texts(value).ok_or_else(wrong)?)?),
            Kind::Globs(set) => then(*set, globs(texts(value).ok_or_else(wrong)?)?),
            Kind::Switch(set) => then(*set, value.as_bool().ok_or_else(wrong)?),
            Kind::OneOf(words) => self.word(words, value)?,
            Kind::Variables(set) => then(*set, variables(value).ok_or_else(wrong)??),
            Kind::Headers(set) => then(*set, headers(value).ok_or_else(wrong)??),
            Kind::OtlpEndpoint(set) => then(*set, self.traces_url(value)?),
            Kind::Events(set) => then(*set, events(&texts(value).ok_or_else(wrong)?)?),
            Kind::Quiet(set) => then(*set, text(value).and_then(|text| Quiet::of(&text)).ok_or_else(wrong)?),
            Kind::Url(set) => then(*set, url(value).ok_or_else(wrong)??),
            Kind::Format(set) => {
                then(*set, text(value).and_then(|word| Format::of(&word)).ok_or_else(wrong)?)
            }
            Kind::Argv(set) => {
                let named =
                    |argv: &Vec<String>| argv.first().is_some_and(|program| !program.trim().is_empty());
                then(*set, texts(value).filter(named).ok_or_else(wrong)?)
            }
            Kind::Sandbox(kind) => kind.change(value, wrong)?,
        })
    }

    /// Why a project's file may not set this value, where it may not.
    pub fn own_only(&self, value: &Value) -> Option<String> {
        let exempts = |path: &Value| path.as_str().is_some_and(|path| path.trim_start().starts_with('!'));
        match self {
            Kind::Globs(_) if value.as_array().is_some_and(|paths| paths.iter().any(exempts)) => {
                Some("can only add paths in a project's file, not exempt any with `!`".into())
            }
            Kind::OneOf(words) => {
                let word = words.iter().find(|word| value.as_str() == Some(word.word))?;
                word.own_only.then(|| format!("cannot be \"{}\" in a project's file", word.word))
            }
            _ => None,
        }
    }

    /// Whether the value says nothing, so that the next layer counts.
    pub fn is_silent(&self, value: &Value) -> bool {
        matches!(self, Kind::Commands(_)) && value.as_array().is_some_and(Vec::is_empty)
    }

    fn wrong(&self, value: &Value) -> Mismatch {
        Mismatch::new(format!("must be {}, not {}", self.holds(), shortened(&self.shown(value))))
    }

    /// The address of a collector's traces. One that holds a password is not repeated.
    fn traces_url(&self, value: &Value) -> Result<String, Mismatch> {
        let wrong = || self.wrong(value);
        traces_url(&text(value).ok_or_else(wrong)?).map_err(|why| match why {
            InvalidEndpoint::Credentials => {
                Mismatch::new(format!("cannot be used: {why}")).hint("use otel.headers instead")
            }
            _ => wrong().hint(why.to_string()),
        })
    }

    fn word(&self, words: &'static [Word], value: &Value) -> Result<Change, Mismatch> {
        let Some(word) = words.iter().find(|word| value.as_str() == Some(word.word)) else {
            let meant = value.as_str().and_then(|typed| nearest(typed, words.iter().map(|word| word.word)));
            return Err(meant
                .into_iter()
                .fold(self.wrong(value), |wrong, meant| wrong.hint(format!("did you mean \"{meant}\"?"))));
        };
        let set = word.set;
        Ok(Box::new(move |settings, _| set(settings)))
    }
}

pub(super) fn then<T: 'static>(set: Set<T>, value: T) -> Change {
    Box::new(move |settings, at| set(settings, at, value))
}

/// A value as it is repeated in a message.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn whole<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    T::try_from(value.as_integer()?).ok()
}

fn dollars(value: &Value) -> Option<Micro> {
    let whole = value.as_integer().and_then(|usd| i32::try_from(usd).ok()).map(f64::from);
    whole.or_else(|| value.as_float()).and_then(Micro::from_usd)
}

fn duration(value: &Value) -> Option<Ms> {
    parse_duration(value.as_str()?).ok()
}

fn map_time(value: &Value) -> Option<MapTime> {
    match value.as_str() {
        Some("auto") => Some(MapTime::Auto),
        _ => duration(value).map(|ms| if ms == 0 { MapTime::Off } else { MapTime::AtMost(ms) }),
    }
}

/// How long something is kept: forever, or this long.
fn retention(value: &Value) -> Option<Option<Ms>> {
    match value.as_str()?.trim() {
        "forever" | "0" => Some(None),
        _ => duration(value).map(|ms| (ms > 0).then_some(ms)),
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(Into::into)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

/// The name of an agent that can be used.
fn agent(name: &str) -> Result<String, Mismatch> {
    match registry::find(name) {
        Ok(_) => Ok(name.into()),
        Err(UnknownAgent::Unknown { suggestion, .. }) => {
            let wrong = Mismatch::new(format!("names an unknown agent: \"{name}\""));
            Err(match suggestion {
                Some(meant) => wrong.hint(format!("did you mean \"{meant}\"?")),
                None => wrong.hint(format!("agents are: {}", registry::name_list())),
            })
        }
        Err(error) => Err(Mismatch::new(format!("cannot be used: {error}"))),
    }
}

fn inside(path: &str) -> bool {
    let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.trim().is_empty() && Path::new(path).components().all(stays)
}

/// A path that ralph writes, as a walk of the workspace names it. A `*` would stand for other files.
fn view_path(value: &Value, end: &str) -> Option<String> {
    let path = text(value).filter(|path| inside(path) && path.ends_with(end) && !path.contains('*'))?;
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Some(parts.join("/"))
}

fn commands(commands: Vec<String>) -> Result<Vec<String>, Mismatch> {
    match commands.iter().any(|command| command.trim().is_empty()) {
        true => Err(Mismatch::new("contains an empty command, which proves nothing")
            .hint("use a command that fails while the work is not done, such as 'cargo test'")),
        false => Ok(commands),
    }
}

fn globs(globs: Vec<String>) -> Result<Vec<String>, Mismatch> {
    match Protect::new(&globs) {
        Ok(_) => Ok(globs),
        Err(bad) => Err(Mismatch::new(format!("contains an invalid path, `{}`: {}", bad.glob, bad.why))),
    }
}

/// Events, each once.
fn events(names: &[String]) -> Result<Vec<Event>, Mismatch> {
    let mut events = Vec::new();
    for name in names {
        let Some(event) = Event::of(name) else {
            let wrong = Mismatch::new(format!("contains \"{name}\", which is not an event"));
            let known = Event::ALL.map(Event::name);
            return Err(match nearest(name, known.iter().copied()) {
                Some(meant) => wrong.hint(format!("did you mean \"{meant}\"?")),
                None => wrong.hint(format!("events are: {}", known.join(", "))),
            });
        };
        if !events.contains(&event) {
            events.push(event);
        }
    }
    Ok(events)
}

/// The address of a webhook; none where it is not a text. Whether http is allowed depends on another key.
fn url(value: &Value) -> Option<Result<Secret, Mismatch>> {
    let text = text(value)?;
    Some(match Address::wrong(&text, true) {
        Some(wrong) => Err(Mismatch::new(format!("cannot be used: {wrong}"))),
        None => Ok(Secret::new(text)),
    })
}

/// Variables for an agent; none where it is not a table of texts.
fn variables(value: &Value) -> Option<Result<BTreeMap<String, Secret>, Mismatch>> {
    let mut found = BTreeMap::new();
    for (name, value) in value.as_table()? {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Some(Err(Mismatch::new(format!(
                "contains {name:?}, which is not a valid variable name"
            ))));
        }
        if name.starts_with("RALPH_") {
            return Some(Err(Mismatch::new(format!(
                "contains {name}, but names that start with RALPH_ are reserved"
            ))));
        }
        found.insert(name.clone(), Secret::new(value.as_str()?));
    }
    Some(Ok(found))
}
