//! Aliases that an agent may add to a repository's config. Git has too many options that write a file, run a program or
//! leave out the user's hooks to list them, so this lists what is allowed: commands, and for each the words after it.

/// What may follow a command.
struct Follows {
    /// Words as they are.
    words: &'static [&'static str],
    /// Also options that only say what is shown and how, in `SHOWING`.
    shows: bool,
    /// Also revisions and files.
    names: bool,
}

const fn shows(names: bool) -> Follows {
    Follows { words: &[], shows: true, names }
}

const fn only(words: &'static [&'static str]) -> Follows {
    Follows { words, shows: false, names: false }
}

/// Commands that an alias may stand for.
const COMMANDS: &[(&str, Follows)] = &[
    ("blame", shows(true)),
    ("describe", shows(true)),
    ("diff", shows(true)),
    ("log", shows(true)),
    ("rev-parse", shows(true)),
    ("shortlog", shows(true)),
    ("show", shows(true)),
    ("status", shows(true)),
    // A name after it may be `delete` or `expire`.
    ("reflog", shows(false)),
    // A name after it makes a branch.
    ("branch", only(&["-a", "-r", "-v", "-vv", "-av", "-avv", "--all", "--list", "--show-current"])),
    ("add", only(&["-A", "-u", "-p", "--all", "--update", "--patch", "."])),
    ("checkout", only(&["-b"])),
    ("commit", only(&["-a", "-m", "-am", "-s", "-v", "--amend", "--no-edit", "--signoff", "--verbose"])),
    ("reset", only(&["HEAD", "--"])),
    ("restore", only(&["--staged"])),
    ("switch", only(&["-c"])),
];

/// Options of the commands that show something.
const SHOWING: &[&str] = &[
    "-a",
    "-b",
    "-e",
    "-g",
    "-n",
    "-p",
    "-s",
    "-sb",
    "-sn",
    "-sne",
    "-u",
    "-v",
    "-w",
    "--",
    "--abbrev-commit",
    "--abbrev-ref",
    "--all",
    "--always",
    "--branch",
    "--branches",
    "--cached",
    "--color",
    "--date-order",
    "--decorate",
    "--dirty",
    "--email",
    "--first-parent",
    "--follow",
    "--full-history",
    "--graph",
    "--ignore-all-space",
    "--ignore-space-change",
    "--left-right",
    "--long",
    "--merge-base",
    "--merges",
    "--name-only",
    "--name-status",
    "--no-merges",
    "--numbered",
    "--numstat",
    "--oneline",
    "--patch",
    "--porcelain",
    "--remotes",
    "--reverse",
    "--short",
    "--shortstat",
    "--show-toplevel",
    "--staged",
    "--stat",
    "--summary",
    "--tags",
    "--topo-order",
    "--word-diff",
];

/// Options of these commands with a value, which is never a file to write or a program.
const WITH_VALUE: &[&str] = &[
    "--abbrev=",
    "--author=",
    "--color=",
    "--date=",
    "--decorate=",
    "--format=",
    "--max-count=",
    "--pretty=",
    "--since=",
    "--until=",
    "--word-diff=",
];

/// An alias that only shows something, or is short for the beginning of a command.
pub fn is_harmless_alias(value: &str) -> bool {
    // Git takes quotes and backslashes away after it has read the config: a word could become another one.
    if value.contains(['\'', '"', '\\']) {
        return false;
    }
    let mut words = value.split_ascii_whitespace();
    let Some(command) = words.next() else { return false };
    let follows = COMMANDS.iter().find(|(name, _)| *name == command).map(|(_, follows)| follows);
    follows.is_some_and(|follows| words.all(|word| follows.allow(word)))
}

impl Follows {
    fn allow(&self, word: &str) -> bool {
        self.words.contains(&word)
            || self.shows && is_showing(word)
            || self.names && !word.starts_with(['-', ':']) && word.bytes().all(is_of_name)
    }
}

fn is_showing(word: &str) -> bool {
    let count = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    // `%x1b` in a format would write to the terminal what it obeys.
    let value = |start: &&str| word.strip_prefix(*start).is_some_and(|value| !value.contains("%x"));
    SHOWING.contains(&word)
        || word.strip_prefix('-').is_some_and(count)
        || word.strip_prefix("-n").is_some_and(count)
        || WITH_VALUE.iter().any(value)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._/~^@{}-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_abbreviate() {
        for value in [
            "status",
            "status -sb",
            "log --oneline --graph --decorate --all",
            "log -1 HEAD",
            "log -n20 --pretty=format:%h|%an|%s --date=short",
            "log origin/main..HEAD",
            "log @{u}..",
            "diff --cached",
            "diff HEAD~1 --stat",
            "shortlog -sn",
            "reflog --date=iso",
            "describe --tags --always",
            "branch -vv",
            "checkout",
            "checkout -b",
            "commit -m",
            "commit --amend --no-edit",
            "add -p",
            "reset HEAD --",
            "restore --staged",
            "switch -c",
        ] {
            assert!(is_harmless_alias(value), "{value}");
        }
    }

    #[test]
    fn what_writes_runs_or_destroys() {
        for value in [
            "",
            "!evil",
            " !evil",
            "log '--output=/tmp/x'",
            "log \\\"--output=/tmp/x\\\"",
            "log \\\\--output=/tmp/x",
            "log --output=/tmp/x",
            "log --output /tmp/x",
            "log --outpu=/tmp/x",
            "log -O/tmp/x",
            "log --format=%x1b]0;evil",
            "diff --ext-diff",
            "diff --textconv",
            "show --textconv",
            "diff --no-index /etc/passwd",
            "blame --contents=/etc/passwd",
            "-c core.pager=evil log",
            "--exec-path=/tmp log",
            "--git-dir=/tmp log",
            "-C /tmp log",
            "-p log",
            "lg --graph",
            "config core.fsmonitor evil",
            "bisect run evil",
            "rebase -x evil",
            "difftool -x evil",
            "mergetool",
            "grep -Oevil x",
            "submodule foreach evil",
            "fetch --upload-pack=evil",
            "pull",
            "push evil",
            "clone",
            "filter-branch --tree-filter evil",
            "archive -o /tmp/x HEAD",
            "format-patch -o /tmp",
            "bundle create /tmp/x HEAD",
            "stash clear",
            "clean -fdx",
            "reflog delete HEAD@{1}",
            "reflog expire --all",
            "branch -D main",
            "branch main",
            "branch -u evil/main",
            "checkout -f .",
            "checkout .",
            "reset --hard",
            "restore .",
            "restore -s HEAD~1 .",
            "commit -n",
            "commit --no-verify",
            "commit -F /etc/passwd",
            "commit -t /etc/passwd",
            "commit -S",
            "switch --discard-changes main",
            "add -f .env",
        ] {
            assert!(!is_harmless_alias(value), "{value}");
        }
    }
}
