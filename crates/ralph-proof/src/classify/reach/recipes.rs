//! Package scripts, make rules, and the recipes of other task runners.

use std::collections::{BTreeMap, BTreeSet};

use super::arguments::{Place, value_of};
use super::programs::base_name;
use super::shell::{UNKNOWN, assignment};
use super::{Reached, Standing, Walker};
use crate::classify::paths;
use crate::parts::makefile::{Block, BlockKind, blocks, default_target};

/// Package manifests that are looked at, where a command means every package.
const MOST_PACKAGES: usize = 100;

impl Walker<'_> {
    /// `make -C dir target`
    pub fn make(&mut self, words: &[String], place: &Place) {
        let mut place = place.clone();
        place.enter(value_of(words, &["-C", "--directory"]));
        let named = value_of(words, &["-f", "--file", "--makefile"]);
        let options = ["-C", "--directory", "-f", "--file", "--makefile", "-j", "-l", "-I", "-o", "-W"];
        let mut targets: Vec<String> = Vec::new();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if options.contains(&word.as_str()) {
                let number =
                    word == "-j" && rest.as_slice().first().is_none_or(|n| n.parse::<u32>().is_err());
                if !number {
                    rest.next();
                }
            } else if !word.starts_with('-') && assignment(word).is_none() {
                targets.push(word.clone());
            }
        }
        self.reach.makes = true;
        for target in &targets {
            self.hiding(target, &place);
            self.reach.targets.insert(target.clone());
        }
        let files = named.map_or_else(|| vec!["GNUmakefile", "makefile", "Makefile"], |named| vec![named]);
        for file in files {
            for path in self.resolve(file, &place) {
                self.rules(&path, &targets, &place);
            }
        }
    }

    /// A new file of a target's name keeps make from running its recipe.
    fn hiding(&mut self, target: &str, place: &Place) {
        let why = format!("named like a make target of {}", place.source);
        for base in &place.bases {
            let Some(path) = paths::join(base, target.as_bytes()) else { continue };
            let reached = Reached { standing: Standing::Oracle, why: why.clone() };
            if self.now.contains(&path) && !self.before.contains(&path) {
                self.reach.files.insert(path, reached);
            } else if self.now.contains_dir(&path) && !self.before.contains_dir(&path) {
                self.reach.directories.insert(path, reached);
            }
        }
    }

    /// The recipes of these targets and of what they need.
    fn rules(&mut self, path: &[u8], targets: &[String], place: &Place) {
        let name = paths::shown(path);
        for text in self.texts(path) {
            let found = blocks(&text);
            self.includes(path, &found);
            let variables = variables(&found);
            let mut asked: Vec<String> = targets.to_vec();
            if asked.is_empty() {
                asked.extend(default_target(&found).map(str::to_owned));
            }
            self.reach.targets.extend(asked.iter().cloned());
            let mut seen: BTreeSet<String> = BTreeSet::new();
            let mut direct = place.deeper(Some(format!("the recipe in {name}")));
            direct.bases = vec![paths::parent(path).to_vec()];
            while !asked.is_empty() && direct.depth < super::DEEPEST {
                let mut needed = Vec::new();
                for (recipe, needs) in rules_for(&found, &asked) {
                    let lines: Vec<String> = recipe.iter().map(|line| expanded(line, &variables)).collect();
                    self.walk(&lines.join("\n"), &direct);
                    needed.extend(needs.iter().filter(|need| seen.insert((*need).clone())).cloned());
                }
                asked = needed;
                direct = Place { direct: false, ..direct.deeper(None) };
            }
        }
    }

    fn includes(&mut self, path: &[u8], found: &[Block]) {
        let place = Place {
            source: String::new(),
            bases: vec![paths::parent(path).to_vec()],
            depth: 0,
            direct: false,
            skips_check: false,
        };
        for block in found {
            let BlockKind::Include(files) = &block.kind else { continue };
            for file in files {
                for included in self.resolve(&file.replace("$(", "*").replace(')', ""), &place) {
                    self.note(included, Standing::Oracle, format!("included by {}", paths::shown(path)));
                }
            }
        }
    }

    /// `just recipe`: its file reads nearly like a make file.
    pub fn just(&mut self, words: &[String], place: &Place) {
        let targets: Vec<String> = words.iter().filter(|word| !word.starts_with('-')).cloned().collect();
        for file in ["justfile", "Justfile", ".justfile"] {
            for path in self.resolve(file, place) {
                self.rules(&path, &targets, place);
            }
        }
    }

    /// Every command of a Taskfile.
    pub fn task(&mut self, place: &Place) {
        for file in ["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"] {
            for path in self.resolve(file, place) {
                let mut inner = place.deeper(Some(file.to_owned()));
                inner.bases = vec![paths::parent(&path).to_vec()];
                for text in self.texts(&path) {
                    for line in text.lines() {
                        let line = line.trim().trim_start_matches("- ").trim_start_matches("cmd:").trim();
                        self.walk(line.trim_matches(['"', '\'']), &inner);
                    }
                }
            }
        }
    }

    /// `npm test`, `yarn run x`, `composer x`, `deno task x`, `poe x`
    pub fn package_scripts(&mut self, words: &[String], place: &Place) {
        let Some((first, rest)) = words.split_first() else { return };
        let mut place = place.clone();
        place.enter(value_of(rest, &["--prefix", "-C", "--cwd", "--dir"]));
        let everywhere = rest.iter().any(|word| {
            matches!(
                word.as_str(),
                "-w" | "--workspaces" | "-ws" | "-r" | "--recursive" | "workspaces" | "workspace"
            ) || word.starts_with("--workspace")
                || word.starts_with("--filter")
                || word == "-F"
        });
        let files: &[&str] = match base_name(first) {
            "composer" => &["composer.json"],
            "deno" => &["deno.json", "deno.jsonc", "package.json"],
            "poe" => &["pyproject.toml"],
            _ => &["package.json"],
        };
        let names: Vec<&str> = rest
            .iter()
            .map(String::as_str)
            .map(|word| if matches!(word, "t" | "tst") { "test" } else { word })
            .collect();
        self.reach.runs_tests |= names.iter().any(|name| *name == "test" || name.starts_with("test:"));
        for file in files {
            let mut found = self.resolve(file, &place);
            if everywhere {
                let ends = format!("/{file}").into_bytes();
                let more = self
                    .now
                    .paths()
                    .filter(|path| path.ends_with(&ends) && !path.starts_with(b"node_modules/"));
                found.extend(more.take(MOST_PACKAGES).map(<[u8]>::to_vec));
            }
            for path in found {
                self.scripts_of(&path, &names, &place);
            }
        }
    }

    fn scripts_of(&mut self, path: &[u8], names: &[&str], place: &Place) {
        for text in self.texts(path) {
            let scripts = if path.ends_with(b".toml") { toml_scripts(&text) } else { json_scripts(&text) };
            for name in names {
                for key in [(*name).to_owned(), format!("pre{name}"), format!("post{name}")] {
                    for script in scripts.get(&key).into_iter().flatten() {
                        let mut inner =
                            place.deeper(Some(format!("the script `{key}` of {}", paths::shown(path))));
                        inner.bases = vec![paths::parent(path).to_vec()];
                        // Composer calls another script `@name`.
                        let script = script
                            .strip_prefix('@')
                            .map_or_else(|| script.clone(), |name| format!("composer {name}"));
                        self.walk(&script, &inner);
                    }
                }
            }
        }
    }
}

fn rules_for<'a>(found: &'a [Block], asked: &[String]) -> Vec<(&'a [String], &'a [String])> {
    let rules = found.iter().filter_map(|block| match &block.kind {
        BlockKind::Rule { targets, prerequisites, recipe } => {
            let fits = targets.iter().any(|target| asked.contains(target));
            fits.then_some((recipe.as_slice(), prerequisites.as_slice()))
        }
        _ => None,
    });
    rules.collect()
}

fn variables(found: &[Block]) -> BTreeMap<&str, &str> {
    let known = found.iter().filter_map(|block| match &block.kind {
        BlockKind::Variable { name, value } => Some((name.as_str(), value.as_str())),
        _ => None,
    });
    [("MAKE", "make"), ("SHELL", "sh"), ("CURDIR", ".")].into_iter().chain(known).collect()
}

/// A recipe's line with make's variables, three levels deep; what is not known stays so.
fn expanded(line: &str, variables: &BTreeMap<&str, &str>) -> String {
    let mut line = line.to_owned();
    for _ in 0..3 {
        let mut made = String::new();
        let mut rest = line.as_str();
        while let Some(at) = rest.find('$') {
            made.push_str(rest.get(..at).unwrap_or_default());
            rest = rest.get(at + 1..).unwrap_or_default();
            let close = match rest.chars().next() {
                Some('(') => ')',
                Some('{') => '}',
                _ => {
                    made.push('$');
                    continue;
                }
            };
            let name = rest.get(1..).unwrap_or_default().split(close).next().unwrap_or_default();
            match variables.get(name) {
                Some(value) => made.push_str(value),
                None => made.push(UNKNOWN),
            }
            rest = rest.get(name.len() + 1..).and_then(|rest| rest.strip_prefix(close)).unwrap_or_default();
        }
        made.push_str(rest);
        made.truncate(made.floor_char_boundary(65_536));
        if made == line {
            break;
        }
        line = made;
    }
    line.replace("$$", "$")
}

/// `scripts` of package.json and composer.json, `tasks` of deno.json.
fn json_scripts(text: &str) -> BTreeMap<String, Vec<String>> {
    let text = crate::parts::json::without_comments(text);
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(&text) else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for (name, value) in
        ["scripts", "tasks"].iter().filter_map(|key| manifest.get(key)?.as_object()).flatten()
    {
        let value = value.get("command").unwrap_or(value);
        let texts = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        found
            .insert(name.clone(), texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect());
    }
    found
}

/// Tasks of poe, taskipy, pdm and rye.
fn toml_scripts(text: &str) -> BTreeMap<String, Vec<String>> {
    let Ok(manifest) = text.parse::<toml::Table>() else { return BTreeMap::new() };
    let mut found = BTreeMap::new();
    for key in [
        ["tool", "poe", "tasks"],
        ["tool", "taskipy", "tasks"],
        ["tool", "pdm", "scripts"],
        ["tool", "rye", "scripts"],
    ] {
        let [first, rest @ ..] = key;
        let table = rest
            .iter()
            .fold(manifest.get(first), |table, part| table?.get(part))
            .and_then(toml::Value::as_table);
        for (name, value) in table.into_iter().flatten() {
            let inner = value.get("cmd").or_else(|| value.get("shell")).unwrap_or(value);
            found.insert(name.clone(), inner.as_str().map(str::to_owned).into_iter().collect());
        }
    }
    found
}
