//! The skill that `--skill NAME` names: found and read before anything else, so that a run never starts with half of it.

use super::Here;
use super::run::Args;
use crate::config::{self, Config};
use crate::problem::{Code, Problem};
use crate::skills::{self, Skill};
use ralph_engine::run_spec::RunSpec;
use ralph_rules::record::RunStarted;

/// The skill of a run, if it has one.
pub fn of_run(args: &Args, here: &Here) -> Result<Option<Skill>, Problem> {
    let Some(name) = &args.skill else { return Ok(None) };
    let skill = skills::find(name, &here.workspace, &here.env)?;
    if let Some(problem) = skill.without_promise() {
        return Err(problem);
    }
    let key = config::find("gate.promise");
    let flag =
        args.settings.text("gate.promise").and(key.and_then(|key| key.flag)).map(|flag| flag.name.to_owned());
    let variable = key.and_then(config::Key::variable).filter(|name| here.env.settings.contains_key(name));
    match flag.or(variable) {
        None => Ok(Some(skill)),
        Some(typed) => {
            let promise = skill.promise.unwrap_or_default();
            let message = format!("{typed} cannot be used with --skill: the skill {name} promises {promise}");
            Err(Problem::new(Code::Usage, message)
                .hint(format!("remove {typed}, or change the promise in the skill")))
        }
    }
}

/// Refuses a skill that nothing verifies: a loop of it could only believe the agent.
pub fn loop_ready(args: &Args, plan: &RunSpec, here: &Here) -> Result<(), Problem> {
    let Some(skill) = of_run(args, here)?.filter(|skill| !skill.is_loop_ready(&plan.verify)) else {
        return Ok(());
    };
    let missing = skill.missing(&plan.verify).into_iter();
    Err(missing
        .last()
        .unwrap_or_else(|| Problem::new(Code::Input, format!("the skill {} is not loop-ready", skill.name))))
}

/// The directory of a run's skill in the workspace: like ralph.toml, the agent must not change what it is measured by.
pub fn protected(skill: Option<&Skill>, here: &Here) -> Vec<String> {
    let Some(file) = skill.map(|skill| skill.path.clone()) else { return Vec::new() };
    // A link is protected, and so is what it leads to.
    let mut found: Vec<String> = Vec::new();
    for file in [file.canonicalize().ok(), Some(file)].into_iter().flatten() {
        let inside = file.parent().and_then(|dir| dir.strip_prefix(&here.workspace).ok()?.to_str());
        let plain = |c: char| c.is_ascii_alphanumeric() || "/.-_".contains(c);
        let glob =
            inside.filter(|dir| !dir.is_empty() && dir.chars().all(plain)).map(|dir| format!("/{dir}/"));
        found.extend(glob.filter(|glob| !found.contains(glob) && !glob.starts_with("/.ralph/skills/")));
    }
    found
}

/// Whether an interrupted run had another skill, or another version of it.
pub fn differs(start: &RunStarted, plan: &RunSpec) -> bool {
    let known = |skill: &ralph_rules::record::SkillGiven| (skill.name.clone(), skill.hash.clone());
    start.skill.as_ref().map(known) != plan.skill.as_ref().map(known)
}

/// The settings whose value comes from a skill.
pub fn taken(config: &Config) -> Vec<String> {
    config.rows.iter().filter(|row| row.layer == "skill").map(|row| row.name.clone()).collect()
}

/// The configuration with a skill, for the commands that show it.
pub fn config_with(skill: Option<&str>, here: &Here) -> Result<Config, Problem> {
    let skill = skill.map(|name| skills::find(name, &here.workspace, &here.env)).transpose()?;
    let values = skill.map(|skill| skill.values(&here.workspace, &here.env));
    let sources = config::Sources::files(&here.workspace, here.env.config_home.as_deref());
    sources.skill(values.as_ref()).variables(&here.env).load()
}
