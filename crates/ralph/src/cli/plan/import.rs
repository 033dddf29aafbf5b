//! `ralph plan import`: a plan in another format, or the issues of the repository on GitHub, as a prd.json.

use super::super::Here;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use ralph_engine::bound_files;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `gh` is asked for.
const GH: [&str; 6] = ["issue", "list", "--json", "number,title,body,labels", "--limit", "1000"];

/// Arguments of `ralph plan import`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Markdown, a prd.json, or what `gh issue list --json number,title,body,labels` printed.
    #[arg(required_unless_present = "gh", conflicts_with = "gh")]
    file: Option<PathBuf>,
    /// Read the open issues of this repository through `gh`.
    #[arg(long)]
    gh: bool,
    /// File to write, or - to print it.
    #[arg(short, long, value_name = "FILE", default_value = "prd.json")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Imports a plan.
pub fn import(args: &Args, here: &Here) -> Result<u8, Problem> {
    let (source, name, bytes) = read(args, here)?;
    let imported = ralph_rules::plan::import(&name, &bytes).map_err(|why| {
        Problem::new(Code::Input, format!("cannot import {source}: {why}")).hint("fix the file")
    })?;
    if imported.stories() == 0 {
        return Err(Problem::new(Code::Input, format!("{source} has nothing to import"))
            .hint("give a file with checkboxes, a prd.json, or the issues that gh printed"));
    }
    let text = imported.text();
    let read_back = ralph_rules::plan::document("prd.json", text.as_bytes());
    let problems = read_back.map_or_else(|why| vec![why], |document| document.problems());
    if args.output == Path::new("-") {
        print(&text);
        return Ok(0);
    }
    let path = here.typed_in.join(&args.output);
    write(&path, text.as_bytes(), args.force)?;
    let output = args.output.to_string_lossy();
    if args.json {
        let problems: Vec<_> =
            problems.iter().map(|p| json!({"line": p.line, "column": p.column, "what": p.what})).collect();
        print_json(&json!({
            "v": 1, "type": "plan_import", "source": source, "output": output,
            "stories": imported.stories(), "problems": problems,
        }))?;
        return Ok(0);
    }
    let mut text = format!("{output}: {} from {source}\n", stories(imported.stories()));
    problems.iter().for_each(|problem| text.push_str(&format!("{output}: {problem}\n")));
    print(&text.lines().map(|line| plain(line) + "\n").collect::<String>());
    Ok(0)
}

fn stories(n: usize) -> String {
    if n == 1 { "1 story".into() } else { format!("{n} stories") }
}

/// How the source is called, the name that tells its format, and its bytes.
fn read(args: &Args, here: &Here) -> Result<(String, String, Vec<u8>), Problem> {
    let Some(file) = &args.file else {
        return Ok(("GitHub".into(), "issues.json".into(), issues(here)?));
    };
    let named = file.to_string_lossy().into_owned();
    let cannot = |why: String| {
        Problem::new(Code::Input, format!("cannot read {named}: {why}")).hint("give an existing file")
    };
    let path = here.typed_in.join(file).canonicalize().map_err(|error| cannot(error.to_string()))?;
    let bytes = bound_files::bytes(&path).map_err(cannot)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((named, name, bytes))
}

/// The open issues of the repository.
fn issues(here: &Here) -> Result<Vec<u8>, Problem> {
    let by_hand =
        format!("or by hand: gh {} > issues.json, then ralph plan import issues.json", GH.join(" "));
    let ran = Command::new("gh").args(GH).current_dir(&here.workspace).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Problem::new(Code::Unavailable, "gh is not installed")
            .hint("install the GitHub CLI (https://cli.github.com)")
            .hint(&by_hand),
        _ => Problem::new(Code::Unavailable, "gh cannot be run").cause(&error).hint(&by_hand),
    })?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let said = said.lines().next().unwrap_or("it said nothing").to_owned();
        return Err(Problem::new(Code::Unavailable, format!("gh issue list failed: {}", plain(&said)))
            .hint("log in with `gh auth login`")
            .hint(by_hand));
    }
    Ok(ran.stdout)
}

/// Writes a new file; one that exists only if that was asked for, and as a whole.
fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), Problem> {
    let cannot = || Problem::new(Code::Busy, format!("cannot write {}", path.display()));
    if force {
        return ralph_os::write_durably(path, bytes).map_err(|error| cannot().cause(&error));
    }
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Problem::new(Code::Busy, format!("{} exists", path.display()))
            .hint("add --force to overwrite it, or -o FILE to write another one"),
        _ => cannot().cause(&error),
    })?;
    file.write_all(bytes).map_err(|error| cannot().cause(&error))
}
