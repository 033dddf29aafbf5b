//! Where an agent's files are if a variable moves the directory they are usually in.

use crate::agent_info::AgentInfo;
use std::path::{Path, PathBuf};

/// The variables that move what many programs share, and the usual directories below the home directory.
const SHARED: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

impl AgentInfo {
    /// Where one of its paths is, given relative to the home directory; none if no variable moves it. `variable` is the value of
    /// a variable.
    pub fn moved_path(&self, path: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let moves = self.moved_state().into_iter().chain(SHARED);
        let mut moved = moves.filter_map(|(name, usual)| {
            let below = Path::new(path).strip_prefix(usual).ok()?;
            let now = PathBuf::from(variable(name)?);
            let whole = below.as_os_str().is_empty();
            now.is_absolute().then(|| if whole { now.clone() } else { now.join(below) })
        });
        moved.next()
    }

    /// The variable that moves its state, and the usual directory.
    fn moved_state(&self) -> Option<(&'static str, &'static str)> {
        let log = self.model.session_log.map(|log| (log.variable, log.directory));
        self.contained.moved_by.or(log)
    }
}

#[cfg(test)]
mod tests {
    use crate::registry::find;
    use std::path::Path;

    #[test]
    fn variables_move_what_lies_below_their_directory() {
        let rows = [
            ("codex", ".codex", "CODEX_HOME", "/c", Some("/c")),
            ("codex", ".codex/auth.json", "CODEX_HOME", "/c", Some("/c/auth.json")),
            ("claude", ".claude/settings.json", "CLAUDE_CONFIG_DIR", "/c", Some("/c/settings.json")),
            ("claude", ".claude.json", "CLAUDE_CONFIG_DIR", "/c", None),
            ("claude", ".claude", "CLAUDE_CONFIG_DIR", "below", None),
            ("opencode", ".local/share/opencode", "XDG_DATA_HOME", "/d", Some("/d/opencode")),
            ("goose", ".config/goose/config.yaml", "XDG_CONFIG_HOME", "/c", Some("/c/goose/config.yaml")),
            ("goose", ".config/goose", "XDG_DATA_HOME", "/d", None),
        ];
        for (agent, path, set, value, expected) in rows {
            let variable = |name: &str| (name == set).then(|| value.to_owned());
            let moved = find(agent).unwrap().moved_path(path, &variable);
            assert_eq!(moved.as_deref(), expected.map(Path::new), "{agent} {path}");
        }
    }
}
