//! Every key of the configuration, section by section. A key is declared here and nowhere else: the run, `config show`,
//! `config explain`, `config check`, the flags of `ralph run`, the variables, the schema and the reference read this.

mod agents;
mod breaker;
mod extending;
mod files;
mod gate;
mod money;
mod notify;
mod otel;
mod prune;
mod review;
mod run;
mod safety;
mod sandbox;
mod verify;

use super::key::{Key, Section, Shape};
use super::kind::{Kind, Word};
use super::preset::Preset;

/// The keys outside any table.
const TOP: Section = Section {
    name: "",
    about: "Keys outside any table; they must come first in the file.",
    shape: Shape::Table,
    keys: &[Key::new(
        "preset",
        Kind::OneOf(PRESETS),
        "Preset that supplies the values of keys that nothing else sets.",
    )
    .default("\"strict\"")
    .flag("--preset", "NAME")],
};

const PRESETS: &[Word] = &[
    Word::new("strict", |s| s.preset = Preset::Strict),
    Word::new("classic", |s| s.preset = Preset::Classic),
    Word::new("analyzer", |s| s.preset = Preset::Analyzer),
    Word::new("wrapper", |s| s.preset = Preset::Wrapper),
];

/// All sections, in the order they are listed.
pub const SECTIONS: &[Section] = &[
    TOP,
    run::RUN,
    agents::AGENT,
    agents::AGENTS,
    agents::LADDER,
    verify::VERIFY,
    gate::GATE,
    extending::PATTERN,
    extending::ANALYZER,
    review::REVIEW,
    breaker::BREAKER,
    safety::PROTECT,
    safety::UNDO,
    safety::REDACT,
    sandbox::SANDBOX,
    sandbox::VERIFY,
    sandbox::CONTAINER,
    files::PROMPT,
    files::PLAN,
    files::VIEWS,
    prune::PRUNE,
    notify::NOTIFY,
    notify::NOTIFY_TO,
    money::CEILINGS,
    money::PRICES,
    otel::OTEL,
];

/// All keys.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The section of this name.
pub fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.name == name)
}

/// The section that is written as a list within this one.
pub fn list_within(section: &Section, own: &str) -> Option<&'static Section> {
    let within = |list: &&Section| {
        list.name.strip_prefix(section.name).and_then(|rest| rest.strip_prefix('.')) == Some(own)
    };
    SECTIONS.iter().find(within)
}

/// The key of this name; the name of an agent, a model or the number of a rung may stand in it.
pub fn find(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name).or_else(|| {
        SECTIONS.iter().find_map(|section| {
            let rest = name.strip_prefix(section.name)?.strip_prefix('.')?;
            let (instance, own) = rest.rsplit_once('.')?;
            let fits = match section.shape {
                Shape::Table => false,
                Shape::PerAgent => !instance.is_empty() && !instance.contains('.'),
                Shape::PerModel => !instance.is_empty(),
                Shape::List => instance.parse::<usize>().is_ok_and(|n| n > 0),
            };
            section.key(own).filter(|_| fits)
        })
    })
}
