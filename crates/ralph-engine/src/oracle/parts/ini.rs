//! `setup.cfg`: the sections of runners and linters, by name.

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

fn is_oracle(head: &str) -> bool {
    let names = [
        "tool:pytest",
        "pytest",
        "aliases",
        "test",
        "nosetests",
        "coverage",
        "tox",
        "flake8",
        "mypy",
        "pylint",
    ];
    names.iter().any(|name| {
        head.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-', '.']))
    }) || head.contains("pytest11")
}

/// The part: its sections in the order of their names, without blank lines.
pub fn part(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut part: Vec<_> = sections(text).into_iter().filter(|(head, _)| is_oracle(head)).collect();
    for (_, lines) in &mut part {
        lines.retain(|line| !line.trim().is_empty());
    }
    part.sort();
    part
}

/// The new file with the baseline's sections.
pub fn put_back(baseline: &str, now: &str) -> String {
    let (old, new) = (sections(baseline), sections(now));
    let kept = new.iter().filter(|(head, _)| !is_oracle(head));
    let lines = kept.chain(old.iter().filter(|(head, _)| is_oracle(head))).flat_map(|(_, lines)| lines);
    lines.fold(String::new(), |made, line| made + line + "\n")
}
