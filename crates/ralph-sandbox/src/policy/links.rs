//! Links in home directories. Dot files are often links into a directory that is hidden, and so are programs: what such a link
//! leads to is shown, and nothing beside it. Never what is secret, and only by links that no contained program can have made.

use super::caches::CACHES;
use super::facts::{Facts, Link};
use super::programs::{has_programs, is_inside, is_setting, program_roots};
use super::secret_paths::SecretPaths;
use super::settings::{HomeView, Settings};
use super::sight::Sight;
use crate::{Backend, Mount};
use std::path::{Path, PathBuf};

/// What more links lead to stays hidden: each costs a mount at every start of a program.
const MOST: usize = 256;

/// The links of one plan.
pub(super) struct Links<'a> {
    facts: &'a Facts,
    settings: &'a Settings,
    secrets: &'a SecretPaths,
    /// Directories that contained programs write for real.
    written: Vec<PathBuf>,
}

impl<'a> Links<'a> {
    pub fn new(facts: &'a Facts, settings: &'a Settings, secrets: &'a SecretPaths) -> Links<'a> {
        let opened = settings.writable.iter().map(|path| facts.expand(path));
        // With Landlock the agents' state and caches are written for real.
        let caches = CACHES.iter().filter_map(|cache| cache.place(facts));
        let states = facts.agent_states.iter().cloned().chain(caches);
        let states = states.filter(|_| facts.backend == Backend::Landlock);
        let git = facts.git_directories.iter().cloned();
        let written = std::iter::once(facts.workspace.clone()).chain(git).chain(opened).chain(states);
        Links { facts, settings, secrets, written: written.collect() }
    }

    /// Shows what links lead to, as far as it is not seen yet. Returns what is shown.
    pub fn show(&self, mounts: &mut Vec<Mount>) -> Vec<PathBuf> {
        let mut sight = Sight::of(self.facts, mounts);
        let mut shown = Vec::new();
        let links = self.facts.links.iter().filter(|link| self.is_wanted(link) && self.may_be_shown(link));
        for link in links {
            for (path, real) in self.shown_by(link) {
                // Through a link that is not seen nothing is found.
                let is_reached = real == path || link.through.iter().all(|link| sight.sees(link));
                if shown.len() < MOST && !(is_reached && sight.sees(&real)) {
                    let mount = Mount::Show(path);
                    sight.add(&mount);
                    mounts.push(mount);
                    shown.push(real);
                }
            }
        }
        shown
    }

    /// Whether a path of the home directory may be shown, if it is a link or lies below one.
    pub fn allow(&self, path: &Path) -> bool {
        self.facts.links.iter().filter(|link| path.starts_with(&link.at)).all(|link| self.may_be_shown(link))
    }

    /// What is shown for a link: a path, and what it leads to. A program may need what lies beside it, as those of `PATH` do.
    fn shown_by(&self, link: &Link) -> Vec<(PathBuf, PathBuf)> {
        let itself = (link.at.clone(), link.to.clone());
        let directory = if self.facts.path.contains(&link.at) { Some(&*link.to) } else { link.to.parent() };
        let roots = match directory.filter(|dir| self.is_program(link) && has_programs(dir)) {
            Some(directory) => program_roots(directory, self.facts),
            None => Vec::new(),
        };
        let roots = roots.into_iter().filter(|root| self.may_be_seen(root)).map(|root| (root.clone(), root));
        roots.chain([itself]).collect()
    }

    fn is_wanted(&self, link: &Link) -> bool {
        let shows_home = self.settings.effective_home() != HomeView::None;
        self.is_program(link)
            || is_setting(&link.at, self.facts)
            || (shows_home && is_dot_entry(&link.at, &self.facts.home))
    }

    fn is_program(&self, link: &Link) -> bool {
        let path = &self.facts.path;
        path.contains(&link.at) || link.at.parent().is_some_and(|dir| path.iter().any(|own| own == dir))
    }

    fn may_be_shown(&self, link: &Link) -> bool {
        let way = || std::iter::once(&link.at).chain(&link.through);
        let is_the_users = !way().any(|link| self.written.iter().any(|dir| link.starts_with(dir)));
        is_the_users && !way().any(|path| self.secrets.hold(path)) && self.may_be_seen(&link.to)
    }

    fn may_be_seen(&self, path: &Path) -> bool {
        is_inside(path, self.facts)
            && !self.facts.workspace.starts_with(path)
            && !self.written.iter().any(|dir| path.starts_with(dir))
            && !self.secrets.hold(path)
    }
}

/// A dot entry of the home directory, or an entry of `~/.config`.
fn is_dot_entry(at: &Path, home: &Path) -> bool {
    let Some(parent) = at.parent() else { return false };
    let is_dotted = at.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    (parent == home && is_dotted) || parent == home.join(".config")
}
