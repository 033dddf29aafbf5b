//! Globs: those of the table, as regular expressions, and the user's, in gitignore syntax.

use std::ffi::OsStr;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// A shell glob as a regular expression for bytes: `*` and `?` stay inside one part of a path, `**` does not, `{a,b}`
/// is one of these.
pub fn as_regex(glob: &str, cased: bool) -> String {
    let mut made = String::from(if cased { "(?s-u)^" } else { "(?si-u)^" });
    let mut rest = glob.chars().peekable();
    let mut braces = 0_usize;
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.next_if_eq(&'*').is_some() => {
                let directories = rest.next_if_eq(&'/').is_some();
                made.push_str(if directories { "(?:.*/)?" } else { ".*" });
            }
            '*' => made.push_str("[^/]*"),
            '?' => made.push_str("[^/]"),
            '{' => {
                braces += 1;
                made.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                made.push(')');
            }
            ',' if braces > 0 => made.push('|'),
            c => made.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    made.extend(std::iter::repeat_n(')', braces));
    made + "$"
}

/// What a list of globs says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Nothing.
    No,
    /// It is named, or a directory it lies in.
    Named,
    /// It is taken out by `!`, and not named otherwise.
    TakenOut,
}

/// A user's list in gitignore syntax. A line that cannot be read is skipped: settings are checked elsewhere.
#[derive(Clone, Debug)]
pub struct UserGlobs {
    globs: Gitignore,
}

impl UserGlobs {
    pub fn new(lines: &[String]) -> UserGlobs {
        let mut builder = GitignoreBuilder::new("");
        for line in lines {
            if builder.add_line(None, line).is_err() {
                continue;
            }
        }
        UserGlobs { globs: builder.build().unwrap_or_else(|_| Gitignore::empty()) }
    }

    pub fn chosen(&self, path: &[u8]) -> Chosen {
        if self.globs.is_empty() {
            return Chosen::No;
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let parents = slashes.filter_map(|at| Some((path.get(..at)?, true)));
        let (named, out) =
            parents.chain([(path, false)]).fold((false, false), |(named, out), (part, dir)| {
                let matched = self.globs.matched(as_path(part), dir);
                (named || matched.is_ignore(), out || matched.is_whitelist())
            });
        match (named, out) {
            (true, _) => Chosen::Named,
            (false, true) => Chosen::TakenOut,
            (false, false) => Chosen::No,
        }
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(glob: &str, path: &str) -> bool {
        regex::bytes::Regex::new(&as_regex(glob, false)).unwrap().is_match(path.as_bytes())
    }

    #[test]
    fn shell_globs() {
        assert!(fits("a*.{b,c}", "Axy.C"));
        assert!(!fits("a*", "a/b"));
        assert!(fits("**/x/**", "x/y") && fits("**/x/**", "a/b/x/y/z"));
        assert!(!fits("**/x/**", "ax/y"));
        assert!(fits("a+(b)?.c", "a+(b)!.c"));
        assert!(fits("{a", "a"));
    }

    #[test]
    fn a_list_of_the_user() {
        let list =
            |lines: &[&str]| UserGlobs::new(&lines.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(list(&[]).chosen(b"a"), Chosen::No);
        assert_eq!(list(&["checks/"]).chosen(b"x/checks/a.txt"), Chosen::Named);
        assert_eq!(list(&["!*", "golden/"]).chosen(b"golden/a"), Chosen::Named);
        assert_eq!(list(&["!*", "golden/"]).chosen(b"conftest.py"), Chosen::TakenOut);
        assert_eq!(list(&["a[", "b"]).chosen(b"b"), Chosen::Named);
    }
}
