//! Names of directories and files that builds and tools make by themselves.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Directories that builds and tools fill by themselves, and fill again in a room.
const BUILT: [&str; 28] = [
    "target",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".eggs",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".parcel-cache",
    ".turbo",
    ".nyc_output",
    ".cache",
    ".dart_tool",
    ".stack-work",
    ".terraform",
    ".direnv",
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".ralph",
    "coverage",
    "htmlcov",
    "_build",
];

/// Directories with the output of builds or installed packages, which may also hold a person's files.
const OUTPUT: [&str; 22] = [
    ".angular",
    ".build",
    ".bundle",
    ".nox",
    ".nx",
    ".output",
    ".tox",
    ".venv",
    ".vite",
    ".zig-cache",
    "DerivedData",
    "Pods",
    "__pypackages__",
    "bower_components",
    "build",
    "dist",
    "elm-stuff",
    "node_modules",
    "obj",
    "out",
    "venv",
    "vendor",
];

/// Endings of files that only compilers and linkers read.
const OBJECTS: [&[u8]; 10] =
    [b".o", b".lo", b".obj", b".d", b".gcno", b".gcda", b".class", b".beam", b".rlib", b".rmeta"];

/// A directory that tools fill by themselves and that nobody keeps anything else in.
pub(super) fn is_built(name: &OsStr) -> bool {
    BUILT.iter().any(|one| name == *one)
}

/// The same, or a directory for the output of builds or for packages.
pub(super) fn is_output(name: &OsStr) -> bool {
    is_built(name) || OUTPUT.iter().any(|one| name == *one) || name.as_bytes().starts_with(b"cmake-build-")
}

/// A file that is nothing but an intermediate result of a build.
pub(super) fn is_object(name: &OsStr) -> bool {
    OBJECTS.iter().any(|ending| name.as_bytes().ends_with(ending))
}
