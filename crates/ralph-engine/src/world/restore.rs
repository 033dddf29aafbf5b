//! Step Restore: put protected paths back. This version finds violations but does not mend them, and says so: every
//! path is reported as left alone, which ends the run. Closes with `Restored`.

use crate::bench::Bench;
use crate::told::Told;
use ralph_rules::record::{Restored, Seen, Violation};

/// The fact.
pub fn restore(bench: &Bench, paths: &[Violation]) -> Told {
    let left = paths.iter().map(|v| v.path.clone()).collect();
    Seen::Restored(Restored { restored: Vec::new(), left, tree: bench.index().id() }).into()
}
