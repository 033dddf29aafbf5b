//! `sets.tsv`, read once: which set a path belongs to by its name.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::globs::as_regex;
use super::paths;

pub(super) const TABLE: &str = include_str!("../sets.tsv");

/// The set of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A test, its helper or its data.
    Test,
    /// Decides how or which checks run.
    Oracle,
    /// The same, if it is new.
    Shadow,
    /// Taken apart.
    Part,
    /// May be either.
    Ambiguous,
    /// Documentation.
    Docs,
    /// Source code.
    Work,
}

/// One row that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its place in the table: of two that fit, the smaller one decides.
    pub line: usize,
    /// Its set.
    pub set: Named,
    /// Why, in words.
    pub why: &'static str,
}

/// The rows by kind of pattern.
#[derive(Debug, Default)]
pub struct Table {
    names: BTreeMap<&'static str, Vec<Row>>,
    extensions: BTreeMap<&'static str, Vec<Row>>,
    name_globs: Globs,
    directories: Globs,
    top_directories: BTreeMap<&'static str, Vec<Row>>,
    paths: Globs,
}

/// Globs that are tried together.
#[derive(Debug, Default)]
struct Globs {
    set: RegexSet,
    rows: Vec<Row>,
}

impl Globs {
    fn new(globs: Vec<(String, Row)>) -> Option<Globs> {
        let (patterns, rows): (Vec<String>, Vec<Row>) = globs.into_iter().unzip();
        let set = RegexSetBuilder::new(patterns).size_limit(64 << 20).build().ok()?;
        Some(Globs { set, rows })
    }

    fn fitting(&self, text: &[u8]) -> impl Iterator<Item = Row> {
        let matched = self.set.matches(text);
        self.rows.iter().enumerate().filter(move |(at, _)| matched.matched(*at)).map(|(_, row)| *row)
    }
}

impl Table {
    /// The table. A row that cannot be read would leave it empty; a test keeps that from happening.
    pub fn get() -> &'static Table {
        static READ: OnceLock<Table> = OnceLock::new();
        READ.get_or_init(|| read(TABLE).unwrap_or_default())
    }

    /// The first row that fits. Rows for new files count only for new ones.
    pub fn row(&self, path: &[u8], is_new: bool) -> Option<Row> {
        let first = self.by_name(path, is_new);
        let directories = paths::directories(path).flat_map(|dir| self.directories.fitting(dir));
        let top = paths::directories(path).next().map(<[u8]>::to_ascii_lowercase).unwrap_or_default();
        let rows = directories
            .chain(listed(&self.top_directories, &top))
            .chain(self.paths.fitting(path))
            .chain(first);
        rows.filter(|row| is_new || row.set != Named::Shadow).min_by_key(|row| row.line)
    }

    /// The first row that fits the file's name alone, whatever directory it is in.
    pub fn by_name(&self, path: &[u8], is_new: bool) -> Option<Row> {
        let name = paths::name(path).to_ascii_lowercase();
        let extension = paths::extension(path);
        let rows = listed(&self.names, &name)
            .chain(listed(&self.extensions, &extension))
            .chain(self.name_globs.fitting(paths::name(path)));
        rows.filter(|row| is_new || row.set != Named::Shadow).min_by_key(|row| row.line)
    }

    /// Whether the extension is one of a programming language.
    pub fn is_source(&self, path: &[u8]) -> bool {
        let extension = paths::extension(path);
        listed(&self.extensions, &extension).any(|row| row.set == Named::Work)
    }
}

fn listed<'a>(rows: &'a BTreeMap<&'static str, Vec<Row>>, key: &[u8]) -> impl Iterator<Item = Row> + use<'a> {
    let found = str::from_utf8(key).ok().and_then(|key| rows.get(key));
    found.into_iter().flatten().copied()
}

/// A row before its patterns are sorted by kind.
struct Line {
    kind: &'static str,
    patterns: Vec<&'static str>,
    row: Row,
}

fn lines(text: &'static str) -> Option<Vec<Line>> {
    let rows = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    rows.map(|(at, line)| {
        let mut columns = line.split('\t');
        let set = match columns.next()? {
            "test" => Named::Test,
            "oracle" => Named::Oracle,
            "shadow" => Named::Shadow,
            "part" => Named::Part,
            "ambiguous" => Named::Ambiguous,
            "docs" => Named::Docs,
            "work" => Named::Work,
            _ => return None,
        };
        let (kind, patterns, why) = (columns.next()?, columns.next()?, columns.next()?);
        let read = Line { kind, patterns: patterns.split(' ').collect(), row: Row { line: at, set, why } };
        (columns.next().is_none() && !why.is_empty() && !patterns.is_empty()).then_some(read)
    })
    .collect()
}

fn read(text: &'static str) -> Option<Table> {
    let lines = lines(text)?;
    let source = lines.iter().filter(|line| line.kind == "extension" && line.row.set == Named::Work);
    let source =
        format!("{{{}}}", source.flat_map(|line| line.patterns.clone()).collect::<Vec<_>>().join(","));
    let mut table = Table::default();
    let (mut names, mut directories, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for Line { kind, patterns, row } in lines {
        for pattern in patterns {
            let glob = |cased| (as_regex(&pattern.replace("{source}", &source), cased), row);
            match kind {
                "name" => table.names.entry(pattern).or_default().push(row),
                "extension" => table.extensions.entry(pattern).or_default().push(row),
                "top-directory" => table.top_directories.entry(pattern).or_default().push(row),
                "name-glob" => names.push(glob(false)),
                "cased-glob" => names.push(glob(true)),
                "directory" => directories.push(glob(false)),
                "path-glob" => whole.push(glob(false)),
                _ => return None,
            }
        }
    }
    table.name_globs = Globs::new(names)?;
    table.directories = Globs::new(directories)?;
    table.paths = Globs::new(whole)?;
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_readable_and_there_once() {
        assert!(read(TABLE).is_some(), "a row of sets.tsv cannot be read");
        let mut seen = BTreeSet::new();
        for line in lines(TABLE).unwrap() {
            for pattern in line.patterns {
                assert!(!pattern.is_empty(), "two spaces in line {}", line.row.line + 1);
                let lower = pattern.to_ascii_lowercase();
                assert!(line.kind == "cased-glob" || pattern == lower, "{pattern} is never matched");
                assert!(seen.insert((line.kind, pattern)), "{} {pattern} is there twice", line.kind);
            }
        }
    }

    #[test]
    fn a_bad_row_is_noticed() {
        assert!(read("test\tname\ta b\twhy").is_some());
        for bad in
            ["nonsense\tname\ta\twhy", "test\tnonsense\ta\twhy", "test\tname\ta", "test\tname\ta\twhy\tx"]
        {
            assert!(read(bad).is_none(), "{bad}");
        }
    }
}
