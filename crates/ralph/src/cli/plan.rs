//! `ralph plan`: what a plan holds, what is next in it, whether its order is possible, and a plan in another format as a
//! prd.json (`plan/import.rs`).

mod import;

use super::{Here, examples};
use crate::config::Sources;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use clap::Subcommand;
use ralph_engine::bound_files;
use ralph_rules::counting::counted;
use ralph_rules::plan::{Choice, Document, Item, choose};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Names of plans that are looked for where none is named.
const USUAL: [&str; 3] = ["prd.json", "fix_plan.md", "plan.md"];

/// Arguments of `ralph plan`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the items of a plan: what is done, what is next, what waits for what.
    #[command(before_help = examples::PLAN)]
    List(File),
    /// Show the item that is next, with its acceptance criteria.
    #[command(before_help = examples::PLAN)]
    Next(File),
    /// Check a plan; exit with 65 if it cannot be read or its order is impossible.
    #[command(before_help = examples::PLAN)]
    Check(File),
    /// Write a prd.json from Markdown, another prd.json or GitHub issues.
    #[command(before_help = examples::PLAN)]
    Import(import::Args),
}

#[derive(Debug, clap::Args)]
struct File {
    /// Plan (default: plan.file, otherwise prd.json, fix_plan.md or plan.md here).
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn plan(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.what {
        What::List(file) => list(file, here),
        What::Next(file) => next(file, here),
        What::Check(file) => check(file, here),
        What::Import(args) => import::import(args, here),
    }
}

/// A plan, and how it was named.
struct Opened {
    file: String,
    document: Document,
}

fn open(file: &File, here: &Here) -> Result<Opened, Problem> {
    let (name, path) = named(file, here)?;
    let path = path.canonicalize().map_err(|error| {
        Problem::new(Code::Input, format!("cannot read the plan {name}"))
            .cause(&error)
            .hint("give a file with checkboxes, or a prd.json")
    })?;
    let (_, document) = bound_files::document(&path).map_err(|why| {
        Problem::new(Code::Input, format!("cannot read the plan {name}: {why}")).hint("fix the file")
    })?;
    Ok(Opened { file: name, document })
}

/// Typed names are relative to where they are typed, the setting is relative to the workspace.
fn named(file: &File, here: &Here) -> Result<(String, PathBuf), Problem> {
    if let Some(file) = &file.file {
        return Ok((file.to_string_lossy().into_owned(), here.typed_in.join(file)));
    }
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let set = sources.variables(&here.env).load()?.settings.plan;
    let usual = || USUAL.iter().find(|name| here.workspace.join(name).is_file()).map(ToString::to_string);
    let Some(name) = set.or_else(usual) else {
        return Err(Problem::new(Code::Usage, "no plan: none is named, and there is no prd.json here")
            .hint("give a file: ralph plan list FILE, or set file under [plan]"));
    };
    let path = here.workspace.join(&name);
    Ok((name, path))
}

fn list(args: &File, here: &Here) -> Result<u8, Problem> {
    let Opened { file, document } = open(args, here)?;
    let taken = taken(&document);
    let counts = document.counted();
    if args.json {
        let items: Vec<Value> = document.items.iter().map(|item| value(item, &document)).collect();
        let next = taken.map(|item| item.key.as_str());
        print_json(&json!({
            "v": 1, "type": "plan", "file": file, "done": counts.done, "open": counts.pending,
            "optional": counts.optional, "next": next, "problems": problems(&document), "items": items,
        }))?;
        return Ok(0);
    }
    let mut text = format!("{}: {} done, {} open\n", plain(&file), counts.done, counts.pending);
    for item in &document.items {
        let mark = if item.done { 'x' } else { ' ' };
        let is_next = taken.is_some_and(|next| next.key == item.key);
        let note = if is_next { "next".into() } else { note(item, &document) };
        let note = if note.is_empty() { note } else { format!("  ({note})") };
        let _ = writeln!(text, "  [{mark}] {}{}", plain(&item.label()), plain(&note));
    }
    for problem in document.problems() {
        let _ = writeln!(text, "{}", plain(&format!("{file}: {problem}")));
    }
    print(&text);
    Ok(0)
}

/// The next item; none if the order is impossible.
fn taken(document: &Document) -> Option<&Item> {
    document.checked().ok()?;
    match choose(&document.items, &BTreeSet::new()) {
        Choice::Take(item) => Some(item),
        _ => None,
    }
}

/// Why an open item is not next.
fn note(item: &Item, document: &Document) -> String {
    let waits = waits_for(item, document);
    match () {
        () if item.done => String::new(),
        () if item.blocked => "blocked".into(),
        () if !waits.is_empty() => format!("waits for {}", waits.join(", ")),
        () if item.optional => "optional".into(),
        () => String::new(),
    }
}

fn waits_for<'a>(item: &'a Item, document: &Document) -> Vec<&'a str> {
    let open = |on: &str| document.item(on).is_none_or(|other| !other.done);
    item.depends_on.iter().map(|other| other.on.as_str()).filter(|on| open(on)).collect()
}

fn next(args: &File, here: &Here) -> Result<u8, Problem> {
    let Opened { file, document } = open(args, here)?;
    document.checked().map_err(|why| {
        Problem::new(Code::Input, format!("cannot use the plan {file}: {why}")).hint("fix the file")
    })?;
    let choice = choose(&document.items, &BTreeSet::new());
    let (item, left) = match &choice {
        Choice::Take(item) => (Some(*item), Vec::new()),
        Choice::Complete => (None, Vec::new()),
        Choice::Stuck(items) => (None, items.iter().map(|item| item.label()).collect()),
    };
    let code = if left.is_empty() { 0 } else { 2 };
    if args.json {
        let story = item.map(|item| value(item, &document));
        print_json(&json!({"v": 1, "type": "plan_next", "file": file, "story": story, "left": left}))?;
        return Ok(code);
    }
    let text = match item {
        Some(item) => shown(item),
        None if left.is_empty() => format!("Every required item of {file} is done.\n"),
        None => format!("No item of {file} can be taken: {}\n", left.join(", ")),
    };
    print(&text.lines().map(|line| plain(line) + "\n").collect::<String>());
    Ok(code)
}

fn shown(item: &Item) -> String {
    let mut text = item.label() + "\n";
    if !item.text.trim().is_empty() && !item.title.trim().is_empty() {
        let _ = writeln!(text, "\n{}", item.text.trim());
    }
    for (heading, lines) in [("Acceptance criteria", &item.criteria), ("Verified by", &item.verify)] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{heading}:");
            lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
        }
    }
    text
}

fn check(args: &File, here: &Here) -> Result<u8, Problem> {
    let Opened { file, document } = open(args, here)?;
    let found = document.problems();
    let code = if found.is_empty() { 0 } else { Code::Input as u8 };
    if args.json {
        let problems = problems(&document);
        print_json(
            &json!({"v": 1, "type": "plan_check", "file": file, "ok": code == 0, "problems": problems}),
        )?;
        return Ok(code);
    }
    let text = match found.is_empty() {
        true => {
            let done = document.counted().done;
            format!("{file} is valid: {}, {done} done\n", counted(document.items.len(), "item"))
        }
        false => found.iter().map(|problem| format!("{file}: {problem}\n")).collect(),
    };
    print(&text.lines().map(|line| plain(line) + "\n").collect::<String>());
    Ok(code)
}

fn problems(document: &Document) -> Vec<Value> {
    let found = document.problems();
    found.iter().map(|p| json!({"line": p.line, "column": p.column, "what": p.what})).collect()
}

fn value(item: &Item, document: &Document) -> Value {
    let on: Vec<&str> = item.depends_on.iter().map(|other| other.on.as_str()).collect();
    json!({
        "key": item.key, "id": item.id, "title": item.title, "description": item.text,
        "acceptanceCriteria": item.criteria, "verify": item.verify, "priority": item.priority,
        "dependsOn": on, "waitsFor": waits_for(item, document), "done": item.done,
        "optional": item.optional, "blocked": item.blocked, "line": item.line,
    })
}
