//! Attacks on the sandbox. Each is a small Python program that runs in a world made for it; a test then looks at that
//! world from outside. What the attack says is believed only where nothing outside can show it, such as a system call
//! that was answered. Without a sandbox each attack must succeed: otherwise it proves nothing.
//!
//! A backend that cannot be built here fails its tests. `RALPH_ATTACK=name` plays only the attacks whose name has it;
//! `RALPH_ATTACKS=full` plays every control as every user, as `cargo xtask long` does.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod agent_home;
mod attack;
mod attack_box;
mod contained;
mod descriptors;
mod detected;
mod devices;
mod first_process;
mod fork_bomb;
mod git_files;
mod holes;
mod homes;
mod judge;
mod kernel_files;
mod killed;
mod layers;
mod left_behind;
mod look;
mod loopback;
mod mounts;
mod ordinary_work;
mod outcome;
mod play;
mod processes;
mod protected;
mod read_hidden;
mod report;
mod scene;
mod set_uid;
mod survivors;
mod system_calls;
mod toolchain;
mod victim;
mod write_outside;

use attack::{Attack, Who};
use play::{Around, all, bwrap};
use ralph_sandbox::Backend;

/// Every family as every user in every backend, and without one.
macro_rules! families {
    ($($family:ident)*) => {
        $(mod $family {
            use super::*;
            use crate::$family::attacks;

            #[test]
            fn without_a_sandbox_as_root() { all(attacks(), Who::Root, &Around::Nothing) }
            #[test]
            fn without_a_sandbox_as_a_user() { all(attacks(), Who::User, &Around::Nothing) }
            #[test]
            fn namespaces_as_root() { all(attacks(), Who::Root, &Around::Box(Backend::Namespaces)) }
            #[test]
            fn namespaces_as_a_user() { all(attacks(), Who::User, &Around::Box(Backend::Namespaces)) }
            #[test]
            fn namespaces_as_root_for_a_user() { all(attacks(), Who::RootForUser, &Around::Box(Backend::Namespaces)) }
            #[test]
            fn bwrap_as_root() { all(attacks(), Who::Root, &Around::Box(bwrap())) }
            #[test]
            fn bwrap_as_a_user() { all(attacks(), Who::User, &Around::Box(bwrap())) }
            #[test]
            fn bwrap_as_root_for_a_user() { all(attacks(), Who::RootForUser, &Around::Box(bwrap())) }
        })*
    };
}

/// Those families of which Landlock must hold something.
macro_rules! landlock_families {
    ($($family:ident)*) => {
        $(mod $family {
            use super::*;

            #[test]
            fn as_root() { all(attacks(), Who::Root, &Around::Box(Backend::Landlock)) }
            #[test]
            fn as_a_user() { all(attacks(), Who::User, &Around::Box(Backend::Landlock)) }

            fn attacks() -> Vec<Attack> {
                crate::$family::attacks().into_iter().filter(|attack| attack.landlock).collect()
            }
        })*
    };
}

mod held {
    use super::*;

    families! {
        write_outside read_hidden protected git_files agent_home mounts kernel_files devices system_calls set_uid
        processes first_process survivors descriptors loopback
    }
}

mod held_by_landlock {
    use super::*;

    landlock_families! {
        write_outside read_hidden kernel_files devices system_calls set_uid descriptors
    }
}
