//! podman on the machines that run the tests: build machines and containers that may do less than an ordinary one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names podman's settings file in its environment.
pub const PODMAN_SETTINGS: &str = "CONTAINERS_CONF";

/// What a shell, an agent that is a script, and a trial of a container use.
const SMALL_IMAGE: [&str; 16] = [
    "sh", "cat", "env", "grep", "head", "id", "ls", "mkdir", "mktemp", "mv", "rm", "rmdir", "setsid",
    "sleep", "touch", "true",
];

/// Writes settings for podman into a directory: limits that can be set without the right to raise any, and the runtime
/// `runc` with the first version of control groups, because `crun` refuses it where the second is also in use.
pub fn podman_settings(dir: &Path) -> PathBuf {
    let mut text = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n".to_owned();
    let info = Command::new("podman").args(["info", "--format", "{{.Host.CgroupsVersion}}"]).output();
    let info = info.expect("podman is installed: `cargo xtask test` does it");
    if String::from_utf8_lossy(&info.stdout).trim() == "v1" {
        text.push_str(include_str!("podman_with_runc.conf"));
    }
    let path = dir.join("containers.conf");
    std::fs::write(&path, text).expect("podman's settings");
    path
}

/// An archive for `podman import` with a shell and a few programs of this machine: an engine without root cannot use the
/// machine's own root as image, because it belongs to root.
pub fn small_image(dir: &Path) -> PathBuf {
    let (root, archive) = (dir.join("image"), dir.join("image.tar"));
    for name in ["bin", "tmp", "var/tmp", "run", "proc", "sys", "dev", "etc", "mnt"] {
        std::fs::create_dir_all(root.join(name)).expect("a directory of the image");
    }
    for name in SMALL_IMAGE {
        let found =
            ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(name)).into_iter().find(|it| it.exists());
        let program = found.and_then(|it| it.canonicalize().ok()).unwrap_or_else(|| panic!("no {name} here"));
        std::fs::copy(&program, root.join("bin").join(name)).expect("a program of the image");
        for library in libraries(&program) {
            let at = root.join(library.strip_prefix("/").expect("an absolute path"));
            std::fs::create_dir_all(at.parent().expect("a directory")).expect("a directory of the image");
            std::fs::copy(&library, at).expect("a library of the image");
        }
    }
    let tar = Command::new("tar").arg("cf").arg(&archive).arg("-C").arg(&root).arg(".").status();
    assert!(tar.expect("tar runs").success(), "the image's archive");
    archive
}

/// The libraries of a program.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("ldd runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}
