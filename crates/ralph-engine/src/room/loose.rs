//! Ignored files that commands left outside build directories. Runners obey some of them (an `.egg-info` with plugins, a
//! `.env`, a module that shadows another), so what the work left in one proof must not decide the next.

use super::built::{is_object, is_output};
use super::folder::RoomFolder;
use super::manifest::Stamp;
use super::seed;
use ralph_diagnostics::Discard;
use ralph_os::NoFollowDir;
use ralph_tree::TreePath;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

impl RoomFolder {
    /// Removes what is neither from the last fill nor seeded, outside directories for build output, caches and
    /// packages; object files stay. Returns what it removed.
    pub fn remove_loose(&self) -> io::Result<Vec<TreePath>> {
        let room = NoFollowDir::open(&self.tree())?;
        let seeded = seed::copies(self);
        let is_ours = |path: &[u8]| {
            let copy = seeded.get(path).map(|(_, copy)| *copy);
            self.holds(path) || (copy.is_some() && copy == room.metadata(path).as_ref().map(Stamp::from))
        };
        let (mut open, mut directories, mut removed) = (vec![Vec::new()], Vec::new(), Vec::new());
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(self.tree().join(OsStr::from_bytes(&dir)))? {
                let entry = entry?;
                let (name, is_dir) = (entry.file_name(), entry.file_type()?.is_dir());
                let path = match dir.as_slice() {
                    b"" => name.as_bytes().to_vec(),
                    dir => [dir, b"/", name.as_bytes()].concat(),
                };
                match is_dir {
                    true if is_output(&name) => {}
                    true => open.push(path),
                    false if is_object(&name) || is_ours(&path) => {}
                    false => {
                        room.remove_file(&path)?;
                        removed.push(path.as_slice().into());
                    }
                }
            }
            directories.push(dir);
        }
        for dir in directories.iter().rev().filter(|dir| !dir.is_empty()) {
            // One that is not empty stays.
            room.remove_dir(dir).discard("remove an empty directory of a room");
        }
        Ok(removed)
    }
}
