//! Where the hunks of a map begin in a unified diff. Both were computed apart, so that a hunk is found by the lines that it
//! has now, not by the diff's own hunks.

use ralph_rules::record::{ChangeMap, MappedHunk};

/// The hunks of one file that were not marked yet, in the order of their lines.
pub(crate) struct Marks<'a> {
    left: Vec<&'a MappedHunk>,
    /// The current file's line that the diff has come to.
    line: u32,
}

impl<'a> Marks<'a> {
    /// Those of this file.
    pub fn of(map: Option<&'a ChangeMap>, path: &str) -> Marks<'a> {
        let mut left: Vec<&MappedHunk> =
            map.iter().flat_map(|map| &map.hunks).filter(|hunk| hunk.path == path).collect();
        // The next one is the last, to be taken from the end.
        left.sort_by_key(|hunk| std::cmp::Reverse(first(hunk)));
        Marks { left, line: 0 }
    }

    /// What is known of a file as a whole.
    pub fn of_file(&mut self) -> Vec<&'a MappedHunk> {
        let whole = |hunk: &&MappedHunk| hunk.old_lines == 0 && hunk.new_lines == 0;
        let found = self.left.iter().copied().filter(whole).collect();
        self.left.retain(|hunk| !whole(hunk));
        found
    }

    /// The hunks that begin at this line of the diff.
    pub fn before(&mut self, line: &str) -> Vec<&'a MappedHunk> {
        match line.bytes().next() {
            Some(b'@') => {
                self.line = start(line).unwrap_or(self.line);
                return Vec::new();
            }
            Some(b'+' | b'-') => {}
            Some(b'\\') => return Vec::new(),
            _ => {
                self.line = self.line.saturating_add(1);
                return Vec::new();
            }
        }
        let mut found = Vec::new();
        while let Some(hunk) = self.left.pop_if(|hunk| first(hunk) <= self.line) {
            found.push(hunk);
        }
        if line.starts_with('+') {
            self.line = self.line.saturating_add(1);
        }
        found
    }
}

/// The current line that the hunk begins at, or is before if it only takes lines away.
fn first(hunk: &MappedHunk) -> u32 {
    hunk.new_start.saturating_add(u32::from(hunk.new_lines == 0))
}

/// The first current line of `@@ -1,2 +3,4 @@`.
fn start(header: &str) -> Option<u32> {
    let (_, new) = header.split_once(" +")?;
    let range = new.split(' ').next()?;
    let (start, lines) = range.split_once(',').unwrap_or((range, "1"));
    let start: u32 = start.parse().ok()?;
    Some(start + u32::from(lines == "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(new_start: u32, new_lines: u32) -> MappedHunk {
        MappedHunk { path: "a".into(), old_lines: 1, new_start, new_lines, ..MappedHunk::default() }
    }

    #[test]
    fn each_hunk_is_marked_at_its_first_changed_line() {
        let whole = MappedHunk { path: "a".into(), ..MappedHunk::default() };
        let other = MappedHunk { path: "b".into(), ..hunk(1, 1) };
        let hunks = vec![hunk(4, 0), hunk(2, 1), whole, other, hunk(9, 2)];
        let map = ChangeMap { hunks, ..ChangeMap::default() };
        let mut marks = Marks::of(Some(&map), "a");
        assert_eq!(marks.of_file().len(), 1);
        let diff =
            "@@ -1,6 +1,5 @@\n one\n-2\n+two\n three\n four\n-five\n six\n@@ -9,1 +8,4 @@\n x\n+y\n+z\n\\ no";
        let marked: Vec<(usize, u32)> = diff
            .lines()
            .enumerate()
            .flat_map(|(n, line)| marks.before(line).into_iter().map(move |hunk| (n, hunk.new_start)))
            .collect();
        assert_eq!(marked, [(2, 2), (6, 4), (10, 9)]);
        assert_eq!(Marks::of(None, "a").before("+x").len(), 0);
    }
}
