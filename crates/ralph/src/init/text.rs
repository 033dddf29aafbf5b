//! ralph.toml as `ralph init` writes it: short, commented, every line worth keeping.

use super::SCHEMA;
use super::found::{Found, Use};
use std::fmt::Write;

/// What was decided, by the person or by default.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Who works; none leaves it to the user's own configuration.
    pub agent: Option<String>,
    /// Others that are installed.
    pub others: Vec<String>,
    /// Iterations at most.
    pub max_iterations: u32,
    /// Dollars at most, as written.
    pub max_cost_usd: String,
    /// The commands that prove the work.
    pub verify: Vec<String>,
}

/// The whole file.
pub fn config(choices: &Choices, found: &[Found]) -> String {
    let mut text = format!("#:schema {SCHEMA}\n");
    text.push_str(
        "# How ralph works here. `ralph config explain KEY` tells what a key does, `ralph config show` what holds.\n\n\
         [run]\n# Both limits are needed: nobody watches an unattended loop.\n",
    );
    let _ = writeln!(text, "max_iterations = {}", choices.max_iterations);
    let _ = writeln!(text, "max_cost_usd = {}", choices.max_cost_usd);
    text.push_str("# max_time = \"2h\"            # a deadline; waits count\n\n[agent]\n");
    let others = match choices.others.as_slice() {
        [] => String::new(),
        others => format!("   # also installed: {}", plain(&others.join(", "))),
    };
    let _ = match &choices.agent {
        Some(name) => writeln!(text, "name = {}{others}", quoted(name)),
        None => writeln!(text, "# name = \"claude\"          # as your own config.toml says{others}"),
    };
    text.push_str(
        "# model = \"…\"               # the agent's own default where it is left out\n\n[verify]\n",
    );
    text.push_str(&verify(choices, found));
    text.push_str(
        "\n[protect]\n\
         # What no agent may touch, in gitignore syntax, besides src/auth/, src/payments/, migrations/, .env, secrets/.\n\
         paths = []\n",
    );
    text
}

fn verify(choices: &Choices, found: &[Found]) -> String {
    let mut text = String::new();
    if choices.verify.is_empty() {
        text.push_str(
            "# Commands that prove the work, run by ralph after each iteration, by `sh -c`, never by the agent.\n\
             # None was found here: without one a run can only end \"unverified\".\n",
        );
    } else {
        text.push_str("# These prove the work. ralph runs them after each iteration; all must pass.\n");
    }
    let offered = offered(choices, found);
    if choices.verify.is_empty() && offered.is_empty() {
        text.push_str("commands = []               # like [\"make test\"]\n");
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

/// Commands that exist but are not asked for: a linter that is red today would keep every run from ending.
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
