//! Files that the user names for a run and the agent may write: the plan and the marker file. They are read without
//! following links, without blocking on a pipe or device, and only up to a size limit.

use crate::redact::Redactor;
use ralph_os::{Links, ReadError, open_regular, read_regular};
use ralph_rules::plan::{Document, Plan};
use ralph_rules::record::{PlanGiven, PlanSeen};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A plan larger than this is a mistake.
const MOST: u64 = 1 << 20;

/// The plan in this file, or why there is none: in words, with the place where the file is to blame.
pub fn plan(path: &Path) -> Result<Plan, String> {
    document(path).map(|(_, document)| document.counted())
}

/// The same item by item, with the bytes that the ticks are ranges of.
pub fn document(path: &Path) -> Result<(Vec<u8>, Document), String> {
    let bytes = bytes(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = ralph_rules::plan::document(&name, &bytes).map_err(|e| e.to_string())?;
    Ok((bytes, document))
}

/// The bytes of a file that may be a plan.
pub fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    read_regular(path, MOST, Links::Refuse).map_err(|error| match error {
        ReadError::System(error) if error.kind() == ErrorKind::NotFound => "there is no such file".into(),
        other => other.to_string(),
    })
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
    let found = open_regular(&workspace.join(file), Links::Refuse).ok()?.metadata().ok()?;
    let (size, changed) = (found.size(), (found.ctime(), found.ctime_nsec()));
    Some(format!("{}:{size}:{}.{:09}", found.ino(), changed.0, changed.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode};
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
        let link = format!("it is a link to {}", root.join("secret.md").display());
        assert_eq!(plan(&named).unwrap_err(), link);
        std::fs::remove_dir_all(root.join("docs")).unwrap();
        std::fs::create_dir(root.join("elsewhere")).unwrap();
        std::fs::write(root.join("elsewhere/plan.md"), "- [ ] c\n").unwrap();
        symlink(root.join("elsewhere"), root.join("docs")).unwrap();
        let link = format!("it is a link to {}", root.join("elsewhere").display());
        assert_eq!(plan(&named).unwrap_err(), link);
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
            ("pipe.md", "it is a FIFO, not a regular file"),
            ("dir.md", "it is a directory, not a regular file"),
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
