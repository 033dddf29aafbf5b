//! Contains every program that ralph runs: the agent and the verification.
//!
//! A [`Plan`] says what a program sees and may do, as data. A backend builds it: namespaces of ralph's own, bubblewrap,
//! Landlock, or a container of the user's. The supervisor stays outside and starts `ralph __box`, which builds the plan and
//! runs the program in it.

pub mod box_stage;
pub mod container;
pub mod gate;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod linux;
mod path_json;
pub mod plan;
pub mod policy;
pub mod probe;
pub mod report;
mod system_bwrap;

pub use box_stage::{run_box, run_init};
pub use plan::{
    Backend, Container, ContainerEngine, ContainerUser, Ids, LayerFallback, Mount, Network, Plan,
};
pub use probe::{Held, NotHeld, Promise, probe, promised, run_probe};
pub use system_bwrap::system_bwrap;
