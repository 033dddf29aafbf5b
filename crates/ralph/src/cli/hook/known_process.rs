//! The processes of sessions that worked on a run. A binding is released when its run ends, but the agent is still there
//! and could accept its own work: whatever such a process starts counts as typed by the agent for as long as it lives.

use ralph_diagnostics::Discard;
use ralph_engine::home::Home;
use ralph_engine::session::Binding;
use std::path::{Path, PathBuf};

/// In the state directory: one file for each process, named after its number.
const FOLDER: &str = "session-processes";

/// Remembers the process of this session, and forgets those that are gone.
pub fn remember(binding: &Binding, home: &Home) {
    let folder = home.dir().join(FOLDER);
    let file = folder.join(binding.process.pid.to_string());
    if binding.process.pid == 0 || read(&file).as_ref() == Some(binding) {
        return;
    }
    for old in files(&folder) {
        if !read(&old).is_some_and(|old| old.process.is_alive()) {
            std::fs::remove_file(&old).discard("forget the process of a session that is gone");
        }
    }
    Home::create_private_dir(&folder).discard("make the folder for the processes of sessions");
    std::fs::write(&file, serde_json::to_vec(binding).unwrap_or_default())
        .discard("remember the process of a session");
}

/// The latest run of the session that this process was started in, if it was started in one.
pub fn run_of_ancestor(home: &Home) -> Option<String> {
    let folder = home.dir().join(FOLDER);
    let above = ralph_os::with_ancestors(rustix::process::getpid());
    let mut known = above.into_iter().filter_map(|pid| read(&folder.join(pid.as_raw_pid().to_string())));
    known.find(|binding| binding.process.is_alive()).map(|binding| binding.run)
}

fn read(file: &Path) -> Option<Binding> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
