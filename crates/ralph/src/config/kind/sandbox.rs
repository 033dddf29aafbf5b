//! What keys of `[sandbox]` may hold: paths of this machine, hosts, names of variables, a size.

use super::read::{Change, then};
use super::{Mismatch, Set};
use crate::values;
use ralph_sandbox::gate::HostRule;
use serde_json::json;
use std::fmt::Display;
use std::path::{Component, Path};
use toml::Value;

/// What a key of `[sandbox]` may hold, and where it lands.
#[derive(Clone, Copy, Debug)]
pub enum SandboxKind {
    /// Absolute paths; `~/` stands for the home directory.
    Paths(Set<Vec<String>>),
    /// Hosts: `name`, `*.name`, each with or without a port.
    Hosts(Set<Vec<String>>),
    /// Names of environment variables.
    Names(Set<Vec<String>>),
    /// A number of bytes with a unit; 0 means no limit.
    Size(Set<u64>),
}

impl SandboxKind {
    /// What it may hold, in words that fit "must be …".
    pub fn holds(self) -> &'static str {
        match self {
            SandboxKind::Paths(_) => "a list of absolute paths, such as [\"~/.config/tool\", \"/opt/data\"]",
            SandboxKind::Hosts(_) => "a list of hosts, such as [\"*.crates.io\", \"localhost:5432\"]",
            SandboxKind::Names(_) => "a list of environment variables, such as [\"NPM_TOKEN\"]",
            SandboxKind::Size(_) => "a size such as \"8GiB\" or \"500MB\"; \"0\" means no limit",
        }
    }

    /// A value that is accepted and is not the built-in one, as TOML.
    pub fn example(self) -> &'static str {
        match self {
            SandboxKind::Paths(_) => "[\"~/.config/tool\"]",
            SandboxKind::Hosts(_) => "[\"*.crates.io\"]",
            SandboxKind::Names(_) => "[\"NPM_TOKEN\"]",
            SandboxKind::Size(_) => "\"2GiB\"",
        }
    }

    /// Its JSON Schema.
    pub fn schema(self) -> serde_json::Value {
        let list = |pattern: &str| json!({"type": "array", "items": {"type": "string", "pattern": pattern}});
        match self {
            SandboxKind::Paths(_) => list("^(/|~/).+"),
            SandboxKind::Hosts(_) => list("^[^/@ ]+$"),
            SandboxKind::Names(_) => list("^[^= ]+$"),
            SandboxKind::Size(_) => {
                json!({"type": "string", "pattern": "^\\s*(0|[0-9.]+\\s*([kKmMgGtT]([iI])?)?[bB])\\s*$"})
            }
        }
    }

    /// The change that a value makes.
    pub(super) fn change(self, value: &Value, wrong: impl Fn() -> Mismatch) -> Result<Change, Mismatch> {
        let list = || -> Result<Vec<String>, Mismatch> {
            let items = value.as_array().ok_or_else(&wrong)?.iter();
            items.map(|item| item.as_str().map(Into::into).ok_or_else(&wrong)).collect()
        };
        Ok(match self {
            SandboxKind::Paths(set) => then(set, checked(list()?, wrong_path)?),
            SandboxKind::Hosts(set) => then(set, checked(list()?, wrong_host)?),
            SandboxKind::Names(set) => then(set, checked(list()?, wrong_name)?),
            SandboxKind::Size(set) => {
                then(set, value.as_str().and_then(|text| values::size(text).ok()).ok_or_else(wrong)?)
            }
        })
    }
}

/// The items, if nothing is wrong with any.
fn checked<T: Display>(items: Vec<String>, wrong: fn(&str) -> Option<T>) -> Result<Vec<String>, Mismatch> {
    match items.iter().find_map(|item| Some((item, wrong(item)?))) {
        Some((item, why)) => Err(Mismatch::new(format!("contains {item:?}, which {why}"))),
        None => Ok(items),
    }
}

fn wrong_path(path: &str) -> Option<&'static str> {
    let below_home = path.strip_prefix("~/");
    let parts = Path::new(below_home.unwrap_or(path));
    match path {
        _ if below_home.is_none() && !parts.is_absolute() => {
            Some("is not an absolute path; begin it with / or ~/")
        }
        _ if parts.components().any(|part| part == Component::ParentDir) => Some("contains .."),
        _ if path.contains(['*', '\0']) => Some("is a pattern; name the directory instead"),
        _ if !parts.components().any(|part| matches!(part, Component::Normal(_))) => {
            Some("names a whole disk or the whole home directory; name what is needed in it")
        }
        _ => None,
    }
}

/// As the gate reads it: an entry that it refused would end the run at its first call.
fn wrong_host(host: &str) -> Option<String> {
    host.parse::<HostRule>().err().map(|error| error.problem.to_string())
}

fn wrong_name(name: &str) -> Option<&'static str> {
    (name.trim().is_empty() || name.contains(['=', '\0', '*', ' '])).then_some("is not a variable's name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_or_below_home() {
        for good in ["/opt/data", "~/.config/tool", "/run/postgresql/.s.PGSQL.5432", "/a b"] {
            assert_eq!(wrong_path(good), None, "{good}");
        }
        for bad in ["", "data", "./data", "~", "~/", "~other/x", "/", "//", "/a/../b", "~/..", "/a/*"] {
            assert!(wrong_path(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn hosts_are_names_suffixes_or_addresses() {
        let good = [
            "registry.npmjs.org",
            "*.crates.io",
            "localhost:5432",
            "10.0.0.7",
            "10.0.0.7:80",
            "[::1]:5432",
            "[fe80::1]",
        ];
        for good in good {
            assert_eq!(wrong_host(good), None, "{good}");
        }
        let bad = [
            "",
            "*",
            "a..b",
            "*.",
            "a.*.b",
            "https://crates.io",
            "crates.io/x",
            "a:0",
            "a:99999",
            "a:",
            "::1",
            "[x]:1",
            "a b",
            // What resolvers read as another address than it looks like.
            "127.1",
            "0x7f.1",
            "2130706433",
            "10.0.0.256",
            "0.0.0.0",
            "224.0.0.1",
            "user@crates.io",
            "*:443",
            "-a.org",
        ];
        for bad in bad {
            assert!(wrong_host(bad).is_some(), "{bad}");
        }
        assert_eq!(
            wrong_host("127.1").as_deref(),
            Some("is not an IPv4 address; use four numbers from 0 to 255, such as \"10.0.0.5\"")
        );
    }
}
