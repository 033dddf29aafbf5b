//! Paths that the user's own commands name: `--verify 'sh /tmp/check.sh'`, `-- /tmp/agent --config=/tmp/a.toml`. They are seen
//! inside, read-only, although they lie where programs have a directory of their own. Only words of the user count, never a
//! prompt or a plan: those quote the agent.

use super::SandboxRequest;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the words of a shell command end, apart from white space.
const ENDS: &str = "'\"`=;|&()<>,:";

impl SandboxRequest {
    /// These commands or arguments are the user's.
    pub fn add_commands<'a>(&mut self, commands: impl IntoIterator<Item = &'a str>) {
        let surroundings = Arc::make_mut(&mut self.surroundings);
        for command in commands {
            let found = named_paths(command, &surroundings.home);
            surroundings.named.extend(found);
        }
    }
}

/// The files and directories that a command names by their whole path. A socket is not among them: whoever can connect to
/// it can do what its server does, so it has to be opened by its own setting.
fn named_paths(command: &str, home: &Path) -> Vec<PathBuf> {
    let words = command.split(|c: char| c.is_whitespace() || ENDS.contains(c));
    let path = |word: &str| match word.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => PathBuf::from(word),
    };
    let is_there = |path: &PathBuf| {
        path.is_absolute() && fs::metadata(path).is_ok_and(|found| found.is_file() || found.is_dir())
    };
    words.map(path).filter(is_there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_and_directories_that_are_there_and_named_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("check.sh"), "").unwrap();
        fs::create_dir(at("data")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let root = dir.path().display();
        for (command, found) in [
            (format!("sh {root}/check.sh"), vec!["check.sh"]),
            (format!("cd '{root}/data'&&sh ~/check.sh"), vec!["data", "check.sh"]),
            (format!("--config={root}/data"), vec!["data"]),
            (format!("{root}/missing {root}/socket check.sh data"), vec![]),
        ] {
            let found: Vec<PathBuf> = found.into_iter().map(at).collect();
            assert_eq!(named_paths(&command, dir.path()), found, "{command}");
        }
    }
}
