//! Copies ignored files that the agent has not touched into a room, and takes them back when that is no longer true.

use super::bytes::{Fields, Reader};
use super::folder::RoomFolder;
use super::ignored::{IgnoredFiles, Seeded};
use super::manifest::Stamp;
use ralph_os::{Draft, NoFollowDir};
use std::collections::BTreeMap;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// The last character is the version.
const MAGIC: &[u8; 8] = b"RLPSEED1";
/// Beside the room.
const FILE: &str = "seeded";

/// So much older than their originals copies are dated: twenty years.
const LONG_AGO: Duration = Duration::from_secs(20 * 365 * 86_400);

/// Files that were copied: what the original was, and what the copy is.
pub(super) type Copies = BTreeMap<Vec<u8>, (Stamp, Stamp)>;

pub(super) fn seed(wanted: &IgnoredFiles, folder: &RoomFolder, workspace: &Path) -> io::Result<Seeded> {
    let (from, room) = (NoFollowDir::open(workspace)?, NoFollowDir::open(&folder.tree())?);
    let before = copies(folder);
    let (mut now, mut done) = (Copies::new(), Seeded::default());
    for (path, stamp) in &wanted.files {
        let source = from.metadata(path).filter(|meta| Stamp::from(meta) == *stamp);
        let (known, is) = (before.get(path), stamp_in(&room, path));
        match (source, known) {
            (None, _) => done.changed.push(path.as_slice().into()),
            (Some(_), Some((origin, copy))) if origin == stamp && is == Some(*copy) => {
                now.insert(path.clone(), (*stamp, *copy));
            }
            // The room made its own.
            (Some(_), None) if is.is_some() => {}
            (Some(meta), _) => match copy(&from, &room, path, &meta) {
                Ok(made) => {
                    done.copied += 1;
                    now.insert(path.clone(), (*stamp, made));
                }
                // A full disk is worth an error; a file that cannot be read or placed is one the room does not show.
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
                Err(_) => done.changed.push(path.as_slice().into()),
            },
        }
    }
    for (path, (_, copy)) in before.iter().filter(|(path, _)| !now.contains_key(*path)) {
        if stamp_in(&room, path) == Some(*copy) {
            room.remove_file(path)?;
        }
    }
    if now != before {
        save(&now, &folder.file(FILE))?;
    }
    Ok(done)
}

/// The copies that a room has.
pub(super) fn copies(folder: &RoomFolder) -> Copies {
    load(&folder.file(FILE)).unwrap_or_default()
}

fn stamp_in(room: &NoFollowDir, path: &[u8]) -> Option<Stamp> {
    room.metadata(path).as_ref().map(Stamp::from)
}

/// Dated long ago, in the order of the originals: a build must not take what was made from the baseline's sources for
/// newer than the sources in the room.
fn copy(from: &NoFollowDir, room: &NoFollowDir, path: &[u8], meta: &Metadata) -> io::Result<Stamp> {
    if meta.is_symlink() {
        room.replace_link(path, Draft::Unique, &from.read_link(path)?)?;
    } else {
        let mut source = from.open_file(path)?;
        room.replace_file(path, Draft::Unique, 0o600, |to| {
            if ralph_os::share_blocks(&*to, &source).is_err() {
                io::copy(&mut source, to)?;
            }
            let time = meta.modified()?;
            to.set_modified(time.checked_sub(LONG_AGO).unwrap_or(time))?;
            to.set_permissions(Permissions::from_mode(meta.permissions().mode() & 0o777))
        })?;
    }
    let same = from.metadata(path).is_some_and(|now| Stamp::from(&now) == Stamp::from(meta));
    match stamp_in(room, path).filter(|_| same) {
        Some(stamp) => Ok(stamp),
        None => {
            room.remove_file(path)?;
            Err(io::Error::other("it changed while it was copied"))
        }
    }
}

fn load(path: &Path) -> Option<Copies> {
    let bytes = fs::read(path).ok()?;
    let mut fields = Reader::new(&bytes, MAGIC)?;
    let mut copies = Copies::new();
    while !fields.is_empty() {
        let path = fields.take_bytes()?.to_vec();
        copies.insert(path, (Stamp::take(&mut fields)?, Stamp::take(&mut fields)?));
    }
    Some(copies)
}

fn save(copies: &Copies, path: &Path) -> io::Result<()> {
    let mut fields = Fields::new(MAGIC);
    for (path, (origin, copy)) in copies {
        fields.put_bytes(path);
        origin.put(&mut fields);
        copy.put(&mut fields);
    }
    fields.save(path)
}
