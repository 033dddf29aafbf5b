//! The user's own configs of git, outside the workspace. Only settings that are not harmless by the same table as in a
//! repository's config count: a name and a mail that an agent sets decide no verification.

use super::harmless_aliases::is_harmless_alias;
use super::harmless_keys::Values;
use super::settings::{Setting, lenient_settings};
use ralph_rules::record::Violation;
use ralph_tree::hash_bytes;
use std::collections::BTreeSet;

const MARK: &str = "git";
/// Between a name and what tells its value apart.
const COUNTS: char = ':';
/// The same for a setting that may be added, but not replaced or removed.
const MAY_BE_NEW: char = '~';

/// What tells the state of a config apart; none if nothing in it counts.
pub fn state(text: &[u8]) -> Option<String> {
    let Some(all) = lenient_settings(text) else { return Some(format!("{:032x}", hash_bytes(text))) };
    let words: Vec<String> = all.iter().filter_map(word).collect();
    (!words.is_empty()).then(|| format!("{MARK} {}", words.join(" ")))
}

/// One setting in a state. Values may be secrets, and names may hold some.
fn word(setting: &Setting) -> Option<String> {
    let kind = match setting.harmless_values() {
        Some(Values::Alias) if is_harmless_alias(&setting.value) => MAY_BE_NEW,
        Some(values) if values.allow(&setting.value) => return None,
        _ => COUNTS,
    };
    let exact = [setting.section.as_str(), &setting.sub, &setting.key, &setting.value].join("\0");
    let name = setting.shown_name();
    Some(format!("{name}{kind}{:032x}", hash_bytes(exact.as_bytes())))
}

/// The names of settings that count and differ between two states. None if the states are not those of such configs.
pub fn changed_keys(was: Option<&str>, is: Option<&str>) -> Option<BTreeSet<String>> {
    let (was, is) = (words(was)?, words(is)?);
    let name = |word: &str| word.split([COUNTS, MAY_BE_NEW]).next().unwrap_or_default().to_owned();
    let had: BTreeSet<String> = was.iter().map(|word| name(word)).collect();
    let is: Vec<&str> =
        is.into_iter().filter(|word| !word.contains(MAY_BE_NEW) || had.contains(&name(word))).collect();
    let differ =
        is.iter().filter(|word| !was.contains(word)).chain(was.iter().filter(|word| !is.contains(word)));
    let keys: BTreeSet<String> = differ.map(|word| name(word)).collect();
    // The same settings in another order: the last one holds.
    let moved = keys.is_empty() && was != is;
    Some(if moved { is.iter().map(|word| name(word)).collect() } else { keys })
}

/// The first of many names.
pub fn first_keys(keys: &BTreeSet<String>) -> String {
    let more = if keys.len() > Violation::KEYS { ", …" } else { "" };
    keys.iter().take(Violation::KEYS).map(String::as_str).collect::<Vec<_>>().join(", ") + more
}

fn words(state: Option<&str>) -> Option<Vec<&str>> {
    let Some(state) = state else { return Some(Vec::new()) };
    state.strip_prefix(MARK)?.strip_prefix(' ').map(|words| words.split(' ').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[core]\n\teditor = vi\n[alias]\n\tst = status\n\tup = \"!f() { git pull; \\\n  git status; }; f\"\n[push]\n\tautoSetupRemote\n";

    fn changed(was: &str, is: &str) -> Vec<String> {
        let (was, is) = (state(was.as_bytes()), state(is.as_bytes()));
        changed_keys(was.as_deref(), is.as_deref()).unwrap().into_iter().collect()
    }

    #[test]
    fn what_tools_and_honest_agents_write_does_not_count() {
        for text in [
            "[user]\n\tname = Bot\n\temail = bot@localhost\n",
            "[safe]\n\tdirectory = /srv/work\n",
            "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n",
            "[maintenance]\n\trepo = /srv/work\n",
            "[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n",
            "[alias]\n\tlg = log --oneline\n",
        ] {
            for base in ["", BASE] {
                assert_eq!(changed(base, &format!("{base}{text}")), Vec::<String>::new(), "{text}");
            }
        }
        assert_eq!(state(b"[user]\n\tname = Bot\n"), None, "as if there were no file");
    }

    #[test]
    fn what_runs_code_or_decides_what_git_does_is_named() {
        for (text, key) in [
            ("[core]\n\thooksPath = /tmp\n", "core.hookspath"),
            ("[core]\n\tfsmonitor = evil\n", "core.fsmonitor"),
            ("[filter \"lfs\"]\n\tclean = evil\n", "filter.lfs.clean"),
            ("[filter \"lfs\"]\n\trequired = false\n", "filter.lfs.required"),
            ("[safe]\n\tdirectory = *\n", "safe.directory"),
            ("[include]\n\tpath = evil\n", "include.path"),
            ("[remote \"origin\"]\n\turl = /srv/evil\n", "remote.origin.url"),
            ("[branch \"main\"]\n\tremote = evil\n", "branch.main.remote"),
            (
                "[url \"https://secret@evil.example/\"]\n\tinsteadOf = https://good.example/\n",
                "url.*.insteadof",
            ),
            ("[status]\n\tshowUntrackedFiles = no\n", "status.showuntrackedfiles"),
            ("[alias]\n\tst = log\n", "alias.st"),
            ("[alias]\n\tlg = !evil\n", "alias.lg"),
            ("[core] pager = evil\n", "unreadable-line"),
            ("[alias]\n\tup = \"!evil \\\n  more\"\n", "unreadable-line"),
        ] {
            assert_eq!(changed(BASE, &format!("{BASE}{text}")), [key], "{text}");
        }
        assert_eq!(changed(BASE, &BASE.replace("\tst = status\n", "")), ["alias.st"]);
        assert_eq!(changed(BASE, &BASE.replace("git pull", "evil")), ["unreadable-line"]);
        let two = |first: &str, last: &str| format!("[core]\n\teditor = {first}\n\teditor = {last}\n");
        assert_eq!(changed(&two("a", "b"), &two("b", "a")), ["core.editor"]);
    }

    #[test]
    fn what_cannot_be_read_at_all_is_told_apart_as_a_whole() {
        let unclear = "[user]\n\tname = \"x\n[core]\n\tpager = evil\n";
        let state = state(unclear.as_bytes());
        assert!(changed_keys(state.as_deref(), None).is_none());
    }
}
