//! Which paths of a home directory programs need: what `PATH` and the variables of toolchains name, and what the programs
//! there look for beside themselves.

use super::facts::Facts;
use std::path::{Path, PathBuf};

/// Variables that name the directory of a toolchain.
pub(super) const TOOLCHAIN_VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOROOT",
    "JAVA_HOME",
    "GRADLE_HOME",
    "MAVEN_HOME",
    "M2_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "FNM_DIR",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_INSTALL",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "DOTNET_ROOT",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "FLUTTER_ROOT",
];

/// Directories of programs: their libraries lie beside them.
const PROGRAM_DIRECTORIES: &[&str] = &["bin", "sbin", "condabin", SHIMS, ".bin"];
/// Where a version manager (pyenv, rbenv, asdf) keeps programs that find the right version.
const SHIMS: &str = "shims";

/// What the programs in `~/.local/bin` are links to or load. The rest of `~/.local/share` is not theirs.
const BESIDE_LOCAL_BIN: &[&str] = &[
    "bin",
    "lib",
    "share/pipx",
    "share/uv/tools",
    "share/uv/python",
    "share/claude",
    "share/pnpm",
    "share/mise",
];

/// What a small file beside the programs of a toolchain is: needed where home is otherwise empty. Relative to it.
pub const SETTINGS: &[&str] =
    &[".gitconfig", ".config/git", ".npmrc", ".config/pip", ".config/uv", ".rustup"];

/// What programs need of the home directory. Whatever would show all of it is left out.
pub(super) fn program_paths(facts: &Facts) -> Vec<PathBuf> {
    let named = facts.path.iter().filter(|dir| is_inside(dir, facts)).flat_map(|dir| roots(dir, facts));
    let toolchains = TOOLCHAIN_VARIABLES.iter().filter_map(|name| facts.path_variable(name));
    let go = facts.path_variable("GOPATH").into_iter().flat_map(|go| [go.join("bin"), go.join("pkg")]);
    let settings = SETTINGS.iter().map(|path| facts.home.join(path));
    let all = named.chain(toolchains).chain(go).chain(settings).chain(facts.needed.iter().cloned());
    all.filter(|path| is_inside(path, facts)).collect()
}

/// Directories whose entries say whether what lies beside a directory of programs belongs to it.
pub(super) fn beside_programs(facts: &Facts) -> impl Iterator<Item = PathBuf> {
    let linked = facts.links.iter().flat_map(|link| [Some(&*link.to), link.to.parent()]).flatten();
    let dirs = facts.path.iter().map(PathBuf::as_path).chain(linked);
    let named = dirs.filter(|dir| is_inside(dir, facts) && has_programs(dir));
    named.filter_map(|dir| dir.parent()).filter(|dir| is_inside(dir, facts)).map(Path::to_path_buf)
}

/// Whether a path lies in a home directory, and none in it.
pub(super) fn is_inside(path: &Path, facts: &Facts) -> bool {
    let homes = || std::iter::once(&facts.home).chain(&facts.other_homes);
    homes().any(|home| path != home && path.starts_with(home)) && !homes().any(|home| home.starts_with(path))
}

pub(super) fn has_programs(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| PROGRAM_DIRECTORIES.iter().any(|own| name == *own))
}

/// Whether a path is one of the settings, or lies in one.
pub(super) fn is_setting(path: &Path, facts: &Facts) -> bool {
    SETTINGS.iter().any(|own| path.starts_with(facts.home.join(own)))
}

/// What belongs to a directory of programs, in home directories.
pub(super) fn program_roots(dir: &Path, facts: &Facts) -> Vec<PathBuf> {
    roots(dir, facts).into_iter().filter(|path| is_inside(path, facts)).collect()
}

/// What belongs to a directory of `PATH`.
fn roots(dir: &Path, facts: &Facts) -> Vec<PathBuf> {
    let alone = || vec![dir.to_path_buf()];
    let Some(parent) = dir.parent().filter(|parent| has_programs(dir) && is_inside(parent, facts)) else {
        return alone();
    };
    if parent == facts.home.join(".local") {
        return BESIDE_LOCAL_BIN.iter().map(|own| parent.join(own)).collect();
    }
    if parent.file_name().is_some_and(|name| name == "go") {
        // A workspace of Go has the sources of other projects in it.
        return vec![dir.to_path_buf(), parent.join("pkg")];
    }
    let is_repository =
        facts.listings.get(parent).is_some_and(|entries| entries.iter().any(|entry| entry.name == ".git"));
    // A version manager is often installed by cloning it; its shims call what lies beside them.
    let is_manager = dir.file_name().is_some_and(|name| name == SHIMS);
    if is_repository && !is_manager { alone() } else { vec![parent.to_path_buf()] }
}
