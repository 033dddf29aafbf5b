//! What is seen of home directories.

use super::caches::CACHES;
use super::facts::{AgentNeeds, EntryKind, Facts};
use super::links::Links;
use super::programs::{beside_programs, program_paths};
use super::secret_paths::SecretPaths;
use super::secrets::SYSTEM_SECRETS;
use super::settings::{HomeView, Settings};
use super::sight::Sight;
use crate::{Backend, LayerFallback, Mount};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A home directory as one plan shows it.
pub(super) struct Home<'a> {
    facts: &'a Facts,
    settings: &'a Settings,
    /// What must be seen, with everything in it.
    kept: Vec<PathBuf>,
    /// The same of homes of others: where this user's lies in one, it is mounted later.
    kept_of_others: Vec<PathBuf>,
    secret: SecretPaths,
}

impl<'a> Home<'a> {
    /// `needs` are the agent's; none for a verification.
    pub fn new(facts: &'a Facts, settings: &'a Settings, needs: Option<&'a AgentNeeds>) -> Home<'a> {
        let kept = kept(facts, settings);
        let secret = SecretPaths::of(facts, settings, needs, &kept);
        let kept_of_others = kept.iter().chain([&facts.home]).cloned().collect();
        Home { facts, settings, kept, kept_of_others, secret }
    }

    /// Everything about home directories, in order.
    pub fn mounts(&self) -> Vec<Mount> {
        let mut mounts = Vec::new();
        if self.facts.root {
            mounts.extend(SYSTEM_SECRETS.iter().map(|path| Mount::Hide(path.into())));
        }
        for home in self.facts.other_homes.iter().filter(|home| **home != self.facts.home) {
            self.hide_unless_kept(home, &self.kept_of_others, &mut mounts);
        }
        let shown = self.view(&mut mounts);
        mounts.extend(self.opened(|_| true));
        let secrets = self.secrets(&shown);
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

    /// Returns what is shown because links lead to it.
    fn view(&self, mounts: &mut Vec<Mount>) -> Vec<PathBuf> {
        let (home, links) = (&self.facts.home, Links::new(self.facts, self.settings, &self.secret));
        if !self.facts.home_is_apart() {
            return Vec::new();
        }
        if self.settings.effective_home() == HomeView::None {
            mounts.push(Mount::Empty(home.clone()));
            if matches!(self.facts.backend, Backend::Container(_)) {
                return Vec::new();
            }
            let programs = program_paths(self.facts).into_iter();
            let shown = programs.filter(|path| path.starts_with(home) && links.allow(path));
            mounts.extend(outermost(shown).into_iter().map(Mount::Show));
            return links.show(mounts);
        }
        mounts.push(layer(home, &self.facts.home_layer, LayerFallback::ReadOnly));
        if self.settings.effective_home() == HomeView::Tools {
            for entry in self.facts.listings.get(home).into_iter().flatten() {
                // What a link leads to is judged where it is.
                if !entry.name.as_encoded_bytes().starts_with(b".") && entry.kind != EntryKind::Link {
                    self.hide_unless_kept(&home.join(&entry.name), &self.kept, mounts);
                }
            }
        }
        links.show(mounts)
    }

    /// Hides a path; where something in it is kept, everything beside that.
    fn hide_unless_kept(&self, path: &Path, kept: &[PathBuf], mounts: &mut Vec<Mount>) {
        if kept.iter().any(|kept| path.starts_with(kept)) {
            return;
        }
        let inside: Vec<&PathBuf> = kept.iter().filter(|kept| kept.starts_with(path)).collect();
        match self.facts.listings.get(path) {
            Some(entries) if !inside.is_empty() => {
                for entry in entries.iter().filter(|entry| entry.kind != EntryKind::Link) {
                    self.hide_unless_kept(&path.join(&entry.name), kept, mounts);
                }
            }
            // Unreadable, or gone since: what is kept in it is mounted again inside.
            _ => {
                mounts.push(Mount::Hide(path.to_path_buf()));
                let later = [&self.facts.workspace, &self.facts.home];
                let programs = inside.into_iter().filter(|kept| !later.contains(kept));
                mounts.extend(programs.map(|kept| Mount::Show(kept.clone())));
            }
        }
    }

    /// Secret paths that would be seen otherwise; `shown` are directories that are shown because links lead to them.
    fn secrets(&self, shown: &[PathBuf]) -> BTreeSet<PathBuf> {
        let copies = shown.iter().flat_map(|dir| SecretPaths::in_shown(self.facts, self.settings, dir));
        let sight = Sight::of(self.facts, &[]);
        let is_visible =
            |path: &&PathBuf| self.is_visible(path, shown) || self.is_visible(&sight.real(path), shown);
        self.secret.iter().filter(is_visible).cloned().chain(copies).collect()
    }

    /// Whether anything of this path is there before it is hidden.
    fn is_visible(&self, path: &Path, shown: &[PathBuf]) -> bool {
        let empty = self.settings.effective_home() == HomeView::None && self.facts.home_is_apart();
        let mut seen = self.kept.iter().chain(shown);
        !empty || !path.starts_with(&self.facts.home) || seen.any(|seen| overlap(path, seen))
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

/// A layer over a directory, with its own directories below `base`.
pub(super) fn layer(at: &Path, base: &Path, fallback: LayerFallback) -> Mount {
    Mount::Layer { at: at.to_path_buf(), upper: base.join("upper"), work: base.join("work"), fallback }
}

impl Facts {
    /// The directories whose entries the policy must know: home directories, those that something kept lies in, those beside
    /// programs, and what links lead to.
    pub fn to_list(&self, settings: &Settings) -> BTreeSet<PathBuf> {
        let homes = || std::iter::once(&self.home).chain(&self.other_homes);
        let mut found: BTreeSet<PathBuf> =
            std::iter::once(self.home.clone()).chain(beside_programs(self)).collect();
        // What is secret in what a link leads to stays hidden.
        found.extend(self.links.iter().map(|link| link.to.clone()));
        found.extend(self.account_home.clone());
        for kept in kept(self, settings).into_iter().chain([self.home.clone()]) {
            let in_home = |dir: &&Path| homes().any(|home| dir.starts_with(home));
            found.extend(kept.ancestors().skip(1).take_while(in_home).map(Path::to_path_buf));
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
    // In this order a directory comes right before everything in it.
    for path in paths.collect::<BTreeSet<_>>() {
        if !outer.last().is_some_and(|above| path.starts_with(above)) {
            outer.push(path);
        }
    }
    outer
}
