//! Mount points that are made below a new overlay: a directory made in an overlay takes the kernel ten times as long.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes them in `upper`, which will receive what is written to `over`. Only where nothing has been written to it yet: a program
/// could have left links there. One that cannot be made is made later, in the overlay.
pub(super) fn make(over: &Path, upper: &Path, places: &[PathBuf]) {
    if !fs::read_dir(upper).is_ok_and(|mut entries| entries.next().is_none()) {
        return;
    }
    for below in places.iter().filter_map(|place| place.strip_prefix(over).ok()) {
        let mut parts: Vec<&Path> = below.ancestors().filter(|part| *part != Path::new("")).collect();
        parts.reverse();
        let _ = parts.into_iter().try_for_each(|part| make_one(&over.join(part), &upper.join(part)));
    }
}

/// With the mode of the directory that it will be seen as, if that exists.
fn make_one(seen_as: &Path, dir: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => match fs::symlink_metadata(seen_as) {
            Ok(seen) => fs::set_permissions(dir, Permissions::from_mode(seen.mode() & 0o7777)),
            Err(_) => Ok(()),
        },
    }
}
