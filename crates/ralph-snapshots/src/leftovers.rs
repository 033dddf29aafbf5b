//! Drafts that a process left behind when it was killed. Those of a living process are never touched.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ralph_os::NoFollowDir;
use ralph_tree::{Index, Kind};
use rustix::process::{Pid, test_kill_process};

/// Removes drafts from a directory of ralph's own: `NAME.PID.tmp`, `NAME.tmp`, `PID.N` in a directory of drafts, and
/// `draft.PID` of earlier versions. The caller holds the lock of the workspace they belong to.
pub fn remove_drafts(dir: &Path) {
    let of_drafts = dir.file_name().is_some_and(|name| name == crate::blobs::DRAFTS);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let owner = if of_drafts {
            Some(name.split('.').next())
        } else if let Some(draft) = name.strip_suffix(".tmp") {
            Some(draft.rsplit('.').next())
        } else {
            name.strip_prefix("draft.").map(Some)
        };
        if owner.is_some_and(|owner| !is_alive(owner)) {
            // What cannot be removed is tried again by the next command.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes drafts from a workspace, `.ralph-HASH.draft` and `.ralph-PID.N.draft`, and from the directories of its
/// repositories in which files are restored; true if there were any. The caller holds the workspace's lock.
pub fn remove_drafts_in_workspace(root: &Path, index: &Index) -> bool {
    let Ok(dir) = NoFollowDir::open(root) else { return false };
    let mut drafts: Vec<Vec<u8>> = Vec::new();
    drafts.extend(index.entries().filter(|entry| is_draft(entry.path)).map(|entry| entry.path.to_vec()));
    for repository in index.repositories().filter(|entry| entry.kind == Kind::Directory) {
        for inside in ["", "/hooks", "/info"] {
            let mut place = repository.path.to_vec();
            place.extend_from_slice(inside.as_bytes());
            for entry in fs::read_dir(root.join(OsStr::from_bytes(&place))).into_iter().flatten().flatten() {
                let path = [place.as_slice(), entry.file_name().as_bytes()].join(&b'/');
                if is_draft(&path) {
                    drafts.push(path);
                }
            }
        }
    }
    drafts.iter().filter(|path| dir.remove_file(path).is_ok()).count() > 0
}

fn is_draft(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let middle = name.strip_prefix(b".ralph-").and_then(|name| name.strip_suffix(b".draft"));
    middle.is_some_and(is_abandoned)
}

/// The middle of a draft's name: a content, or a process and a number.
fn is_abandoned(middle: &[u8]) -> bool {
    let Ok(middle) = std::str::from_utf8(middle) else { return false };
    match middle.split_once('.') {
        None => middle.len() == 32 && middle.bytes().all(|byte| byte.is_ascii_hexdigit()),
        Some((pid, number)) => {
            number.parse::<u64>().is_ok() && pid.parse::<u32>().is_ok() && !is_alive(Some(pid))
        }
    }
}

/// Whether this is the number of a process that exists.
fn is_alive(owner: Option<&str>) -> bool {
    let pid = owner.and_then(|owner| owner.parse().ok()).and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that existed and does not any more.
    fn dead() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn drafts_of_the_dead_are_removed_and_those_of_the_living_stay() {
        let (temp, me, dead) = (tempfile::tempdir().unwrap(), std::process::id(), dead());
        let drafts = temp.path().join("drafts");
        fs::create_dir(&drafts).unwrap();
        let write = |dir: &Path, name: String| fs::write(dir.join(name), "x").unwrap();
        for pid in [me, dead] {
            write(temp.path(), format!("001.tree.{pid}.tmp"));
            write(temp.path(), format!("draft.{pid}"));
            write(&drafts, format!("{pid}.0"));
        }
        write(temp.path(), "list.tmp".into());
        write(temp.path(), "moments".into());
        remove_drafts(temp.path());
        remove_drafts(&drafts);
        let names = |dir: &Path| {
            let mut all: Vec<String> =
                fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            all.sort();
            all
        };
        let left = [format!("001.tree.{me}.tmp"), format!("draft.{me}"), "drafts".into(), "moments".into()];
        assert_eq!(names(temp.path()), left);
        assert_eq!(names(&drafts), [format!("{me}.0")]);
    }

    #[test]
    fn only_drafts_are_taken_for_drafts() {
        let (me, dead) = (std::process::id(), dead());
        for abandoned in [format!("{:032x}", 7), format!("{dead}.3")] {
            assert!(is_abandoned(abandoned.as_bytes()), "{abandoned}");
        }
        for other in [format!("{me}.3"), "notes".into(), "1.x".into(), "x.1".into(), String::new()] {
            assert!(!is_abandoned(other.as_bytes()), "{other}");
        }
    }
}
