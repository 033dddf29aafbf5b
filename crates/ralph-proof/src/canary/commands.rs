//! What the verify commands come to: their own words and those of the scripts that they name.

use crate::files::Files;
use crate::pattern::pattern;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A larger script is not read.
const LARGEST_SCRIPT: usize = 256 << 10;
/// How far scripts that name scripts are followed.
const ROUNDS: usize = 3;

/// The words of all commands and scripts.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    /// All text, one command or script after the other.
    pub text: String,
    /// Files of the room that they name.
    pub files: BTreeSet<Vec<u8>>,
    /// Directories of the room that they name.
    pub directories: BTreeSet<Vec<u8>>,
}

static NODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:npm|npx|yarn|pnpm|bun|turbo|nx|lerna)\b"));
static MAKE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:make|gmake)\b"));
static JUST: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bjust\b"));
static TOX: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:tox|nox)\b"));

impl Commands {
    /// Reads the commands and what they name in the room.
    pub fn read(room: &Files<'_>, commands: &[String]) -> Commands {
        let mut all = Commands { text: commands.join("\n"), ..Commands::default() };
        let (mut read, mut new) = (BTreeSet::new(), all.text.clone());
        for _ in 0..ROUNDS {
            all.name(room, &new);
            let scripts: Vec<Vec<u8>> = all.scripts(room, &new).filter(|path| !read.contains(path)).collect();
            new = scripts.iter().filter_map(|path| script(room, path)).collect::<Vec<_>>().join("\n");
            read.extend(scripts);
            all.text.push('\n');
            all.text.push_str(&new);
            if new.is_empty() {
                break;
            }
        }
        all
    }

    /// Files that the commands name and that are accepted by `is_test`.
    pub fn named_tests<'a>(&'a self, is_test: impl Fn(&[u8]) -> bool + 'a) -> impl Iterator<Item = &'a [u8]> {
        self.files.iter().map(Vec::as_slice).filter(move |path| is_test(path))
    }

    /// The tests of the room, those in named directories alone if there are any; the nearest to the root come first.
    pub fn tests<'a>(&self, room: &'a Files<'_>, is_test: impl Fn(&[u8]) -> bool) -> Vec<&'a [u8]> {
        let mut all: Vec<&[u8]> =
            room.paths().filter(|path| !super::is_foreign(path) && is_test(path)).collect();
        let named = |path: &[u8]| {
            self.directories
                .iter()
                .any(|dir| path.strip_prefix(dir.as_slice()).is_some_and(|rest| rest.starts_with(b"/")))
        };
        if all.iter().any(|path| named(path)) {
            all.retain(|path| named(path));
        }
        all.sort_by_key(|path| (path.iter().filter(|byte| **byte == b'/').count(), *path));
        all
    }

    fn name(&mut self, room: &Files<'_>, text: &str) {
        let separators = |c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|' | '&' | '(' | ')' | '=' | ',')
        };
        for word in text.split(separators).filter(|word| !word.is_empty() && word.len() < 400) {
            let word = word.split("::").next().unwrap_or(word).trim_start_matches("./").trim_end_matches('/');
            let module = format!("{}.py", word.replace('.', "/"));
            let inside = self.directories.iter().map(|dir| [dir.as_slice(), b"/", word.as_bytes()].concat());
            let candidates: Vec<_> = inside.chain([word.as_bytes().to_vec(), module.into_bytes()]).collect();
            for path in candidates {
                if room.contains(&path) {
                    self.files.insert(path);
                } else if !path.is_empty() && self.directories.len() < 64 && room.contains_dir(&path) {
                    self.directories.insert(path);
                }
            }
        }
    }

    /// Scripts that this text runs by name or through a tool.
    fn scripts<'a>(&'a self, room: &'a Files<'_>, text: &str) -> impl Iterator<Item = Vec<u8>> + 'a {
        let mut by_tool: Vec<&str> = Vec::new();
        let tools: [(&Regex, &[&str]); 4] = [
            (&NODE, &["package.json"]),
            (&MAKE, &["Makefile", "makefile", "GNUmakefile"]),
            (&JUST, &["justfile", "Justfile", ".justfile"]),
            (&TOX, &["tox.ini", "noxfile.py"]),
        ];
        for (tool, files) in tools {
            by_tool.extend(files.iter().filter(|_| tool.is_match(text)));
        }
        let dirs: Vec<&[u8]> = self.directories.iter().map(Vec::as_slice).chain([&b""[..]]).collect();
        let beside = move |name: &str| {
            let join = |dir: &&[u8]| {
                if dir.is_empty() { name.into() } else { [dir, &b"/"[..], name.as_bytes()].concat() }
            };
            dirs.iter().map(join).collect::<Vec<_>>()
        };
        let by_tool: Vec<Vec<u8>> =
            by_tool.into_iter().flat_map(beside).filter(|path| room.contains(path)).collect();
        by_tool.into_iter().chain(self.files.iter().filter(|path| is_script(path)).cloned())
    }
}

fn is_script(path: &[u8]) -> bool {
    let name = super::file_name(path);
    [&b".sh"[..], b".bash", b".zsh", b".mk", b".just"].iter().any(|end| name.ends_with(end))
        || !name.contains(&b'.')
}

/// The commands in a script; of a package.json, only its scripts.
fn script(room: &Files<'_>, path: &[u8]) -> Option<String> {
    let text = room.text(path).filter(|text| text.len() <= LARGEST_SCRIPT)?;
    if super::file_name(path) != b"package.json" {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        return Some(lines.collect::<Vec<_>>().join("\n"));
    }
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    let scripts = package.get("scripts")?.as_object()?;
    Some(scripts.values().filter_map(|script| script.as_str()).collect::<Vec<_>>().join("\n"))
}
