//! A repository's config before and after. What cannot run code or redirect a push is ordinary, whoever writes it
//! (`harmless_keys.rs`). Everything else (filters, hooks, helpers, the address of a known remote) makes git do other things
//! than the user set up.

use super::harmless_aliases::is_harmless_alias;
use super::harmless_keys::{HARMLESS_IN_NEW_REPOSITORIES, Values, harmless};
use super::settings::{Setting, settings};
use super::tools;
use std::collections::BTreeSet;

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It is left in place.
    Ordinary,
    /// This tool makes it by itself: it is undone, and the run continues.
    Tool(&'static str),
    /// It may run code, hide files or send them elsewhere.
    Tampering,
}

/// One config at three times: an address that was replaced in two steps is replaced all the same.
#[derive(Debug)]
pub struct Configs {
    /// When the run began.
    pub first: Vec<u8>,
    /// The branches there were then; none if they are not known.
    pub branches: Option<BTreeSet<String>>,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

impl Configs {
    /// None if one of them cannot be read for sure.
    fn settings(&self) -> Option<[Vec<Setting>; 3]> {
        Some([settings(&self.first)?, settings(&self.before)?, settings(&self.after)?])
    }
}

/// What the difference between a config before and after means.
pub fn meaning(configs: &Configs) -> Meaning {
    let Some([first, before, after]) = configs.settings() else { return Meaning::Tampering };
    let known = Known { first: &first, branches: configs.branches.as_ref(), before: &before, after: &after };
    if known.pushes_go_to_a_new_remote() {
        return Meaning::Tampering;
    }
    let (old, new) = (known.harmful(&before), known.harmful(&after));
    if old == new {
        return Meaning::Ordinary;
    }
    let tool = |s: &Setting| tools::of_setting(&s.name(), &s.value);
    let others =
        |list: &[Setting]| -> Vec<Setting> { list.iter().filter(|s| tool(s).is_none()).cloned().collect() };
    let named = new.iter().chain(&old).find_map(tool);
    named.filter(|_| others(&old) == others(&new)).map_or(Meaning::Tampering, Meaning::Tool)
}

/// The keys that make a difference between two configs more than ordinary, by the names they may be shown with.
pub fn blamed(configs: &Configs) -> BTreeSet<String> {
    let Some([first, before, after]) = configs.settings() else { return BTreeSet::new() };
    let known = Known { first: &first, branches: configs.branches.as_ref(), before: &before, after: &after };
    let (old, new) = (known.harmful(&before), known.harmful(&after));
    let differ = new.iter().filter(|s| !old.contains(s)).chain(old.iter().filter(|s| !new.contains(s)));
    let mut names: BTreeSet<String> = differ.map(Setting::shown_name).collect();
    if let (true, Some(remote)) = (known.pushes_go_to_a_new_remote(), Known::default_remote(&after)) {
        let url = after.iter().find(|s| s.section == "remote" && s.sub == remote && s.key == "url");
        names.extend(url.map(Setting::shown_name));
    }
    names
}

/// What the config of a repository means that was not there: whatever git writes into a new one is ordinary.
pub fn meaning_in_new_repository(text: &[u8]) -> Meaning {
    let Some(harmful) = harmful_in_new_repository(text) else { return Meaning::Tampering };
    let tools: Option<Vec<_>> = harmful.iter().map(|s| tools::of_setting(&s.name(), &s.value)).collect();
    match tools.as_deref() {
        Some([]) => Meaning::Ordinary,
        Some([tool, ..]) => Meaning::Tool(tool),
        None => Meaning::Tampering,
    }
}

/// The keys of such a config that may run code or lead elsewhere, by the names they may be shown with.
pub fn blamed_in_new_repository(text: &[u8]) -> Option<BTreeSet<String>> {
    Some(harmful_in_new_repository(text)?.iter().map(Setting::shown_name).collect())
}

fn harmful_in_new_repository(text: &[u8]) -> Option<Vec<Setting>> {
    let (all, none) = (settings(text)?, BTreeSet::new());
    let known = Known { first: &[], branches: Some(&none), before: &[], after: &all };
    let allowed = |s: &Setting| {
        let row = HARMLESS_IN_NEW_REPOSITORIES.iter().find(|(name, _)| s.fits(name));
        row.is_some_and(|(_, values)| values.allow(&s.value))
    };
    Some(known.harmful(&all).into_iter().filter(|s| !allowed(s)).collect())
}

/// What a difference means in the config of one work tree, which comes on top of the repository's: only how its files are checked out.
pub fn meaning_for_worktree(configs: &Configs) -> Meaning {
    let of_files = |text: &[u8]| settings(text).is_some_and(|all| all.iter().all(Setting::is_of_files));
    match of_files(&configs.before) && of_files(&configs.after) {
        true => meaning(configs),
        false => Meaning::Tampering,
    }
}

/// The configs that a setting is judged in.
struct Known<'a> {
    first: &'a [Setting],
    /// When the run began.
    branches: Option<&'a BTreeSet<String>>,
    before: &'a [Setting],
    after: &'a [Setting],
}

impl<'a> Known<'a> {
    fn earlier(&self) -> impl Iterator<Item = &'a Setting> {
        self.first.iter().chain(self.before)
    }

    /// The remotes of a config.
    fn remotes(settings: &[Setting]) -> BTreeSet<&str> {
        settings.iter().filter(|s| s.section == "remote" && s.key == "url").map(|s| s.sub.as_str()).collect()
    }

    /// The remote that git takes for a branch without one: the only one, otherwise `origin`.
    fn default_remote(settings: &[Setting]) -> Option<&str> {
        let all = settings.iter().filter(|s| s.section == "remote" && !s.sub.is_empty());
        let all: BTreeSet<&str> = all.map(|s| s.sub.as_str()).collect();
        let only = all.first().filter(|_| all.len() == 1);
        only.or_else(|| all.get("origin")).copied()
    }

    /// There were remotes, and a push that names none goes to one now that was not there.
    fn pushes_go_to_a_new_remote(&self) -> bool {
        let now = Known::default_remote(self.after).filter(|now| !self.had_remote(now));
        !Known::remotes(self.first).is_empty() && now.is_some() && now != Known::default_remote(self.before)
    }

    /// A remote was there when the run began, perhaps under another name.
    fn had_remote(&self, name: &str) -> bool {
        let address = |s: &&Setting| s.section == "remote" && s.key == "url";
        let had = |s: &Setting| self.first.iter().filter(address).any(|first| first.value == s.value);
        let mut now = self.after.iter().filter(address).filter(|s| s.sub == name).peekable();
        Known::remotes(self.first).contains(name) || now.peek().is_some() && now.all(had)
    }

    /// The settings of a config that are not harmless.
    fn harmful(&self, settings: &[Setting]) -> Vec<Setting> {
        settings.iter().filter(|s| !s.is_harmless(self)).cloned().collect()
    }

    fn is_new_branch(&self, name: &str) -> bool {
        self.branches.is_some_and(|branches| !branches.contains(name))
    }
}

impl Setting {
    /// Which values of its key are harmless; none if the table has no such key.
    pub(super) fn harmless_values(&self) -> Option<Values> {
        harmless().find(|(name, _)| self.fits(name)).map(|(_, values)| *values)
    }

    fn is_harmless(&self, known: &Known<'_>) -> bool {
        let value = self.value.as_str();
        match self.harmless_values().unwrap_or(Values::None) {
            Values::Followed => value.starts_with("refs/") && self.is_own_branch(known),
            Values::Tracking => value
                .split_once(':')
                .is_none_or(|(_, to)| to.starts_with("refs/remotes/") || to.starts_with("refs/tags/")),
            Values::Remote => self.names_a_remote(known),
            Values::AsBefore => known.earlier().any(|s| s == self),
            Values::NewAddress => is_plain_address(value) && self.is_new(known) && self.has_free_name(known),
            Values::Alias => is_harmless_alias(value) && self.is_new(known),
            Values::Shows(_) if !known.after.contains(self) => true,
            values => values.allow(value),
        }
    }

    /// It says what the key said when the run began, or the key had no value.
    fn is_new(&self, known: &Known<'_>) -> bool {
        let there = |list: &[Setting]| list.iter().any(|s| s.same_key(self));
        match (there(known.before), there(known.after)) {
            (true, true) => false,
            (true, false) => true,
            (false, _) => !there(known.first) || known.first.contains(self),
        }
    }

    /// What the user names in a push is not this remote: git looks for a remote of that name before it takes the name for
    /// an address or a path.
    fn has_free_name(&self, known: &Known<'_>) -> bool {
        let named = |s: &Setting| matches!(s.key.as_str(), "remote" | "pushremote" | "pushdefault");
        let is_path =
            self.sub.contains(':') || self.sub.split('/').any(|part| matches!(part, "" | "." | ".."));
        let is_free = !is_path && !known.first.iter().any(|s| named(s) && s.value == self.sub);
        self.section != "remote" || is_free || known.first.contains(self)
    }

    /// A new branch may follow any remote. One that was there follows those that were there, because its user may push it
    /// without a look at where it goes; and the first remote of all redirects nothing.
    fn names_a_remote(&self, known: &Known<'_>) -> bool {
        let remote = self.value.as_str();
        if known.earlier().any(|s| s == self) {
            return true;
        }
        if known.is_new_branch(&self.sub) {
            return remote == "." || Known::remotes(known.after).contains(remote);
        }
        let of_branch = |s: &Setting| s.section == "branch" && s.sub == self.sub;
        let followed =
            known.earlier().any(|s| of_branch(s) && matches!(s.key.as_str(), "remote" | "pushremote"));
        match Known::remotes(known.first).is_empty() {
            true => !followed && Known::remotes(known.after).contains(remote),
            false => self.key == "remote" && known.had_remote(remote),
        }
    }

    /// What a branch follows is what it was, or has the same name: otherwise a push may go to another branch.
    fn is_own_branch(&self, known: &Known<'_>) -> bool {
        known.is_new_branch(&self.sub)
            || self.value.strip_prefix("refs/heads/") == Some(&self.sub)
            || known.earlier().any(|s| s == self)
    }
}

/// An address that git fetches from by itself, without running a helper that the address names.
fn is_plain_address(value: &str) -> bool {
    !value.contains("::") && !value.starts_with('-') && !value.contains(['"', '`', '$', ';', '|', '&'])
}

#[cfg(test)]
mod tests;
