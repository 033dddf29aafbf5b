//! The backends. `sys` has the system calls; `namespaces` builds a plan from mounts that `mount_tree` holds and `steps`
//! orders; `init` is the first process inside; `limits` counts processes and memory.

mod bwrap;
mod bwrap_args;
mod capabilities;
mod cgroups;
mod covers;
mod dev;
mod failure;
mod id_maps;
mod init;
mod landlock;
mod landlocked;
mod limits;
mod mount_points;
mod mount_tree;
mod namespaces;
mod paths;
mod probe_inside;
mod probe_outside;
mod probe_targets;
mod seccomp;
mod shared_layers;
mod stage;
mod stale_work;
mod steps;
mod sys;
mod workspace;

pub(crate) use probe_inside::attack;
pub(crate) use probe_outside::try_plan;
pub(crate) use stage::{run_box, run_init};
