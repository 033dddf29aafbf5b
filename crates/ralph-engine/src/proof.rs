//! The experiments behind a proof: what changed since the baseline, in three sets, and verifications in rooms made of the
//! baseline and chosen sets. The rules decide which experiment is next (`ralph_rules::proof`); this module carries it out,
//! for a run's steps (`world/compare.rs`, `world/room.rs`) and for `ralph verify`.
//!
//! [`Baseline`] is the files before the agent worked, [`Environment`] what lay around them (installed packages, ignored
//! files, configuration outside), [`Comparison`] the changes since, [`ProofSite`] all that an experiment needs.

mod around;
mod around_changes;
mod baseline;
mod change_text;
mod comparison;
mod diff;
mod environment;
pub mod map;
mod of_run;
mod of_story;
mod room_files;
mod room_run;
mod site;
mod view;

pub use around::Around;
pub use baseline::{Baseline, BaselineFile};
pub use comparison::Comparison;
pub use environment::{Environment, Places};
pub use of_run::user_changed_meanwhile;
pub use of_story::Scope;
pub use ralph_proof::classify::is_documentation;
pub use room_files::InPlace;
pub use room_run::{RoomResult, RoomRun, token};
pub use site::{ProofSite, RedBefore};
