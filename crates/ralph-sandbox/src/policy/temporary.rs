//! What is seen below the directories for temporary files, which are the program's own inside: programs of `PATH`, and what
//! the user's own commands name. Everything else that lies there stays outside.

use super::facts::Facts;
use super::home::outermost;
use super::programs::{TOOLCHAIN_VARIABLES, has_programs};
use crate::Mount;
use std::path::{Path, PathBuf};

/// The directories that every plan replaces by its own.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What programs load from beside their directory.
const BESIDE_PROGRAMS: &[&str] = &["lib", "lib64", "libexec", "share"];

/// The paths to show again, read-only. The workspace and the home directory have mounts of their own.
pub(super) fn mounts(facts: &Facts) -> Vec<Mount> {
    let programs = facts.path.iter().flat_map(|dir| with_libraries(dir));
    let toolchains = TOOLCHAIN_VARIABLES.iter().filter_map(|name| facts.path_variable(name));
    let all = programs.chain(toolchains).chain(facts.needed.iter().cloned());
    let apart = |path: &PathBuf| {
        is_temporary(path)
            && !facts.workspace.starts_with(path)
            && !facts.home.starts_with(path)
            && !facts.own_directories.iter().any(|own| own.starts_with(path) || path.starts_with(own))
    };
    outermost(all.filter(apart)).into_iter().map(Mount::Show).collect()
}

/// Whether a path lies in one of the directories; they themselves do not.
fn is_temporary(path: &Path) -> bool {
    TEMPORARY.iter().any(|dir| path.starts_with(dir) && path != Path::new(dir))
}

fn with_libraries(dir: &Path) -> Vec<PathBuf> {
    let parent = dir.parent().filter(|_| has_programs(dir));
    let beside = parent.into_iter().flat_map(|parent| BESIDE_PROGRAMS.iter().map(|name| parent.join(name)));
    std::iter::once(dir.to_path_buf()).chain(beside).collect()
}
