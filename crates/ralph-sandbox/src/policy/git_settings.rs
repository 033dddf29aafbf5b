//! Settings of git: it signs nothing, and knows its user also where the file that says so is hidden, because it holds a
//! credential or a link leads out of sight.

use super::facts::{Facts, GitConfig};
use super::sight::Sight;
use crate::Backend;
use std::fmt::Write;

/// What is passed on of a file that is hidden.
pub const PASSED_GIT_SETTINGS: &[&str] = &["user.name", "user.email", "init.defaultbranch"];

/// The file that git reads in place of the user's own, in the directory for temporary files.
pub const GIT_FILE: &str = "ralph.gitconfig";

/// Never sign: that needs the user's keys.
const OWN: [(&str, &str); 2] = [("commit.gpgsign", "false"), ("tag.gpgsign", "false")];

/// The variables; `count` settings of the user's own stay before them.
pub(super) fn git_variables(count: usize) -> Vec<(String, String)> {
    let mut set = Vec::new();
    for (n, (key, value)) in OWN.into_iter().enumerate() {
        set.push((format!("GIT_CONFIG_KEY_{}", count + n), key.to_owned()));
        set.push((format!("GIT_CONFIG_VALUE_{}", count + n), value.to_owned()));
    }
    set.push(("GIT_CONFIG_COUNT".to_owned(), (count + OWN.len()).to_string()));
    set
}

/// What stands in [`GIT_FILE`], if it is needed: the user's own files that are seen, then what hidden ones say. Not in
/// variables, which would outrank the settings of every repository. Under Landlock a hidden file is refused, which git does
/// not forgive, so there the file is needed whatever it says.
pub(super) fn git_file(facts: &Facts, sight: &Sight<'_>) -> Option<String> {
    let (seen, hidden): (Vec<_>, Vec<_>) =
        facts.git_configs.iter().partition(|config| sight.sees(&config.file));
    let settings: Vec<_> = hidden_settings(facts, sight).collect();
    if hidden.is_empty() || (settings.is_empty() && facts.backend != Backend::Landlock) {
        return None;
    }
    let mut text = String::new();
    for config in seen {
        let _ = writeln!(text, "[include]\n\tpath = {}", quoted(&config.file.to_string_lossy()));
    }
    for (key, value) in settings {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        let _ = writeln!(text, "[{section}]\n\t{name} = {}", quoted(value));
    }
    Some(text)
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The settings whose last word is in a file that is not seen.
fn hidden_settings<'a>(facts: &'a Facts, sight: &'a Sight<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    PASSED_GIT_SETTINGS.iter().filter_map(|key| {
        let says = |config: &'a GitConfig| {
            let (_, value) = config.settings.iter().rfind(|(own, _)| own == key)?;
            Some((config, value.as_str()))
        };
        let (config, value) = facts.git_configs.iter().rev().find_map(says)?;
        (!sight.sees(&config.file)).then_some((*key, value))
    })
}
