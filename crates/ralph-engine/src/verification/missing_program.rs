//! Finds the program without which a verify command cannot run: before it runs, for `init` and `doctor`, and after it
//! ran, for a run's baseline. A command that ends with 126 or 127 could not run, whatever started what is missing. Tests
//! that fail in another way because they start a missing program are failing tests, and are left alone.

use ralph_proof::classify::{NeededProgram, needed_programs};
use ralph_rules::record::{Absence, CheckResult, MissingProgram};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Tools that Python starts with `-m`; another missing module may be what the agent is to write.
const PYTHON_TOOLS: &[&str] =
    &["black", "coverage", "flake8", "mypy", "nose2", "nox", "pylint", "pyright", "pytest", "ruff", "tox"];
/// How a shell ends a message about a program that it cannot start.
const SHELL_SAYS: &[&str] =
    &["not found", "command not found", "No such file or directory", "Permission denied"];
/// How much of a script is read to find its interpreter.
const FIRST_LINE: u64 = 256;

/// Where programs are looked for.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSearch<'a> {
    /// Where the command runs.
    pub directory: &'a Path,
    /// `PATH`; none where the command has other programs than this machine, as in a container. What it lacks is then known
    /// only from what it says.
    pub path: Option<&'a OsStr>,
}

impl ProgramSearch<'_> {
    /// What a command lacks that has not run yet. Only its first program is judged: others may be made or installed by
    /// those before them.
    pub fn missing_before(&self, line: &str) -> Option<MissingProgram> {
        let needed = needed_programs(line);
        let first = needed.programs.first().filter(|_| !needed.own_path)?;
        self.missing(first)
    }

    /// What a command lacked that has run. In a pipeline it may have passed all the same.
    pub fn missing_after(&self, result: &CheckResult) -> Option<MissingProgram> {
        let needed = needed_programs(&result.command);
        let mut programs = needed.programs.iter();
        let first = needed.programs.first();
        let missing_first = self.missing_before(&result.command);
        match result.exit? {
            code @ (126 | 127) => {
                let looked_for = programs.find_map(|program| {
                    // A later file may be what an earlier program was to build, and failed to.
                    let built = program.name.contains('/') && first.is_none_or(|it| it.name != program.name);
                    if needed.own_path || built { None } else { self.missing(program) }
                });
                looked_for.or_else(|| Some(said_to_be_missing(code, result, first)))
            }
            1 => programs.find_map(|program| missing_module(program, &result.tail)).or(missing_first),
            101 => programs.find_map(|program| missing_subcommand(program, &result.tail)).or(missing_first),
            _ => missing_first,
        }
    }

    /// Why this program cannot be started, if it cannot.
    fn missing(&self, program: &NeededProgram) -> Option<MissingProgram> {
        let absent = |why| Some(MissingProgram { program: program.name.clone(), why });
        let places = self.places(&program.name, program.directory.as_deref())?;
        match places.iter().find(|place| is_program(place)) {
            Some(found) => self.missing_interpreter(found),
            None if places.iter().any(|place| place.is_file()) => absent(Absence::NotExecutable),
            None => absent(Absence::NotFound),
        }
    }

    /// Where a program may be; none if that is not known.
    fn places(&self, name: &str, directory: Option<&str>) -> Option<Vec<PathBuf>> {
        if name.starts_with('/') {
            return self.path.map(|_| vec![PathBuf::from(name)]);
        }
        if name.contains('/') {
            return Some(vec![self.directory.join(directory?).join(name)]);
        }
        let from = self.directory.join(directory.unwrap_or_default());
        Some(std::env::split_paths(self.path?).map(|place| from.join(place).join(name)).collect())
    }

    /// The interpreter that a script's first line names, if it cannot be started.
    fn missing_interpreter(&self, script: &Path) -> Option<MissingProgram> {
        let mut begin = Vec::new();
        File::open(script).ok()?.take(FIRST_LINE).read_to_end(&mut begin).ok()?;
        let begin = String::from_utf8_lossy(&begin);
        let mut words = begin.strip_prefix("#!")?.lines().next()?.split_whitespace();
        let interpreter = match words.next()? {
            env if env.ends_with("/env") => {
                words.find(|word| !word.starts_with('-') && !word.contains('='))?
            }
            interpreter => interpreter,
        };
        let places = self.places(interpreter, None)?;
        let found = places.iter().any(|place| is_program(place));
        (!found).then(|| MissingProgram { program: interpreter.into(), why: Absence::NotFound })
    }
}

/// What could not be run, from what a shell said; otherwise something that the first program started.
fn said_to_be_missing(code: i32, result: &CheckResult, first: Option<&NeededProgram>) -> MissingProgram {
    let why = if code == 126 { Absence::NotExecutable } else { Absence::NotFound };
    let named = result.tail.lines().rev().find_map(named_by_shell);
    let named = named.map(|program| MissingProgram { program: program.into(), why });
    let first = first.map_or(&result.command, |program| &program.name);
    named.unwrap_or_else(|| MissingProgram { program: first.clone(), why: Absence::Started })
}

/// The program that a shell says it cannot start: `sh: 1: npm: not found`.
fn named_by_shell(line: &str) -> Option<&str> {
    let said = SHELL_SAYS.iter().find_map(|words| line.trim_end().strip_suffix(words)?.strip_suffix(": "))?;
    let name = said.rsplit(": ").next()?;
    (!name.is_empty() && name.len() <= 200 && !name.contains(char::is_whitespace)).then_some(name)
}

/// `python3 -m pytest` where pytest is not installed.
fn missing_module(program: &NeededProgram, output: &str) -> Option<MissingProgram> {
    let at = program.args.iter().position(|arg| arg == "-m")?;
    let module = program.args.get(at + 1).filter(|module| PYTHON_TOOLS.contains(&module.as_str()))?;
    let said = format!("No module named {module}");
    let lacks = output.lines().any(|line| line.trim_end().trim_end_matches('\'').ends_with(&said));
    lacks.then(|| MissingProgram { program: module.clone(), why: Absence::NoModule })
}

/// `cargo nextest run` where nextest is not installed.
fn missing_subcommand(program: &NeededProgram, output: &str) -> Option<MissingProgram> {
    let cargo = Path::new(&program.name).file_name().is_some_and(|name| name == "cargo");
    let plain = |arg: &&String| !arg.starts_with(['-', '+']);
    let subcommand = program.args.iter().find(plain).filter(|_| cargo)?;
    let said = [format!("no such command: `{subcommand}`"), format!("no such subcommand: `{subcommand}`")];
    let lacks = said.iter().any(|said| output.contains(said));
    lacks.then(|| MissingProgram { program: subcommand.clone(), why: Absence::NoSubcommand })
}

/// A file that may be executed.
fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::super::not_run;
    use super::*;

    fn failed(command: &str, exit: i32, tail: &str) -> CheckResult {
        CheckResult { exit: Some(exit), ..not_run(command, tail) }
    }

    /// A directory with `bin/there` (an executable), `bin/script` (of an interpreter that is missing) and `plain.sh`.
    fn place() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        for (name, text, mode) in [
            ("bin/there", "#!/bin/sh\n", 0o755),
            ("bin/script", "#!/usr/bin/env no-such-interpreter\n", 0o755),
            ("plain.sh", "exit 1\n", 0o644),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
        dir
    }

    fn found(command: &str, exit: i32, tail: &str) -> Option<(String, Absence)> {
        let dir = place();
        let path = dir.path().join("bin").into_os_string();
        let search = ProgramSearch { directory: dir.path(), path: Some(&path) };
        search.missing_after(&failed(command, exit, tail)).map(|missing| (missing.program, missing.why))
    }

    #[test]
    fn a_command_that_cannot_run_names_what_it_lacks() {
        for (command, exit, tail, program, why) in [
            ("npm test", 127, "sh: 1: npm: not found\n", "npm", Absence::NotFound),
            ("npm test", 127, "sh: Zeile 1: npm: Kommando nicht gefunden.\n", "npm", Absence::NotFound),
            ("there test", 127, "test_a: sh: 1: npm: not found\n", "npm", Absence::NotFound),
            ("there test", 127, "", "there", Absence::Started),
            ("there test", 126, "no words of a shell\n", "there", Absence::Started),
            ("there build && ./dist/cli", 127, "sh: 1: tsc: not found\n", "tsc", Absence::NotFound),
            ("npm test | tee log", 0, "sh: 1: npm: not found\n", "npm", Absence::NotFound),
            ("/bin/sh -c 'npm test'", 127, "sh: 1: npm: not found\n", "npm", Absence::NotFound),
            ("there && ./gone.sh", 127, "sh: 1: ./gone.sh: not found\n", "./gone.sh", Absence::NotFound),
            (
                "./plain.sh",
                126,
                "sh: 1: ./plain.sh: Permission denied\n",
                "./plain.sh",
                Absence::NotExecutable,
            ),
            ("script -x", 127, "env: 'no-such-interpreter'\n", "no-such-interpreter", Absence::NotFound),
            ("PATH=/x pytest", 127, "sh: 1: pytest: not found\n", "pytest", Absence::NotFound),
            ("there -m pytest", 1, "there: No module named pytest\n", "pytest", Absence::NoModule),
            (
                "cargo nextest run",
                101,
                "error: no such command: `nextest`\n",
                "nextest",
                Absence::NoSubcommand,
            ),
        ] {
            assert_eq!(found(command, exit, tail), Some((program.into(), why)), "{command}");
        }
    }

    #[test]
    fn tests_that_start_a_missing_program_are_red() {
        for (command, exit, tail) in [
            ("there test", 1, "sh: 1: npm: not found\n"),
            ("there test", 2, "make: npm: No such file or directory\nmake: *** [test] Error 127\n"),
            ("there -m pytest", 1, "tests/test_a.py: No module named shop\n"),
            ("there -m shop.tests", 1, "there: No module named shop.tests\n"),
            ("npm test || there", 1, "sh: 1: npm: not found\n"),
        ] {
            assert_eq!(found(command, exit, tail), None, "{command} {tail}");
        }
    }

    #[test]
    fn before_it_runs_only_the_first_program_is_judged() {
        let dir = place();
        let path = dir.path().join("bin").into_os_string();
        let search = ProgramSearch { directory: dir.path(), path: Some(&path) };
        let missing = |line| search.missing_before(line).map(|missing| missing.program);
        assert_eq!(missing("npm test"), Some("npm".into()));
        assert_eq!(missing("cd bin && ./there"), None);
        assert_eq!(missing("cd bin && ./their"), Some("./their".into()));
        assert_eq!(missing("there && ./made"), None, "it may be made by the first");
        assert_eq!(missing("echo a && true"), None);
        assert_eq!(missing("time there"), None, "a word of bash");
        let elsewhere = ProgramSearch { path: None, ..search };
        assert_eq!(elsewhere.missing_before("npm test"), None);
        assert_eq!(elsewhere.missing_before("/opt/of/the/image test"), None);
        let said = elsewhere.missing_after(&failed("npm test", 127, "sh: 1: npm: not found\n"));
        assert_eq!(said.map(|missing| missing.program), Some("npm".into()));
    }
}
