//! Files in a workspace that ralph itself writes: they are nobody's work, so every walk leaves them out.

use crate::index::Kind;

/// What ralph writes, relative to the root.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnFiles {
    /// In order.
    files: Vec<Vec<u8>>,
    /// Files of which a part of the name varies.
    patterns: Vec<Vec<u8>>,
    dirs: Vec<Vec<u8>>,
}

impl OwnFiles {
    /// Adds a file; see [`is_own_file`].
    pub fn add(&mut self, path: &str) {
        let path = path.trim_start_matches("./").as_bytes().to_vec();
        if path.contains(&b'*') {
            self.patterns.push(path);
        } else {
            self.files.push(path);
            self.files.sort_unstable();
        }
    }

    /// Adds a directory with everything in it.
    pub fn add_dir(&mut self, path: &[u8]) {
        self.dirs.push(path.to_vec());
    }

    /// Whether ralph itself writes this path.
    pub fn has(&self, path: &[u8], kind: Kind) -> bool {
        match kind {
            Kind::File => {
                let known = self.files.binary_search_by(|own| own.as_slice().cmp(path)).is_ok();
                known || self.patterns.iter().any(|own| is_own_file(own, path))
            }
            Kind::Directory => self.dirs.iter().any(|own| own == path),
            _ => false,
        }
    }
}

/// Whether `own`, a file that ralph writes, means this path. One `*` in it stands for a part of a name.
#[must_use]
pub fn is_own_file(own: &[u8], path: &[u8]) -> bool {
    let Some(star) = own.iter().position(|byte| *byte == b'*') else { return own == path };
    let (head, tail) = own.split_at(star);
    let middle =
        path.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail.get(1..).unwrap_or_default()));
    middle.is_some_and(|middle| !middle.contains(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_a_part_of_one_name() {
        let own = b"docs/ralph-report-*.md";
        assert!(is_own_file(own, b"docs/ralph-report-2026-02-20.md"));
        for other in
            ["docs/ralph-report-.mdx", "ralph-report-1.md", "docs/ralph-report-a/b.md", "docs/guide.md"]
        {
            assert!(!is_own_file(own, other.as_bytes()), "{other}");
        }
        assert!(is_own_file(b"a.json", b"a.json") && !is_own_file(b"a.json", b"b.json"));
    }

    #[test]
    fn files_are_found_in_any_order_and_directories_as_such() {
        let mut own = OwnFiles::default();
        ["./b.json", "a/c.json", "r-*.md"].iter().for_each(|path| own.add(path));
        own.add_dir(b"state");
        for path in ["b.json", "a/c.json", "r-1.md"] {
            assert!(own.has(path.as_bytes(), Kind::File), "{path}");
        }
        assert!(own.has(b"state", Kind::Directory) && !own.has(b"state", Kind::File));
        assert!(!own.has(b"b.json", Kind::Symlink), "a link in the place of a view is somebody else's");
    }
}
