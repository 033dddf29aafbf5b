//! What is seen of home directories.

use super::caches::CACHES;
use super::facts::{AgentNeeds, EntryKind, Facts};
use super::programs::{beside_programs, program_paths};
use super::secrets::{SECRETS, SYSTEM_SECRETS, is_history};
use super::settings::{HomeView, Settings};
use crate::{Backend, LayerFallback, Mount};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A home directory as one plan shows it.
pub(super) struct Home<'a> {
    facts: &'a Facts,
    settings: &'a Settings,
    /// The agent; none for a verification.
    needs: Option<&'a AgentNeeds>,
    /// What must be seen, with everything in it.
    kept: Vec<PathBuf>,
}

impl<'a> Home<'a> {
    pub fn new(facts: &'a Facts, settings: &'a Settings, needs: Option<&'a AgentNeeds>) -> Home<'a> {
        let kept = kept(facts, settings);
        Home { facts, settings, needs, kept }
    }

    /// Everything about home directories, in order.
    pub fn mounts(&self) -> Vec<Mount> {
        let mut mounts = Vec::new();
        if self.facts.root {
            mounts.extend(SYSTEM_SECRETS.iter().map(|path| Mount::Hide(path.into())));
        }
        for home in self.facts.other_homes.iter().filter(|home| **home != self.facts.home) {
            self.hide_unless_kept(home, &mut mounts);
        }
        self.view(&mut mounts);
        mounts.extend(self.opened(|_| true));
        let secrets = self.secrets();
        mounts.extend(secrets.iter().cloned().map(Mount::Hide));
        mounts.extend(self.opened(|path| secrets.iter().any(|secret| path.starts_with(secret))));
        mounts.extend(self.caches());
        mounts
    }

    /// The paths that the user opened, if they are among these. What is secret in them stays hidden, unless it is named itself.
    fn opened(&self, wanted: impl Fn(&Path) -> bool) -> Vec<Mount> {
        let expand = |path: &String| self.facts.expand(path);
        let readable = self.settings.readable.iter().map(expand).filter(|path| wanted(path)).map(Mount::Show);
        let writable =
            self.settings.writable.iter().map(expand).filter(|path| wanted(path)).map(Mount::Write);
        readable.chain(writable).collect()
    }

    fn view(&self, mounts: &mut Vec<Mount>) {
        let home = &self.facts.home;
        if !self.facts.home_is_apart() {
            return;
        }
        if self.settings.effective_home() == HomeView::None {
            mounts.push(Mount::Empty(home.clone()));
            if !matches!(self.facts.backend, Backend::Container(_)) {
                let shown = program_paths(self.facts).into_iter().filter(|path| path.starts_with(home));
                mounts.extend(outermost(shown).into_iter().map(Mount::Show));
            }
            return;
        }
        mounts.push(layer(home, &self.facts.home_layer, LayerFallback::ReadOnly));
        if self.settings.effective_home() == HomeView::Tools {
            for entry in self.facts.listings.get(home).into_iter().flatten() {
                // What a link leads to is judged where it is.
                if !entry.name.starts_with('.') && entry.kind != EntryKind::Link {
                    self.hide_unless_kept(&home.join(&entry.name), mounts);
                }
            }
        }
    }

    /// Hides a path; where something in it is kept, everything beside that.
    fn hide_unless_kept(&self, path: &Path, mounts: &mut Vec<Mount>) {
        if self.kept.iter().any(|kept| path.starts_with(kept)) {
            return;
        }
        let inside: Vec<&PathBuf> = self.kept.iter().filter(|kept| kept.starts_with(path)).collect();
        match self.facts.listings.get(path) {
            Some(entries) if !inside.is_empty() => {
                for entry in entries.iter().filter(|entry| entry.kind != EntryKind::Link) {
                    self.hide_unless_kept(&path.join(&entry.name), mounts);
                }
            }
            // Unreadable, or gone since: what is kept in it is mounted again inside.
            _ => {
                mounts.push(Mount::Hide(path.to_path_buf()));
                let programs = inside.into_iter().filter(|kept| **kept != self.facts.workspace);
                mounts.extend(programs.map(|kept| Mount::Show(kept.clone())));
            }
        }
    }

    /// Secret paths that would be seen otherwise.
    fn secrets(&self) -> BTreeSet<PathBuf> {
        let (facts, home) = (self.facts, &self.facts.home);
        let rows = SECRETS
            .iter()
            .map(|row| row.path)
            .filter(|path| facts.home_has(path))
            .map(|path| home.join(path));
        let entries = facts.listings.get(home).into_iter().flatten();
        let histories = entries.filter(|entry| is_history(&entry.name)).map(|entry| home.join(&entry.name));
        let moved = MOVED.iter().filter_map(|name| facts.path_variable(name)).filter(|path| {
            // `HISTFILE=/dev/null` keeps none, and what is in the workspace is the project's.
            !path.starts_with("/dev") && !path.starts_with(&facts.workspace)
        });
        let own =
            self.needs.into_iter().flat_map(|needs| needs.state_directories.iter().chain(&needs.state_files));
        let own: Vec<&PathBuf> = own.collect();
        let agents = facts.agent_states.iter().filter(|state| !own.contains(state)).cloned();
        let all = rows.chain(histories).chain(moved).chain(agents);
        let all =
            all.chain(facts.with_credentials.iter().cloned()).chain(facts.own_directories.iter().cloned());
        all.filter(|path| !self.is_opened(path) && self.is_visible(path)).collect()
    }

    /// Whether the user named this path, or the workspace is in it, and it belongs to no one else.
    fn is_opened(&self, path: &Path) -> bool {
        let named = self.settings.readable.iter().chain(&self.settings.writable);
        let opened = named.map(|named| self.facts.expand(named)).any(|named| named == path);
        let is_own = self.facts.own_directories.iter().any(|own| own == path);
        opened || (!is_own && self.facts.workspace.starts_with(path))
    }

    /// Whether anything of this path is there before it is hidden.
    fn is_visible(&self, path: &Path) -> bool {
        let empty = self.settings.effective_home() == HomeView::None && self.facts.home_is_apart();
        !empty || !path.starts_with(&self.facts.home) || self.kept.iter().any(|kept| overlap(path, kept))
    }

    fn caches(&self) -> Vec<Mount> {
        let facts = self.facts;
        let written: Vec<PathBuf> = self.settings.writable.iter().map(|path| facts.expand(path)).collect();
        let places = CACHES.iter().filter_map(|cache| Some((cache, cache.place(facts)?)));
        let elsewhere = places.filter(|(_, place)| {
            !place.starts_with(&facts.workspace)
                && !facts.workspace.starts_with(place)
                && !written.iter().any(|dir| place.starts_with(dir))
        });
        let fallback = |programs: bool| match (&facts.backend, programs) {
            (Backend::Landlock, false) => LayerFallback::Write,
            (Backend::Landlock, true) => LayerFallback::ReadOnly,
            _ => LayerFallback::Upper,
        };
        let found: Vec<_> = elsewhere.collect();
        let layers = found.iter().map(|(cache, place)| {
            let alone = !found.iter().any(|(_, other)| other != place && overlap(other, place));
            let upper = match place.strip_prefix(&facts.home) {
                // As they lie below home, so that neighbours can share one overlay: each costs at every start.
                Ok(below) if alone => facts.cache_layers.join("home").join(below),
                _ => facts.cache_layers.join("others").join(cache.name),
            };
            let work = facts.cache_layers.join("work").join(cache.name);
            Mount::Layer { at: place.clone(), upper, work, fallback: fallback(cache.programs) }
        });
        layers.collect()
    }
}

/// Variables that move a directory of secrets.
const MOVED: &[&str] = &[
    "GNUPGHOME",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "KUBECONFIG",
    "DOCKER_CONFIG",
    "CLOUDSDK_CONFIG",
    "AZURE_CONFIG_DIR",
    "PASSWORD_STORE_DIR",
    "NETRC",
    "HISTFILE",
];

/// A layer over a directory, with its own directories below `base`.
pub(super) fn layer(at: &Path, base: &Path, fallback: LayerFallback) -> Mount {
    Mount::Layer { at: at.to_path_buf(), upper: base.join("upper"), work: base.join("work"), fallback }
}

impl Facts {
    /// The directories whose entries the policy must know: home directories, those that something kept lies in, and those
    /// beside programs.
    pub fn to_list(&self, settings: &Settings) -> BTreeSet<PathBuf> {
        let homes = || std::iter::once(&self.home).chain(&self.other_homes);
        let mut found: BTreeSet<PathBuf> =
            std::iter::once(self.home.clone()).chain(beside_programs(self)).collect();
        for kept in kept(self, settings) {
            let Some(home) = homes().find(|home| kept.starts_with(home)) else { continue };
            let above = kept.ancestors().skip(1).take_while(|dir| dir.starts_with(home));
            found.extend(above.map(Path::to_path_buf));
        }
        found
    }
}

/// What must be seen: the workspace, programs, and what the user or the call names.
fn kept(facts: &Facts, settings: &Settings) -> Vec<PathBuf> {
    let named = settings.readable.iter().chain(&settings.writable).map(|path| facts.expand(path));
    let git = || facts.git_directories.iter().filter(|dir| !dir.starts_with(&facts.workspace));
    // A workspace that is a part of a repository needs the rest: the root's settings, packages beside it.
    let around = git().filter_map(|dir| dir.parent()).filter(|root| facts.workspace.starts_with(root));
    let around = around.filter(|root| !facts.home.starts_with(root)).map(Path::to_path_buf);
    let given = std::iter::once(&facts.workspace).chain(git()).chain(&facts.call_directory).cloned();
    let given = given.chain(around);
    given.chain(named).chain(program_paths(facts)).collect()
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Without paths that lie in another one.
pub(super) fn outermost(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut outer: Vec<PathBuf> = Vec::new();
    // In this order a directory comes before what is in it.
    for path in paths.collect::<BTreeSet<_>>() {
        if !outer.iter().any(|above| path.starts_with(above)) {
            outer.push(path);
        }
    }
    outer
}
