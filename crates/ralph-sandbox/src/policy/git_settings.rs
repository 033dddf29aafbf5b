//! Settings of git in variables: git signs nothing, and knows its user also where the file that says so is hidden, because it
//! holds a credential or a link leads out of sight.

use super::facts::Facts;
use super::sight::Sight;
use crate::Backend;

/// What is passed on of a file that is hidden. Settings in variables outrank those of a repository, so these are few.
pub const PASSED_GIT_SETTINGS: &[&str] = &["user.name", "user.email", "init.defaultbranch"];

/// Never sign: that needs the user's keys.
const OWN: [(&str, &str); 2] = [("commit.gpgsign", "false"), ("tag.gpgsign", "false")];

/// The variables; `count` settings of the user's own stay before them.
pub(super) fn git_variables(facts: &Facts, sight: &Sight<'_>, count: usize) -> Vec<(String, String)> {
    let all = OWN.into_iter().chain(hidden_settings(facts, sight));
    let mut set = Vec::new();
    for (n, (key, value)) in all.enumerate() {
        set.push((format!("GIT_CONFIG_KEY_{}", count + n), key.to_owned()));
        set.push((format!("GIT_CONFIG_VALUE_{}", count + n), value.to_owned()));
    }
    set.push(("GIT_CONFIG_COUNT".to_owned(), (count + set.len() / 2).to_string()));
    set.extend(readable_file(facts, sight).map(|file| ("GIT_CONFIG_GLOBAL".to_owned(), file)));
    set
}

/// The settings whose last word is in a file that is not seen.
fn hidden_settings<'a>(facts: &'a Facts, sight: &'a Sight<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    PASSED_GIT_SETTINGS.iter().filter_map(|key| {
        let says = |config: &'a super::GitConfig| {
            let (_, value) = config.settings.iter().rfind(|(own, _)| own == key)?;
            Some((config, value.as_str()))
        };
        let (config, value) = facts.git_configs.iter().rev().find_map(says)?;
        (!sight.sees(&config.file)).then_some((*key, value))
    })
}

/// The file that git reads where one of the user's is refused, which git does not forgive: the other one, or an empty one.
/// Other backends show an empty file or none.
fn readable_file(facts: &Facts, sight: &Sight<'_>) -> Option<String> {
    let (seen, hidden): (Vec<_>, Vec<_>) =
        facts.git_configs.iter().partition(|config| sight.sees(&config.file));
    if facts.backend != Backend::Landlock || hidden.is_empty() {
        return None;
    }
    let file = seen.last().map(|config| config.file.to_string_lossy().into_owned());
    Some(file.unwrap_or_else(|| "/dev/null".to_owned()))
}
