//! A room: a directory shown at the path of another one, for one process tree only.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{MountFlags, mount_bind, mount_bind_recursive, mount_remount};

use super::overlay::{apart, holds_mounts, mount_layer, open, proc_path};
use crate::RoomLayer;

/// Shows `room` at the path `over` for this process, which must have a single thread, and all its children, and each
/// layer inside it. The mounts disappear with the last of these processes.
pub fn mount_room(room: &Path, over: &Path, layers: &[RoomLayer]) -> io::Result<()> {
    let own_user = apart()?;
    // Opened before the room hides what may lie below `over`, and after leaving the common namespace: a mount of
    // another namespace cannot be bound.
    let room = open(room)?;
    let layers =
        layers.iter().map(|layer| Ok((layer, Opened::of(layer)?))).collect::<io::Result<Vec<_>>>()?;
    mount_bind(proc_path(&room), over)?;
    for (layer, opened) in &layers {
        opened.show(&over.join(&layer.at), own_user)?;
    }
    Ok(())
}

/// The directories of a layer.
struct Opened {
    from: OwnedFd,
    upper: OwnedFd,
    work: OwnedFd,
    /// Something is mounted below `from`, which an overlay would not show.
    holds_mounts: bool,
}

impl Opened {
    fn of(layer: &RoomLayer) -> io::Result<Opened> {
        Ok(Opened {
            from: open(&layer.from)?,
            upper: open(&layer.upper)?,
            work: open(&layer.work)?,
            holds_mounts: holds_mounts(&layer.from.canonicalize()?),
        })
    }

    /// Under an overlay, or read-only where the system refuses one.
    fn show(&self, at: &Path, own_user: bool) -> io::Result<()> {
        if !self.holds_mounts && mount_layer(at, &self.from, &self.upper, &self.work, own_user).is_ok() {
            return Ok(());
        }
        mount_bind_recursive(proc_path(&self.from), at)?;
        Ok(mount_remount(at, MountFlags::BIND | MountFlags::RDONLY | flags_of(at)?, c"")?)
    }
}

/// The flags of a mount, which an ordinary user may not take away.
fn flags_of(at: &Path) -> io::Result<MountFlags> {
    let seen = statvfs(at)?.f_flag;
    let known = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let flags = known.into_iter().filter(|(is, _)| seen.contains(*is)).map(|(_, flag)| flag);
    Ok(flags.fold(MountFlags::empty(), |all, flag| all | flag))
}
