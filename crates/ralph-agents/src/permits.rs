//! How a user allows an agent a tool it was refused: the setting, as it is written into a config file. Said when refused
//! tools end a run.

use crate::claude::ALLOWED;

/// The setting for this agent; `{tools}` stands for the names of the refused tools.
pub fn setting(agent: &str) -> String {
    match agent {
        // The flag replaces the list that ralph gives it, so that has to be said again.
        "claude" => {
            format!("`agents.claude.args = [\"--allowedTools\", \"{ALLOWED},{{tools}}\"]` in ralph.toml")
        }
        name => format!("the agent's own permission flags in `agents.{name}.args` of ralph.toml"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_keeps_what_was_allowed_before() {
        let claude = setting("claude").replace("{tools}", "WebFetch");
        assert!(claude.contains(&format!("{ALLOWED},WebFetch\"]")), "{claude}");
        assert!(setting("codex").contains("agents.codex.args"));
    }
}
