//! Programs that stand before, run, examine or test something, by name.

use super::shell::assignment;

/// A program that runs another one: its options with a value, and how many words stand before that one.
pub type Wrapper = (&'static str, &'static [&'static str], usize);

/// Programs that run another one: their options with a value of their own, and how many words stand before it.
const WRAPPERS: &[Wrapper] = &[
    ("exec", &["-a"], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("nohup", &[], 0),
    ("time", &["-f", "-o"], 0),
    ("gtime", &["-f", "-o"], 0),
    ("setsid", &[], 0),
    ("unbuffer", &[], 0),
    ("nocache", &[], 0),
    ("chronic", &[], 0),
    ("caffeinate", &["-t", "-w"], 0),
    ("xvfb-run", &["-s", "-n", "-e"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "-p"], 0),
    ("chrt", &[], 1),
    ("taskset", &[], 1),
    ("timeout", &["-k", "-s", "--signal", "--kill-after"], 1),
    ("gtimeout", &["-k", "-s", "--signal", "--kill-after"], 1),
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    ("cross-env", &[], 0),
    ("cross-env-shell", &[], 0),
    ("dotenv", &["-e", "-f"], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("sudo", &["-u", "-g", "-C"], 0),
    ("doas", &["-u"], 0),
    ("flock", &["-w", "-E"], 1),
    ("xargs", &["-n", "-I", "-P", "-L", "-d", "-E", "-s", "-a"], 0),
    ("parallel", &["-j", "-a", "-n"], 0),
    ("strace", &["-e", "-o"], 0),
    ("valgrind", &[], 0),
    ("busybox", &[], 0),
    ("npx", &["-p", "--package", "-c"], 0),
    ("bunx", &["-p"], 0),
    ("pnpx", &["-p"], 0),
    ("uvx", &["--with", "--from", "-p"], 0),
    ("pipx", &["--spec"], 1),
    ("direnv", &[], 2),
    ("fakeroot", &[], 0),
    ("retry", &["-t", "-d"], 0),
];

/// The same for programs whose second word says so.
const TWO_WORDS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("rye", "run"),
    ("hatch", "run"),
    ("conda", "run"),
    ("bundle", "exec"),
    ("npm", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("bun", "x"),
    ("mise", "exec"),
    ("coverage", "run"),
    ("opam", "exec"),
    ("stack", "exec"),
    ("cabal", "exec"),
    ("luarocks", "exec"),
];
const TWO_WORDS_VALUES: &[&str] =
    &["--with", "--python", "-p", "--extra", "--group", "--env-file", "-n", "--rcfile"];

/// The program of this name that runs another one.
pub fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name)
}

/// A path's last part, without `.exe`.
pub fn base_name(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The words of the program itself, and the assignments and the directory that wrappers give it.
pub fn unwrap_command(words: &[String]) -> (&[String], Vec<(String, String)>, Option<String>) {
    let (mut words, mut assigns, mut directory) = (words, Vec::new(), None);
    while let [first, rest @ ..] = words {
        if let Some((name, value)) = assignment(first) {
            assigns.push((name.to_owned(), value.to_owned()));
            words = rest;
            continue;
        }
        let name = base_name(first);
        let second = rest.first().map(String::as_str).unwrap_or_default();
        if TWO_WORDS.contains(&(name, second)) {
            words = after_options(rest.get(1..).unwrap_or_default(), TWO_WORDS_VALUES, 0, &mut directory);
            if name == "coverage" {
                return (words, assigns, directory);
            }
        } else if let Some((_, values, before)) = wrapper(name) {
            words = after_options(rest, values, *before, &mut directory);
        } else {
            break;
        }
    }
    (words, assigns, directory)
}

/// Skips options and their values, then as many words.
pub fn after_options<'a>(
    mut words: &'a [String],
    values: &[&str],
    before: usize,
    directory: &mut Option<String>,
) -> &'a [String] {
    while let [option, rest @ ..] = words {
        if option == "--" {
            words = rest;
            break;
        }
        if !option.starts_with('-') || option.len() < 2 {
            break;
        }
        if matches!(option.as_str(), "-m" | "-c") {
            break;
        }
        let value = usize::from(values.contains(&option.as_str()));
        if matches!(option.as_str(), "-C" | "--chdir") {
            *directory = rest.first().cloned();
        }
        words = rest.get(value..).unwrap_or_default();
    }
    words.get(before..).unwrap_or_default()
}

/// How a program treats the files it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Shell,
    Python,
    Node,
    /// Another interpreter: its first plain word is a script.
    Interpreter,
    Make,
    Just,
    Task,
    PackageScripts,
    /// Runs tests; the files it is given are tests.
    Runner,
    /// Compares files with expected ones.
    Compares,
    /// Looks at files.
    Examines,
    Other,
}

pub fn program(name: &str) -> Program {
    match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "ash" | "mksh" => Program::Shell,
        "node" | "nodejs" | "tsx" | "ts-node" | "deno" | "bun" | "babel-node" | "esno" | "swc-node" => {
            Program::Node
        }
        "ruby" | "perl" | "php" | "lua" | "luajit" | "Rscript" | "pwsh" | "osascript" | "awk" | "gawk"
        | "julia" | "tclsh" | "elixir" | "escript" | "groovy" | "scala" | "kotlin" | "swift" | "guile"
        | "racket" | "sbcl" | "runghc" | "ocaml" | "bb" | "nu" | "expect" => Program::Interpreter,
        "make" | "gmake" | "bmake" | "nmake" => Program::Make,
        "just" => Program::Just,
        "task" | "go-task" => Program::Task,
        "npm" | "pnpm" | "yarn" | "composer" | "run-s" | "run-p" | "npm-run-all" | "poe" | "nr" => {
            Program::PackageScripts
        }
        "diff" | "cmp" | "colordiff" | "comm" => Program::Compares,
        _ if is_python(name) => Program::Python,
        _ if RUNNERS.contains(&name) => Program::Runner,
        _ if EXAMINERS.contains(&name) => Program::Examines,
        _ => Program::Other,
    }
}

fn is_python(name: &str) -> bool {
    let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'w'))
}

/// Programs that only run tests.
pub const RUNNERS: &[&str] = &[
    "pytest",
    "py.test",
    "unittest",
    "nose2",
    "nosetests",
    "tox",
    "nox",
    "doctest",
    "xdoctest",
    "behave",
    "robot",
    "stestr",
    "jest",
    "vitest",
    "mocha",
    "_mocha",
    "ava",
    "tap",
    "tape",
    "jasmine",
    "karma",
    "cypress",
    "playwright",
    "qunit",
    "uvu",
    "wdio",
    "testcafe",
    "c8",
    "nyc",
    "web-test-runner",
    "wtr",
    "tsd",
    "rspec",
    "minitest",
    "cucumber",
    "phpunit",
    "pest",
    "paratest",
    "codecept",
    "behat",
    "prove",
    "bats",
    "shellspec",
    "shunit2",
    "ctest",
    "busted",
    "gotestsum",
    "ginkgo",
    "cargo-nextest",
    "elm-test",
    "hurl",
    "newman",
    "lit",
    "testem",
    "trial",
    "green",
    "pytest-3",
];

/// Subcommands that run tests, of programs that do more.
const RUNNER_WORDS: &[(&str, &[&str])] = &[
    (
        "cargo",
        &["test", "t", "nextest", "tarpaulin", "llvm-cov", "miri", "mutants", "bench", "hack", "careful"],
    ),
    ("go", &["test"]),
    ("node", &["--test"]),
    ("deno", &["test"]),
    ("bun", &["test"]),
    ("mvn", &["test", "verify", "install", "package", "integration-test"]),
    ("mvnw", &["test", "verify", "install", "package", "integration-test"]),
    ("gradle", &["test", "check", "build"]),
    ("gradlew", &["test", "check", "build"]),
    ("dotnet", &["test"]),
    ("swift", &["test"]),
    ("mix", &["test"]),
    ("rebar3", &["eunit", "ct", "proper"]),
    ("stack", &["test"]),
    ("cabal", &["test"]),
    ("dart", &["test"]),
    ("flutter", &["test"]),
    ("zig", &["test"]),
    ("sbt", &["test"]),
    ("lein", &["test"]),
    ("crystal", &["spec"]),
    ("meson", &["test"]),
    ("bazel", &["test"]),
    ("bazelisk", &["test"]),
    ("dune", &["test", "runtest"]),
    ("rake", &["test", "spec"]),
    ("rails", &["test", "spec"]),
    ("manage.py", &["test"]),
    ("artisan", &["test"]),
    ("ng", &["test"]),
    ("react-scripts", &["test"]),
    ("xcodebuild", &["test"]),
    ("forge", &["test"]),
    ("hardhat", &["test"]),
    ("nx", &["test"]),
    ("turbo", &["test"]),
    ("nimble", &["test"]),
    ("hatch", &["test"]),
];

/// Whether these words run tests.
pub fn runs_tests(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let name = base_name(first);
    let by_word = RUNNER_WORDS.iter().any(|(program, subcommands)| {
        *program == name
            && rest.iter().any(|word| {
                let last = word.rsplit(':').next().unwrap_or(word);
                subcommands.contains(&last)
            })
    });
    RUNNERS.contains(&name) || by_word
}

/// Programs that look at files: what they look at is the work.
const EXAMINERS: &[&str] = &[
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "test",
    "[",
    "[[",
    "cat",
    "head",
    "tail",
    "wc",
    "jq",
    "yq",
    "stat",
    "ls",
    "find",
    "fd",
    "sort",
    "uniq",
    "cut",
    "tr",
    "tee",
    "sha256sum",
    "md5sum",
    "file",
    "xmllint",
    "yamllint",
    "markdownlint",
    "markdownlint-cli2",
    "mdl",
    "eslint",
    "oxlint",
    "biome",
    "standard",
    "xo",
    "ruff",
    "flake8",
    "mypy",
    "pyright",
    "basedpyright",
    "pylint",
    "black",
    "isort",
    "bandit",
    "pycodestyle",
    "pydocstyle",
    "vulture",
    "tsc",
    "shellcheck",
    "shfmt",
    "hadolint",
    "json_pp",
    "vale",
    "prettier",
    "htmlhint",
    "tidy",
    "stylelint",
    "cspell",
    "codespell",
    "typos",
    "gofmt",
    "goimports",
    "golangci-lint",
    "staticcheck",
    "rustfmt",
    "clang-format",
    "clang-tidy",
    "cppcheck",
    "sqlfluff",
    "terraform",
    "kubeval",
    "promtool",
    "rubocop",
    "phpcs",
    "phpstan",
    "psalm",
    "luacheck",
    "nm",
    "objdump",
    "readelf",
    "strings",
    "xxd",
    "od",
    "openssl",
    "sed",
    "ajv",
    "spectral",
    "actionlint",
    "checkmake",
];

/// Whether what is piped into this program is judged by it.
pub fn judges(name: &str) -> bool {
    matches!(program(name), Program::Examines | Program::Compares) && !matches!(name, "tee" | "cat")
        || matches!(name, "awk" | "gawk" | "perl" | "xargs" | "read")
}

/// Options of runners and linters whose value is configuration.
pub const CONFIG_OPTIONS: &[&str] = &[
    "-c",
    "--config",
    "--rcfile",
    "--config-file",
    "--settings",
    "--configuration",
    "--setup",
    "--require",
    "-r",
    "--import",
    "--loader",
    "--experimental-loader",
    "--rootdir",
    "--ignore-path",
    "--globalSetup",
    "--setupFiles",
    "--file",
    "--reporter",
    "--formatter",
    "--rulesdir",
    "--ruleset",
    "--schema",
    "-f",
    "--from-file",
    "-s",
    "--baseline",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrapped(text: &str) -> String {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        unwrap_command(&words).0.join(" ")
    }

    #[test]
    fn wrappers_are_taken_off() {
        for (text, inner) in [
            ("nice -n 5 sh x.sh", "sh x.sh"),
            ("timeout -k 5 60 sh x.sh", "sh x.sh"),
            ("env -i A=b C=d sh x.sh", "sh x.sh"),
            ("nohup sudo -u me ./x", "./x"),
            ("xargs -n 1 sh x.sh", "sh x.sh"),
            ("uv run --with a pytest", "pytest"),
            ("coverage run -m pytest", "-m pytest"),
            ("npx --yes jest a", "jest a"),
            ("exec ./x", "./x"),
            ("flock /tmp/l make test", "make test"),
            ("A=b", ""),
            ("nice", ""),
        ] {
            assert_eq!(unwrapped(text), inner, "{text}");
        }
    }

    #[test]
    fn runners() {
        let runs = |text: &str| runs_tests(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(
            runs("cargo test")
                && runs("cargo +nightly test")
                && runs("go test ./...")
                && runs("gradle :a:test")
        );
        assert!(
            runs("node --test") && !runs("node app.js") && !runs("cargo build") && !runs("go build test.go")
        );
        assert_eq!(program("python3.12"), Program::Python);
        assert_eq!(program("pythonic"), Program::Other);
    }
}
