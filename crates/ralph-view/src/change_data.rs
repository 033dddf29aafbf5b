//! What changed between two moments of a workspace, as data: `ralph diff --json`, a page and a report read it.

use crate::plain::plain_lines;
use crate::workspace_diff::{ChangedFile, Contents, Moments, changed_files};
use ralph_engine::home::Home;
use ralph_engine::snapshots::Snapshots;
use ralph_rules::state::State;
use ralph_store::RunRow;
use ralph_tree::shown;
use serde::Serialize;
use std::path::Path;

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeData {
    v: u32,
    r#type: &'static str,
    run_id: String,
    /// The later moment: `end`, as the run left the files, or `now`.
    until: &'static str,
    /// In the order of a walk.
    pub files: Vec<FileData>,
    left_out: Vec<LeftOut>,
    /// Diffs were left out because of their size.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// One file that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileData {
    /// Its path in the workspace.
    pub path: String,
    /// added, deleted or modified.
    pub change: &'static str,
    old_mode: Option<&'static str>,
    new_mode: Option<&'static str>,
    /// Lines that were added.
    pub added: Option<usize>,
    /// Lines that were removed.
    pub removed: Option<usize>,
    /// Unified, secrets redacted.
    pub diff: Option<String>,
    /// Why there is no diff.
    pub not_shown: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LeftOut {
    path: String,
    why: &'static str,
}

impl ChangeData {
    /// The change of a run between two moments. Diffs beyond `most` bytes in all are left out.
    pub fn of(run: &str, moments: &Moments, contents: Contents<'_>, most: usize) -> ChangeData {
        let (mut left, mut truncated) = (most, false);
        let mut files = Vec::new();
        for file in changed_files(moments) {
            let mut data = FileData::of(&file, contents);
            let size = data.diff.as_ref().map_or(0, String::len);
            // One large file must not hide the small ones after it.
            match size <= left {
                true => left -= size,
                false => {
                    truncated = true;
                    data.diff = None;
                    data.not_shown = Some("the change is too large to show here".into());
                }
            }
            files.push(data);
        }
        let left_out = moments.left_out.iter().map(|(path, why)| LeftOut { path: path.to_string(), why });
        ChangeData {
            v: 1,
            r#type: "diff",
            run_id: run.to_owned(),
            until: if contents.live.is_some() { "now" } else { "end" },
            truncated,
            files,
            left_out: left_out.collect(),
        }
    }

    /// The same for a page: no text reorders or hides what is around it, and there are at most so many files.
    pub fn made_plain(mut self, most_files: usize) -> ChangeData {
        self.truncated |= self.files.len() > most_files;
        self.files.truncate(most_files);
        for file in &mut self.files {
            file.diff = file.diff.as_deref().map(plain_lines);
            file.path = plain_lines(&file.path);
        }
        self
    }
}

impl FileData {
    fn of(file: &ChangedFile<'_>, contents: Contents<'_>) -> FileData {
        let (lines, not_shown) = match file.lines(contents) {
            Ok(lines) => (Some(lines), None),
            Err(why) => (None, Some(why.to_string())),
        };
        let (old_mode, new_mode) = file.modes();
        FileData {
            path: shown(file.path()),
            change: file.how(),
            old_mode,
            new_mode,
            added: lines.as_ref().map(|lines| lines.added),
            removed: lines.as_ref().map(|lines| lines.removed),
            diff: lines.map(|lines| lines.diff),
            not_shown,
        }
    }
}

/// Why the changes of an iteration cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoChanges {
    /// It is under way.
    #[error("iteration {0} is still running; its changes are known when it ends")]
    UnderWay(u32),
    /// No snapshot was taken.
    #[error("no snapshot was taken before iteration {0}: {1}")]
    NotTaken(u32, String),
    /// There is no snapshot any more.
    #[error("there are no snapshots of iteration {0}: it never began, or was pruned")]
    Missing(u32),
}

/// The files before and after one iteration. `is_running`: a process works on the run.
pub fn iteration_moments(
    home: &Home,
    row: &RunRow,
    state: &State,
    n: u32,
    is_running: bool,
) -> Result<(Snapshots, Moments), NoChanges> {
    let workspace = Path::new(&row.workspace);
    let snapshots = Snapshots::of(home, workspace, &row.id);
    if is_running && snapshots.iterations().last() == Some(&n) {
        return Err(NoChanges::UnderWay(n));
    }
    let taken = &state.trees.no_snapshot;
    if let Some((n, why)) = [n, n.saturating_add(1)].into_iter().find_map(|n| Some((n, taken.get(&n)?))) {
        return Err(NoChanges::NotTaken(n, why.clone()));
    }
    let before = n.checked_sub(1).and_then(|n| snapshots.after(n)).ok_or(NoChanges::Missing(n))?;
    let after = snapshots.after(n).ok_or(NoChanges::Missing(n))?;
    let moments = Moments::of(workspace, before, after, snapshots.store().blobs());
    Ok((snapshots, moments))
}
