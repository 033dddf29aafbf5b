//! The scripts that a verification runs: those its commands name where a program is expected, and those that such a
//! script runs in turn. What it merely reads, or the program it tries out, is work.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Programs whose first plain argument is a script.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "python",
    "python3",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "lua",
    "Rscript",
    "osascript",
    "pwsh",
];
/// Words that stand before a program.
const BEFORE: &[&str] = &[
    "exec", "time", "env", "nice", "nohup", "sudo", "command", "then", "do", "else", "if", "while", "!", "{",
    "(", "&&", "timeout", "xvfb-run", "eval", "source", ".", "run",
];
/// A longer script is not looked through.
const LONGEST: u64 = 256 * 1024;

/// Scripts of these commands, relative to the workspace; only those that are there.
pub fn scripts(workspace: &Path, commands: &[String]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for command in commands {
        found.extend(named(workspace, command));
    }
    let first: Vec<String> = found.iter().cloned().collect();
    for script in first.iter().filter(|script| speaks_shell(workspace, script)) {
        let text = read(&workspace.join(script)).unwrap_or_default();
        // A script tries the work out too: of what it runs, only what is plainly a check is one.
        found.extend(named(workspace, &text).into_iter().filter(|name| checks(name)));
    }
    found.into_iter().collect()
}

fn read(path: &Path) -> Option<String> {
    let size = path.metadata().ok()?.len();
    if size > LONGEST { None } else { std::fs::read_to_string(path).ok() }
}

/// Made of lines that a shell would read.
fn speaks_shell(workspace: &Path, script: &str) -> bool {
    let path = workspace.join(script);
    let by_name = Path::new(script).extension().is_none_or(|ext| ext == "sh" || ext == "bash");
    by_name
        || read(&path)
            .is_some_and(|text| text.lines().next().is_some_and(|l| l.starts_with("#!") && l.contains("sh")))
}

/// Its name says that it checks something.
fn checks(script: &str) -> bool {
    let name =
        Path::new(script).file_name().and_then(|n| n.to_str()).unwrap_or_default().to_ascii_lowercase();
    ["test", "check", "verify", "spec", "lint", "assert", "expect", "ci."]
        .iter()
        .any(|word| name.contains(word))
}

/// Files that stand where a shell expects a program, or where an interpreter expects its script.
fn named(workspace: &Path, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        for part in line.split([';', '|', '&', '(', ')', '`', '\n']) {
            found.extend(program(part).and_then(|word| inside(workspace, word)));
        }
    }
    found
}

/// The program of one simple command, or the script its interpreter is given.
fn program(part: &str) -> Option<&str> {
    let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '$', '{', '}']));
    let mut word = words.find(|word| !BEFORE.contains(word) && !word.contains('=') && !number(word))?;
    let name = word.rsplit('/').next().unwrap_or(word);
    if INTERPRETERS.contains(&name) || name.starts_with("python3.") {
        word = words.find(|word| !word.starts_with('-'))?;
    }
    Some(word)
}

/// `timeout 60 ./run.sh`
fn number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// A regular file of the workspace, by its path in it.
fn inside(workspace: &Path, word: &str) -> Option<String> {
    let path = Path::new(word);
    let relative = if path.is_absolute() { path.strip_prefix(workspace).ok()? } else { path };
    let mut clean = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    let name = clean.to_str().filter(|name| !name.is_empty())?;
    workspace.join(name).is_file().then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_what_is_run() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "check.sh",
            "#!/bin/sh\nset -e\n# sh commented.sh\n./lib/check_more.sh\npython3 app.py | sort\n",
        );
        for name in ["lib/check_more.sh", "app.py", "run.py", "data.txt", "commented.sh", "tool"] {
            write(name, "x");
        }
        let of = |command: &str| scripts(dir.path(), &[command.to_owned()]);
        assert_eq!(of("sh check.sh"), ["check.sh", "lib/check_more.sh"]);
        assert_eq!(
            of("./check.sh && python3 -u run.py data.txt"),
            ["check.sh", "lib/check_more.sh", "run.py"]
        );
        assert_eq!(of("CI=1 timeout 60 ./tool data.txt"), ["tool"]);
        assert_eq!(of("grep -q ok data.txt"), [] as [&str; 0]);
        assert_eq!(of("test -f data.txt || cat data.txt"), [] as [&str; 0]);
        assert_eq!(of("cargo test"), [] as [&str; 0]);
        assert_eq!(of("sh ../check.sh; sh missing.sh"), [] as [&str; 0]);
        assert_eq!(of(&format!("bash {}/check.sh", dir.path().display())), ["check.sh", "lib/check_more.sh"]);
    }
}
