//! `setup.cfg`: the sections of runners and linters, by name.

use super::manifest::ManifestSplit;

/// A section's lines, its head first; what stands before the first head has an empty one.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = vec![("", Vec::new())];
    for line in text.lines() {
        let head = line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match head {
            Some(head) => sections.push((head.trim(), vec![line])),
            None => {
                if let Some((_, lines)) = sections.last_mut() {
                    lines.push(line);
                }
            }
        }
    }
    sections
}

fn is_oracle((head, lines): &(&str, Vec<&str>)) -> bool {
    let names = [
        "tool",
        "pytest",
        "aliases",
        "test",
        "nosetests",
        "coverage",
        "tox",
        "testenv",
        "flake8",
        "mypy",
        "pylint",
        "isort",
        "pycodestyle",
        "pydocstyle",
        "unittest",
        "behave",
        "yapf",
        "bandit",
        "doc8",
        "darglint",
        "codespell",
    ];
    let named = names.iter().any(|name| {
        head.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-', '.']))
    });
    named || lines.iter().any(|line| line.contains("pytest11"))
}

/// Takes a changed file apart.
pub fn split(before: &str, now: &str) -> ManifestSplit {
    let (old, new) = (sections(before), sections(now));
    if part(&old, true) == part(&new, true) {
        return ManifestSplit::Rest;
    }
    if part(&old, false) == part(&new, false) {
        return ManifestSplit::Oracle;
    }
    ManifestSplit::Both { without_oracle: mixed(&new, &old), oracle_only: mixed(&old, &new) }
}

/// The sections of one set in the order of their names, without blank lines.
fn part<'a>(sections: &[(&'a str, Vec<&'a str>)], oracle: bool) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut part: Vec<_> = sections.iter().filter(|section| is_oracle(section) == oracle).cloned().collect();
    for (_, lines) in &mut part {
        lines.retain(|line| !line.trim().is_empty());
    }
    part.retain(|(_, lines)| !lines.is_empty());
    part.sort();
    part
}

fn mixed(rest: &[(&str, Vec<&str>)], oracle: &[(&str, Vec<&str>)]) -> String {
    let kept = rest.iter().filter(|section| !is_oracle(section));
    let lines = kept.chain(oracle.iter().filter(|section| is_oracle(section))).flat_map(|(_, lines)| lines);
    lines.fold(String::new(), |made, line| made + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_by_name() {
        let old = "[metadata]\nname = a\n";
        assert_eq!(split(old, "[metadata]\n\nname = b\n"), ManifestSplit::Rest);
        assert_eq!(
            split(old, "[metadata]\nname = a\n[tool:pytest]\naddopts = -k no\n"),
            ManifestSplit::Oracle
        );
        let plug = "[metadata]\nname = a\n[options.entry_points]\npytest11 = x = y\n";
        assert_eq!(split(old, plug), ManifestSplit::Oracle);
        let now = "[metadata]\nname = b\n[tool:pytest]\naddopts = -k no\n";
        let both = ManifestSplit::Both {
            without_oracle: "[metadata]\nname = b\n".into(),
            oracle_only: "[metadata]\nname = a\n[tool:pytest]\naddopts = -k no\n".into(),
        };
        assert_eq!(split(old, now), both);
    }
}
