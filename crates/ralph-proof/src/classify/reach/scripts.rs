//! Interpreters: which of their words is the script.

use super::arguments::{Place, value_of};
use super::programs::{Program, program};
use super::{Standing, Walker};

impl Walker<'_> {
    /// `sh -c 'text'`, `bash -eu script`
    pub fn shell(&mut self, words: &[String], judged: bool, place: &Place) {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
            match flags {
                Some(flags) if flags.ends_with('c') => {
                    let text = rest.next().cloned().unwrap_or_default();
                    let inner = Place { direct: place.direct && !judged, ..place.deeper(None) };
                    return self.walk(&text, &inner);
                }
                Some(flags) if flags.ends_with('o') => {
                    rest.next();
                }
                Some(_) => {}
                None if word.starts_with('-') || word.starts_with('+') => {}
                None => return self.run_word(word, judged, place),
            }
        }
    }

    /// `python -m module`, `python -W error script`
    pub fn python(&mut self, words: &[String], judged: bool, place: &Place) {
        let mut rest = words.iter().enumerate();
        while let Some((at, word)) = rest.next() {
            match word.as_str() {
                "-m" => return self.module(words.get(at + 1..).unwrap_or_default(), judged, place),
                "-c" => return,
                "-W" | "-X" | "--check-hash-based-pycs" => {
                    rest.next();
                }
                word if word.starts_with("-m") => {
                    let module = word.trim_start_matches("-m").to_owned();
                    return self.module(&[module], judged, place);
                }
                word if word.starts_with('-') && word.len() > 1 => {}
                _ => {
                    let words = words.get(at..).unwrap_or_default();
                    self.reach.runs_tests |= super::runs_tests(words);
                    return self.run_word(word, judged, place);
                }
            }
        }
    }

    /// A module that Python runs: a known tool, or a file of the workspace.
    fn module(&mut self, words: &[String], judged: bool, place: &Place) {
        let Some(module) = words.first() else { return };
        self.reach.doctests |= matches!(module.as_str(), "doctest" | "xdoctest");
        self.reach.runs_tests |= super::runs_tests(words);
        if module == "coverage" && words.get(1).is_some_and(|word| word == "run") {
            return self.python(words.get(2..).unwrap_or_default(), judged, place);
        }
        let file = module.replace('.', "/");
        let mut searched = place.clone();
        searched.enter(Some("src"));
        searched.bases.extend(self.reach.python_path.iter().cloned());
        let mut found = false;
        for candidate in [format!("{file}.py"), format!("{file}/__main__.py"), format!("{file}/__init__.py")]
        {
            for path in self.resolve(&candidate, &searched) {
                found = true;
                self.run(&path, judged, place);
            }
        }
        self.packages_of(module, &searched);
        match program(module) {
            Program::Other => {}
            kind if !found => self.program(kind, words, judged, place),
            _ => {}
        }
    }

    /// Python loads the packages above a module first.
    fn packages_of(&mut self, module: &str, place: &Place) {
        for (at, _) in module.match_indices('.') {
            let package = module.get(..at).unwrap_or_default().replace('.', "/");
            for path in self.resolve(&format!("{package}/__init__.py"), place) {
                self.note(path, Standing::Ambiguous, format!("loaded by {}", place.source));
            }
        }
    }

    /// `node script`, `node --test files`, `deno run script`, `bun run name`
    pub fn node(&mut self, words: &[String], judged: bool, place: &Place) {
        let Some((first, rest)) = words.split_first() else { return };
        for word in preloads(rest) {
            for path in self.node_files(word, place) {
                self.note(path, Standing::Oracle, format!("loaded by {}", place.source));
            }
        }
        let second = rest.iter().find(|word| !word.starts_with('-')).map(String::as_str);
        match (first.as_str(), second) {
            _ if rest.iter().any(|word| word == "--test") => return self.runner(words, place),
            ("deno" | "bun", Some("test")) => return self.runner(rest, place),
            ("deno", Some("task")) | ("bun", Some("run")) => self.package_scripts(words, place),
            _ => {}
        }
        let subcommands = matches!(first.as_str(), "deno" | "bun");
        let mut plain = rest.iter();
        while let Some(word) = plain.next() {
            if matches!(
                word.as_str(),
                "-r" | "--require" | "--import" | "--loader" | "--experimental-loader" | "--env-file"
            ) {
                plain.next();
            } else if matches!(word.as_str(), "-e" | "--eval" | "-p" | "--print") {
                return;
            } else if !(word.starts_with('-') || subcommands && matches!(word.as_str(), "run" | "task")) {
                for path in self.node_files(word, place) {
                    self.run(&path, judged, place);
                }
                return;
            }
        }
    }

    /// Node finds `check.js` for `check`.
    fn node_files(&mut self, word: &str, place: &Place) -> Vec<Vec<u8>> {
        let tried = ["", ".js", ".mjs", ".cjs", ".ts", "/index.js"];
        tried.iter().flat_map(|end| self.resolve(&format!("{word}{end}"), place)).collect()
    }

    /// Ruby, Perl, PHP, Lua, awk and others.
    pub fn interpreter(&mut self, words: &[String], judged: bool, place: &Place) {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-e" | "-E" | "--eval" | "-ne" | "-pe" => return,
                "-I" | "-F" | "-v" | "-d" | "-C" => {
                    rest.next();
                }
                "-r" | "-f" | "-l" => {
                    for path in rest.next().map(|word| self.resolve(word, place)).unwrap_or_default() {
                        self.run(&path, judged, place);
                    }
                }
                word if word.starts_with('-') => {}
                _ => return self.run_word(word, judged, place),
            }
        }
    }

    /// Doc strings may be run because of the runner's configuration.
    pub fn find_configured_doctests(&mut self) {
        if !self.reach.runs_tests || self.reach.doctests {
            return;
        }
        for name in [
            "pytest.ini",
            "pyproject.toml",
            "setup.cfg",
            "tox.ini",
            "pytest.toml",
            ".pytest.ini",
            "conftest.py",
        ] {
            let runs = |line: &str| {
                let line = line.trim_start();
                !line.starts_with('#')
                    && (line.contains("doctest-modules")
                        || line.contains("doctest_plus")
                        || line.contains("doctest-plus"))
            };
            self.reach.doctests |= self.texts(name.as_bytes()).iter().any(|text| text.lines().any(runs));
        }
    }

    /// `tox.ini`: its `commands` are run.
    pub fn tox(&mut self, place: &Place) {
        for text in self.texts(b"tox.ini") {
            let mut inside = false;
            let mut lines = String::new();
            for line in text.lines() {
                if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with([' ', '\t'])) {
                    inside = key.trim().starts_with("commands");
                    if inside {
                        lines = lines + value + "\n";
                    }
                } else if inside {
                    lines = lines + line.trim() + "\n";
                }
            }
            self.walk(&lines, &place.deeper(Some("tox.ini".to_owned())));
        }
    }
}

/// The values of options that load a module before the script.
fn preloads(words: &[String]) -> Vec<&str> {
    let options = ["-r", "--require", "--import", "--loader", "--experimental-loader"];
    options.iter().filter_map(|option| value_of(words, &[option])).collect()
}
