//! What the verify commands reach: scripts they run, modules, package scripts and make recipes, and what those run,
//! source and import in turn. Both sides are looked at, because either may say what is run.

mod arguments;
mod imports;
mod likeness;
mod needed;
mod programs;
mod recipes;
mod scripts;
mod shell;

use std::collections::{BTreeMap, BTreeSet};

use self::arguments::Place;
pub use self::likeness::{check_like, expectation_like};
pub use self::needed::{NeededProgram, NeededPrograms, needed_programs};
use self::programs::{Program, base_name, judges, program, runs_tests, unwrap_command};
use self::shell::{Simple, UNKNOWN};
use super::links::Links;
use super::paths;
use crate::files::Files;

/// Scripts that run scripts are followed this far.
const DEEPEST: usize = 5;
/// No more simple commands are looked at.
const MOST_COMMANDS: usize = 4_000;
/// No more globs are tried, each of which is compared with every path.
const MOST_GLOBS: usize = 64;
/// A longer script is not looked through.
const LONGEST: usize = 256 * 1024;

/// What a reached file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// A command looks at it: it is what is checked.
    Examined,
    /// It may be a part of the check, or what is checked.
    Ambiguous,
    /// It checks.
    Oracle,
}

/// A reached file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// What it is.
    pub standing: Standing,
    /// Why, in words.
    pub why: String,
}

/// Everything the commands reach.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Files.
    pub files: BTreeMap<Vec<u8>, Reached>,
    /// Directories whose every file is a part of the check.
    pub directories: BTreeMap<Vec<u8>, Reached>,
    /// Targets that make is asked for.
    pub targets: BTreeSet<String>,
    /// Directories that Python searches for modules, because a command says so.
    pub python_path: BTreeSet<Vec<u8>>,
    /// A test runner is started.
    pub runs_tests: bool,
    /// Examples in doc strings are run.
    pub doctests: bool,
    /// A program of make is started.
    pub makes: bool,
}

impl Reach {
    /// What these commands reach in these files.
    pub fn new(before: &Files<'_>, now: &Files<'_>, links: &Links, commands: &[String]) -> Reach {
        let mut walker = Walker {
            before,
            now,
            links,
            reach: Reach::default(),
            walked: BTreeSet::new(),
            read: BTreeSet::new(),
            left: MOST_COMMANDS,
            globs: MOST_GLOBS,
        };
        for command in commands {
            let place = Place {
                source: "the verify command".into(),
                bases: vec![Vec::new()],
                depth: 0,
                direct: true,
                skips_check: false,
            };
            walker.walk(command, &place);
        }
        walker.find_configured_doctests();
        walker.reach
    }

    /// What a path is, by itself or by a directory above it.
    pub fn get(&self, path: &[u8]) -> Option<&Reached> {
        self.files.get(path).or_else(|| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            slashes.filter_map(|(at, _)| self.directories.get(path.get(..at)?)).next()
        })
    }
}

struct Walker<'a> {
    before: &'a Files<'a>,
    now: &'a Files<'a>,
    links: &'a Links,
    reach: Reach,
    /// Texts that were looked at, with their place.
    walked: BTreeSet<(String, Vec<Vec<u8>>)>,
    /// Files whose content was looked at.
    read: BTreeSet<Vec<u8>>,
    /// Simple commands that may still be looked at.
    left: usize,
    /// Globs that may still be tried.
    globs: usize,
}

impl Walker<'_> {
    fn contains(&self, path: &[u8]) -> bool {
        self.before.contains(path) || self.now.contains(path)
    }

    /// A file's texts on both sides, without repetition.
    fn texts(&self, path: &[u8]) -> Vec<String> {
        let same = self.before.get(path) == self.now.get(path);
        let before = self.before.text(path);
        let now = if same { None } else { self.now.text(path) };
        before.into_iter().chain(now).filter(|text| text.len() <= LONGEST).collect()
    }

    fn note(&mut self, path: Vec<u8>, standing: Standing, why: String) {
        let known = self.reach.files.entry(path).or_insert_with(|| Reached { standing, why: why.clone() });
        if known.standing < standing {
            *known = Reached { standing, why };
        }
    }

    /// Looks at a shell text.
    fn walk(&mut self, text: &str, place: &Place) {
        if place.depth > DEEPEST || !self.walked.insert((text.to_owned(), place.bases.clone())) {
            return;
        }
        let mut place = place.clone();
        let commands = shell::commands(text);
        let judged = judged(&commands);
        for (at, (simple, judged)) in commands.iter().zip(judged).enumerate() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            // `[ -f done ] || sh check.sh`: what is looked at decides whether the check runs.
            place.skips_check =
                simple.or_else && commands.get(at + 1).is_some_and(|next| !only_reports(next));
            self.simple(simple, judged, &mut place);
        }
    }

    fn simple(&mut self, simple: &Simple, judged: bool, place: &mut Place) {
        let (words, more, directory) = unwrap_command(&simple.words);
        for (name, value) in simple.assigns.iter().chain(&more) {
            self.variable(name, value, place);
        }
        let mut inner = place.clone();
        inner.enter(directory.as_deref());
        let Some((first, rest)) = words.split_first() else { return };
        self.reach.runs_tests |= runs_tests(words);
        self.reach.doctests |= words
            .iter()
            .any(|word| word.starts_with("--doctest-") || word == "--with-doctest" || word == "--xdoctest");
        match first.as_str() {
            "cd" | "pushd" => {
                place.enter(rest.iter().find(|word| !word.starts_with('-')).map(String::as_str));
            }
            "." | "source" if inner.depth > 0 => self.sourced(rest, &inner),
            "." | "source" => self.run_first(rest, judged, &inner),
            "eval" => self.walk(&rest.join(" "), &inner.deeper(None)),
            "-m" => self.python(words, judged, &inner),
            word if word.starts_with(UNKNOWN) => self.unknown_program(words, judged, &inner),
            word => self.program(program(base_name(word)), words, judged, &inner),
        }
    }

    fn program(&mut self, kind: Program, words: &[String], judged: bool, place: &Place) {
        let Some((first, rest)) = words.split_first() else { return };
        match kind {
            Program::Shell => self.shell(rest, judged, place),
            Program::Python => self.python(rest, judged, place),
            Program::Node => self.node(words, judged, place),
            Program::Interpreter => self.interpreter(rest, judged, place),
            Program::Make => self.make(rest, place),
            Program::Just => self.just(rest, place),
            Program::Task => self.task(place),
            Program::PackageScripts => self.package_scripts(words, place),
            Program::Runner => self.runner(words, place),
            Program::Compares => self.compare(rest, place),
            Program::Examines => self.examine(base_name(first), rest, place),
            Program::Other => self.other(words, judged, place),
        }
    }

    /// `PYTHONPATH=dir` and its kin for other languages.
    fn variable(&mut self, name: &str, value: &str, place: &Place) {
        let plugs = matches!(
            name,
            "NODE_OPTIONS"
                | "RUBYOPT"
                | "PERL5OPT"
                | "PYTEST_ADDOPTS"
                | "PYTEST_PLUGINS"
                | "BASH_ENV"
                | "ENV"
                | "PYTHONSTARTUP"
                | "LD_PRELOAD"
                | "MAKEFILES"
        );
        if name == "PYTHONPATH" || name == "PYTHONHOME" {
            for dir in value.split(':') {
                self.reach.python_path.extend(place.directories(dir));
            }
        } else if name == "PATH" {
            self.programs_on_path(value, place);
        } else if plugs {
            for word in value.split([' ', '=', ':']) {
                for path in self.resolve(word, place) {
                    self.note(path, Standing::Oracle, format!("loaded by {}", place.source));
                }
            }
        }
    }

    /// New programs that are found before the system's own.
    fn programs_on_path(&mut self, value: &str, place: &Place) {
        let dirs = value.split(':').map(|dir| dir.trim_start_matches(UNKNOWN).trim_start_matches('/'));
        for dir in dirs.filter(|dir| !dir.is_empty()).flat_map(|dir| place.directories(dir)) {
            let new =
                self.now.below(&dir).filter(|path| paths::parent(path) == dir && !self.before.contains(path));
            for path in new.map(<[u8]>::to_vec).collect::<Vec<_>>() {
                let known = program(&paths::shown(paths::name(&path))) != Program::Other;
                let standing = if known { Standing::Oracle } else { Standing::Ambiguous };
                self.note(path, standing, format!("found on the PATH of {}", place.source));
            }
        }
    }

    /// A file that is run: a check, or what is checked?
    fn run(&mut self, path: &[u8], judged: bool, place: &Place) {
        let verdict = self.verdict(path, judged, place);
        if let Some(standing) = verdict {
            let why = match standing {
                Standing::Ambiguous if place.direct => format!("run by {}, its own verdict", place.source),
                _ => format!("run by {}", place.source),
            };
            self.note(path.to_vec(), standing, why);
        }
        self.look_into(path, place);
    }

    fn verdict(&self, path: &[u8], judged: bool, place: &Place) -> Option<Standing> {
        if check_like(path) || super::is_named_test(path) {
            return Some(Standing::Oracle);
        }
        match (judged, place.direct) {
            (true, false) if self.before.contains(path) && expectation_like(path) => {
                Some(Standing::Ambiguous)
            }
            (true, _) => None,
            (false, true) if self.before.contains(path) && !likeness::program_like(path) => {
                Some(Standing::Oracle)
            }
            (false, _) => Some(Standing::Ambiguous),
        }
    }

    /// What a run file runs, sources or imports in turn.
    fn look_into(&mut self, path: &[u8], place: &Place) {
        if place.depth >= DEEPEST || !self.read.insert(path.to_vec()) {
            return;
        }
        let name = paths::shown(path);
        for text in self.texts(path) {
            let inner = place.inside(&name, paths::parent(path));
            if speaks_shell(path, &text) {
                self.walk(&text, &inner);
            } else {
                self.imports(path, &text, &inner);
            }
        }
    }
}

/// A command that only says or decides that something failed.
fn only_reports(simple: &Simple) -> bool {
    let first = simple.words.first().map(String::as_str).unwrap_or_default();
    matches!(
        first,
        "" | "echo"
            | "printf"
            | "exit"
            | "false"
            | "true"
            | ":"
            | "return"
            | "cat"
            | "["
            | "test"
            | "grep"
            | "date"
            | "sleep"
            | "ls"
            | "{"
            | "("
    )
}

/// Whether a shell reads this text.
fn speaks_shell(path: &[u8], text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    match paths::extension(path).as_slice() {
        b"sh" | b"bash" | b"zsh" | b"ksh" | b"fish" | b"bats" => true,
        _ if first.starts_with("#!") => first.contains("sh"),
        extension => extension.is_empty(),
    }
}

/// Which of the commands have their output judged by another one.
fn judged(commands: &[Simple]) -> Vec<bool> {
    let names: Vec<String> = commands
        .iter()
        .map(|simple| {
            unwrap_command(&simple.words).0.first().map(|word| base_name(word).to_owned()).unwrap_or_default()
        })
        .collect();
    let examined: BTreeSet<&String> = commands
        .iter()
        .zip(&names)
        .filter(|(_, name)| judges(name))
        .flat_map(|(simple, _)| simple.words.iter().chain(&simple.inputs))
        .collect();
    let mut found: Vec<bool> = Vec::new();
    // From the last to the first: a pipe passes on whether what follows judges.
    let mut following: [bool; 2] = [false; 2];
    for (simple, name) in commands.iter().zip(&names).rev() {
        let level = usize::from(simple.substituted);
        let piped = simple.piped && following.get(level).copied().unwrap_or_default();
        let written = simple.outputs.iter().any(|output| output != "/dev/null" && examined.contains(output));
        if let Some(next) = following.get_mut(level) {
            *next = judges(name) || piped;
        }
        found.push(simple.substituted || piped || written);
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests;
