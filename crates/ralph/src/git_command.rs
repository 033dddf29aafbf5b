//! A git command in the user's own repository: it works where it is told to, whatever variables a hook or a script set, asks
//! nobody, and speaks English.

use std::path::Path;
use std::process::Command;

/// Variables that would lead git elsewhere, such as those that a hook has.
const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_LITERAL_PATHSPECS",
];

/// The command without its arguments.
pub fn git_command(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C.UTF-8").current_dir(dir);
    command
}
