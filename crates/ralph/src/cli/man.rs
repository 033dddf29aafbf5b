//! `ralph man`: the manual pages, made from the same command line that `--help` prints.

use super::{Args as Whole, Here, examples};
use crate::nearest::nearest;
use crate::print::{print, say};
use crate::problem::{Code, Problem};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(before_help = examples::MAN)]
pub struct Args {
    /// The command whose page is wanted; left out: ralph's own.
    command: Option<String>,
    /// Write every page into this directory.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Prints a page, or writes all.
pub fn man(args: &Args, _: &Here) -> Result<u8, Problem> {
    let mut whole = Whole::command();
    whole.build();
    if let Some(dir) = &args.dir {
        let pages = pages(&whole);
        for (name, page) in &pages {
            put(dir, name, page)?;
        }
        say(&format!("{} pages written into {}.\n", pages.len(), dir.display()));
        return Ok(0);
    }
    let wanted = match args.command.as_deref() {
        None => &whole,
        Some(name) => whole.find_subcommand(name).ok_or_else(|| unknown(name, &whole))?,
    };
    print(&page(wanted));
    Ok(0)
}

fn put(dir: &Path, name: &str, page: &str) -> Result<(), Problem> {
    let written = std::fs::create_dir_all(dir).and_then(|()| std::fs::write(dir.join(name), page));
    written.map_err(|e| {
        Problem::new(Code::Busy, format!("{name} cannot be written into {}", dir.display()))
            .cause(&e)
            .hint("name a directory that you may write to")
    })
}

fn unknown(name: &str, whole: &Command) -> Problem {
    let problem = Problem::new(Code::Usage, format!("there is no command `{name}`"));
    match nearest(name, whole.get_subcommands().map(Command::get_name)) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem.hint("`ralph --help` lists them"),
    }
}

/// The page of every command, with its file's name.
fn pages(command: &Command) -> Vec<(String, String)> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let mut all = vec![(format!("{name}.1"), page(command))];
    let shown = |inner: &&Command| !inner.is_hide_set() && inner.get_name() != "help";
    for inner in command.get_subcommands().filter(shown) {
        all.extend(pages(inner));
    }
    all
}

fn page(command: &Command) -> String {
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = Man::new(command.clone()).render(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}
