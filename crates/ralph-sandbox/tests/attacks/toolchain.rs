//! The Rust toolchain that runs the tests, where an ordinary user can reach it. That of root mostly lies below `/root`, which
//! nobody else may enter; then what builds need of it is linked, or copied, to a directory of its own.

use crate::attack::Who;
use crate::scene::{Scene, ground};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Toolchain {
    programs: PathBuf,
    /// Removed with the toolchain.
    _copy: Option<TempDir>,
}

impl Toolchain {
    /// The toolchain of the tests; for somebody who cannot reach it, a copy.
    pub fn for_user(who: Who) -> Toolchain {
        let cargo = PathBuf::from(std::env::var_os("CARGO").expect("cargo runs the tests"));
        let programs = cargo.canonicalize().unwrap().parent().unwrap().to_path_buf();
        let own = Toolchain { programs, _copy: None };
        if own.runs_for(who) {
            return own;
        }
        let copy = tempfile::Builder::new().prefix("toolchain-").tempdir_in(ground()).unwrap();
        fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let from = own.programs.parent().unwrap();
        for program in ["cargo", "rustc"] {
            link(&from.join("bin").join(program), &copy.path().join("bin").join(program));
        }
        link_libraries(&from.join("lib"), &copy.path().join("lib"));
        let copied = Toolchain { programs: copy.path().join("bin"), _copy: Some(copy) };
        assert!(copied.runs_for(who), "{} cannot be used as {who:?}", copied.programs.display());
        copied
    }

    /// Where cargo and rustc are.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    fn runs_for(&self, who: Who) -> bool {
        let scene = Scene::new(who);
        // By a shell: setpriv itself still has root's rights when it looks for the program.
        let tried = |program: &str| {
            let mut command = scene.command("sh");
            command.args(["-c", "exec \"$0\" --version"]).arg(self.programs.join(program)).output()
        };
        ["cargo", "rustc"].iter().all(|program| tried(program).is_ok_and(|said| said.status.success()))
    }
}

/// The compiler's libraries and the standard library: not documentation, sources and other tools.
fn link_libraries(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            // Beside it lie sources, and the standard libraries of other systems.
            let here = format!("{}-unknown-linux-", std::env::consts::ARCH);
            if !from.ends_with("rustlib") || entry.file_name().to_string_lossy().starts_with(&here) {
                link_libraries(&path, &to);
            }
        } else {
            link(&path, &to);
        }
    }
}

/// A hard link costs neither time nor space; on another file system it is a copy.
fn link(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let from = from.canonicalize().unwrap();
    if fs::hard_link(&from, to).is_err() {
        fs::copy(&from, to).unwrap();
    }
}
