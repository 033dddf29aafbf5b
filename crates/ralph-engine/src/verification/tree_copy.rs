//! Copies a workspace, ignored files included, for systems that refuse overlays. Blocks are shared where the file system
//! can; modification times are kept, because builds compare them.

use ralph_os::{Links, open_regular};
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
    let to = File::create(target)?;
    if ralph_os::share_blocks(&to, &from).is_err() {
        io::copy(&mut &from, &mut &to)?;
    }
    to.set_permissions(fs::Permissions::from_mode(meta.mode() & 0o7777))?;
    to.set_times(FileTimes::new().set_modified(meta.modified()?))
}

/// Removes a directory, including one whose subdirectories a test made unwritable.
pub fn remove(dir: &Path) -> io::Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(dir)?;
            fs::remove_dir_all(dir)
        }
        other => other,
    }
}

fn make_writable(dir: &Path) -> io::Result<()> {
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}
