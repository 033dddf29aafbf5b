//! Socket files that a contained program might see. Those of the home directory are found by walking it, not deep and not for
//! long; those that this system lists are found wherever they are.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Below the home directory: `~/.local/share/containers/podman/machine/podman.sock`.
const DEEPEST: usize = 6;
/// What is nearest to the home directory is looked at first, so that large caches do not keep it from being found.
const MOST: usize = 10_000;

/// The socket files; of the home directory only its dot entries, unless all of it is seen.
pub(super) fn socket_files(home: &Path, all: bool) -> Vec<PathBuf> {
    let real_home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
    let mut found = in_home(home, all);
    for real in ralph_os::bound_sockets().into_iter().filter_map(|path| path.canonicalize().ok()) {
        if fs::symlink_metadata(&real).is_ok_and(|it| it.file_type().is_socket()) {
            found.insert(
                real.strip_prefix(&real_home).map_or_else(|_| real.clone(), |below| home.join(below)),
            );
        }
    }
    found.into_iter().collect()
}

fn in_home(home: &Path, all: bool) -> BTreeSet<PathBuf> {
    let (mut found, mut looked_at) = (BTreeSet::new(), 0);
    let mut open = VecDeque::from([(home.to_path_buf(), 1)]);
    while let Some((dir, depth)) = open.pop_front() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            if depth == 1 && !all && !entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            looked_at += 1;
            match kind {
                Ok(kind) if kind.is_socket() => drop(found.insert(path)),
                Ok(kind) if kind.is_dir() && depth < DEEPEST => open.push_back((path, depth + 1)),
                _ => {}
            }
        }
        if looked_at > MOST {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn sockets_of_home_are_found_and_those_that_the_system_lists() {
        let dir = tempfile::tempdir().unwrap();
        let (home, elsewhere) = (dir.path().join("home"), dir.path().join("elsewhere"));
        fs::create_dir_all(home.join(".docker/run")).unwrap();
        fs::create_dir_all(home.join("project")).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(home.join(".docker/config.json"), "{}").unwrap();
        let sockets = [home.join(".docker/run/docker.sock"), elsewhere.join("db.sock")];
        let _open: Vec<_> = sockets.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
        // Nobody listens to it any more, so the system does not list it.
        drop(UnixListener::bind(home.join(".old")).unwrap());
        drop(UnixListener::bind(home.join("project/s")).unwrap());
        let found = |all| -> Vec<PathBuf> {
            let all = socket_files(&home, all).into_iter();
            all.filter_map(|path| Some(path.strip_prefix(dir.path()).ok()?.to_path_buf())).collect()
        };
        let expected = ["elsewhere/db.sock", "home/.docker/run/docker.sock", "home/.old"];
        assert_eq!(found(false), expected.map(PathBuf::from));
        assert!(found(true).contains(&PathBuf::from("home/project/s")));
    }
}
