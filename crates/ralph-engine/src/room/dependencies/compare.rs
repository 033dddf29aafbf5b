//! What changed between two records of installed packages.

use super::record::{Dependencies, Package};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How a package changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// Another version is installed.
    Version {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// It has the same version, or none, and other content.
    Edited,
    /// A file that Python runs at every start was added or changed.
    StartFile,
}

/// One package that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyChange {
    /// The dependency folder, relative to the workspace.
    pub folder: String,
    /// The package within it; empty if the whole folder was added or removed.
    pub package: String,
    /// What happened.
    pub how: How,
}

impl fmt::Display for DependencyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.folder)?;
        if !self.package.is_empty() {
            write!(f, "/{}", self.package)?;
        }
        match &self.how {
            How::Added => f.write_str(" (added)"),
            How::Removed => f.write_str(" (removed)"),
            How::Version { from, to } => write!(f, " ({from} to {to})"),
            How::Edited => f.write_str(" (edited, same version)"),
            How::StartFile => f.write_str(" (runs at every start of Python)"),
        }
    }
}

/// Every package that differs, in the order of paths.
#[must_use]
pub fn compare(before: &Dependencies, now: &Dependencies) -> Vec<DependencyChange> {
    let mut changes = Vec::new();
    for folder in keys(&before.folders, &now.folders) {
        let mut add = |package: &str, how| {
            changes.push(DependencyChange { folder: folder.clone(), package: package.to_owned(), how });
        };
        match (before.folders.get(folder), now.folders.get(folder)) {
            (Some(old), Some(new)) => {
                for package in keys(old, new) {
                    if let Some(how) = difference(old.get(package), new.get(package)) {
                        add(package, how);
                    }
                }
            }
            (None, _) => add("", How::Added),
            (_, None) => add("", How::Removed),
        }
    }
    changes
}

fn keys<'a, T>(a: &'a BTreeMap<String, T>, b: &'a BTreeMap<String, T>) -> BTreeSet<&'a String> {
    a.keys().chain(b.keys()).collect()
}

fn difference(old: Option<&Package>, new: Option<&Package>) -> Option<How> {
    match (old, new) {
        (old, Some(new)) if new.starts && old != Some(new) => Some(How::StartFile),
        (Some(old), Some(new)) if old.version != new.version => Some(How::Version {
            from: old.version.clone().unwrap_or_default(),
            to: new.version.clone().unwrap_or_default(),
        }),
        (Some(old), Some(new)) => (old.hash != new.hash).then_some(How::Edited),
        (None, Some(_)) => Some(How::Added),
        (Some(_), None) => Some(How::Removed),
        (None, None) => None,
    }
}
