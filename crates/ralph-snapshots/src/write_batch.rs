//! Applies the actions of a restore. Files are written as drafts, many are synced together, and only then do they take their
//! places: a power cut never leaves a name without its content, and a hundred files cost one flush.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use ralph_os::{DraftFile, NoFollowDir};

use crate::blobs::Blobs;
use crate::open_files::{MOST_DRAFTS, too_many_open};
use crate::restore::{RestoreAction, RestoreReport, apply, draft};
use crate::snapshot_store::PathProblem;

/// Actions that are being applied.
pub(crate) struct WriteBatch<'a> {
    path: &'a Path,
    root: NoFollowDir,
    blobs: &'a Blobs,
    drafts: Vec<(&'a RestoreAction, DraftFile)>,
    /// Directories and contents of the drafts: two of the same would have the same name.
    names: HashSet<(&'a [u8], u128)>,
    report: RestoreReport,
}

impl<'a> WriteBatch<'a> {
    pub(crate) fn open(path: &'a Path, blobs: &'a Blobs) -> io::Result<WriteBatch<'a>> {
        let (drafts, names) = (Vec::new(), HashSet::new());
        Ok(WriteBatch {
            path,
            root: NoFollowDir::open(path)?,
            blobs,
            drafts,
            names,
            report: RestoreReport::default(),
        })
    }

    /// Applies an action now, or with the batch.
    pub(crate) fn add(&mut self, act: &'a RestoreAction) {
        let RestoreAction::Write { path, hash, mode, .. } = act else {
            if matches!(act, RestoreAction::Remove { .. } | RestoreAction::RemoveEmpty { .. }) {
                // What was to come back before it must be there.
                self.place();
            }
            return self.alone(act);
        };
        let end = path.as_bytes().iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let name = (path.as_bytes().get(..end).unwrap_or_default(), *hash);
        if self.drafts.len() >= MOST_DRAFTS || self.names.contains(&name) {
            self.place();
        }
        let mut drafted = draft(&self.root, path, self.blobs, *hash, *mode);
        if drafted.as_ref().is_err_and(too_many_open) {
            self.place();
            drafted = draft(&self.root, path, self.blobs, *hash, *mode);
        }
        match drafted {
            Ok(draft) => {
                self.names.insert(name);
                self.drafts.push((act, draft));
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.alone(act),
            Err(error) => self.done(act, Err(error)),
        }
    }

    /// Syncs the drafts and lets them take their places.
    fn place(&mut self) {
        self.names.clear();
        let drafts = std::mem::take(&mut self.drafts);
        // A few are synced faster one by one, where the file system has much else to write.
        let synced = drafts.len() > 2 && ralph_os::sync_file_system(self.path).unwrap_or(false);
        for (act, draft) in drafts {
            let ready = if synced { Ok(()) } else { draft.sync() };
            match ready.and_then(|()| draft.place()) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.alone(act),
                done => self.done(act, done),
            }
        }
    }

    /// Applies an action by itself. A draft that is left is replaced by this.
    fn alone(&mut self, act: &RestoreAction) {
        let mut done = apply(&self.root, act, self.blobs);
        if done.as_ref().is_err_and(too_many_open) {
            self.place();
            done = apply(&self.root, act, self.blobs);
        }
        self.done(act, done);
    }

    fn done(&mut self, act: &RestoreAction, done: io::Result<()>) {
        match done {
            Ok(()) => self.report.acts += 1,
            Err(error) => {
                self.report.failed.push(PathProblem { path: act.path().clone(), why: error.to_string() });
            }
        }
    }

    /// Applies what is left of the batch. What was done is on disk when this returns, where the file system can be
    /// synced as a whole.
    pub(crate) fn finish(mut self) -> RestoreReport {
        self.place();
        if self.report.acts > 0 {
            // If this fails, the files are as they would be after any other program wrote them.
            let _ = ralph_os::sync_file_system(self.path);
        }
        self.report
    }
}
