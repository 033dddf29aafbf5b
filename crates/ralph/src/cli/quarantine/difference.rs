//! What `ralph quarantine show` shows of the content: how it differs from the files of now, with secrets redacted.

use super::{Here, Kept};
use crate::cli::secrets::redactor_anyway;
use crate::plain::plain_lines;
use ralph_engine::quarantine::Found;
use ralph_os::{Links, read_regular};
use ralph_view::line_diff::LineDiff;
use std::path::Path;

/// Larger files are not shown.
const LARGEST: u64 = 1 << 20;

/// The diffs of a case's files. Links, commits, directories, git's own files, files of secrets and what is not text are
/// left out.
pub fn differences(kept: &Kept, here: &Here) -> String {
    let redactor = redactor_anyway(Path::new(&kept.case.workspace), here);
    let shown = |found: &Found| {
        let (now, saved) = both(kept, found)?;
        let (now, saved) = (redactor.redact(&now), redactor.redact(&saved));
        let (from, to) = (format!("{} (now)", found.path), format!("{} (quarantined)", found.path));
        Some(plain_lines(&LineDiff::of(&now, &saved).unified(&from, &to)))
    };
    kept.case.found.iter().filter_map(shown).collect()
}

/// The file of now, and the one that was saved.
fn both(kept: &Kept, found: &Found) -> Option<(String, String)> {
    let is_text = !found.link && found.commit.is_none() && found.root.is_none() && !is_secret(&found.path);
    let file = found.file.as_ref().filter(|_| is_text)?;
    let path = Path::new(&kept.case.workspace).join(found.path().as_path());
    let now = match path.symlink_metadata() {
        Err(_) => Vec::new(),
        Ok(_) => read_regular(&path, LARGEST, Links::RefuseLast).ok()?,
    };
    let saved = read_regular(&kept.folder.join(file), LARGEST, Links::RefuseLast).ok()?;
    Some((text(now)?, text(saved)?))
}

/// The redactor knows the secrets of now, not those that an agent wrote.
fn is_secret(path: &str) -> bool {
    path.split('/').any(|name| name == "secrets" || name.starts_with(".env"))
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
