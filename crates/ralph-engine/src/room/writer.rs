//! Writes, checks and removes single files in a room folder, relative to it and never through a link.

use super::folder::{RoomFile, Source};
use super::manifest::Stamp;
use crate::verification::tree_copy;
use ralph_os::{Draft, NoFollowDir};
use ralph_snapshots::Blobs;
use ralph_tree::{hash_bytes, hash_file, shown};
use std::cell::Cell;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Above this size an index does not have the hash of the whole content but of its stat, head and tail.
const HASHED_WHOLE: u64 = 1 << 30;

/// Writes into a room folder.
pub(super) struct Writer<'a> {
    pub(super) tree: NoFollowDir,
    pub(super) workspace: NoFollowDir,
    pub(super) blobs: &'a Blobs,
    /// Python and mypy know a source by its size and the second of its last write. A Python file is therefore dated
    /// later than this second: no other version of it was.
    pub(super) after_second: i64,
    /// The latest second that a Python file was dated by this writer.
    pub(super) latest_second: Cell<i64>,
}

impl Writer<'_> {
    /// What is at a path now, if anything.
    pub(super) fn stamp(&self, path: &[u8]) -> Option<Stamp> {
        self.tree.metadata(path).as_ref().map(Stamp::from)
    }

    /// Whether what is at a path has this content, kind and mode.
    pub(super) fn is_at(&self, path: &[u8], file: &RoomFile, hash: u128) -> bool {
        let Some(meta) = self.tree.metadata(path) else { return false };
        if file.link {
            return meta.is_symlink()
                && self.tree.read_link(path).is_ok_and(|target| hash_bytes(&target) == hash);
        }
        let same_mode = meta.permissions().mode() & 0o777 == file.mode & 0o777;
        meta.is_file()
            && same_mode
            && self.tree.open_file(path).and_then(hash_file).is_ok_and(|is| is == hash)
    }

    /// Writes a file with the current time, in place of whatever is there.
    pub(super) fn write(&self, path: &[u8], file: &RoomFile) -> io::Result<Stamp> {
        let put = self.put(path, file).or_else(|_| {
            self.clear_way(path)?;
            self.put(path, file)
        });
        let gone = || io::Error::other("it was removed at once");
        put.and_then(|()| self.stamp(path).ok_or_else(gone)).map_err(|why| {
            let text = format!("cannot put {} into the room: {why}", shown(path));
            io::Error::new(why.kind(), text)
        })
    }

    fn put(&self, path: &[u8], file: &RoomFile) -> io::Result<()> {
        if file.link {
            return self.tree.replace_link(path, Draft::Unique, &self.target(path, file)?);
        }
        self.tree.replace_file(path, Draft::Unique, 0o600, |to| {
            match &file.source {
                Source::Blob => self.blobs.copy_to(file.hash, to)?,
                Source::Bytes(bytes) => to.write_all(bytes)?,
                Source::Workspace => self.copy_from_workspace(path, file.hash, to)?,
            }
            if path.ends_with(b".py") || path.ends_with(b".pyi") {
                self.date(to)?;
            }
            to.set_permissions(Permissions::from_mode(file.mode & 0o777))
        })
    }

    /// Where a link points.
    fn target(&self, path: &[u8], file: &RoomFile) -> io::Result<Vec<u8>> {
        match &file.source {
            Source::Bytes(target) => Ok(target.clone()),
            Source::Blob => std::fs::read(self.blobs.path(file.hash)),
            Source::Workspace => match self.workspace.read_link(path)? {
                target if hash_bytes(&target) == file.hash => Ok(target),
                _ => Err(changed()),
            },
        }
    }

    fn copy_from_workspace(&self, path: &[u8], hash: u128, to: &mut File) -> io::Result<()> {
        let mut from = self.workspace.open_file(path)?;
        if ralph_os::share_blocks(&*to, &from).is_err() {
            io::copy(&mut from, to)?;
        }
        let large = from.metadata()?.len() > HASHED_WHOLE;
        let copied = if large { from } else { to.try_clone()? };
        match hash_file(copied)? == hash {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    fn date(&self, file: &File) -> io::Result<()> {
        let (written, later) = (file.metadata()?.mtime(), self.after_second.saturating_add(1));
        self.latest_second.set(self.latest_second.get().max(written).max(later));
        if written >= later {
            return Ok(());
        }
        file.set_modified(UNIX_EPOCH + Duration::from_secs(u64::try_from(later).unwrap_or_default()))
    }

    /// Removes what is in the way of a file: a directory in its place, a file or a link above it, a directory above it
    /// that may not be written to.
    fn clear_way(&self, path: &[u8]) -> io::Result<()> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in slashes {
            let above = path.get(..end).unwrap_or_default();
            match self.tree.metadata(above) {
                Some(meta) if meta.is_dir() => {}
                Some(_) => return self.remove(above),
                None => break,
            }
        }
        if self.tree.metadata(path).is_some_and(|meta| meta.is_dir()) {
            self.remove(path)?;
        }
        // A parent that does not exist yet is made by the next try.
        let _ = self.tree.make_parent_writable(path);
        Ok(())
    }

    /// Removes whatever is at a path, with everything in it.
    pub(super) fn remove(&self, path: &[u8]) -> io::Result<()> {
        let remove = || {
            let (_dir, here) = self.tree.resolved(path)?;
            match here.symlink_metadata() {
                Ok(meta) if meta.is_dir() => tree_copy::remove(&here),
                Ok(_) => std::fs::remove_file(here),
                Err(error) => Err(error),
            }
        };
        let removed = match remove() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.tree.make_parent_writable(path)?;
                remove()
            }
            other => other,
        };
        match removed {
            Err(error) if is_absent(&error) => Ok(()),
            Err(error) => Err(io::Error::new(
                error.kind(),
                format!("cannot remove {} from the room: {error}", shown(path)),
            )),
            Ok(()) => Ok(()),
        }
    }
}

/// The path does not exist: nothing is there, or something above it is not a directory.
fn is_absent(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].into_iter().any(is)
}

fn changed() -> io::Error {
    io::Error::other("it changed in the workspace since it was indexed; run the verification again")
}

/// Seconds since 1970.
pub(super) fn now_second() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
