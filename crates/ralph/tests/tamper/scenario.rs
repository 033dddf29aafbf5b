//! Reading the scenarios.

use crate::place::Who;
use std::collections::BTreeSet;

/// One scenario.
#[derive(Debug, Default)]
pub struct Scenario {
    pub name: String,
    /// The directory the run is started in, below the repository's top.
    pub inside: Option<String>,
    /// Done before the run.
    pub given: Vec<String>,
    /// What the agent does.
    pub does: Vec<String>,
    /// Paths that must be found touched, each with what was done to it where that is told.
    pub touched: BTreeSet<String>,
    /// Texts that must be said of what was touched.
    pub told: Vec<String>,
    /// A verify command.
    pub verify: Option<String>,
    /// Texts that must lie in quarantine.
    pub holds: Vec<String>,
    /// Paths that may be new, with all below them.
    pub leaves: Vec<String>,
    /// Paths that may be gone.
    pub loses: Vec<String>,
    /// Paths that may be different.
    pub changes: Vec<String>,
    /// What was touched cannot be put back, and is said to be left.
    pub stays: bool,
    only: Option<String>,
}

impl Scenario {
    pub fn is_for(&self, who: Who) -> bool {
        match self.only.as_deref() {
            Some("user") => !who.is_root(),
            Some("root") => who.is_root(),
            _ => true,
        }
    }

    /// Nothing is touched.
    pub fn is_honest(&self) -> bool {
        self.touched.is_empty()
    }
}

/// Every scenario of a file.
pub fn read(text: &str) -> Vec<Scenario> {
    let mut all: Vec<Scenario> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            all.push(Scenario { name: name.into(), ..Scenario::default() });
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let scenario = all.last_mut().unwrap();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.to_string();
        match word {
            "in" => scenario.inside = Some(rest),
            "given" => scenario.given.push(rest),
            "does" => scenario.does.push(rest),
            "touched" => drop(scenario.touched.insert(rest)),
            "told" => scenario.told.push(rest),
            "verify" => scenario.verify = Some(rest),
            "holds" => scenario.holds.push(rest),
            "leaves" => scenario.leaves.push(rest),
            "loses" => scenario.loses.push(rest),
            "changes" => scenario.changes.push(rest),
            "stays" => scenario.stays = true,
            "as" => scenario.only = Some(rest),
            other => panic!("what is `{other}`?"),
        }
    }
    all
}
