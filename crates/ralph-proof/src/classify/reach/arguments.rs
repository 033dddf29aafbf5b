//! Which files the words of a command mean, and what programs do with them.

use super::programs::{CONFIG_OPTIONS, base_name};
use super::shell::UNKNOWN;
use super::{Standing, Walker, check_like, expectation_like};
use crate::classify::globs::as_regex;
use crate::classify::paths;

/// Where a command stands.
#[derive(Clone, Debug)]
pub struct Place {
    /// Who runs it, in words.
    pub source: String,
    /// Directories it may run in.
    pub bases: Vec<Vec<u8>>,
    /// How many scripts lie between the verify command and it.
    pub depth: usize,
    /// Its exit status is the verify command's own.
    pub direct: bool,
    /// What it looks at decides whether a check runs.
    pub skips_check: bool,
}

impl Place {
    /// Enters a directory. The former ones stay possible: a subshell may end.
    pub fn enter(&mut self, directory: Option<&str>) {
        let Some(directory) = directory else { return };
        for base in self.bases.clone() {
            if let Some(joined) = paths::join_dir(&base, directory.as_bytes())
                && !self.bases.contains(&joined)
                && self.bases.len() < 16
            {
                self.bases.push(joined);
            }
        }
    }

    /// A directory seen from here.
    pub fn directories(&self, directory: &str) -> Vec<Vec<u8>> {
        self.bases.iter().filter_map(|base| paths::join_dir(base, directory.as_bytes())).collect()
    }

    /// One level deeper, with the same exit status.
    pub fn deeper(&self, source: Option<String>) -> Place {
        let source = source.unwrap_or_else(|| self.source.clone());
        Place { source, depth: self.depth + 1, ..self.clone() }
    }

    /// Inside a script in this directory.
    pub fn inside(&self, script: &str, directory: &[u8]) -> Place {
        let mut bases = self.bases.clone();
        for base in [directory.to_vec(), Vec::new()] {
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        Place { source: script.to_owned(), bases, depth: self.depth + 1, direct: false, skips_check: false }
    }
}

impl Walker<'_> {
    /// Files that a word may mean.
    pub fn resolve(&mut self, word: &str, place: &Place) -> Vec<Vec<u8>> {
        let known = word.trim_start_matches(UNKNOWN);
        let (word, anywhere) = match known.strip_prefix('/') {
            Some(rest) if known.len() < word.len() => (rest, true),
            _ => (word, false),
        };
        if word.is_empty() || word.len() > 4096 {
            return Vec::new();
        }
        if word.starts_with('/') {
            return self.absolute(word);
        }
        let is_glob = word.contains(['*', '?', '[', UNKNOWN]) || word.contains('{') && word.contains(',');
        if is_glob {
            return self.globbed(word, place);
        }
        let root = Vec::new();
        let bases = place.bases.iter().chain(anywhere.then_some(&root));
        let meant = bases.filter_map(|base| paths::join(base, word.as_bytes()));
        let meant = meant.flat_map(|path| [vec![path.clone()], self.links.followed(&path)].concat());
        let mut found: Vec<Vec<u8>> = meant.filter(|path| self.contains(path)).collect();
        found.dedup();
        found
    }

    /// The workspace's own path is not known: the longest end of the path that is there counts.
    fn absolute(&self, word: &str) -> Vec<Vec<u8>> {
        let ends = word.match_indices('/').filter_map(|(at, _)| word.get(at + 1..));
        let found = ends.take(64).find(|end| end.contains('.') && self.contains(end.as_bytes()));
        found.map(|end| end.as_bytes().to_vec()).into_iter().collect()
    }

    fn globbed(&mut self, word: &str, place: &Place) -> Vec<Vec<u8>> {
        if self.globs == 0 || !word.contains(|c: char| c.is_alphanumeric()) {
            return Vec::new();
        }
        self.globs -= 1;
        let mut glob = String::new();
        let mut class = false;
        for c in word.chars() {
            match c {
                UNKNOWN => glob.push('*'),
                '[' => class = true,
                ']' if class => {
                    class = false;
                    glob.push('?');
                }
                _ if class => {}
                c => glob.push(c),
            }
        }
        let patterns = place.bases.iter().filter_map(|base| paths::join(base, glob.as_bytes()));
        let patterns =
            patterns.filter_map(|joined| String::from_utf8(joined).ok().map(|glob| as_regex(&glob, true)));
        let Ok(set) = regex::bytes::RegexSet::new(patterns) else { return Vec::new() };
        let both = self.now.paths().chain(self.before.paths().filter(|path| !self.now.contains(path)));
        both.filter(|path| set.is_match(path)).take(2_000).map(<[u8]>::to_vec).collect()
    }

    /// Runs the files of the first word that is no option.
    pub fn run_first(&mut self, words: &[String], judged: bool, place: &Place) {
        if let Some(word) = words.iter().find(|word| !word.starts_with('-')) {
            self.run_word(word, judged, place);
        }
    }

    pub fn run_word(&mut self, word: &str, judged: bool, place: &Place) {
        for path in self.resolve(word, place) {
            self.run(&path, judged, place);
        }
    }

    /// `$PYTHON check.py`: whatever it is, the first file is what it runs.
    pub fn unknown_program(&mut self, words: &[String], judged: bool, place: &Place) {
        for word in words {
            let found = self.resolve(word, place);
            if !found.is_empty() {
                for path in found {
                    self.run(&path, judged, place);
                }
                return;
            }
        }
    }

    /// A program that is not known: it may be a file of the workspace; shell scripts it is given are run.
    pub fn other(&mut self, words: &[String], judged: bool, place: &Place) {
        let Some((first, rest)) = words.split_first() else { return };
        match (base_name(first), rest.first().map(String::as_str)) {
            ("go", Some("run")) => return self.go_run(rest, judged, place),
            (
                "echo" | "printf" | "rm" | "cp" | "mv" | "chmod" | "touch" | "mkdir" | "git" | "set" | "trap",
                _,
            ) => return,
            ("cargo", _) => return self.cargo(rest, judged, place),
            ("concurrently", _) => {
                for word in rest.iter().filter(|word| !word.starts_with('-')) {
                    match word.strip_prefix("npm:") {
                        Some(script) => self
                            .package_scripts(&["npm".to_owned(), "run".to_owned(), script.to_owned()], place),
                        None => self.walk(word, &place.deeper(None)),
                    }
                }
                return;
            }
            _ => {}
        }
        self.run_word(first, judged, place);
        for word in rest {
            for path in self.resolve(word, place) {
                if matches!(paths::extension(&path).as_slice(), b"sh" | b"bash" | b"bats" | b"t") {
                    self.run(&path, judged, place);
                }
            }
        }
        if super::runs_tests(words) {
            self.runner(words, place);
        }
    }

    /// A runner: files it is given are tests or configuration; a directory that is named like checks holds them.
    pub fn runner(&mut self, words: &[String], place: &Place) {
        let pattern = value_of(words, &["-p", "--pattern"]);
        let start = value_of(words, &["-s", "--start-directory"]);
        if let Some(pattern) =
            pattern.filter(|_| words.iter().any(|word| word == "discover" || word == "unittest"))
        {
            let glob = format!("{}/**/{pattern}", start.unwrap_or("."));
            self.note_all(&glob, place, "collected by");
        }
        // Examples are in the sources themselves; a text with examples is a test.
        let sources =
            words.iter().any(|word| word == "doctest" || word == "xdoctest" || word == "--doctest-modules");
        let mut value = false;
        for word in words.iter().skip(1) {
            if std::mem::replace(
                &mut value,
                matches!(word.as_str(), "-p" | "--pattern" | "-k" | "-m" | "-t" | "-n"),
            ) {
                continue;
            }
            let word = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            let word = word.split("::").next().unwrap_or(word);
            if !sources || !word.ends_with(".py") {
                self.note_all(word, place, "run as a test by");
            }
            let directory = word.trim_end_matches('/');
            for dir in place.directories(directory) {
                if check_like(&dir) && (self.before.contains_dir(&dir) || self.now.contains_dir(&dir)) {
                    let why = format!("below a directory that {} tests", place.source);
                    self.reach.directories.insert(dir, super::Reached { standing: Standing::Oracle, why });
                }
            }
        }
        if base_name(words.first().map(String::as_str).unwrap_or_default()) == "tox" {
            self.tox(place);
        }
    }

    fn note_all(&mut self, word: &str, place: &Place, why: &str) {
        for path in self.resolve(word, place) {
            self.note(path, Standing::Oracle, format!("{why} {}", place.source));
        }
    }

    /// `diff` and `cmp`: what is named like an expectation is one; so is the only file of the tree.
    pub fn compare(&mut self, words: &[String], place: &Place) {
        let files: Vec<Vec<u8>> = words.iter().flat_map(|word| self.resolve(word, place)).collect();
        let expected = files.iter().any(|path| expectation_like(path));
        for path in &files {
            let standing = if expectation_like(path) || files.len() == 1 && self.before.contains(path) {
                Standing::Oracle
            } else if expected || files.len() == 1 {
                Standing::Examined
            } else {
                Standing::Ambiguous
            };
            if standing != Standing::Examined || place.depth == 0 {
                self.note(path.clone(), standing, format!("compared by {}", place.source));
            }
        }
    }

    /// What a command looks at is the work; what it is told to use is not.
    pub fn examine(&mut self, name: &str, words: &[String], place: &Place) {
        let mut uses = false;
        let shell_test = matches!(
            name,
            "test" | "[" | "[[" | "tail" | "head" | "sort" | "cut" | "find" | "ls" | "rg" | "jq"
        );
        for word in words {
            let (option, value) = word.split_once('=').unwrap_or((word, word));
            let told = uses || option != value && CONFIG_OPTIONS.contains(&option);
            uses = CONFIG_OPTIONS.contains(&word.as_str())
                && (!shell_test || name == "jq" && word == "--from-file");
            for path in self.resolve(if told { value } else { word }, place) {
                if told {
                    self.note(path, Standing::Oracle, format!("used by {}", place.source));
                } else if place.direct && !check_like(&path) {
                    let standing = if place.skips_check { Standing::Ambiguous } else { Standing::Examined };
                    self.note(path, standing, format!("examined by {}", place.source));
                }
            }
        }
    }

    /// `go run ./cmd/x`
    fn go_run(&mut self, words: &[String], judged: bool, place: &Place) {
        let Some(word) = words.iter().skip(1).find(|word| !word.starts_with('-')) else { return };
        if word.ends_with(".go") {
            return self.run_word(word, judged, place);
        }
        self.run_word(&format!("{}/*.go", word.trim_end_matches('/')), judged, place);
    }

    /// `cargo run --bin x`, `cargo xtask x`, and runners.
    fn cargo(&mut self, words: &[String], judged: bool, place: &Place) {
        for (option, dir) in [("--bin", "src/bin"), ("--example", "examples")] {
            if let Some(name) = value_of(words, &[option]) {
                self.run_word(&format!("{dir}/{name}.rs"), judged, place);
                self.run_word(&format!("{dir}/{name}/main.rs"), judged, place);
            }
        }
        if words.iter().any(|word| word == "xtask") && self.before.contains_dir(b"xtask") {
            let why = format!("run by {}", place.source);
            self.reach
                .directories
                .insert(b"xtask/src".to_vec(), super::Reached { standing: Standing::Oracle, why });
        }
    }
}

/// The value of the first of these options that is there.
pub fn value_of<'a>(words: &'a [String], options: &[&str]) -> Option<&'a str> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if options.contains(&word.as_str()) {
            return rest.next().map(String::as_str);
        }
        if let Some((option, value)) = word.split_once('=')
            && options.contains(&option)
        {
            return Some(value);
        }
    }
    None
}
