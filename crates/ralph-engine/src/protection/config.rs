//! A repository's config before and after: what ordinary work writes there by itself is no tampering. That is which branch
//! follows which, the user's name, a new remote or submodule, and the keys of editors and large files that make git run
//! nothing. Everything else (filters, hooks, helpers, aliases, the address of a known remote) makes git do other things
//! than the user set up.

use std::collections::BTreeSet;

/// The two differ in nothing but what ordinary work writes.
pub fn only_ordinary(before: &[u8], after: &[u8]) -> bool {
    let (Some(before), Some(after)) = (settings(before), settings(after)) else { return false };
    let remotes = |settings: &[Setting]| -> BTreeSet<String> {
        settings.iter().filter(|s| s.section == "remote").map(|s| s.sub.clone()).collect()
    };
    let (old, new) = (remotes(&before), remotes(&after));
    let known =
        Remotes { all: old.union(&new).cloned().collect(), kept: old.intersection(&new).cloned().collect() };
    let matters = |settings: &[Setting]| -> Vec<Setting> {
        settings.iter().filter(|s| !s.is_ordinary(&known)).cloned().collect()
    };
    matters(&before) == matters(&after)
}

/// The names of remotes.
struct Remotes {
    /// On either side.
    all: BTreeSet<String>,
    /// On both: what they say must stay.
    kept: BTreeSet<String>,
}

/// One `key = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    section: String,
    sub: String,
    key: String,
    value: String,
}

impl Setting {
    fn is_ordinary(&self, remotes: &Remotes) -> bool {
        let (key, value) = (self.key.as_str(), self.value.as_str());
        match self.section.as_str() {
            "branch" => match key {
                "remote" | "pushremote" => value == "." || remotes.all.contains(value),
                "merge" => value.starts_with("refs/"),
                "rebase" => matches!(value, "true" | "false" | "merges"),
                "mergeoptions" => false,
                // Git reads no other key of a branch; editors keep theirs here.
                _ => true,
            },
            "user" => matches!(key, "" | "name" | "email"),
            "remote" => {
                let plain = matches!(key, "" | "fetch") || key == "url" && is_plain_address(value);
                plain && !remotes.kept.contains(&self.sub)
            }
            "submodule" => matches!(key, "" | "active") || key == "url" && is_plain_address(value),
            "lfs" => matches!(key, "" | "repositoryformatversion" | "access" | "locksverify"),
            "gui" | "gitg" | "gitk" => true,
            _ => false,
        }
    }
}

/// An address that git fetches from by itself, without running a helper that the address names.
fn is_plain_address(value: &str) -> bool {
    !value.contains("::") && !value.starts_with('-') && !value.contains(['"', '`', '$', ';', '|', '&'])
}

/// Every setting in order. None where a line cannot be read for sure: then nothing is taken for harmless.
fn settings(text: &[u8]) -> Option<Vec<Setting>> {
    let text = std::str::from_utf8(text).ok()?;
    let (mut all, mut section, mut sub) = (Vec::new(), String::new(), String::new());
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A value that goes on in the next line is none that git writes by itself.
        if line.ends_with('\\') {
            return None;
        }
        if let Some(head) = line.strip_prefix('[') {
            let head = head.strip_suffix(']')?;
            let (name, rest) = head.split_once(' ').unwrap_or((head, ""));
            section = name.to_ascii_lowercase();
            sub = match rest.trim() {
                "" => String::new(),
                rest => rest.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
            };
            if section.contains(['"', '[', ']', '.']) || sub.contains(['"', '\\']) {
                return None;
            }
            all.push(Setting {
                section: section.clone(),
                sub: sub.clone(),
                key: String::new(),
                value: String::new(),
            });
            continue;
        }
        let (key, value) = line.split_once('=')?;
        let key = key.trim().to_ascii_lowercase();
        all.push(Setting { section: section.clone(), sub: sub.clone(), key, value: value.trim().to_owned() });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /srv/x.git\n";

    #[test]
    fn what_ordinary_work_writes_is_harmless() {
        for (added, harmless) in [
            ("[branch \"a\"]\n\tremote = origin\n\tmerge = refs/heads/a\n", true),
            ("[branch \"a\"]\n\tremote = .\n\tmerge = refs/heads/b\n\trebase = true\n", true),
            ("# a remark\n\n", true),
            ("[branch \"a\"]\n\tremote = https://evil.example\n", false),
            ("[branch \"a\"]\n\tremote = ext::sh -c evil\n", false),
            ("[branch \"a\"]\n\tremote = origin\n[core]\n\tfsmonitor = evil\n", false),
            ("[core]\n\tfsmonitor = evil\n", false),
            ("[core]\n\thooksPath = /tmp\n", false),
            ("[filter \"x\"]\n\tclean = evil\n", false),
            ("[user]\n\temail = other@localhost\n\tname = A\n", true),
            ("[user]\n\tsigningkey = x\n", false),
            (
                "[remote \"up\"]\n\turl = https://example.invalid/x.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n",
                true,
            ),
            ("[remote \"up\"]\n\turl = ext::sh -c evil\n", false),
            ("[remote \"up\"]\n\tuploadpack = evil\n", false),
            ("[remote \"origin\"]\n\tpushurl = https://evil.example\n", false),
            ("[submodule \"a\"]\n\tactive = true\n\turl = /srv/a\n", true),
            ("[submodule \"a\"]\n\tupdate = !evil\n", false),
            ("[lfs]\n\trepositoryformatversion = 0\n", true),
            ("[lfs]\n\tfetchexclude = x\n", false),
            ("[branch \"a\"]\n\tvscode-merge-base = origin/main\n", true),
            ("[branch \"a\"]\n\tmergeoptions = --strategy evil\n", false),
            ("[include]\n\tpath = ../evil\n", false),
            ("[alias]\n\tst = !evil\n", false),
            ("[branch \"a\"]\n\tmerge = refs/heads/a\\\n[core]\n\tpager = evil\n", false),
            ("[branch \"a\"] remote = origin\n", false),
        ] {
            let after = format!("{BASE}{added}");
            assert_eq!(only_ordinary(BASE.as_bytes(), after.as_bytes()), harmless, "{added}");
            assert_eq!(only_ordinary(after.as_bytes(), BASE.as_bytes()), harmless, "removed: {added}");
        }
        assert!(!only_ordinary(BASE.as_bytes(), BASE.replace("/srv/x", "/srv/y").as_bytes()));
    }
}
