//! What a script of a language other than the shell's imports from the workspace. What a check imports is usually what it
//! checks; its own helpers are told by their names, or because they lie beside it in a directory of their own.

use std::sync::OnceLock;

use regex::Regex;

use super::arguments::Place;
use super::{Standing, Walker, check_like, expectation_like};
use crate::classify::{is_named_test, paths};

impl Walker<'_> {
    pub fn imports(&mut self, script: &[u8], text: &str, place: &Place) {
        let candidates = match paths::extension(script).as_slice() {
            b"py" | b"pyw" => python(text),
            b"js" | b"mjs" | b"cjs" | b"ts" | b"mts" | b"cts" | b"jsx" | b"tsx" => javascript(text),
            b"rb" | b"pl" | b"pm" | b"t" | b"php" | b"lua" => required(text),
            _ => return,
        };
        for candidate in candidates.iter().take(2_000) {
            for path in self.resolve(candidate, place) {
                self.imported(script, path, place);
            }
        }
    }

    /// What a check script sources is treated like what it imports: it may be the work that is tried out. If it defines
    /// what checks are made of, it may belong to them.
    pub fn sourced(&mut self, words: &[String], place: &Place) {
        let Some(word) = words.first() else { return };
        let script = place.source.clone();
        for path in self.resolve(word, place) {
            let helper = || self.before.text(&path).is_some_and(|text| defines_checks(&text));
            if !check_like(&path) && !is_named_test(&path) && helper() {
                self.note(path, Standing::Ambiguous, format!("sourced by {script}"));
            } else {
                self.imported(script.as_bytes(), path, place);
            }
        }
    }

    fn imported(&mut self, script: &[u8], path: Vec<u8>, place: &Place) {
        if path == script {
            return;
        }
        let dir = paths::parent(script);
        let of_checks =
            matches!(paths::name(dir), b"scripts" | b"script" | b"tools" | b"hack" | b"dev" | b"etc");
        let beside = paths::parent(&path) == dir && (of_checks || check_like(dir));
        let why = format!("imported by {}", place.source);
        if check_like(&path) || is_named_test(&path) {
            self.note(path.clone(), Standing::Oracle, why);
            self.look_into(&path, place);
        } else if beside || self.before.contains(&path) && expectation_like(&path) {
            self.note(path, Standing::Ambiguous, why);
        }
    }
}

/// Whether a shell script defines functions that checks are made of.
fn defines_checks(text: &str) -> bool {
    static CHECKS: OnceLock<Option<Regex>> = OnceLock::new();
    let names = "assert|expect|check|verify|fail|die|ok|is|same|equals?|test|pass|run";
    let pattern = format!(r"(?m)^[ \t]*(?:function[ \t]+)?(?:{names})\w*[ \t]*\(\)");
    regex(&CHECKS, &pattern).is_some_and(|checks| checks.is_match(text))
}

fn regex(cell: &'static OnceLock<Option<Regex>>, pattern: &str) -> Option<&'static Regex> {
    cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

/// Files of `import a.b` and `from a import b`.
fn python(text: &str) -> Vec<String> {
    static IMPORTS: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern =
        r"(?m)^[ \t]*(?:from[ \t]+\.*([\w.]+)[ \t]+import[ \t]+\(?([\w., \t]+)|import[ \t]+([\w., \t]+))";
    let mut found = Vec::new();
    for captures in regex(&IMPORTS, pattern).into_iter().flat_map(|regex| regex.captures_iter(text)) {
        let first_words = |at: usize| -> Vec<String> {
            let names = captures.get(at).map(|names| names.as_str()).unwrap_or_default();
            names
                .split(',')
                .filter_map(|name| name.split_whitespace().next())
                .map(|name| name.replace('.', "/"))
                .collect()
        };
        let mut modules = first_words(3);
        for package in first_words(1) {
            modules.extend(first_words(2).iter().map(|name| format!("{package}/{name}")));
            modules.push(package);
        }
        found.extend(
            modules.iter().flat_map(|module| [format!("{module}.py"), format!("{module}/__init__.py")]),
        );
    }
    found
}

/// Files of `require('./x')` and `import … from './x'`.
fn javascript(text: &str) -> Vec<String> {
    static IMPORTS: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r#"(?:require\(|from|import|import\()\s*['"`](\.{1,2}/[^'"`\n]+)['"`]"#;
    let captures = regex(&IMPORTS, pattern).into_iter().flat_map(|regex| regex.captures_iter(text));
    let modules = captures.filter_map(|captures| captures.get(1)).map(|module| module.as_str());
    let ends = ["", ".js", ".ts", ".mjs", ".cjs", ".tsx", "/index.js", "/index.ts"];
    modules.flat_map(|module| ends.iter().map(move |end| format!("{module}{end}"))).collect()
}

/// Files of `require_relative 'x'`, `require 'x.php'`, `use lib`, `dofile("x")`.
fn required(text: &str) -> Vec<String> {
    static REQUIRES: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r#"\b(?:require_relative|require_once|require|include_once|include|load|do|dofile)\b[\s(]*(?:__DIR__\s*\.\s*)?['"]/?([^'"\n]+)['"]"#;
    let captures = regex(&REQUIRES, pattern).into_iter().flat_map(|regex| regex.captures_iter(text));
    let files = captures.filter_map(|captures| captures.get(1)).map(|file| file.as_str());
    files.flat_map(|file| ["", ".rb", ".lua", ".php"].iter().map(move |end| format!("{file}{end}"))).collect()
}
