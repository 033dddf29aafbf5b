//! The keep: contents of a workspace, put aside outside it before anything may change them, and put back.
//!
//! [`Keep::take`] puts aside whatever an [`ralph_tree::Index`] names and is not there yet (`blobs`, by content);
//! [`back`] says what it would take to make a workspace as it was, and does it; [`mend`] does so for a few paths only. Nothing is ever overwritten whose
//! content is not in the keep first. No path is followed through a link: an agent may have put one anywhere.

mod at;
mod back;
mod blobs;
mod keep;
mod mend;
mod prune;

pub use at::open_beneath;
pub use back::{Act, Back, Done, Wanted, back};
pub use blobs::Blobs;
pub use keep::{Keep, Missed, Taken};
pub use mend::{Aside, Damage, Mend, mend, put_aside, uncover};
pub use prune::{Pruned, prune};
