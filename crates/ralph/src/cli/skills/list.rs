//! `ralph skills list`: every skill in the order of precedence; those that another one of the same name hides are marked.

use crate::cli::{Here, named_skill};
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::skills::{self, Found, Skill};
use crate::style::Style;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// The longest description in a row.
const SHOWN: usize = 72;

/// One skill that was found.
struct Row {
    found: Found,
    read: Result<Skill, Vec<Problem>>,
    /// The file of the skill that hides it.
    shadowed_by: Option<String>,
    ready: bool,
}

/// Lists them.
pub fn list(as_json: bool, here: &Here) -> Result<u8, Problem> {
    let rows = rows(here);
    if as_json {
        let skills: Vec<Value> = rows.iter().map(data).collect();
        print_json(&json!({"v": 1, "type": "skills", "skills": skills}))?;
        return Ok(0);
    }
    print(&text(&rows, &here.workspace, here.out_style()));
    Ok(0)
}

fn rows(here: &Here) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for found in skills::all(&here.workspace, &here.env) {
        let first = rows.iter().find(|row| row.found.name == found.name);
        let shadowed_by = first.map(|row| row.found.shown().display().to_string());
        let read = Skill::read(&found);
        let ready = shadowed_by.is_none() && read.as_ref().is_ok_and(|skill| is_ready(skill, here));
        rows.push(Row { found, read, shadowed_by, ready });
    }
    // By name; the order of precedence within one.
    rows.sort_by(|a, b| a.found.name.cmp(&b.found.name));
    rows
}

/// With the verify commands that are in force with it.
fn is_ready(skill: &Skill, here: &Here) -> bool {
    let config = named_skill::config_with(Some(&skill.name), here);
    config.is_ok_and(|config| skill.is_loop_ready(&config.settings.verify))
}

fn data(row: &Row) -> Value {
    let skill = row.read.as_ref().ok();
    let problem = row.read.as_ref().err().and_then(|problems| problems.first());
    json!({
        "name": row.found.name, "source": row.found.source.word(), "path": row.found.path,
        "description": skill.map(|skill| &skill.description), "promise": skill.and_then(|skill| skill.promise.as_ref()),
        "hash": skill.map(|skill| &skill.hash), "kinds": skill.map(Skill::kinds),
        "loopReady": row.ready, "shadowedBy": row.shadowed_by,
        "problem": problem.map(|problem| &problem.message),
    })
}

fn text(rows: &[Row], workspace: &Path, style: Style) -> String {
    let width = rows.iter().map(|row| row.found.name.chars().count()).max().unwrap_or(0).clamp(4, 40);
    let mut text = style.faint(format!("{:<width$}  {:<9}  DESCRIPTION", "NAME", "LOOP")) + "\n";
    for row in rows {
        let name = plain(&row.found.name);
        let (ready, words) = match (&row.shadowed_by, &row.read) {
            (Some(_), _) => ("shadowed", place(row, workspace)),
            (None, Err(problems)) => {
                let first = problems.first().map(|problem| problem.message.clone());
                ("broken", first.unwrap_or_default())
            }
            (None, Ok(skill)) => {
                let ready = if row.ready { "ready" } else { "no" };
                (ready, format!("{} ({})", shortened(&skill.description), place(row, workspace)))
            }
        };
        let _ = writeln!(text, "{name:<width$}  {ready:<9}  {}", plain(&words));
    }
    if rows.iter().any(|row| row.shadowed_by.is_none() && !row.ready) {
        text.push_str("\n`ralph skills check NAME` says what a loop lacks.\n");
    }
    text
}

/// Where it is, as short as possible.
fn place(row: &Row, workspace: &Path) -> String {
    match &row.found.path {
        Some(path) => path.strip_prefix(workspace).unwrap_or(path).display().to_string(),
        None => row.found.source.word().into(),
    }
}

/// The first sentence, or as much of it as fits a row.
fn shortened(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.');
    match sentence.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", sentence.get(..end).unwrap_or_default().trim_end()),
        None => sentence.to_owned(),
    }
}
