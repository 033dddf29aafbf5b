//! Whether a path is documentation, by the `docs` rows of the table alone: their extensions, the words in their globs for
//! names, and the top directories in their globs for paths. The whole table takes longer to compile than a short command
//! may take, and tests are told apart before.

use super::paths;
use super::table::TABLE;
use std::collections::BTreeSet;
use std::sync::OnceLock;

#[derive(Default)]
struct Documentation {
    extensions: BTreeSet<&'static str>,
    source: BTreeSet<&'static str>,
    names: BTreeSet<&'static str>,
    directories: BTreeSet<&'static str>,
}

/// Whether a path is documentation by its name.
pub fn is_documentation(path: &[u8]) -> bool {
    static READ: OnceLock<Documentation> = OnceLock::new();
    let table = READ.get_or_init(read);
    let has = |words: &BTreeSet<&'static str>, word: &[u8]| {
        str::from_utf8(&word.to_ascii_lowercase()).is_ok_and(|word| words.contains(word))
    };
    let stem = paths::name(path).split(|byte| matches!(byte, b'.' | b'_' | b'-')).next().unwrap_or_default();
    let top = paths::directories(path).next().unwrap_or_default();
    let extension = paths::extension(path);
    has(&table.extensions, &extension)
        || has(&table.directories, top)
        || (has(&table.names, stem) && !has(&table.source, &extension))
}

fn read() -> Documentation {
    let mut found = Documentation::default();
    for line in TABLE.lines() {
        let mut columns = line.split('\t');
        let mut next = || columns.next().unwrap_or_default();
        let (set, kind, patterns) = (next(), next(), next());
        match kind {
            "extension" if set == "work" => found.source.extend(patterns.split(' ')),
            _ if set != "docs" => {}
            "extension" => found.extensions.extend(patterns.split(' ')),
            "name-glob" => found.names.extend(in_braces(patterns)),
            "path-glob" => {
                found
                    .directories
                    .extend(patterns.split(' ').filter_map(|glob| Some(glob.split_once('/')?.0)));
            }
            _ => {}
        }
    }
    found
}

/// The words of the first group in braces.
fn in_braces(globs: &'static str) -> impl Iterator<Item = &'static str> {
    let group = globs.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    group.map_or("", |(words, _)| words).split(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_by_name() {
        for path in
            ["README.md", "README", "docs/a.txt", "docs/guide/b.html", "LICENSE-MIT", "a/b.rst", "changelog"]
        {
            assert!(is_documentation(path.as_bytes()), "{path}");
        }
        for path in ["src/a.py", "a.txt", "src/docs.rs", "Cargo.toml", "", "src/history.rs", "install.sh"] {
            assert!(!is_documentation(path.as_bytes()), "{path}");
        }
    }
}
