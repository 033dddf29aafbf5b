//! The oracle: what says whether the work is right. Tests, the configuration of their runners, CI, and the scripts that
//! a verification runs. Known by name, as runners know them; `walk` flags such paths, ignored ones too, because a
//! runner does not ask git.
//!
//! Globs in gitignore syntax add paths, `!` takes some out, so that `!*` and a list replaces all of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::protect::BadGlob;
use crate::test_files::looks_like_test;

/// What a path is to the verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A test, its helper or its data.
    Test,
    /// Decides how tests are run, or which.
    Config,
    /// Holds both work and such decisions: a manifest, a source file with tests in it.
    Part,
}

/// Which paths are the oracle.
#[derive(Clone, Debug)]
pub struct Oracle {
    chosen: Gitignore,
    scripts: BTreeSet<Vec<u8>>,
    key: [u8; 32],
    /// Nothing at all is looked for.
    off: bool,
}

impl Default for Oracle {
    /// None: nothing is flagged.
    fn default() -> Oracle {
        Oracle { chosen: Gitignore::empty(), scripts: BTreeSet::new(), key: [0; 32], off: true }
    }
}

impl Oracle {
    /// The usual names, changed by these globs, and these scripts.
    pub fn new<S: AsRef<str>>(
        globs: impl IntoIterator<Item = S>,
        scripts: impl IntoIterator<Item = S>,
    ) -> Result<Oracle, BadGlob> {
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"oracle 1\0");
        for glob in globs {
            let glob = glob.as_ref();
            builder.add_line(None, glob).map_err(|error| bad(glob, &error))?;
            hasher.update(glob.as_bytes()).update(b"\0");
        }
        let chosen = builder.build().map_err(|error| bad("", &error))?;
        let scripts: BTreeSet<Vec<u8>> =
            scripts.into_iter().map(|s| s.as_ref().as_bytes().to_vec()).collect();
        for script in &scripts {
            hasher.update(script).update(b"\0\0");
        }
        Ok(Oracle { chosen, scripts, key: *hasher.finalize().as_bytes(), off: false })
    }

    /// What this path is to the verification, if anything.
    #[must_use]
    pub fn role(&self, path: &[u8]) -> Option<Role> {
        if self.off {
            return None;
        }
        let (wanted, taken_out) = self.chosen(path);
        if taken_out && !wanted {
            return None;
        }
        if self.scripts.contains(path) {
            return Some(Role::Config);
        }
        role(path).or(wanted.then_some(Role::Config))
    }

    /// Whether the globs name the path or a directory it lies in, and whether they take it out.
    fn chosen(&self, path: &[u8]) -> (bool, bool) {
        if self.chosen.is_empty() {
            return (false, false);
        }
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let parents = slashes.filter_map(|at| Some((path.get(..at)?, true)));
        parents.chain([(path, false)]).fold((false, false), |(wanted, out), (part, dir)| {
            let matched = self.chosen.matched(Path::new(OsStr::from_bytes(part)), dir);
            (wanted || matched.is_ignore(), out || matched.is_whitelist())
        })
    }

    /// The same for something ignored: what others installed is not looked through for tests.
    pub(crate) fn role_of_ignored(&self, path: &[u8]) -> Option<Role> {
        let mut parts = path.split(|&byte| byte == b'/');
        let installed = parts.any(|part| {
            matches!(
                part,
                b"site-packages" | b"dist-packages" | b"venv" | b"env" | b"vendor" | b"third_party"
            )
        });
        if installed { None } else { self.role(path).filter(|role| *role != Role::Part) }
    }

    pub(crate) fn key(&self) -> &[u8; 32] {
        &self.key
    }
}

fn bad(glob: &str, error: &ignore::Error) -> BadGlob {
    BadGlob { glob: glob.to_owned(), why: format!("{error}; write it as in a .gitignore") }
}

/// What a path is by its name alone.
fn role(path: &[u8]) -> Option<Role> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if is_config(name) || is_ci(path) || stands_in(path) {
        return Some(Role::Config);
    }
    if looks_like_test(path) && !is_source(path, name) {
        return Some(Role::Test);
    }
    is_part(name).then_some(Role::Part)
}

/// Named like a test, but compiled into the work: a `tests.rs` beside its module is named there, and a `test.rs` or
/// `test.py` may as well be a command.
fn is_source(path: &[u8], name: &[u8]) -> bool {
    let inside = |dir: &[u8]| path.split(|&byte| byte == b'/').rev().skip(1).any(|part| part == dir);
    if name.ends_with(b".rs") {
        return inside(b"src") && !inside(b"tests");
    }
    let stem = name.split(|&byte| byte == b'.').next().unwrap_or_default();
    let dirs: [&[u8]; 6] = [b"tests", b"test", b"__tests__", b"spec", b"specs", b"e2e"];
    stem == b"test" && !dirs.into_iter().any(inside)
}

/// Holds work and oracle both.
fn is_part(name: &[u8]) -> bool {
    matches!(
        name,
        b"package.json"
            | b"composer.json"
            | b"deno.json"
            | b"Cargo.toml"
            | b"pyproject.toml"
            | b"setup.cfg"
            | b"pom.xml"
            | b"build.gradle"
            | b"build.gradle.kts"
            | b"CMakeLists.txt"
            | b"meson.build"
    ) || name.ends_with(b".rs")
}

/// In a directory that would be taken for the runner itself.
fn stands_in(path: &[u8]) -> bool {
    let mut dirs = path.rsplit(|&byte| byte == b'/').skip(1);
    dirs.any(|dir| matches!(dir, b"unittest" | b"pytest" | b"_pytest" | b"doctest"))
}

/// Build servers.
fn is_ci(path: &[u8]) -> bool {
    let below = [&b".github/workflows/"[..], b".github/actions/", b".circleci/", b".buildkite/"];
    below.iter().any(|dir| path.starts_with(dir))
        || matches!(
            path,
            b".gitlab-ci.yml"
                | b".travis.yml"
                | b".drone.yml"
                | b"azure-pipelines.yml"
                | b"bitbucket-pipelines.yml"
                | b"Jenkinsfile"
                | b"appveyor.yml"
        )
        || path.ends_with(b".cargo/config.toml")
        || path.ends_with(b".cargo/config")
        || path.ends_with(b".config/nextest.toml")
}

/// Runners, their plug-ins, task runners, and linters, which verifications run too.
fn is_config(name: &[u8]) -> bool {
    let low = name.to_ascii_lowercase();
    let stem = low.split(|&byte| byte == b'.').next().unwrap_or_default();
    matches!(
        low.as_slice(),
        // Python: also what the interpreter loads unasked, and modules that would stand in for the runner's.
        b"conftest.py" | b"pytest.ini" | b".pytest.ini" | b"tox.ini" | b"noxfile.py" | b".coveragerc"
            | b"sitecustomize.py" | b"usercustomize.py" | b"unittest.py" | b"pytest.py" | b"doctest.py"
            | b"mypy.ini" | b".flake8" | b"ruff.toml" | b".ruff.toml" | b".pylintrc"
            // JavaScript
            | b".npmrc" | b".yarnrc" | b".yarnrc.yml" | b".pnpmfile.cjs" | b"bunfig.toml" | b".nycrc"
            | b".nycrc.json" | b".c8rc.json" | b"test-setup.js" | b"lerna.json" | b"nx.json" | b"turbo.json"
            // Rust
            | b"nextest.toml" | b"clippy.toml" | b".clippy.toml" | b"rustfmt.toml" | b".rustfmt.toml"
            // Others
            | b"makefile" | b"gnumakefile" | b"justfile" | b".justfile" | b"rakefile" | b".rspec"
            | b"phpunit.xml" | b"phpunit.xml.dist" | b"taskfile.yml" | b"taskfile.yaml" | b"tapfile"
            | b".gitattributes" | b".pre-commit-config.yaml" | b"lefthook.yml" | b".golangci.yml"
            | b".golangci.yaml" | b".env.test" | b"codecov.yml"
    ) || low.ends_with(b".pth")
        || low.ends_with(b".mk")
        || low.ends_with(b".runsettings")
        || (low.contains(&b'.')
            && (matches!(
                stem,
                b"setuptests" | b"jest" | b"vitest" | b"karma" | b"playwright" | b"cypress" | b"wdio"
            ) || is_rc(&low)))
}

/// `.mocharc.cjs`, `jest.setup.ts`, `vite.config.ts` and their kin.
fn is_rc(low: &[u8]) -> bool {
    let begins = [&b".mocharc"[..], b".eslintrc", b".taprc", b".babelrc", b".jestrc", b".lintstagedrc"];
    let configs = [
        &b"vite.config."[..],
        b"ava.config.",
        b"babel.config.",
        b"eslint.config.",
        b"web-test-runner.config.",
        b"jasmine.",
        b"stryker.conf",
    ];
    begins.iter().chain(&configs).any(|begin| low.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_by_name() {
        let oracle = Oracle::new::<&str>([], []).unwrap();
        let (test, config, part) = (Some(Role::Test), Some(Role::Config), Some(Role::Part));
        for (path, role) in [
            ("tests/test_app.py", test),
            ("app/test_app.py", test),
            ("src/login.test.ts", test),
            ("pkg/login_test.go", test),
            ("tests/it.rs", test),
            ("conftest.py", config),
            ("a/b/conftest.py", config),
            ("jest.config.js", config),
            ("jest.setup.ts", config),
            (".mocharc.cjs", config),
            ("vitest.config.mts", config),
            ("Makefile", config),
            ("sub/.cargo/config.toml", config),
            (".github/workflows/ci.yml", config),
            ("site/sitecustomize.py", config),
            (".npmrc", config),
            ("package.json", part),
            ("web/package.json", part),
            ("Cargo.toml", part),
            ("src/lib.rs", part),
            ("src/parser/tests.rs", part),
            ("src/commands/test.rs", part),
            ("src/app.py", None),
            ("app/commands/test.py", None),
            ("jest", None),
            ("src/makefiles.py", None),
            ("README.md", None),
        ] {
            assert_eq!(oracle.role(path.as_bytes()), role, "{path}");
        }
        assert_eq!(oracle.role_of_ignored(b"venv/lib/x/tests/test_a.py"), None);
        assert_eq!(oracle.role_of_ignored(b"hidden/conftest.py"), config);
        assert_eq!(Oracle::default().role(b"conftest.py"), None);
    }

    #[test]
    fn globs_add_and_take_out() {
        let with = |globs: &[&str]| Oracle::new(globs.iter().copied(), ["run.sh"]).unwrap();
        assert_eq!(with(&["checks/"]).role(b"checks/a.txt"), Some(Role::Config));
        assert_eq!(with(&["!vite.config.*"]).role(b"vite.config.ts"), None);
        let only = with(&["!*", "golden/"]);
        assert_eq!(only.role(b"golden/a"), Some(Role::Config));
        assert_eq!(only.role(b"conftest.py"), None);
        assert_eq!(with(&[]).role(b"run.sh"), Some(Role::Config));
        assert!(Oracle::new(["a[", ""], []).is_err());
    }
}
