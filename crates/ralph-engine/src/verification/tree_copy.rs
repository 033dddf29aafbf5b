//! Copies a workspace, ignored files included, for systems that refuse overlays. Blocks are shared where the file system
//! can; modification times are kept, because builds compare them.

use ralph_os::{Links, NoFollowDir, open_regular};
use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Copies a directory with all it holds. Sockets, pipes and devices are left out, and so are these paths in it: a copy
/// inside of what is copied would have no end.
pub fn copy(from: &Path, to: &Path, without: &[PathBuf]) -> io::Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    let mut modes = Vec::new();
    while let Some((from, to)) = open.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
            if without.contains(&source) {
                continue;
            }
            if kind.is_dir() {
                open.push((source, target));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
            } else if kind.is_file() {
                file(&source, &target)?;
            }
        }
        modes.push((to, fs::metadata(&from)?.mode()));
    }
    // Last, so that a read-only directory can be filled first.
    modes
        .into_iter()
        .try_for_each(|(dir, mode)| fs::set_permissions(dir, fs::Permissions::from_mode(mode | 0o700)))
}

/// Copies one file.
pub fn file(source: &Path, target: &Path) -> io::Result<()> {
    let from = open_regular(source, Links::RefuseLast)?;
    let meta = from.metadata()?;
    // Where there is something already, it could be a link.
    let to = File::create_new(target)?;
    if ralph_os::share_blocks(&to, &from).is_err() {
        io::copy(&mut &from, &mut &to)?;
    }
    to.set_permissions(fs::Permissions::from_mode(meta.mode() & 0o7777))?;
    to.set_times(FileTimes::new().set_modified(meta.modified()?))
}

/// Removes a directory, including one whose subdirectories a program made unwritable. Never through a link: what is in it was
/// written by others, and may still be changed by them.
pub fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            NoFollowDir::open(dir)?.open_up()?;
            fs::remove_dir_all(dir)
        }
        other => other,
    }
}
