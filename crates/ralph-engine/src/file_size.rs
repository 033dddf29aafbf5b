//! A process that writes past its file size limit (`ulimit -f`) is killed by SIGXFSZ unless it handles the signal; then
//! the write fails, and is reported like a write to a full disk.

use ralph_diagnostics::Discard;
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;

/// Lets such writes fail. A handler, not "ignore": what is ignored would be ignored by every program ralph starts, while
/// a handler ends with the next `exec`.
pub fn survive_the_limit() {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop).discard("handle SIGXFSZ");
}
