//! The moments that a run needs to continue. They stay with their contents, however old they are: without its baseline a
//! resumed run would take what the agent left for the files it began with.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use ralph_tree::Difference;

use crate::moment_log::path;
use crate::moment_record::{Record, head};

/// The state before the current step.
const BEFORE: &str = "before";
/// The last of each is needed.
const NEEDED: [&str; 3] = [BEFORE, "oracle", "seen"];

/// The moments of one run, for pruning.
#[derive(Clone, Debug)]
pub struct RunMoments {
    /// Where they are.
    pub folder: PathBuf,
    /// The run can be continued, so what it needs for that is not removed.
    pub resumable: bool,
}

/// Whether a moment is the one that is asked for. A call begins with a snapshot that has its number for a name, so the
/// state before it needs no second record.
#[must_use]
pub fn stands_for(there: &str, name: &str) -> bool {
    there == name || (name == BEFORE && there.parse::<u32>().is_ok())
}

/// Places of the records that a run needs to continue.
pub(crate) fn needed(records: &[Record]) -> BTreeSet<usize> {
    let last = |name: &&str| records.iter().rposition(|record| stands_for(&record.name, name));
    NEEDED.iter().filter_map(last).collect()
}

/// Rewrites the moments of a run with only these records.
pub(crate) fn keep_only(
    folder: &Path,
    base: u128,
    records: Vec<Record>,
    kept: &BTreeSet<usize>,
) -> io::Result<()> {
    let mut bytes = head(base);
    let mut skipped = Vec::new();
    for (n, record) in records.into_iter().enumerate() {
        skipped.push(record.difference);
        if kept.contains(&n) {
            let difference = Difference::joined(skipped.drain(..));
            bytes.extend(Record { name: record.name, difference }.to_bytes());
        }
    }
    ralph_os::write_durably(&path(folder), &bytes)
}
