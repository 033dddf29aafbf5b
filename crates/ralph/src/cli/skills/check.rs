//! `ralph skills check NAME`: what a loop takes from a skill, or what it lacks, each with its line.

use crate::cli::{Here, named_skill};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use crate::skills::{self, Skill};
use serde_json::{Value, json};
use std::fmt::Write;

/// Checks one skill.
pub fn check(name: &str, as_json: bool, here: &Here) -> Result<u8, Problem> {
    let found = skills::locate(name, &here.workspace, &here.env);
    let found = found.ok_or_else(|| skills::unknown(name, &here.workspace, &here.env))?;
    let (checked, problems) = match Skill::read(&found) {
        Err(problems) => (None, problems),
        Ok(skill) => {
            let config = named_skill::config_with(Some(name), here)?;
            let verify = config.settings.verify.clone();
            let from = config.setting("verify.commands").map(|setting| setting.from).unwrap_or_default();
            let missing = skill.missing(&verify);
            (Some((skill, verify, from)), missing)
        }
    };
    if as_json {
        let lines: Vec<Value> = problems.iter().map(Problem::json).collect();
        let known = checked.as_ref().map(|(skill, verify, _)| (skill, verify));
        print_json(&json!({
            "v": 1, "type": "skill_check", "name": name, "path": found.path, "source": found.source.word(),
            "loopReady": known.is_some_and(|(skill, verify)| skill.is_loop_ready(verify)),
            "promise": known.and_then(|(skill, _)| skill.promise.as_ref()),
            "criteria": known.map(|(skill, _)| &skill.criteria), "verify": known.map(|(_, verify)| verify),
            "problems": lines,
        }))?;
        return Ok(code(&problems));
    }
    if let Some((skill, verify, from)) = &checked {
        print(&text(skill, verify, from));
    }
    for problem in &problems {
        say(&problem.render(here.err_style()));
    }
    Ok(code(&problems))
}

fn code(problems: &[Problem]) -> u8 {
    if problems.is_empty() { 0 } else { Code::Input as u8 }
}

fn text(skill: &Skill, verify: &[String], from: &str) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<9} {}", plain(value));
    };
    row("skill", &format!("{} ({})", skill.name, skill.path.display()));
    row("promise", skill.promise.as_deref().unwrap_or("missing"));
    match skill.criteria.split_first() {
        None => row("criteria", "missing"),
        Some((first, rest)) => {
            row("criteria", first);
            rest.iter().for_each(|criterion| row("", criterion));
        }
    }
    match verify {
        [] => row("verify", "missing"),
        commands => row("verify", &format!("{} ({from})", commands.join(" && "))),
    }
    text
}
