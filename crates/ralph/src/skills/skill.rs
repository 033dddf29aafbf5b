//! A skill that was found and read: what a run takes from it, and what it lacks.

use super::built_in::{BuiltIn, built_in};
use super::document::{self, CRITERIA, Document, INTEGRATION};
use super::fault::Fault;
use super::search::{Found, Source};
use crate::config::{SkillValues, mistake_at};
use crate::env::Env;
use crate::init::detect::detect;
use crate::init::found::{Found as FoundStack, Use};
use crate::problem::{Code, Problem};
use ralph_rules::record::SkillGiven;
use std::path::{Path, PathBuf};

/// The longest SKILL.md: it travels with every prompt.
pub const MOST_BYTES: usize = 32 << 10;

/// A skill.
#[derive(Clone, Debug)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Where it comes from.
    pub source: Source,
    /// Its file; of ralph's own, what stands for it in messages.
    pub path: PathBuf,
    /// The whole SKILL.md.
    pub text: String,
    /// BLAKE3 of the text, in hex.
    pub hash: String,
    /// The inner text of its promise.
    pub promise: Option<String>,
    /// What must be true at the end.
    pub criteria: Vec<String>,
    values: SkillValues,
    document: Document,
}

impl Skill {
    /// Reads what was found, or says everything that is wrong with it.
    pub fn read(found: &Found) -> Result<Skill, Vec<Problem>> {
        let text = found.text().map_err(|problem| vec![problem])?;
        let path = found.shown();
        let wrong = |faults: Vec<Fault>| {
            faults.iter().map(|fault| fault_at(&path, &text, fault, &found.name)).collect()
        };
        let document = document::read(&text).map_err(&wrong)?;
        let faults: Vec<Fault> =
            [too_long(&text), other_name(&document, &found.name)].into_iter().flatten().collect();
        if !faults.is_empty() {
            return Err(wrong(faults));
        }
        let (values, problems) = match document.block {
            Some(block) => SkillValues::read(&found.name, &path, &alone(&text, block)),
            None => (SkillValues::of(&found.name), Vec::new()),
        };
        if !problems.is_empty() {
            return Err(problems.into_iter().map(|problem| in_skill(problem, &found.name)).collect());
        }
        Ok(Skill {
            name: found.name.clone(),
            description: document.description.clone(),
            source: found.source,
            path,
            hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
            promise: document.promise.clone(),
            criteria: document.criteria.clone(),
            values: values.promising(document.promise.clone()),
            text,
            document,
        })
    }

    /// What it sets in this workspace: its block, and for the skills that ralph knows, the commands that `ralph init`
    /// would detect.
    pub fn values(&self, workspace: &Path, env: &Env) -> SkillValues {
        let detected = match built_in(&self.name).filter(|_| !self.values.verifies()) {
            Some(BuiltIn { verified_by, .. }) => commands(&detect(workspace, env), *verified_by),
            None => Vec::new(),
        };
        self.values.clone().verified_by(detected)
    }

    /// Kinds of task it is for; empty for any.
    pub fn kinds(&self) -> &[String] {
        &self.values.kinds
    }

    /// Whether a loop can use it: it has a promise, and something verifies its work.
    pub fn is_loop_ready(&self, verify: &[String]) -> bool {
        self.promise.is_some() && !verify.is_empty()
    }

    /// What a loop lacks, each at its line. `verify` are the commands in force with this skill.
    pub fn missing(&self, verify: &[String]) -> Vec<Problem> {
        let mut missing = Vec::new();
        let end = self.text.trim_end().len();
        let document = &self.document;
        if self.promise.is_none() {
            let at = document.integration_at.unwrap_or(end);
            let hint = format!("add a section \"## {INTEGRATION}\" with <promise>COMPLETE</promise>");
            missing.push(Fault::new(at, "the promise is missing", hint));
        }
        if self.criteria.is_empty() {
            let at = document.criteria_at.unwrap_or(end);
            let hint = format!("add a section \"## {CRITERIA}\" with lines such as `- [ ] All tests pass`");
            missing.push(Fault::new(at, "the completion criteria are missing", hint));
        }
        if verify.is_empty() {
            let at = document.block.map(|(at, _)| at).or(document.integration_at).unwrap_or(end);
            let hint = "add `verify = [\"your test command\"]` to its `toml ralph` block, or set commands under [verify] \
                        in ralph.toml";
            missing.push(Fault::new(at, "nothing verifies its work", hint));
        }
        missing.iter().map(|fault| fault_at(&self.path, &self.text, fault, &self.name)).collect()
    }

    /// The problem of a run with a skill that has no promise.
    pub fn without_promise(&self) -> Option<Problem> {
        self.promise.is_none().then(|| self.missing(&[]).into_iter().next()).flatten()
    }

    /// The method: the text without its front matter.
    pub fn method(&self) -> &str {
        self.text.get(self.document.body..).unwrap_or_default().trim()
    }

    /// As a run records it.
    pub fn given(&self) -> SkillGiven {
        SkillGiven {
            name: self.name.clone(),
            hash: self.hash.clone(),
            from: self.path.display().to_string(),
            text: self.method().to_owned(),
            criteria: self.criteria.clone(),
        }
    }
}

/// The first command of this kind in each stack.
fn commands(found: &[FoundStack], what: Use) -> Vec<String> {
    let first =
        |f: &FoundStack| f.checks.iter().find(|check| check.what == what).map(|check| f.at_top(check));
    found.iter().filter_map(first).collect()
}

/// The block with everything before it blank, so that its lines and columns are those of the file.
fn alone(text: &str, (start, end): (usize, usize)) -> String {
    let before = text.get(..start).unwrap_or_default();
    "\n".repeat(before.matches('\n').count()) + text.get(start..end).unwrap_or_default()
}

fn too_long(text: &str) -> Option<Fault> {
    let kib = text.len().div_ceil(1 << 10);
    (text.len() > MOST_BYTES).then(|| {
        let at = (0..=MOST_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let what = format!("the skill is {kib} KiB long, but at most 32 KiB travel with a prompt");
        Fault::new(at, what, "move details into files beside it, and name them in the text")
    })
}

fn other_name(document: &Document, directory: &str) -> Option<Fault> {
    let name = &document.name;
    (name.text != directory).then(|| {
        let what = format!("`name` is \"{}\", but its directory is \"{directory}\"", name.text);
        Fault::new(name.at, what, "give both the same name: clients find skills by either")
    })
}

fn fault_at(path: &Path, text: &str, fault: &Fault, skill: &str) -> Problem {
    in_skill(mistake_at(path, text, fault.at, &fault.what).hint(fault.hint.clone()), skill)
}

/// A mistake in a skill is wrong input, not wrong configuration.
fn in_skill(problem: Problem, skill: &str) -> Problem {
    let check = format!("correct it, then run `ralph skills check {skill}`");
    let hints = problem.hints.into_iter();
    let hints =
        hints.map(|hint| if hint.contains("ralph config check") { check.clone() } else { hint }).collect();
    Problem { code: Code::Input, hints, ..problem }
}
