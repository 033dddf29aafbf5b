//! A bounded look at one directory: its names, and the text of small files in it. Nothing is started, no link is
//! followed out of curiosity, and a directory of any size costs the same at most.

use ralph_os::{Links, read_start};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of one directory that are looked at, at most.
const NAMES: usize = 5_000;
/// Bytes of one file that are read, at most.
const TEXT: u64 = 256 << 10;

/// One directory.
pub struct Look {
    dir: PathBuf,
    /// Name → whether it is a directory.
    names: BTreeMap<String, bool>,
}

impl Look {
    /// What is in this directory; nothing where it cannot be read.
    pub fn at(dir: &Path) -> Look {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(NAMES);
        let names = entries.filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let is_dir = kind.is_dir() || (kind.is_symlink() && entry.path().is_dir());
            Some((entry.file_name().into_string().ok()?, is_dir))
        });
        Look { dir: dir.to_path_buf(), names: names.collect() }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// A file of this name is there.
    pub fn has(&self, name: &str) -> bool {
        self.names.get(name) == Some(&false)
    }

    /// A directory of this name is there.
    pub fn has_dir(&self, name: &str) -> bool {
        self.names.get(name) == Some(&true)
    }

    /// The first of these files that is there.
    pub fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// The files whose names end so.
    pub fn ending<'a>(&'a self, ends: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
        let files = self.names.iter().filter(|(_, is_dir)| !**is_dir).map(|(name, _)| name.as_str());
        files.filter(move |name| ends.iter().any(|end| name.ends_with(end)))
    }

    /// The directories in it that are not links.
    pub fn dirs(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter(|(_, is_dir)| **is_dir).map(|(name, _)| name.as_str())
    }

    /// The beginning of a file's text; empty where it cannot be read.
    pub fn text(&self, name: &str) -> String {
        let bytes = match self.has(name) {
            true => read_start(&self.dir.join(name), TEXT, Links::Follow).unwrap_or_default(),
            false => Vec::new(),
        };
        let text = String::from_utf8_lossy(&bytes);
        text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
    }

    /// Whether the file is one that may be executed.
    pub fn is_program(&self, name: &str) -> bool {
        self.has(name) && crate::env::is_program(&self.dir.join(name))
    }
}
