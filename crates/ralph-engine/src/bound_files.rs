//! Files that the user names for a run and the agent may write: the plan and the marker file. They are read without
//! following links, without blocking on a pipe or device, and only up to a size limit.

use crate::redact::Redactor;
use ralph_os::HELD;
use ralph_rules::plan::Plan;
use ralph_rules::record::{PlanGiven, PlanSeen};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

/// A plan larger than this is a mistake.
const MOST: u64 = 1 << 20;

/// The plan in this file, or why there is none: in words, with the place where the file is to blame.
pub fn plan(path: &Path) -> Result<Plan, String> {
    let mut bytes = Vec::new();
    let file = regular(path).map_err(|e| e.to_string())?;
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MOST {
        return Err("it is larger than 1 MiB".into());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ralph_rules::plan::read(&name, &bytes).map_err(|e| e.to_string())
}

/// How a bound plan stands now, without secrets.
pub fn seen(given: &PlanGiven, redactor: &Redactor) -> PlanSeen {
    match plan(Path::new(&given.path)) {
        Ok(mut plan) => {
            for text in &mut plan.next {
                *text = redactor.redact(text).into_owned();
            }
            Ok(plan).into()
        }
        Err(why) => PlanSeen::unreadable(redactor.redact(&why)),
    }
}

/// What tells one writing of the marker file from another; none where there is no such file.
pub fn marker(workspace: &Path, file: &str) -> Option<String> {
    let found = regular(&workspace.join(file)).ok()?.metadata().ok()?;
    let (size, changed) = (found.size(), (found.ctime(), found.ctime_nsec()));
    Some(format!("{}:{size}:{}.{:09}", found.ino(), changed.0, changed.1))
}

/// Opens a regular file by an absolute path, following no symbolic link on the way.
fn regular(path: &Path) -> io::Result<File> {
    let mut names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let last = names.next_back().ok_or_else(|| io::Error::other("it names no file"))?;
    let mut dir: OwnedFd = openat(CWD, "/", HELD | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for name in names {
        let flags = HELD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        dir = openat(&dir, name, flags, Mode::empty()).map_err(plain)?;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(&dir, last, flags, Mode::empty()).map_err(plain)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

/// The words for what an agent can do to a file.
fn plain(errno: Errno) -> io::Error {
    match errno {
        Errno::NOENT => io::Error::new(io::ErrorKind::NotFound, "there is no such file"),
        Errno::LOOP | Errno::NOTDIR => io::Error::other("a symbolic link stands in its place"),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_the_named_file_itself_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("docs")).unwrap();
        std::fs::write(root.join("docs/plan.md"), "- [x] a\n- [ ] b\n").unwrap();
        let named = root.join("docs/plan.md");
        assert_eq!(plan(&named).unwrap().pending, 1);

        std::fs::write(root.join("secret.md"), "- [ ] the password is 1234\n").unwrap();
        std::fs::remove_file(&named).unwrap();
        assert_eq!(plan(&named).unwrap_err(), "there is no such file");
        symlink(root.join("secret.md"), &named).unwrap();
        assert_eq!(plan(&named).unwrap_err(), "a symbolic link stands in its place");
        std::fs::remove_dir_all(root.join("docs")).unwrap();
        std::fs::create_dir(root.join("elsewhere")).unwrap();
        std::fs::write(root.join("elsewhere/plan.md"), "- [ ] c\n").unwrap();
        symlink(root.join("elsewhere"), root.join("docs")).unwrap();
        assert_eq!(plan(&named).unwrap_err(), "a symbolic link stands in its place");
    }

    #[test]
    fn what_is_no_small_regular_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        rustix::fs::mkfifoat(CWD, root.join("pipe.md"), Mode::RUSR | Mode::WUSR).unwrap();
        std::fs::write(root.join("large.md"), vec![b'x'; 2 << 20]).unwrap();
        std::fs::write(root.join("prd.json"), "{\"stories\": [\n  nonsense]}").unwrap();
        std::fs::create_dir(root.join("dir.md")).unwrap();
        for (name, why) in [
            ("pipe.md", "it is not a regular file"),
            ("dir.md", "it is not a regular file"),
            ("large.md", "it is larger than 1 MiB"),
            ("prd.json", "line 2, column 4: expected ident"),
        ] {
            assert_eq!(plan(&root.join(name)).unwrap_err(), why, "{name}");
        }
    }

    #[test]
    fn a_marker_is_told_from_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(marker(&root, ".done"), None);
        std::fs::write(root.join(".done"), "").unwrap();
        let before = marker(&root, ".done");
        assert_eq!(marker(&root, ".done"), before);
        std::fs::remove_file(root.join(".done")).unwrap();
        std::fs::write(root.join("other"), "").unwrap();
        std::fs::write(root.join(".done"), "again").unwrap();
        assert_ne!(marker(&root, ".done"), before);
        std::fs::remove_file(root.join(".done")).unwrap();
        symlink(root.join("other"), root.join(".done")).unwrap();
        assert_eq!(marker(&root, ".done"), None);
    }
}
