//! The changes since the baseline, split into three sets, with everything else that the rules want to know of them.

use super::around::Around;
use super::around_changes::AroundChanges;
use super::diff::diff;
use super::environment::EnvironmentChanges;
use super::room_files::RoomFiles;
use super::site::{ProofSite, RedBefore, is_nested};
use crate::redact::Redactor;
use crate::room::DependencyFolder;
use crate::room::dependencies;
use ralph_proof::canary::Canary;
use ralph_proof::signs::signs;
use ralph_proof::{Change, Classifier, Files, Inputs, RoomContent, Sets};
use ralph_rules::record::{ChangeSet, Compared, RoomSets, SignSeen};
use ralph_tree::TreePath;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Most names in one set's record.
const NAMES: usize = 100;
/// Most signs in a record.
const SIGNS: usize = 20;
/// Files whose change explains that installed packages differ.
const MANIFESTS: [&str; 22] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "go.mod",
    "go.sum",
    "Podfile.lock",
];

/// Extensions of files that decide a build and that its rules often do not name.
const UNTRACKED: [&str; 13] =
    ["h", "hh", "hpp", "hxx", "inc", "inl", "c", "cc", "cpp", "cxx", "s", "mk", "ld"];

/// What changed since the baseline.
#[derive(Debug)]
pub struct Comparison {
    /// The tree that was compared.
    pub tree: u128,
    /// Every changed path.
    pub changes: Vec<Change>,
    /// Every path that must not change while a verification runs.
    pub(super) oracle: BTreeSet<Vec<u8>>,
    /// Files of submodules, which every room shows as they are now.
    pub(super) carried: Vec<Vec<u8>>,
    /// The workspace's dependency folders.
    pub(super) dependencies: Vec<DependencyFolder>,
    no_tests_before: bool,
    configuration_only: bool,
    environment: EnvironmentChanges,
    around: AroundChanges,
    signs: Vec<SignSeen>,
    canary: bool,
    pub(super) oracle_diff: String,
}

impl Comparison {
    /// Compares the files of now with the baseline's. `red` are the commands that failed before.
    pub fn new(site: &ProofSite<'_>, red: &[RedBefore<'_>]) -> Comparison {
        let folders = dependencies::find(site.workspace, site.now);
        let python = site.places.python_sites(site.workspace, &folders);
        let installed = |name: &str| dependencies::has_module(name, &python);
        let (before, now) = (site.files_before(), site.files_now());
        let classifier = Classifier::new(Inputs {
            before: &before,
            now: &now,
            commands: site.commands,
            oracle_paths: site.oracle_paths,
            work_paths: site.work_paths,
            installed: &installed,
        });
        let mut changes = classifier.changes();
        changes.retain(|change| change.exists || !is_there(site.root, &change.path));
        let nested = |change: &Change| site.without_submodules && is_nested(site.now, &change.path);
        let (carried, changes): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(nested);
        let oracle = before.paths().chain(now.paths()).filter(|path| classifier.guards(path));
        let oracle = oracle.map(<[u8]>::to_vec).collect();
        let none = !red.is_empty() && !classifier.baseline_has_tests();
        let no_tests_before = none && red.iter().all(|r| r.not_run || classifier.runs_tests(r.command));
        let oracle_changes = changes.iter().filter(|change| change.has_oracle());
        let configuration_only = oracle_changes.clone().next().is_some()
            && oracle_changes.clone().all(|change| classifier.is_configuration(change));
        let environment = site.before.map(|before| {
            let places = (site.places, site.package_cache);
            before.changes(site.workspace, &folders, places, changes.iter().any(is_manifest))
        });
        let mut comparison = Comparison {
            tree: site.now.id(),
            signs: found_signs(&changes, &before, &now),
            changes,
            oracle,
            carried: carried.into_iter().map(|change| change.path).collect(),
            dependencies: folders,
            no_tests_before,
            configuration_only,
            environment: environment.unwrap_or_default(),
            around: AroundChanges::default(),
            canary: false,
            oracle_diff: String::new(),
        };
        comparison.oracle_diff = diff(&comparison.changes, site);
        comparison.canary = comparison.has_canary(site);
        comparison
    }

    /// With what changed in the repository around the workspace. What is compared there file by file, with the user's own
    /// changes in mind, is not compared twice.
    pub(super) fn with_around(mut self, around: &Around, changes: AroundChanges) -> Comparison {
        // Settings of git stand behind the path of their config.
        let path = |named: &str| named.split_once(" (").map_or(named, |(path, _)| path).to_owned();
        self.environment.outside.retain(|named| !around.compares(named) && !around.compares(&path(named)));
        self.around = changes;
        self
    }

    fn has_canary(&self, site: &ProofSite<'_>) -> bool {
        let all = RoomSets { work: true, ambiguous: true, oracle: true, canary: false };
        let files = RoomFiles::new(site, self, all);
        Canary::new(&files.as_files(site), site.commands, "0").is_some()
    }

    /// Whether the oracle changed in files that builds often do not know to depend on: headers, C sources, make files.
    pub(super) fn changes_untracked_inputs(&self) -> bool {
        let oracle = self.changes.iter().filter(|change| !change.has_work() && change.has_oracle());
        oracle.map(|change| change.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()).any(|name| {
            let low = name.to_ascii_lowercase();
            let extension = low.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
            UNTRACKED.iter().any(|known| known.as_bytes() == extension) || low.ends_with(b"makefile")
        })
    }

    /// The record of it, without secrets.
    pub fn record(&self, redactor: &Redactor) -> Compared {
        let clean = |text: &str| redactor.redact(text).into_owned();
        let list = |texts: &[String]| texts.iter().take(NAMES).map(|text| clean(text)).collect();
        let set = |belongs: fn(&Change) -> bool| {
            let members: Vec<&Change> = self.changes.iter().filter(|change| belongs(change)).collect();
            let names = members
                .iter()
                .take(NAMES)
                .map(|change| clean(&named(&TreePath::from(change.path.as_slice()).to_string(), change)))
                .collect();
            ChangeSet { files: u32::try_from(members.len()).unwrap_or(u32::MAX), names }
        };
        let outside = [self.around.oracle.as_slice(), &self.environment.outside].concat();
        let mut oracle = self.changes.iter().filter(|change| change.has_oracle()).peekable();
        let rest = |change: &&Change| change.has_work() || change.has_ambiguous();
        Compared {
            tree: self.tree,
            work: set(Change::has_work),
            ambiguous: set(Change::has_ambiguous),
            oracle: set(Change::has_oracle),
            docs_only: self.changes.iter().filter(rest).all(|change| change.docs),
            layout_only: oracle.peek().is_some() && oracle.all(|change| change.layout_only),
            no_tests_before: self.no_tests_before,
            configuration_only: self.configuration_only,
            outside: list(&outside),
            around: list(&self.around.rest),
            around_cut_short: self.around.cut_short,
            installed: list(&self.environment.installed),
            edited: list(&self.environment.edited),
            signs: self.signs.iter().map(|sign| redacted(sign, redactor)).collect(),
            canary: self.canary,
            changed_since: Vec::new(),
            oracle_diff: clean(&self.oracle_diff),
            problem: None,
        }
    }
}

/// Whether a file that does not count as work any more is still there: git tracks it, or a new rule ignores it. It is
/// not gone, and a room shows the baseline's.
fn is_there(root: &Path, path: &[u8]) -> bool {
    let at = root.join(OsStr::from_bytes(path));
    at.symlink_metadata().is_ok_and(|meta| meta.is_file() || meta.is_symlink())
}

/// The path and why it is in its set: `tests/a.py (test directory)`.
pub(super) fn named(path: &str, change: &Change) -> String {
    match (change.existed, change.exists) {
        (false, _) => format!("{path} (new; {})", change.why),
        (_, false) => format!("{path} (deleted; {})", change.why),
        _ => format!("{path} ({})", change.why),
    }
}

fn is_manifest(change: &Change) -> bool {
    let name = change.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    MANIFESTS.iter().any(|manifest| manifest.as_bytes() == name) || name.starts_with(b"requirements")
}

/// Signs in the added lines of work and ambiguous files.
fn found_signs(changes: &[Change], before: &Files<'_>, now: &Files<'_>) -> Vec<SignSeen> {
    let without_oracle = Sets { work: true, ambiguous: true, oracle: false };
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| !change.docs) {
        let text = match change.in_room(without_oracle) {
            RoomContent::Now => now.text(&change.path),
            RoomContent::Made(bytes) => String::from_utf8(bytes.to_vec()).ok(),
            RoomContent::Baseline | RoomContent::Absent => None,
        };
        let Some(text) = text else { continue };
        let path = TreePath::from(change.path.as_slice()).to_string();
        for sign in signs(&change.path, before.text(&change.path).as_deref(), &text) {
            let line = u32::try_from(sign.line).unwrap_or(u32::MAX);
            found.push(SignSeen { what: sign.what.into(), path: path.clone(), line, text: sign.text });
        }
        if found.len() >= SIGNS {
            found.truncate(SIGNS);
            break;
        }
    }
    found
}

fn redacted(sign: &SignSeen, redactor: &Redactor) -> SignSeen {
    let clean = |text: &str| redactor.redact(text).into_owned();
    SignSeen { what: sign.what.clone(), path: clean(&sign.path), line: sign.line, text: clean(&sign.text) }
}
