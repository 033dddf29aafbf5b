//! What a tree looks like from outside, so that a change of any kind is found.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

/// One entry. The time of the last change of its inode finds what nothing else shows, such as an extended attribute.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    kind: char,
    mode: u32,
    owner: (u32, u32),
    inode: u64,
    links: u64,
    changed: (i64, i64),
    content: Vec<u8>,
}

pub type Tree = BTreeMap<PathBuf, Entry>;

/// Adds everything at and below `path`, without what is in `skip`.
pub fn look(path: &Path, skip: &[PathBuf], tree: &mut Tree) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    if skip.iter().any(|s| s == path) {
        return;
    }
    let kind = meta.file_type();
    let content = if kind.is_file() {
        fs::read(path).unwrap_or_default()
    } else if kind.is_symlink() {
        fs::read_link(path).map(|to| to.as_os_str().as_bytes().to_vec()).unwrap_or_default()
    } else {
        Vec::new()
    };
    tree.insert(
        path.to_path_buf(),
        Entry {
            kind: letter(kind),
            mode: meta.mode(),
            owner: (meta.uid(), meta.gid()),
            inode: meta.ino(),
            links: if kind.is_dir() { 0 } else { meta.nlink() },
            changed: (meta.ctime(), meta.ctime_nsec()),
            content,
        },
    );
    if kind.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), skip, tree);
        }
    }
}

/// Adds a directory whose entries may change but which must stay where it is.
pub fn look_at_place(path: &Path, tree: &mut Tree) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    let kind = letter(meta.file_type());
    let entry = Entry {
        kind,
        mode: meta.mode(),
        owner: (0, 0),
        inode: meta.ino(),
        links: 0,
        changed: (0, 0),
        content: Vec::new(),
    };
    tree.insert(path.to_path_buf(), entry);
}

fn letter(kind: fs::FileType) -> char {
    match kind {
        k if k.is_dir() => 'd',
        k if k.is_file() => 'f',
        k if k.is_symlink() => 'l',
        k if k.is_fifo() => 'p',
        k if k.is_socket() => 's',
        k if k.is_block_device() => 'b',
        _ => 'c',
    }
}

/// Makes the tree at `path`, without what is in `skip`, what it was. How it is then.
pub fn restore(path: &Path, skip: &[PathBuf], was: Tree) -> Tree {
    let mut is = Tree::new();
    look(path, skip, &mut is);
    // What is deepest first, so that a directory is empty when its turn comes.
    let wrong = |(path, entry): &(&PathBuf, &Entry)| !was.get(*path).is_some_and(|it| it.is_like(entry));
    let wrong: Vec<&PathBuf> = is.iter().rev().filter(wrong).map(|(path, _)| path).collect();
    for path in &wrong {
        let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        let _ = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    let missing: Vec<_> = was.iter().filter(|(path, _)| path.symlink_metadata().is_err()).collect();
    missing.iter().for_each(|(path, entry)| entry.make(path));
    if wrong.is_empty() && missing.is_empty() {
        return was;
    }
    let mut again = Tree::new();
    look(path, skip, &mut again);
    again
}

impl Entry {
    /// A directory is touched by everything that happens in it.
    fn is_like(&self, other: &Entry) -> bool {
        let known = |it: &Entry| (it.kind, it.mode, it.owner);
        if self.kind == 'd' { known(self) == known(other) } else { self == other }
    }

    fn make(&self, path: &Path) {
        match self.kind {
            'd' => fs::create_dir(path).unwrap(),
            'l' => symlink(OsStr::from_bytes(&self.content), path).unwrap(),
            _ => fs::write(path, &self.content).unwrap(),
        }
        lchown(path, Some(self.owner.0), Some(self.owner.1)).unwrap();
        if self.kind != 'l' {
            fs::set_permissions(path, fs::Permissions::from_mode(self.mode & 0o7777)).unwrap();
        }
    }
}

/// Every difference, one line each.
pub fn differences(before: &Tree, after: &Tree) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let new = after.keys().filter(|path| !before.contains_key(*path));
    let other = before.iter().filter_map(|(path, was)| {
        let is = after.get(path)?;
        (was != is).then(|| format!("{} changed{}", path.display(), what(was, is)))
    });
    gone.map(|p| format!("{} is gone", p.display()))
        .chain(new.map(|p| format!("{} is new", p.display())))
        .chain(other)
        .collect()
}

fn what(was: &Entry, is: &Entry) -> &'static str {
    match () {
        () if was.kind != is.kind => " its kind",
        () if was.inode != is.inode => ": it was replaced",
        () if was.content != is.content => " its content",
        () if was.mode != is.mode => " its mode",
        () if was.owner != is.owner => " its owner",
        () if was.links != is.links => ": it was linked",
        () => ": its inode was touched",
    }
}
