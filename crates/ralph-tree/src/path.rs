//! Paths inside a workspace: bytes, relative to its root, parts joined by `/`.
//!
//! They need not be UTF-8. [`shown`] makes them fit for a screen without losing a byte; [`order`] is the
//! one order in which the walk meets them and the index keeps them.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path relative to the workspace's root.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TreePath(Box<[u8]>);

impl TreePath {
    /// The raw bytes, as the file system has them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same as a path, to be joined to the workspace's root.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

impl From<&[u8]> for TreePath {
    fn from(bytes: &[u8]) -> TreePath {
        TreePath(bytes.into())
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// A path as text for people: control characters, invisible and direction-changing characters, backslashes
/// and bytes that are not UTF-8 are escaped, so that two different paths never look the same.
#[must_use]
pub fn shown(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' || c.is_control() || misleads(c) {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Characters that are not seen, or that reorder what is seen around them.
fn misleads(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The order of a walk that takes names in byte order and goes into a directory as soon as it meets it:
/// `/` sorts before every other byte.
pub(crate) fn order(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
    match a.iter().zip(b).find(|(x, y)| x != y) {
        Some((&x, &y)) => rank(x).cmp(&rank(y)),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_followed_by_its_content() {
        let mut paths: Vec<&[u8]> = vec![b"a.b", b"a/z", b"a", b"a/b/c", b"a-b", b"b", b"a/b"];
        paths.sort_by(|a, b| order(a, b));
        let want: Vec<&[u8]> = vec![b"a", b"a/b", b"a/b/c", b"a/z", b"a-b", b"a.b", b"b"];
        assert_eq!(paths, want);
    }

    #[test]
    fn what_is_shown_loses_nothing_and_draws_nothing() {
        assert_eq!(shown("src/überlauf.rs".as_bytes()), "src/überlauf.rs");
        assert_eq!(shown(b"a\nb\x1b[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(shown(b"x\xff\xfey"), "x\\xff\\xfey");
        assert_eq!(shown("gpj\u{202e}.rs".as_bytes()), "gpj\\u{202e}.rs");
        assert_ne!(shown(b"\\xff"), shown(b"\xff"));
    }
}
