//! Changes that well-known tools make by themselves where nobody else may: settings of husky, byte code that Python leaves
//! beside a protected source, hooks (`tool_hooks.rs`). They are undone like any other, but nobody is blamed for them. A
//! change that only looks like a tool's gains nothing by it: it is undone too, before anybody runs it.

use ralph_os::Links;
use ralph_tree::{Index, Kind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What stands before the byte code in a file of Python's.
const HEADER: u64 = 16;

/// The tool that makes a setting of git by itself.
pub fn of_setting(name: &str, value: &str) -> Option<&'static str> {
    let inside = !value.starts_with('/') && !value.split('/').any(|part| part == "..");
    let parts: Vec<&str> = value.trim_end_matches('/').split('/').collect();
    match parts.as_slice() {
        _ if name != "core.hookspath" || !inside => None,
        [.., ".husky"] | [.., ".husky", "_"] => Some("husky"),
        [".git", "hooks"] => Some("simple-git-hooks"),
        _ => None,
    }
}

/// husky, where the path lies in its directory, which git's config names: an installation writes it anew.
pub fn of_hooks_directory(protect: &[String], path: &[u8]) -> Option<&'static str> {
    let dirs = protect.iter().filter_map(|glob| glob.strip_prefix('/'));
    let mut husky =
        dirs.filter(|dir| !dir.ends_with('/') && of_setting("core.hookspath", dir) == Some("husky"));
    let is_in = |dir: &str| {
        path.strip_prefix(dir.as_bytes()).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    };
    husky.any(is_in).then_some("husky")
}

/// Python, where the path holds byte code of the source beside its directory, and that source did not change.
pub fn of_byte_code(root: &Path, before: &Index, after: &Index, path: &[u8]) -> Option<&'static str> {
    let name = path.strip_suffix(b".pyc")?;
    let at = name.windows(CACHE.len()).rposition(|part| part == CACHE)?;
    let (dir, name) = (path.get(..at)?, name.get(at + CACHE.len()..)?);
    let module = name.split(|byte| *byte == b'.').next().filter(|_| !name.contains(&b'/'))?;
    let source = [dir, b"/", module, b".py"].concat();
    let (was, is) = (before.get(&source)?, after.get(&source)?);
    let same = (was.kind, was.hash, was.mode) == (is.kind, is.hash, is.mode) && is.kind == Kind::File;
    let code = after.get(path).filter(|code| code.kind == Kind::File && same && !is.unreadable)?;
    let header =
        ralph_os::read_start(&root.join(OsStr::from_bytes(code.path)), HEADER, Links::Refuse).ok()?;
    let seconds = is.mtime.div_euclid(1_000_000_000);
    is_header_of(&header, seconds, is.size).then_some("Python")
}

const CACHE: &[u8] = b"/__pycache__/";

/// A version, no flags, then the source's time and size, as far as 32 bits hold them.
fn is_header_of(header: &[u8], mtime: i64, size: u64) -> bool {
    let word =
        |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Python cuts them off alike
    let expected = (Some(0), Some(mtime as u32), Some(size as u32));
    header.get(2..4) == Some(b"\r\n") && (word(4), word(8), word(12)) == expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_husky() {
        let globs = ["secrets/", "/.husky/_", "/app/.husky"].map(ToOwned::to_owned);
        for (path, tool) in [
            (".husky/_/pre-commit", Some("husky")),
            (".husky/_", Some("husky")),
            ("app/.husky/x", Some("husky")),
            (".husky/pre-commit", None),
            (".husky/_x", None),
            ("secrets/.husky/_/x", None),
        ] {
            assert_eq!(of_hooks_directory(&globs, path.as_bytes()), tool, "{path}");
        }
    }

    #[test]
    fn byte_code_by_its_header() {
        let header = |flags: u32, mtime: u32, size: u32| {
            [&b"\xa7\r\r\n"[..], &flags.to_le_bytes(), &mtime.to_le_bytes(), &size.to_le_bytes()].concat()
        };
        assert!(is_header_of(&header(0, 7, 9), 7, 9));
        assert!(is_header_of(&header(0, 7, 9), 7 + (1 << 32), 9 + (1 << 32)));
        assert!(!is_header_of(&header(0, 8, 9), 7, 9), "another time");
        assert!(!is_header_of(&header(0, 7, 8), 7, 9), "another size");
        assert!(!is_header_of(&header(1, 7, 9), 7, 9), "checked by a hash, or not at all");
        assert!(!is_header_of(b"evil-code", 7, 9));
        assert!(!is_header_of(b"", 0, 0));
    }
}
