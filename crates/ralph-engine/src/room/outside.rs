//! Files outside a workspace that runners obey: configuration in the home directory and in the directories above the
//! workspace, files that Python runs at every start, and the programs that a verify command finds on `PATH`.

use super::bytes;
use super::dependencies::{PythonPlaces, site_directories};
use crate::protection::user_config;
use ralph_os::{Links, read_start};
use ralph_tree::hash_bytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;
/// A larger file is told apart by its size and times: it is a program.
const LARGEST_READ: u64 = 1 << 20;

/// Relative to the home directory.
const IN_HOME: [&str; 41] = [
    ".bash_login",
    ".bash_profile",
    ".bashrc",
    ".profile",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    ".babelrc",
    ".bundle/config",
    ".bunfig.toml",
    ".cargo/config",
    ".cargo/config.toml",
    ".condarc",
    ".config/nextest.toml",
    ".config/pytest.ini",
    ".eslintrc",
    ".eslintrc.json",
    ".gemrc",
    ".gitconfig",
    ".gradle/gradle.properties",
    ".gradle/init.gradle",
    ".gradle/init.gradle.kts",
    ".jestrc",
    ".m2/settings.xml",
    ".mavenrc",
    ".mocharc.js",
    ".mocharc.json",
    ".mypy.ini",
    ".node_libraries",
    ".node_modules",
    ".npmrc",
    ".pip/pip.conf",
    ".proverc",
    ".pydistutils.cfg",
    ".pypirc",
    ".rspec",
    ".rustup/settings.toml",
    ".yarnrc",
    ".yarnrc.yml",
    "Library/Application Support/go/env",
];

/// Relative to the user's configuration directory, `~/.config` unless set otherwise.
const IN_CONFIG: [&str; 8] = [
    "git/config",
    "go/env",
    "mypy/config",
    "pip/pip.conf",
    // The user's limits for agents.
    "ralph/config.toml",
    "rspec/options",
    "ruff/ruff.toml",
    "uv/uv.toml",
];

/// In every directory above the workspace.
const ABOVE: [&str; 42] = [
    ".babelrc",
    ".cargo/config",
    ".cargo/config.toml",
    ".editorconfig",
    ".eslintrc.js",
    ".eslintrc.json",
    ".mocharc.js",
    ".mocharc.json",
    ".mocharc.yml",
    ".npmrc",
    ".pnp.cjs",
    ".pytest.ini",
    ".pytest.toml",
    ".rspec",
    ".ruff.toml",
    ".yarnrc.yml",
    "Cargo.toml",
    "Directory.Build.props",
    "Gemfile",
    "babel.config.js",
    "build.gradle",
    "bunfig.toml",
    "conftest.py",
    "eslint.config.js",
    "go.mod",
    "go.work",
    "jest.config.js",
    "mypy.ini",
    "node_modules",
    "package.json",
    "pnpm-workspace.yaml",
    "pom.xml",
    "pyproject.toml",
    "pytest.ini",
    "pytest.toml",
    "ruff.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "setup.cfg",
    "settings.gradle",
    "tox.ini",
    "tsconfig.json",
];

/// For all users.
const OF_SYSTEM: [&str; 5] =
    ["/etc/pip.conf", "/etc/gitconfig", "/etc/ralph/config.toml", "/usr/etc/npmrc", "/usr/local/etc/npmrc"];

/// Configs of git, by the ends of their paths.
const OF_GIT: [&str; 3] = [".gitconfig", "git/config", "etc/gitconfig"];

/// Programs that verify commands start, or start through others.
const PROGRAMS: [&str; 48] = [
    "ava", "bash", "bats", "bun", "bundle", "bundler", "cargo", "cmake", "composer", "ctest", "deno",
    "dotnet", "env", "git", "go", "gradle", "java", "javac", "jest", "just", "make", "meson", "mocha", "mvn",
    "ninja", "node", "nox", "npm", "npx", "perl", "php", "phpunit", "pnpm", "poetry", "prove", "pytest",
    "python", "python3", "rspec", "ruby", "rustc", "sh", "swift", "tox", "uv", "vitest", "yarn", "zig",
];

/// Where to look. The command line reads the environment and passes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutsidePlaces<'a> {
    /// `$HOME`.
    pub home: Option<&'a Path>,
    /// `$XDG_CONFIG_HOME`.
    pub config_home: Option<&'a Path>,
    /// `$PATH`.
    pub path: Option<&'a OsStr>,
}

/// Files outside a workspace that runners obey, or git or ralph, each with what tells its state apart. Files that do not exist are not
/// listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideFiles {
    v: u32,
    /// By path.
    pub files: BTreeMap<String, String>,
}

impl OutsideFiles {
    /// Looks at them all.
    #[must_use]
    pub fn record(workspace: &Path, places: OutsidePlaces<'_>) -> OutsideFiles {
        let mut paths: Vec<PathBuf> = OF_SYSTEM.iter().map(PathBuf::from).collect();
        if let Some(home) = places.home {
            paths.extend(IN_HOME.iter().map(|name| home.join(name)));
        }
        let config = places.config_home.map(Path::to_owned);
        if let Some(config) = config.or_else(|| Some(places.home?.join(".config"))) {
            paths.extend(IN_CONFIG.iter().map(|name| config.join(name)));
        }
        for dir in workspace.ancestors().skip(1).filter(|dir| dir.parent().is_some()) {
            paths.extend(ABOVE.iter().map(|name| dir.join(name)));
        }
        let python = PythonPlaces { virtual_env: None, home: places.home, path: places.path };
        for site in site_directories(workspace, &[], python) {
            paths.extend(start_files(&site));
        }
        paths.extend(places.path.into_iter().flat_map(|path| programs(workspace, path)));
        paths.retain(|path| !path.starts_with(workspace));
        let named = |path: PathBuf| Some((ralph_tree::shown(path.as_os_str().as_bytes()), state(&path)?));
        OutsideFiles { v: VERSION, files: paths.into_iter().filter_map(named).collect() }
    }

    /// The paths that were added, removed or changed since `self` was recorded; a config of git with the settings.
    #[must_use]
    pub fn changed(&self, now: &OutsideFiles) -> Vec<String> {
        let paths: BTreeSet<&String> = self.files.keys().chain(now.files.keys()).collect();
        paths.into_iter().filter_map(|path| self.changed_path(path, now)).collect()
    }

    fn changed_path(&self, path: &str, now: &OutsideFiles) -> Option<String> {
        let (was, is) = (self.files.get(path), now.files.get(path));
        if was == is {
            return None;
        }
        let keys = user_config::changed_keys(was.map(String::as_str), is.map(String::as_str));
        match keys.filter(|_| is_of_git(Path::new(path))) {
            Some(keys) if keys.is_empty() => None,
            Some(keys) => Some(format!("{path} ({})", user_config::first_keys(&keys))),
            None => Some(path.to_owned()),
        }
    }

    /// Writes it to a file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        bytes::save(path, &serde_json::to_vec(self)?)
    }

    /// Reads it back; none if there is none of this version.
    #[must_use]
    pub fn load(path: &Path) -> Option<OutsideFiles> {
        let all: OutsideFiles = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        Some(all).filter(|all| all.v == VERSION)
    }
}

/// Files in a directory of Python packages that run at every start of Python.
fn start_files(site: &Path) -> Vec<PathBuf> {
    let starts = |name: &[u8]| {
        name.ends_with(b".pth") || name.starts_with(b"sitecustomize") || name.starts_with(b"usercustomize")
    };
    let entries = fs::read_dir(site).into_iter().flatten().flatten();
    entries.filter(|entry| starts(entry.file_name().as_bytes())).map(|entry| entry.path()).collect()
}

/// The first of each program on `PATH`, outside the workspace.
fn programs(workspace: &Path, path: &OsStr) -> Vec<PathBuf> {
    let dirs: Vec<PathBuf> = std::env::split_paths(path).filter(|dir| !dir.starts_with(workspace)).collect();
    let first = |name: &&str| dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file());
    PROGRAMS.iter().filter_map(first).collect()
}

/// What tells the state of a file apart; none if it does not exist.
fn state(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    if meta.is_dir() {
        let mut names: Vec<_> = fs::read_dir(path).ok()?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        return Some(format!("directory {:032x}", hash_bytes(&names.join(&b'/'))));
    }
    if !meta.is_file() || meta.len() > LARGEST_READ {
        return Some(look(&meta));
    }
    match read_start(path, LARGEST_READ, Links::Follow) {
        Ok(bytes) if is_of_git(path) => user_config::state(&bytes),
        Ok(bytes) => Some(format!("{:032x}", hash_bytes(&bytes))),
        Err(_) => Some(look(&meta)),
    }
}

fn is_of_git(path: &Path) -> bool {
    OF_GIT.iter().any(|end| path.ends_with(end))
}

fn look(meta: &Metadata) -> String {
    format!("file {} {} {}.{}", meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec())
}
