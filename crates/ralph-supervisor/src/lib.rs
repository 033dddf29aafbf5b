//! Supervises everything that ralph runs: agents and verify commands.
//!
//! Two halves. [`supervise`] is the small program `ralph __supervise`: it starts the real program, adopts every
//! descendant, and leaves only when all of them are dead. [`start`] is ralph's side of it: it starts a
//! supervisor and returns a [`ProcessHandle`] (to give orders from any thread) and a [`Pump`] (which one thread runs).
//! A program may attack its supervisor: one that is stopped is continued, one that does not answer is replaced by ralph
//! itself, and what a killed one leaves comes to ralph, which ends it. Mechanism only: deadlines are decided by the rules.

mod begin;
mod clear;
mod clock;
mod exit;
mod feed;
mod launch;
mod line_splitter;
mod overlay;
mod process_handle;
mod pump;
mod record;
mod room_mount;
mod sandbox;
mod strays;
mod supervisor;
mod supervisors;
mod tag;
mod wire;

pub use exit::{Exit, How, NotStarted};
pub use launch::{Input, Launch, Limits, StartError, start};
pub use line_splitter::{Line, LineSplitter};
pub use overlay::Overlay;
pub use process_handle::ProcessHandle;
pub use pump::{Pump, Sink};
pub use ralph_os::RoomLayer;
pub use record::{LostSupervisor, lost_supervisor};
pub use room_mount::RoomMount;
pub use sandbox::SandboxLaunch;
pub use supervisor::supervise;
pub use supervisors::end_stopped;
pub use tag::{find, sweep};
