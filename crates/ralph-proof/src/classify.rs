//! Splits the changes between two sides into work, oracle and ambiguous.
//!
//! `sets.tsv` says what a name means (`table`); `reach` finds what the verify commands run; `standing` puts both
//! together for one path; `decide` takes files apart that hold both.

mod decide;
mod documentation;
mod globs;
mod links;
mod moves;
mod paths;
mod reach;
mod rust_modules;
mod shadows;
mod standing;
mod table;
mod test_crates;

use std::collections::BTreeSet;

pub use self::documentation::is_documentation;
use self::globs::UserGlobs;
use self::links::Links;
pub use self::reach::{NeededProgram, NeededPrograms, needed_programs};
use self::reach::{Reach, Standing, check_like};
use self::standing::Place;
use self::table::{Named, Table};
use crate::change::{Change, Split};
use crate::files::Files;
use crate::parts;

/// Source files that are read to find out whether the baseline has any test.
const MOST_READ: usize = 2_000;

/// What a classification is made from.
pub struct Inputs<'a> {
    /// The baseline's files.
    pub before: &'a Files<'a>,
    /// The current files.
    pub now: &'a Files<'a>,
    /// The verify commands, as the user wrote them.
    pub commands: &'a [String],
    /// More globs, in gitignore syntax, for what belongs to the oracle; `!` takes paths out.
    pub oracle_paths: &'a [String],
    /// Globs for what is work although its name says otherwise.
    pub work_paths: &'a [String],
    /// Whether a module of this name is installed outside the workspace's own files.
    pub installed: &'a dyn Fn(&str) -> bool,
}

/// Knows which paths belong to the oracle, and splits the changes.
pub struct Classifier<'a> {
    inputs: Inputs<'a>,
    table: &'static Table,
    oracle_paths: UserGlobs,
    work_paths: UserGlobs,
    reach: Reach,
    behind_links: BTreeSet<Vec<u8>>,
}

impl<'a> Classifier<'a> {
    /// Looks through commands and files once.
    pub fn new(inputs: Inputs<'a>) -> Classifier<'a> {
        let links = Links::new(inputs.before, inputs.now);
        let reach = Reach::new(inputs.before, inputs.now, &links, inputs.commands);
        let mut made = Classifier {
            table: Table::get(),
            oracle_paths: UserGlobs::new(inputs.oracle_paths),
            work_paths: UserGlobs::new(inputs.work_paths),
            reach,
            behind_links: BTreeSet::new(),
            inputs,
        };
        made.behind_links = links.behind(|link| made.is_oracle_link(link));
        made
    }

    /// A link that belongs to the oracle, or that is named like a directory of tests.
    fn is_oracle_link(&self, link: &[u8]) -> bool {
        let below = [link, b"/_"].concat();
        [link, &below].iter().any(|path| matches!(self.standing(path), Place::Oracle(_)))
    }

    /// Every path that differs, in byte order.
    pub fn changes(&self) -> Vec<Change> {
        let (before, now) = (self.inputs.before, self.inputs.now);
        let gone = before.paths().filter(|path| !now.contains(path));
        let paths: BTreeSet<&[u8]> = now.differing(before).chain(gone).collect();
        let moved = self.moved_rust_tests(&paths);
        let mut changes: Vec<Change> = paths.iter().map(|path| self.decide(path, &moved)).collect();
        self.mark_renamed_tests(&mut changes);
        changes
    }

    /// Whether the whole file at this path belongs to the oracle; it must not change while a verification runs.
    pub fn is_oracle(&self, path: &[u8]) -> bool {
        match self.standing(path) {
            Place::Oracle(_) => true,
            // Only what is named like a test is worth reading the file that declares it.
            Place::Rust => self.is_named_like_rust_test(path) && self.is_test_module(path),
            _ => false,
        }
    }

    /// Whether the file at this path must not change while a verification runs: it belongs to the oracle, or a check
    /// runs it.
    pub fn guards(&self, path: &[u8]) -> bool {
        let reached = self.reach.get(path).is_some_and(|r| r.standing != Standing::Examined);
        reached || self.is_oracle(path)
    }

    /// Whether an oracle change is of configuration alone: it may say how tests run, but it is no test itself.
    pub fn is_configuration(&self, change: &Change) -> bool {
        let named =
            || self.table.row(&change.path, !change.existed).is_some_and(|row| row.set == Named::Oracle);
        let run = || self.reach.files.get(&change.path).is_some_and(|r| r.standing == Standing::Oracle);
        match &change.split {
            Split::Oracle => named() && !run(),
            Split::Parts(parts) => !parts.work,
            Split::Work | Split::Ambiguous => false,
        }
    }

    /// Whether the baseline has any test at all, in files of their own or inside source files.
    pub fn baseline_has_tests(&self) -> bool {
        let before = self.inputs.before;
        let reached = self.reach.files.iter().any(|(path, reached)| {
            reached.standing == Standing::Oracle
                && before.contains(path)
                && check_like(path)
                && !is_make(path)
        });
        let is_test = |path: &[u8]| {
            let by_name = self.table.by_name(path, false).is_some_and(|row| row.set == Named::Test);
            is_named_test(path) && (by_name || self.table.is_source(path))
        };
        let reads = |path: &&[u8]| path.ends_with(b".rs") || self.reach.doctests && path.ends_with(b".py");
        let holds = |path: &[u8]| {
            before.text(path).is_some_and(|text| {
                if path.ends_with(b".rs") { parts::rust::has_tests(&text) } else { text.contains(">>> ") }
            })
        };
        reached || before.paths().any(is_test) || before.paths().filter(reads).take(MOST_READ).any(holds)
    }

    /// Whether this command runs a test runner, or a check that is part of the oracle.
    pub fn runs_tests(&self, command: &str) -> bool {
        let links = Links::new(self.inputs.before, self.inputs.now);
        let reach = Reach::new(self.inputs.before, self.inputs.now, &links, &[command.to_owned()]);
        let oracle = |reached: &reach::Reached| reached.standing == Standing::Oracle;
        reach.runs_tests
            || reach.targets.iter().any(|target| check_like(target.as_bytes()))
            || reach.files.values().chain(reach.directories.values()).any(oracle)
    }
}

/// Whether the name of a path or of a directory above it is one of tests.
fn is_named_test(path: &[u8]) -> bool {
    if path.ends_with(b".rs") {
        return is_rust_test_by_name(path);
    }
    Table::get().row(path, false).is_some_and(|row| row.set == Named::Test)
}

/// Rust compiles what is below `src` into the work unless it is declared otherwise: names count only above it.
fn is_rust_test_by_name(path: &[u8]) -> bool {
    let named = |path: &[u8]| Table::get().row(path, false).is_some_and(|row| row.set == Named::Test);
    let parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    match parts.iter().position(|part| *part == b"src") {
        Some(at) => {
            let above = parts.get(..at).unwrap_or_default().join(&b'/');
            named(&[&above[..], b"/_.rs"].concat())
        }
        None => named(path),
    }
}

fn is_make(path: &[u8]) -> bool {
    parts::manifest::is_make(&paths::shown(paths::name(path)).to_ascii_lowercase())
}

#[cfg(test)]
mod tests;
