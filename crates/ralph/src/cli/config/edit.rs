//! `ralph config edit`: opens a config file in the user's editor, then checks it as a run would.

use crate::cli::{Here, questions};
use crate::config;
use crate::print::say;
use crate::problem::{Code, Problem};
use std::path::PathBuf;
use std::process::Command;

/// Arguments of `ralph config edit`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Edit your own config.toml instead of ralph.toml
    #[arg(long)]
    user: bool,
    /// Edit ralph.local.toml, which is not committed
    #[arg(long, conflicts_with = "user")]
    local: bool,
}

/// Opens the editor, then checks.
pub fn edit(args: &Args, here: &Here) -> Result<u8, Problem> {
    let path = path(args, here)?;
    let fallback = || questions::at_terminal().then(|| "vi".to_string());
    let editor = here.env.editor.clone().or_else(fallback).ok_or_else(|| {
        Problem::new(Code::Usage, "no editor is set, and stdin is not a terminal")
            .hint(format!("set VISUAL or EDITOR, or edit {} yourself", path.display()))
    })?;
    if let Some(dir) = path.parent().filter(|dir| !dir.exists()) {
        std::fs::create_dir_all(dir).map_err(|e| {
            Problem::new(Code::Busy, format!("the directory {} cannot be created", dir.display())).cause(&e)
        })?;
    }
    // The variable may hold arguments: `code --wait`.
    let script = format!("{editor} \"$@\"");
    let ended = Command::new("sh").args(["-c", &script, "sh"]).arg(&path).status().map_err(|e| {
        Problem::new(Code::Unavailable, format!("the editor `{editor}` cannot be started")).cause(&e)
    })?;
    if !ended.success() {
        return Err(Problem::new(Code::Unavailable, format!("the editor `{editor}` failed: {ended}"))
            .hint("set VISUAL or EDITOR to another editor"));
    }
    config::load_files(&here.workspace, &here.env)
        .map_err(|problem| problem.hint("`ralph config edit` opens the file again"))?;
    let word = if path.exists() { "is valid" } else { "was not written" };
    say(&format!("{} {word}.\n", path.display()));
    Ok(0)
}

fn path(args: &Args, here: &Here) -> Result<PathBuf, Problem> {
    match (args.user, args.local) {
        (true, _) => {
            let home = here.env.config_home.as_ref().ok_or_else(|| {
                Problem::new(
                    Code::Usage,
                    "cannot locate your own config.toml: neither HOME nor XDG_CONFIG_HOME is set",
                )
                .hint("set XDG_CONFIG_HOME to a directory")
            })?;
            Ok(home.join("ralph/config.toml"))
        }
        (_, true) => Ok(here.workspace.join("ralph.local.toml")),
        _ => Ok(here.workspace.join("ralph.toml")),
    }
}
