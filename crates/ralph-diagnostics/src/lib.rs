//! What ralph logs about itself, for the person who debugs it. Silent by default: `RALPH_LOG=debug` or `-v` prints to
//! stderr, and each run keeps a bounded `debug.log` in its folder. Nothing here is part of a run's record: the journal
//! says what happened, this says why a side effect did not.
//!
//! - [`Discard`]: marks an error that changes nothing for the caller, and logs it instead of losing it
//! - [`Level`]: what `RALPH_LOG` accepts
//! - [`init`]: the subscriber, installed once by the binary
//! - [`DebugLog`]: one run's file; several runs in one process each attach their own

mod debug_log;
mod discard;
mod level;
mod subscriber;

pub use debug_log::{Clean, DebugLog, FILE_NAME, MAX_BYTES};
pub use discard::Discard;
pub use level::{Level, UnknownLevel};
pub use subscriber::{Attached, Diagnostics, init};
