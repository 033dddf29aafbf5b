//! The ralph.toml that `ralph init` writes: short and commented.

use super::SCHEMA;
use super::found::{Found, Use};
use std::fmt::Write;

/// The values to write: answers or defaults.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The agent; none if the user's own configuration sets it.
    pub agent: Option<String>,
    /// Other agents that are installed.
    pub others: Vec<String>,
    /// Maximum number of iterations.
    pub max_iterations: u32,
    /// Maximum cost in dollars, as written.
    pub max_cost_usd: String,
    /// The verify commands.
    pub verify: Vec<String>,
}

/// The whole file.
pub fn config(choices: &Choices, found: &[Found]) -> String {
    let mut text = format!("#:schema {SCHEMA}\n");
    text.push_str(
        "# Settings of ralph for this project. `ralph config explain KEY` explains a key, `ralph config show` shows all values.\n\n\
         [run]\n# Both limits are required, because a run is unattended.\n",
    );
    let _ = writeln!(text, "max_iterations = {}", choices.max_iterations);
    let _ = writeln!(text, "max_cost_usd = {}", choices.max_cost_usd);
    text.push_str("# max_time = \"2h\"            # maximum duration, including waits\n\n[agent]\n");
    let others = match choices.others.as_slice() {
        [] => String::new(),
        others => format!("   # also installed: {}", plain(&others.join(", "))),
    };
    let _ = match &choices.agent {
        Some(name) => writeln!(text, "name = {}{others}", quoted(name)),
        None => writeln!(text, "# name = \"claude\"          # set in your own config.toml{others}"),
    };
    text.push_str("# model = \"…\"               # default: the agent's own\n\n[verify]\n");
    text.push_str(&verify(choices, found));
    text.push_str(
        "\n[protect]\n\
         # Paths the agent must not change, in gitignore syntax, in addition to\n\
         # src/auth/, src/payments/, migrations/, .env and secrets/.\n\
         paths = []\n",
    );
    text
}

fn verify(choices: &Choices, found: &[Found]) -> String {
    let mut text = String::new();
    if choices.verify.is_empty() {
        text.push_str(
            "# Commands that must pass before the work counts as done. ralph runs them with `sh -c` after each iteration.\n\
             # None was detected: without one, completion cannot be verified.\n",
        );
    } else {
        text.push_str("# All of these must pass before the work counts as done. ralph runs them after each iteration.\n");
    }
    let offered = offered(choices, found);
    if choices.verify.is_empty() && offered.is_empty() {
        text.push_str("commands = []               # for example [\"make test\"]\n");
        return text;
    }
    text.push_str("commands = [\n");
    for command in &choices.verify {
        let _ = writeln!(text, "  {},", quoted(command));
    }
    for (what, command) in offered {
        let _ = writeln!(text, "  # {},   # {}", quoted(&command), what.word());
    }
    text.push_str("]\n");
    text
}

/// Commands that were detected but not chosen: a linter that fails today would keep every run from ending.
fn offered(choices: &Choices, found: &[Found]) -> Vec<(Use, String)> {
    let all = found.iter().flat_map(|f| f.checks.iter().map(|check| (check.what, f.at_top(check))));
    all.filter(|(_, command)| !choices.verify.contains(command)).collect()
}

/// A TOML string.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}

/// A comment stays on its line.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}
