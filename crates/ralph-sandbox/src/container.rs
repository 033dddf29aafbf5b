//! The backend `container`: the user's engine (podman or docker) and image.
//!
//! A container differs from the other backends in three ways. Its disk is the image's, so only what the plan names is the
//! user's: nothing outside of that has to be hidden. What it runs is started by the engine, so the box is no process above
//! the program: it creates the container, attaches to it, and removes it. And a gate cannot be handed out of it, because the
//! image need not be able to run ralph: [`Unusable::Hosts`].
//!
//! How a container ends when something is killed:
//! - The box sees that its supervisor is gone, or is asked by it because a daemon runs the container, and removes it.
//! - The box is killed: podman's containers are descendants of the supervisor, which kills them. Docker's belong to its
//!   daemon. What is left of either is removed by its label by whoever started the box ([`remove_left`]).
//! - All of ralph is killed at once: the next start in this workspace finds them by their label ([`labelled`]).

mod attached;
mod check;
mod command_line;
mod engine;
mod filter;
mod mounts;
mod trial;

pub(crate) use attached::run;
pub use check::{Unusable, check};
pub use command_line::passed_variables;
pub use engine::{ENGINE_VARIABLES, find, labelled, remove_left};
pub use trial::try_out;

/// The label with the id of the run.
pub const RUN_LABEL: &str = "ralph.run";
/// The label with the path of the workspace.
pub const WORKSPACE_LABEL: &str = "ralph.workspace";
/// The label with the directory that was made for the call. Its owner holds a lock in it for as long as the container is used.
pub const DIRECTORY_LABEL: &str = "ralph.directory";
