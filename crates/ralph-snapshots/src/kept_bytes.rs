//! How many bytes are stored for a workspace, counted as they are written, so that the end of a run need not look at what
//! other runs left. While a process writes there is no count on disk: if it is killed, the next one counts anew.

use ralph_diagnostics::Discard;
use std::fs;
use std::path::Path;

const FILE: &str = "size";

/// The count of one process.
#[derive(Debug, Default)]
pub(crate) struct KeptBytes {
    writing: Option<Writing>,
}

#[derive(Debug)]
struct Writing {
    before: Option<(u64, u64)>,
    since: u64,
}

impl KeptBytes {
    /// Bytes are written.
    pub(crate) fn add(&mut self, dir: &Path, bytes: u64) {
        let writing = self.writing.get_or_insert_with(|| {
            let before = read(dir);
            let _ = fs::remove_file(dir.join(FILE));
            Writing { before, since: 0 }
        });
        writing.since = writing.since.saturating_add(bytes);
    }

    /// The count, and what the last pruning left; none if it is not known.
    pub(crate) fn total(&self, dir: &Path) -> Option<(u64, u64)> {
        match &self.writing {
            Some(writing) => writing.before.map(|(bytes, left)| (bytes.saturating_add(writing.since), left)),
            None => read(dir),
        }
    }

    /// Everything is written.
    pub(crate) fn close(&mut self, dir: &Path, total: u64, left: u64) {
        self.writing = None;
        fs::write(dir.join(FILE), format!("{total} {left}")).discard("save the size of the snapshots");
    }
}

fn read(dir: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(dir.join(FILE)).ok()?;
    let (total, left) = text.split_once(' ')?;
    Some((total.parse().ok()?, left.parse().ok()?))
}
