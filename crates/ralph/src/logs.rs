//! What an agent said and did, read again from what was kept: the journal tells which calls there were, the transcripts
//! what each of them printed. Bounded memory, whatever their size. `story.rs` walks through both, also while the run is
//! under way; a `Teller` says it: `lines.rs` for people, `json.rs` for scripts, `raw.rs` byte by byte. `diff.rs` is what
//! an iteration changed.

mod diff;
mod json;
mod lines;
mod out;
mod piece;
mod raw;
mod story;
mod transcript;

pub use diff::{Moments, diff};
pub use json::Json;
pub use lines::Lines;
pub use out::Gone;
pub use raw::Raw;
pub use story::{Ended, Story, Teller};
