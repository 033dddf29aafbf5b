//! Lines with TODO or FIXME that changed files have and did not have before.

use std::collections::BTreeMap;
use std::ops::Range;

/// A line that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoLine {
    /// The file, as shown.
    pub path: String,
    /// From 1.
    pub line: usize,
}

/// The added lines of one file; `before` is asked for only if the file has such lines at all.
pub fn added(path: &str, now: &[u8], before: impl FnOnce() -> Option<Vec<u8>>) -> Vec<TodoLine> {
    let found: Vec<(usize, &[u8])> = marked(now).collect();
    if found.is_empty() || now.contains(&0) {
        return Vec::new();
    }
    let before = before().unwrap_or_default();
    let mut old: BTreeMap<&[u8], u32> = BTreeMap::new();
    for (_, text) in marked(&before) {
        *old.entry(text).or_default() += 1;
    }
    let is_new = |text: &[u8]| match old.get_mut(text) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    let mut is_new = is_new;
    let new = found.into_iter().filter(|(_, text)| is_new(text));
    new.map(|(line, _)| TodoLine { path: path.into(), line }).collect()
}

fn marked(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(lines).filter(|(_, line)| has_mark(line))
}

fn has_mark(line: &[u8]) -> bool {
    [&b"TODO"[..], b"FIXME"].iter().any(|mark| {
        let places = line.windows(mark.len()).enumerate().filter(|(_, window)| window == mark);
        places.map(|(at, _)| at..at + mark.len()).any(|word| is_whole(line, &word))
    })
}

/// Whether neither side continues the word.
fn is_whole(line: &[u8], word: &Range<usize>) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !joins(word.start.checked_sub(1).and_then(|at| line.get(at))) && !joins(line.get(word.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(now: &str, before: &str) -> Vec<usize> {
        let found = added("a.rs", now.as_bytes(), || Some(before.as_bytes().to_vec()));
        found.iter().map(|todo| todo.line).collect()
    }

    #[test]
    fn only_lines_that_were_added_count() {
        assert_eq!(lines("a\n// TODO: x\n", ""), [2]);
        assert_eq!(lines("a\n\n    // TODO: x\n", "// TODO: x\n"), [0; 0], "moved and indented");
        assert_eq!(lines("// TODO: x\n// TODO: x\n", "// TODO: x\n"), [2], "once more");
        assert_eq!(lines("# FIXME(me)\nTODOS = 1\nAUTODO\nto do\nTODO_LIST\n", ""), [1]);
        assert_eq!(lines("\0TODO\n", ""), [0; 0], "binary");
    }
}
