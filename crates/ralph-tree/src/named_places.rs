//! Paths that are obeyed because something else names them: files that a repository's config includes, the directory its
//! hooks really lie in, and what protected links lead to. What does not exist yet is obeyed as soon as somebody makes it.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::iter::Peekable;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::content::small_file;
use crate::index::{Index, Kind};
use crate::inner_git_dirs::InnerGitDirs;
use crate::protect::Protect;
use crate::repository::{bare_repositories, repositories};

/// A larger config is not read, nor more configs of one repository than these.
const LARGEST: u64 = 1 << 20;
const MOST_CONFIGS: usize = 256;
/// So many links may lead to a file, as in the kernel.
const MOST_LINKS: usize = 40;
/// What may be a link in a repository's own directory.
const OWN: &[&str] = &["config", "config.worktree", "hooks", "info", "info/attributes", "info/exclude"];

/// The places of a workspace that a walk found: the links on the way and where they end, also what does not exist yet.
/// Conditions of includes are not asked: an agent can make them true. Absolute paths, anywhere on the disk.
#[must_use]
pub fn named_places(root: &Path, index: &Index) -> BTreeSet<PathBuf> {
    let Ok(root) = root.canonicalize() else { return BTreeSet::new() };
    let mut named = Named::default();
    for repository in repositories(&root, index) {
        let depth = Path::new(OsStr::from_bytes(&repository.within)).components().count();
        named.read.clear();
        let top = root.ancestors().nth(depth).unwrap_or(&root).join(OsStr::from_bytes(&repository.files));
        let inner = InnerGitDirs::of(&repository.common);
        for dir in inner.all().chain([&repository.own, &repository.common]).collect::<BTreeSet<_>>() {
            OWN.iter().for_each(|name| named.add_link(&dir.join(name)));
            let hooks = fs::read_dir(dir.join("hooks")).into_iter().flatten().flatten();
            hooks.for_each(|hook| named.add_link(&hook.path()));
            ["config", "config.worktree"].iter().for_each(|name| named.add_config(&dir.join(name), &top));
        }
    }
    for bare in bare_repositories(index).map(|dir| root.join(OsStr::from_bytes(dir))) {
        named.read.clear();
        named.add_config(&bare.join("config"), &bare);
    }
    let links = index.entries().filter(|entry| entry.protected && entry.kind == Kind::Symlink);
    links.for_each(|entry| named.add_link(&root.join(OsStr::from_bytes(entry.path))));
    named.places
}

/// The same as globs of protected paths, without what is protected already, what lies in a repository's own directory, and
/// directories around one: there git itself writes.
#[must_use]
pub fn named_globs(root: &Path, index: &Index, protect: &Protect) -> Vec<String> {
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let dirs: BTreeSet<PathBuf> =
        repositories(&root, index).into_iter().flat_map(|it| [it.own, it.common]).collect();
    let above: BTreeSet<&Path> =
        dirs.iter().flat_map(|dir| dir.ancestors()).chain(root.ancestors()).collect();
    let apart =
        |path: &PathBuf| !above.contains(path.as_path()) && !path.ancestors().any(|it| dirs.contains(it));
    let places = named_places(&root, index).into_iter().filter(apart);
    let inside =
        places.filter_map(|path| Some((path.strip_prefix(&root).ok()?.to_path_buf(), path.is_dir())));
    let new = inside.filter(|(path, is_dir)| !protect.protects(path.as_os_str().as_bytes(), *is_dir));
    new.map(|(path, _)| glob_of(&path)).collect()
}

/// What the config of a repository's own directory names in that directory, as globs that begin there.
#[must_use]
pub fn named_globs_of_git_dir(dir: &Path) -> Vec<String> {
    let mut named = Named::default();
    ["config", "config.worktree"].iter().for_each(|name| named.add_config(&dir.join(name), dir));
    let inside = named.places.iter().filter_map(|path| path.strip_prefix(dir).ok());
    inside.filter(|path| path.components().next().is_some()).map(glob_of).collect()
}

/// A glob for a path and all that is in it. What no glob can say stands for any character.
fn glob_of(path: &Path) -> String {
    let text = path.to_string_lossy();
    let letter = |letter: char| match letter {
        '\u{fffd}' => "*".to_owned(),
        '\n' | '\r' => "?".to_owned(),
        '*' | '?' | '[' | ']' | '{' | '}' | '!' | '#' | ' ' | '\\' => format!("\\{letter}"),
        plain => plain.to_string(),
    };
    text.chars().map(letter).fold("/".to_owned(), |glob, part| glob + &part)
}

#[derive(Default)]
struct Named {
    places: BTreeSet<PathBuf>,
    read: BTreeSet<PathBuf>,
}

impl Named {
    fn add_link(&mut self, path: &Path) {
        let way = way(path);
        if way.len() > 1 {
            self.places.extend(way);
        }
    }

    /// What a config names, and the configs that it includes.
    fn add_config(&mut self, config: &Path, top: &Path) {
        let mut waiting = vec![config.to_path_buf()];
        while let Some(config) = waiting.pop() {
            let Some(file) = way(&config).pop().filter(|_| self.read.len() < MOST_CONFIGS) else { continue };
            if !self.read.insert(file.clone()) {
                continue;
            }
            for (name, value) in git_settings(&small_file(&file, LARGEST).unwrap_or_default()) {
                let beside = config.parent().unwrap_or(top);
                let included = matches!(name.as_str(), "include.path" | "includeif.path");
                let from = if included { beside } else { top };
                let Some(path) = expanded(&value, from).filter(|_| included || name == "core.hookspath")
                else {
                    continue;
                };
                self.places.extend(way(&path));
                if included {
                    waiting.push(path);
                }
            }
        }
    }
}

/// A path in a config as git reads it; `~name/` is not known here.
fn expanded(value: &[u8], from: &Path) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(value));
    match value {
        [] => None,
        [b'~', b'/', below @ ..] => {
            Some(Path::new(&std::env::var_os("HOME")?).join(OsStr::from_bytes(below)))
        }
        [b'~', ..] => None,
        _ => Some(from.join(path)),
    }
}

/// Every link on the way of a path, and where the way ends. No directory above any of them is a link.
#[must_use]
pub fn way(path: &Path) -> Vec<PathBuf> {
    let parts = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut found, mut at) = (Vec::new(), PathBuf::from("/"));
    let mut rest: VecDeque<OsString> = parts(path).into();
    while let Some(part) = rest.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => drop(at.pop()),
            Some(Component::Normal(_)) => {
                let next = at.join(&part);
                match fs::read_link(&next) {
                    Ok(_) if found.len() >= MOST_LINKS => return found,
                    Ok(target) => {
                        parts(&target).into_iter().rev().for_each(|part| rest.push_front(part));
                        found.push(next);
                    }
                    Err(_) => at = next,
                }
            }
            Some(Component::RootDir) => at = PathBuf::from("/"),
            _ => {}
        }
    }
    found.push(at);
    found
}

/// The settings of a config of git as `section.key`, read as git does, up to the first line that it would refuse.
#[must_use]
pub fn git_settings(text: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text: Vec<u8> = String::from_utf8_lossy(text).replace("\r\n", "\n").into_bytes();
    let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text).iter().copied().peekable();
    let (mut all, mut section) = (Vec::new(), String::new());
    while let Some(byte) = rest.next() {
        match byte {
            b'#' | b';' => skip_remark(&mut rest),
            b'[' => section = header(&mut rest),
            _ if byte.is_ascii_whitespace() => {}
            _ if byte.is_ascii_alphabetic() => {
                let mut key = String::from(char::from(byte.to_ascii_lowercase()));
                while let Some(next) = rest.next_if(|next| next.is_ascii_alphanumeric() || *next == b'-') {
                    key.push(char::from(next.to_ascii_lowercase()));
                }
                while rest.next_if(|next| matches!(next, b' ' | b'\t')).is_some() {}
                let value = rest.next_if_eq(&b'=').map(|_| value(&mut rest)).unwrap_or_default();
                all.push((format!("{section}.{key}"), value));
            }
            _ => break,
        }
    }
    all
}

/// The section of a header, without the name in it.
fn header(rest: &mut Peekable<impl Iterator<Item = u8>>) -> String {
    let mut section = String::new();
    while let Some(next) = rest.next_if(|next| next.is_ascii_alphanumeric() || *next == b'-') {
        section.push(char::from(next.to_ascii_lowercase()));
    }
    let mut quoted = false;
    while let Some(next) = rest.next() {
        match next {
            b'\\' if quoted => drop(rest.next()),
            b'"' => quoted = !quoted,
            b']' if !quoted => break,
            _ => {}
        }
    }
    section
}

fn skip_remark(rest: &mut Peekable<impl Iterator<Item = u8>>) {
    while rest.next_if(|byte| *byte != b'\n').is_some() {}
}

/// A value up to the end of its line, without quotes and remarks.
fn value(rest: &mut Peekable<impl Iterator<Item = u8>>) -> Vec<u8> {
    let (mut value, mut kept, mut quoted) = (Vec::new(), 0, false);
    while let Some(next) = rest.next() {
        match next {
            b'\n' => break,
            b'#' | b';' if !quoted => {
                skip_remark(rest);
                break;
            }
            b'"' => quoted = !quoted,
            b'\\' => match rest.next() {
                Some(b'\n') | None => continue,
                Some(b't') => value.push(b'\t'),
                Some(b'n') => value.push(b'\n'),
                Some(other) => value.push(other),
            },
            b' ' | b'\t' if !quoted => {
                if !value.is_empty() {
                    value.push(next);
                }
                continue;
            }
            _ => value.push(next),
        }
        kept = value.len();
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;
    use std::os::unix::fs::symlink;

    #[test]
    fn values_are_read_as_git_reads_them() {
        let text = b"# x\n[include]path=a b ; no\n\tPath = \"c;\\\"d\"\n[includeIf \"gitdir:]/\"]\n path = e\\\nf\r\n[Core]\nhooksPath\n";
        let found = git_settings(text);
        let found: Vec<(&str, &[u8])> = found.iter().map(|(n, v)| (n.as_str(), v.as_slice())).collect();
        let expected: [(&str, &[u8]); 4] = [
            ("include.path", b"a b"),
            ("include.path", b"c;\"d"),
            ("includeif.path", b"ef"),
            ("core.hookspath", b""),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn includes_hooks_and_protected_links_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for made in [".git/hooks", "tools/hooks", "deep"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        for (file, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", "[include]\n\tpath = ../shared.cfg\n[core]\n\thooksPath = tools/hooks\n"),
            ("deep/real.cfg", "[includeIf \"onbranch:x\"]\n\tpath = missing.cfg\n\tpath = shared.cfg\n"),
            ("plain.env", "K=1\n"),
            ("hook.sh", ""),
        ] {
            fs::write(root.join(file), text).unwrap();
        }
        symlink("deep/real.cfg", root.join("shared.cfg")).unwrap();
        symlink("../../hook.sh", root.join(".git/hooks/pre-commit")).unwrap();
        symlink("plain.env", root.join(".env")).unwrap();
        let index = Tree::new(&root, Protect::new(Protect::DEFAULTS).unwrap()).walk(None).unwrap();
        let found = named_places(&root, &index);
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(&root).unwrap()).collect();
        let expected = [
            ".env",
            ".git/hooks/pre-commit",
            "deep/real.cfg",
            "hook.sh",
            "missing.cfg",
            "plain.env",
            "shared.cfg",
            "tools/hooks",
        ];
        assert_eq!(found, expected.map(Path::new));
    }

    #[test]
    fn globs_name_what_does_not_exist_yet() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "").unwrap();
        let config = "[include]\npath = ../x{1}.cfg\npath = ..\npath = in.cfg\npath = /etc/gitconfig\n[core]\nhooksPath = my hooks\n";
        fs::write(root.join(".git/config"), config).unwrap();
        symlink("target[2]", root.join(".env")).unwrap();
        let tree = |globs: &[String]| Tree::new(&root, Protect::new(globs).unwrap());
        let index = tree(&[".env".into()]).walk(None).unwrap();
        let globs = named_globs(&root, &index, tree(&[".env".into()]).protect());
        assert_eq!(named_globs_of_git_dir(&root.join(".git")), ["/in.cfg", "/my\\ hooks"]);
        assert_eq!(globs, ["/my\\ hooks", "/target\\[2\\]", "/x\\{1\\}.cfg"]);
        fs::create_dir(root.join("my hooks")).unwrap();
        for file in ["x{1}.cfg", "target[2]", "my hooks/pre-commit", "x1.cfg"] {
            fs::write(root.join(file), "").unwrap();
        }
        let index = tree(&globs).walk(None).unwrap();
        let found: Vec<_> = index.entries().filter(|entry| entry.protected).map(|it| it.path).collect();
        let expected: [&[u8]; 4] = [b"my hooks", b"my hooks/pre-commit", b"target[2]", b"x{1}.cfg"];
        assert_eq!(found, expected);
    }
}
