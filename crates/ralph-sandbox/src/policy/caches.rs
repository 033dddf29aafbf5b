//! Caches of package managers and compilers. Each is shown under a layer of the workspace's own, so that builds stay warm and
//! the user's caches clean.

use super::facts::Facts;
use std::path::PathBuf;

/// One cache.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// The name of its layer.
    pub name: &'static str,
    /// Where it is by default, relative to the home directory.
    path: &'static str,
    /// Variables that move it, and what is appended to their value.
    moved_by: &'static [(&'static str, &'static str)],
    /// It contains programs that are run later, so it is never written for real.
    pub programs: bool,
    /// Its tool looks there only if the directory above exists, and elsewhere otherwise.
    if_there: bool,
}

const fn row(
    name: &'static str,
    path: &'static str,
    moved_by: &'static [(&'static str, &'static str)],
) -> Cache {
    Cache { name, path, moved_by, programs: false, if_there: false }
}

const fn with_programs(
    name: &'static str,
    path: &'static str,
    moved_by: &'static [(&'static str, &'static str)],
) -> Cache {
    Cache { name, path, moved_by, programs: true, if_there: false }
}

const fn if_there(name: &'static str, path: &'static str) -> Cache {
    Cache { name, path, moved_by: &[], programs: false, if_there: true }
}

/// Every cache.
pub const CACHES: &[Cache] = &[
    row("cargo-registry", ".cargo/registry", &[("CARGO_HOME", "registry")]),
    row("cargo-git", ".cargo/git", &[("CARGO_HOME", "git")]),
    row("npm", ".npm/_cacache", &[("npm_config_cache", "_cacache"), ("NPM_CONFIG_CACHE", "_cacache")]),
    row("pip", ".cache/pip", &[("PIP_CACHE_DIR", ""), ("XDG_CACHE_HOME", "pip")]),
    with_programs("uv", ".cache/uv", &[("UV_CACHE_DIR", ""), ("XDG_CACHE_HOME", "uv")]),
    row("poetry", ".cache/pypoetry", &[("POETRY_CACHE_DIR", ""), ("XDG_CACHE_HOME", "pypoetry")]),
    row("go-mod", "go/pkg/mod", &[("GOMODCACHE", ""), ("GOPATH", "pkg/mod")]),
    row("go-build", ".cache/go-build", &[("GOCACHE", ""), ("XDG_CACHE_HOME", "go-build")]),
    row("maven", ".m2/repository", &[]),
    row("gradle", ".gradle/caches", &[("GRADLE_USER_HOME", "caches")]),
    row("ivy", ".ivy2/cache", &[]),
    row("coursier", ".cache/coursier", &[("COURSIER_CACHE", ""), ("XDG_CACHE_HOME", "coursier")]),
    with_programs("pnpm-store", ".local/share/pnpm/store", &[("XDG_DATA_HOME", "pnpm/store")]),
    row("pnpm", ".cache/pnpm", &[("XDG_CACHE_HOME", "pnpm")]),
    row("yarn", ".cache/yarn", &[("YARN_CACHE_FOLDER", ""), ("XDG_CACHE_HOME", "yarn")]),
    row("yarn-berry", ".yarn/berry/cache", &[]),
    with_programs("bun", ".bun/install/cache", &[("BUN_INSTALL", "install/cache")]),
    row("deno", ".cache/deno", &[("DENO_DIR", ""), ("XDG_CACHE_HOME", "deno")]),
    row("composer", ".cache/composer", &[("COMPOSER_CACHE_DIR", ""), ("XDG_CACHE_HOME", "composer")]),
    if_there("composer-old", ".composer/cache"),
    with_programs("nuget", ".nuget/packages", &[("NUGET_PACKAGES", "")]),
    row("nuget-http", ".local/share/NuGet", &[("XDG_DATA_HOME", "NuGet")]),
    row("hex", ".hex/packages", &[("HEX_HOME", "packages")]),
    if_there("cabal", ".cabal/packages"),
    row("pub", ".pub-cache/hosted", &[("PUB_CACHE", "hosted")]),
    row("zig", ".cache/zig", &[("ZIG_GLOBAL_CACHE_DIR", ""), ("XDG_CACHE_HOME", "zig")]),
    with_programs("bazel", ".cache/bazel", &[("XDG_CACHE_HOME", "bazel")]),
    with_programs(
        "pre-commit",
        ".cache/pre-commit",
        &[("PRE_COMMIT_HOME", ""), ("XDG_CACHE_HOME", "pre-commit")],
    ),
    row("ccache", ".cache/ccache", &[("CCACHE_DIR", ""), ("XDG_CACHE_HOME", "ccache")]),
    if_there("ccache-old", ".ccache"),
    row("sccache", ".cache/sccache", &[("SCCACHE_DIR", ""), ("XDG_CACHE_HOME", "sccache")]),
];

impl Cache {
    /// Where it is here, or will be once something is written to it.
    pub(super) fn place(&self, facts: &Facts) -> Option<PathBuf> {
        let moved = self.moved_by.iter().find_map(|(name, below)| {
            let base = facts.path_variable(name)?;
            Some(if below.is_empty() { base } else { base.join(below) })
        });
        moved.or_else(|| (!self.if_there || facts.home_has(self.path)).then(|| facts.home.join(self.path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cache_is_a_directory_that_path_names() {
        let mut names = std::collections::BTreeSet::new();
        for cache in CACHES {
            assert!(names.insert(cache.name), "{} is there twice", cache.name);
            let programs = ["bin", "shims", ".rustup", "_npx", "wrapper"];
            assert!(cache.path.split('/').all(|part| !programs.contains(&part)), "{}", cache.path);
        }
    }
}
