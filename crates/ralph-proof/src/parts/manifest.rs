//! Manifests: which reader takes which file apart.

use std::collections::BTreeSet;

use super::{build_lines, go_mod, ini, json, makefile, redirects, toml};

/// A changed manifest, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestSplit {
    /// Only what is not the oracle's changed, or nothing but layout.
    Rest,
    /// Only the oracle's part changed.
    Oracle,
    /// Both did.
    Both {
        /// The current file with the baseline's oracle part.
        without_oracle: String,
        /// The baseline's file with the current oracle part.
        oracle_only: String,
    },
}

/// What a manifest's change is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its parts.
    pub split: ManifestSplit,
    /// A reason of its own, where there is one.
    pub why: Option<String>,
    /// A file with the oracle's part alone could not be read by its tool.
    pub needs_rest: bool,
}

impl From<ManifestSplit> for Found {
    fn from(split: ManifestSplit) -> Found {
        Found { split, why: None, needs_rest: false }
    }
}

/// Takes a manifest apart by the name of its file, in lower case; an absent baseline is empty. `targets` are those that
/// make is asked for. None if it cannot be read as what it is.
pub fn split(name: &str, before: Option<&str>, now: &str, targets: &BTreeSet<String>) -> Option<Found> {
    let is_json = name.ends_with(".json") || name.ends_with(".jsonc");
    let old = before.unwrap_or(if is_json { "{}" } else { "" });
    let redirected = if is_json { redirects::json(name, old, now) } else { redirects::toml(name, old, now) };
    if let Some(redirected) = redirected.first() {
        let why = Some(format!("redirects {redirected}"));
        return Some(Found { split: ManifestSplit::Oracle, why, needs_rest: false });
    }
    match name {
        "package.json" | "composer.json" => json::split(&json::PACKAGE, old, now),
        "deno.json" | "deno.jsonc" => json::split(&json::DENO, old, now),
        _ if is_json => json::split(&json::COMPILER, old, now),
        "cargo.toml" => toml::split(toml::CARGO, old, now).map(|found| Found { needs_rest: true, ..found }),
        "pyproject.toml" => toml::split(toml::PYTHON, old, now),
        "setup.cfg" => Some(ini::split(old, now).into()),
        "go.mod" => Some(go_mod::split(old, now).into()),
        _ if is_make(name) => Some(makefile::split(old, now, targets).into()),
        _ if before.is_none() => Some(ManifestSplit::Rest.into()),
        _ => Some(build_lines::split(old, now).into()),
    }
}

/// Whether make reads a file of this name, in lower case.
pub fn is_make(name: &str) -> bool {
    let begins = ["makefile", "gnumakefile", "bsdmakefile"].iter().any(|begin| name.starts_with(begin));
    begins && name != "makefile.pl" || name.ends_with(".mk") || name.ends_with(".mak")
}
