//! Detects a silent call: no output and no running tool. While a tool runs every agent is silent, and a long build is
//! normal. If tool starts are not visible, the process tree must be idle as well.

use crate::step_context::StepContext;
use ralph_rules::record::{Ms, Seen, Silent};
use ralph_supervisor::ProcessHandle;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Watches until `over` closes; reports at most once.
pub(super) fn watch(
    ctx: &StepContext,
    process: &ProcessHandle,
    tools: &Arc<AtomicU32>,
    (after, sees_tools): (Ms, bool),
    over: &Receiver<()>,
) {
    let limit = Duration::from_millis(u64::try_from(after).unwrap_or(u64::MAX));
    let look = (limit / 8).clamp(Duration::from_millis(20), Duration::from_secs(2));
    let mut idle = Duration::ZERO;
    while over.recv_timeout(look) == Err(RecvTimeoutError::Timeout) {
        let active = if sees_tools { tools.load(Ordering::Relaxed) > 0 } else { process.tree_is_busy() };
        idle = if active { Duration::ZERO } else { idle + look };
        let silent = process.silent_for().min(idle);
        if silent >= limit {
            let ms = Ms::try_from(silent.as_millis()).unwrap_or(Ms::MAX);
            ctx.send(Seen::Silent(Silent { ms }));
            return;
        }
    }
}
