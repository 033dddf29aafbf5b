//! A directory that one program and its descendants see at the path of another one. The mounts disappear with the last
//! process that sees them; nothing has to be unmounted.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use ralph_os::RoomLayer;

/// Before the directories of a room on the supervisor's command line.
pub(crate) const ROOM: &str = "--room";

/// A room, and where it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomMount {
    /// The directory to show.
    pub room: PathBuf,
    /// The path it is shown at.
    pub over: PathBuf,
    /// Directories shown inside it; what is written to them is kept apart.
    pub layers: Vec<RoomLayer>,
}

impl RoomMount {
    /// Shows the room to this process, which must have a single thread, and all its children.
    pub(crate) fn enter(&self) -> io::Result<()> {
        ralph_os::mount_room(&self.room, &self.over, &self.layers)
    }

    /// The words for the command line: [`ROOM`], the two directories, how many layers, and four directories for each.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec![ROOM.into(), self.room.clone().into(), self.over.clone().into()];
        args.push(self.layers.len().to_string().into());
        for RoomLayer { from, at, upper, work } in &self.layers {
            args.extend([from, at, upper, work].map(|path| path.clone().into_os_string()));
        }
        args
    }

    /// Reads what follows [`ROOM`].
    pub(crate) fn from_args(args: &mut impl Iterator<Item = OsString>) -> Option<RoomMount> {
        let (room, over) = (args.next()?.into(), args.next()?.into());
        let count: usize = args.next()?.to_str()?.parse().ok()?;
        let mut layers = Vec::new();
        for _ in 0..count {
            let [from, at, upper, work] = [(); 4].map(|()| args.next().map(PathBuf::from));
            layers.push(RoomLayer { from: from?, at: at?, upper: upper?, work: work? });
        }
        Some(RoomMount { room, over, layers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_reads_back_from_the_command_line() {
        let layer = |name: &str| RoomLayer {
            from: format!("/w/{name}").into(),
            at: name.into(),
            upper: format!("/u/{name}").into(),
            work: format!("/k/{name}").into(),
        };
        let room = RoomMount {
            room: "/r".into(),
            over: "/w".into(),
            layers: vec![layer("node_modules"), layer("a/.venv")],
        };
        let mut words = room.to_args().into_iter().chain(["cwd".into()]);
        assert_eq!(words.next(), Some(ROOM.into()));
        assert_eq!(RoomMount::from_args(&mut words), Some(room));
        assert_eq!(words.next(), Some("cwd".into()));
        let mut short = ["/r", "/w", "2", "/only"].map(OsString::from).into_iter();
        assert_eq!(RoomMount::from_args(&mut short), None);
    }
}
