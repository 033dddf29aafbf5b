//! Names that are never work and never worth a look: build output, caches, other tools' memory.
//!
//! The list is fixed, applies at any depth and comes before the ignore rules. It also applies inside
//! protected directories, except for byte code, which Python runs in the place of the source beside it.
//! Only a protected glob that names such a directory literally makes the walk go in.

use crate::index::Kind;

/// True if an entry of this name and kind is noise.
pub(crate) fn is_noise(name: &[u8], kind: Kind) -> bool {
    match name {
        b".git" | b".ralph" | b".DS_Store" | b".coverage" => true,
        _ if name.starts_with(b".aider") => true,
        _ => matches!(kind, Kind::Directory | Kind::Symlink) && is_noise_directory(name),
    }
}

/// Python's byte code: whoever writes it changes what the protected source beside it does.
pub(crate) fn is_byte_code(name: &[u8]) -> bool {
    name == b"__pycache__"
}

/// Directories (or links to them) that tools fill by themselves.
#[must_use]
pub fn is_noise_directory(name: &[u8]) -> bool {
    matches!(
        name,
        b"target"
            | b"node_modules"
            | b"bower_components"
            | b"__pycache__"
            | b".venv"
            | b".pytest_cache"
            | b".mypy_cache"
            | b".ruff_cache"
            | b".hypothesis"
            | b".ipynb_checkpoints"
            | b".tox"
            | b".nox"
            | b".eggs"
            | b".gradle"
            | b".next"
            | b".nuxt"
            | b".svelte-kit"
            | b".parcel-cache"
            | b".turbo"
            | b".nyc_output"
            | b".cache"
            | b".dart_tool"
            | b".stack-work"
            | b".terraform"
            | b".direnv"
            | b".hg"
            | b".svn"
            | b".jj"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds() {
        for (name, kind, noise) in [
            ("target", Kind::Directory, true),
            ("target", Kind::Symlink, true),
            ("target", Kind::File, false),
            ("targets", Kind::Directory, false),
            ("node_modules", Kind::Directory, true),
            (".git", Kind::Directory, true),
            (".git", Kind::File, true),
            (".gitignore", Kind::File, false),
            (".github", Kind::Directory, false),
            (".aider.chat.history.md", Kind::File, true),
            (".aider.tags.cache.v3", Kind::Directory, true),
            (".ralph", Kind::Directory, true),
            ("src", Kind::Directory, false),
            ("build", Kind::Directory, false),
            (".env", Kind::File, false),
        ] {
            assert_eq!(is_noise(name.as_bytes(), kind), noise, "{name} {kind:?}");
        }
    }
}
