//! The user's own configurations of git, read as data: what is in them is needed where the files are hidden.

use super::Surroundings;
use super::facts::SETTINGS_FILE;
use ralph_os::{Links, read_regular};
use ralph_sandbox::policy::{GitConfig, PASSED_GIT_SETTINGS};
use ralph_tree::git_settings;
use std::fs;
use std::path::{Path, PathBuf};

/// Those that exist, in the order in which git reads them.
pub(super) fn git_configs(surroundings: &Surroundings) -> Vec<GitConfig> {
    let existing = files(surroundings).into_iter().filter(|file| fs::metadata(file).is_ok());
    existing.map(|file| GitConfig { settings: passed(&file), file }).collect()
}

/// Where git looks.
fn files(surroundings: &Surroundings) -> Vec<PathBuf> {
    let variable =
        |name: &str| surroundings.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match variable("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => {
            let moved = variable("XDG_CONFIG_HOME");
            let config = moved.unwrap_or_else(|| surroundings.home.join(".config"));
            vec![config.join("git/config"), surroundings.home.join(".gitconfig")]
        }
    }
}

/// The settings of a file that are passed on where it is hidden.
fn passed(file: &Path) -> Vec<(String, String)> {
    let text = read_regular(file, SETTINGS_FILE, Links::Follow).unwrap_or_default();
    let settings =
        git_settings(&text).into_iter().filter(|(key, _)| PASSED_GIT_SETTINGS.contains(&key.as_str()));
    let plain =
        |value: &str| !value.is_empty() && !value.contains(char::is_control) && !value.contains("://");
    let text = settings.filter_map(|(key, value)| Some((key, String::from_utf8(value).ok()?)));
    text.filter(|(_, value)| plain(value)).collect()
}
