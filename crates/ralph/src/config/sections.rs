//! Every key of the configuration, section by section. A key is declared here and nowhere else: the run, `config show`,
//! `config explain`, `config check`, the flags of `ralph run`, the variables, the schema and the reference read this.

mod agents;
mod breaker;
mod extending;
mod files;
mod gate;
mod money;
mod prune;
mod review;
mod run;
mod safety;
mod verify;

use super::key::{Key, Section, Shape};
use super::kind::{Kind, Word};
use super::preset::Preset;

/// The keys outside any table.
const TOP: Section = Section {
    name: "",
    about: "Keys outside any table; they must come first in the file.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "preset",
            Kind::OneOf(PRESETS),
            "Preset that supplies the values of keys that nothing else sets.",
        )
        .default("\"strict\"")
        .flag("--preset", "NAME"),
        Key::new("notify", Kind::Unsupported, "Whom to notify when a run ends."),
    ],
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
    safety::SANDBOX,
    files::PROMPT,
    files::PLAN,
    files::VIEWS,
    prune::PRUNE,
    money::CEILINGS,
    money::PRICES,
];

/// All keys.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The section of this name.
pub fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.name == name)
}

/// The key of this name; the name of an agent, a model or the number of a rung may stand in it.
pub fn find(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name).or_else(|| {
        let (section_name, rest) = name.split_once('.')?;
        let section = section(section_name)?;
        let (instance, own) = rest.rsplit_once('.')?;
        let fits = match section.shape {
            Shape::Table => false,
            Shape::PerAgent => !instance.is_empty() && !instance.contains('.'),
            Shape::PerModel => !instance.is_empty(),
            Shape::List => instance.parse::<usize>().is_ok_and(|n| n > 0),
        };
        section.key(own).filter(|_| fits)
    })
}
