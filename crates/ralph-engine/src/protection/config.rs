//! A repository's config before and after: what ordinary work writes there by itself is no tampering. That is one thing,
//! which branch follows which (`git push -u`, `git switch`), and only among the remotes that are known already.
//! Everything else (filters, hooks, helpers, aliases, addresses) makes git do other things than the user set up.

use std::collections::BTreeSet;

/// The two differ in nothing but which branch follows which.
pub fn only_tracking(before: &[u8], after: &[u8]) -> bool {
    let (Some(before), Some(after)) = (settings(before), settings(after)) else { return false };
    let remotes: BTreeSet<&str> =
        before.iter().filter(|s| s.section == "remote").map(|s| s.sub.as_str()).collect();
    let matters = |settings: &[Setting]| -> Vec<Setting> {
        settings.iter().filter(|s| !s.is_tracking(&remotes)).cloned().collect()
    };
    matters(&before) == matters(&after)
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
    fn is_tracking(&self, remotes: &BTreeSet<&str>) -> bool {
        let value = self.value.as_str();
        self.section == "branch"
            && match self.key.as_str() {
                "remote" | "pushremote" => value == "." || remotes.contains(value),
                "merge" => value.starts_with("refs/"),
                "rebase" => matches!(value, "true" | "false" | "merges"),
                "" | "description" => true,
                _ => false,
            }
    }
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
    fn only_which_branch_follows_which_is_harmless() {
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
            ("[user]\n\temail = other@localhost\n", false),
            ("[include]\n\tpath = ../evil\n", false),
            ("[alias]\n\tst = !evil\n", false),
            ("[branch \"a\"]\n\tmerge = refs/heads/a\\\n[core]\n\tpager = evil\n", false),
            ("[branch \"a\"] remote = origin\n", false),
        ] {
            let after = format!("{BASE}{added}");
            assert_eq!(only_tracking(BASE.as_bytes(), after.as_bytes()), harmless, "{added}");
            assert_eq!(only_tracking(after.as_bytes(), BASE.as_bytes()), harmless, "removed: {added}");
        }
        assert!(!only_tracking(BASE.as_bytes(), BASE.replace("/srv/x", "/srv/y").as_bytes()));
    }
}
