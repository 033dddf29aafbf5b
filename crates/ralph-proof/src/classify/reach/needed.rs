//! The programs that a verify command starts by itself: those without which it cannot run at all. What they start in
//! turn is theirs.

use super::programs::{Program, after_options, base_name, program, wrapper};
use super::shell::{self, Simple, UNKNOWN};

/// Texts inside `sh -c` are read this deep.
const DEEPEST: usize = 3;
/// Words of a text that runs some of its commands only sometimes, or names them itself.
const BRANCHES: &[&str] = &["if", "while", "until", "case", "for", "select", "function"];
/// What a shell does itself; `time` is a word of bash.
const BUILT_IN: &[&str] = &[
    ":", "[", "[[", "alias", "bg", "builtin", "cd", "command", "echo", "exec", "exit", "export", "false",
    "fg", "getopts", "hash", "jobs", "kill", "let", "local", "popd", "printf", "pushd", "pwd", "read",
    "readonly", "return", "set", "shift", "shopt", "test", "time", "times", "trap", "true", "type", "ulimit",
    "umask", "unalias", "unset", "wait",
];
/// Programs that start another one from the `PATH`; others, such as `npx`, bring what they start.
const STARTERS: &[&str] = &[
    "chronic", "command", "env", "exec", "ionice", "nice", "nohup", "setsid", "stdbuf", "sudo", "time",
    "timeout", "xvfb-run",
];

/// What a command line needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeededPrograms {
    /// In the order in which they are started.
    pub programs: Vec<NeededProgram>,
    /// The line sets `PATH` or sources a file, so that nobody else knows where its programs are.
    pub own_path: bool,
}

/// A program that a command line starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededProgram {
    /// As it is written.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it is started, relative to where the line is; none if that is not known.
    pub directory: Option<String>,
}

/// The programs that this line starts, as far as it surely does.
pub fn needed_programs(line: &str) -> NeededPrograms {
    let mut needed = NeededPrograms::default();
    collect(line, Some(String::new()), 0, &mut needed);
    needed
}

fn collect(text: &str, mut directory: Option<String>, depth: usize, needed: &mut NeededPrograms) {
    let branches = text.contains("()") || text.split_whitespace().any(|word| BRANCHES.contains(&word));
    let commands = shell::commands(text);
    // `a || b`: a may be missing, and b is for that case.
    let handles = commands.iter().any(|simple| simple.or_else && !is_built_in(simple));
    if branches || handles || depth > DEEPEST {
        return;
    }
    for simple in commands.iter().filter(|simple| !simple.substituted) {
        needed.own_path |= simple.assigns.iter().any(|(name, _)| name == "PATH");
        match simple.words.split_first() {
            Some((first, rest)) if matches!(first.as_str(), "cd" | "pushd") => {
                let to = rest.iter().find(|word| !word.starts_with('-'));
                // A subshell keeps its directory to itself.
                let known = to.filter(|to| !to.contains([UNKNOWN, '~', '(']) && !text.contains('('));
                directory = directory.zip(known).map(|(from, to)| joined(&from, to));
            }
            Some((first, _)) if matches!(first.as_str(), "." | "source" | "eval") => needed.own_path = true,
            _ => started(&simple.words, directory.as_deref(), depth, needed),
        }
    }
}

/// The program of a simple command, and what it starts.
fn started(words: &[String], directory: Option<&str>, depth: usize, needed: &mut NeededPrograms) {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        if let Some((name, _)) = shell::assignment(first) {
            needed.own_path |= name == "PATH";
            words = rest;
            continue;
        }
        if first.contains([UNKNOWN, '*', '?', '~', '$', '`']) {
            return;
        }
        let base = base_name(first);
        if !BUILT_IN.contains(&first.as_str()) {
            let directory = directory.map(str::to_owned);
            needed.programs.push(NeededProgram { name: first.clone(), args: rest.to_vec(), directory });
        }
        if program(base) == Program::Shell {
            if let Some(text) = script_text(rest).filter(|text| !text.contains(UNKNOWN)) {
                collect(text, directory.map(str::to_owned), depth + 1, needed);
            }
            return;
        }
        // `command -v npm` starts nothing.
        let asks = first == "command" && rest.first().is_some_and(|word| word.starts_with('-'));
        let Some((_, values, before)) = wrapper(base).filter(|_| STARTERS.contains(&base) && !asks) else {
            return;
        };
        let mut elsewhere = None;
        words = after_options(rest, values, *before, &mut elsewhere);
        if elsewhere.is_some() {
            return;
        }
    }
}

/// The text after `-c`, as in `bash -euo pipefail -c 'npm test'`.
fn script_text(words: &[String]) -> Option<&String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'))?;
        if flags.ends_with('c') {
            return rest.next();
        }
        if flags.ends_with('o') {
            rest.next();
        }
    }
    None
}

fn is_built_in(simple: &Simple) -> bool {
    simple.words.first().is_none_or(|first| BUILT_IN.contains(&first.as_str()))
}

fn joined(from: &str, to: &str) -> String {
    if to.starts_with('/') || from.is_empty() { to.to_owned() } else { format!("{from}/{to}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `directory:program` of each.
    fn needs(line: &str) -> Vec<String> {
        let place = |program: &NeededProgram| match program.directory.as_deref() {
            Some("") => program.name.clone(),
            Some(dir) => format!("{dir}:{}", program.name),
            None => format!("?:{}", program.name),
        };
        needed_programs(line).programs.iter().map(place).collect()
    }

    #[test]
    fn the_programs_that_a_line_starts_itself() {
        for (line, expected) in [
            ("npm test", &["npm"][..]),
            ("CI=1 npm test > out.txt 2>&1", &["npm"]),
            ("sh -c 'npm test'", &["sh", "npm"]),
            ("bash -euo pipefail -c 'cd web && npm test'", &["bash", "web:npm"]),
            ("cd web && npm ci && npm test", &["web:npm", "web:npm"]),
            ("cd web || exit 1; ./test.sh", &["web:./test.sh"]),
            ("(cd web && npm test); make", &["?:npm", "?:make"]),
            ("cd $DIR && make", &["?:make"]),
            ("timeout 60 env A=b pytest -q", &["timeout", "env", "pytest"]),
            ("time cargo test", &["cargo"]),
            ("npx jest", &["npx"]),
            ("uv run pytest", &["uv"]),
            ("cargo test | tee log", &["cargo", "tee"]),
            ("test -f a && echo b", &[]),
            ("$RUNNER test", &[]),
            ("make $(nproc)", &["make"]),
        ] {
            assert_eq!(needs(line), expected, "{line}");
        }
    }

    #[test]
    fn what_runs_only_sometimes_is_not_needed() {
        for line in [
            "npm test || yarn test",
            "if command -v npm; then npm test; else yarn test; fi",
            "for f in *.sh; do ./run $f; done",
            "command -v npm",
            "run() { npm test; }; run",
        ] {
            assert_eq!(needs(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_line_may_have_its_own_path() {
        for line in ["PATH=./bin:$PATH npm test", "export PATH=x; npm test", ". venv/bin/activate && pytest"]
        {
            assert!(needed_programs(line).own_path, "{line}");
        }
        assert!(!needed_programs("A=1 npm test").own_path);
    }
}
