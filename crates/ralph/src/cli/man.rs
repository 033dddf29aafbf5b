//! `ralph man`: man pages, generated from the same command line that `--help` prints.

use super::exit_codes::EXIT_CODES;
use super::{Here, files, help};
use crate::nearest::nearest;
use crate::print::{print, say};
use crate::problem::{Code, Problem};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use std::path::{Path, PathBuf};

/// Commands whose exit code is the outcome of a run or a verification.
const WITH_OUTCOME: &[&str] = &["ralph", "run", "resume", "demo", "verify"];

/// Arguments of `ralph man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Command to print the page of (default: ralph itself).
    command: Option<String>,
    /// Write all pages to this directory.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Prints one page, or writes all.
pub fn man(args: &Args, _: &Here) -> Result<u8, Problem> {
    let mut whole = help::whole();
    whole.build();
    if let Some(dir) = &args.dir {
        let pages = pages(&whole);
        for (name, page) in &pages {
            put(dir, name, page)?;
        }
        say(&format!("Wrote {} pages to {}.\n", pages.len(), dir.display()));
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
        Problem::new(Code::Busy, format!("cannot write {}", dir.join(name).display()))
            .cause(&e)
            .hint("choose a directory that you can write to: ralph man --dir DIR")
    })
}

fn unknown(name: &str, whole: &Command) -> Problem {
    let problem = Problem::new(Code::Usage, format!("`{name}` is not a command of ralph"));
    match nearest(name, whole.get_subcommands().map(Command::get_name)) {
        Some(meant) => problem.hint(format!("did you mean `ralph man {meant}`?")),
        None => problem.hint("`ralph --help` lists the commands"),
    }
}

/// The page of every command, with its file name.
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
    // Writing to memory cannot fail.
    let _ = write(command, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The sections in the order of man-pages(7).
fn write(command: &Command, to: &mut Vec<u8>) -> std::io::Result<()> {
    let man = Man::new(command.clone());
    man.render_title(to)?;
    man.render_name_section(to)?;
    man.render_synopsis_section(to)?;
    man.render_description_section(to)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(to)?;
    }
    if command.get_subcommands().any(|inner| !inner.is_hide_set()) {
        man.render_subcommands_section(to)?;
    }
    if command.get_after_help().is_some() {
        man.render_extra_section(to)?;
    }
    examples(command).to_writer(to)?;
    exit_status(command).to_writer(to)?;
    files_section().to_writer(to)?;
    if command.get_version().is_some() {
        man.render_version_section(to)?;
    }
    Ok(())
}

fn examples(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let text = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    let lines: Vec<&str> = text.lines().skip(1).map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    if !lines.is_empty() {
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        roff.text([roman(lines.join("\n"))]).control("fi", []);
    }
    roff
}

/// Codes below 64 and above 128 are outcomes of runs; other commands succeed or fail.
fn exit_status(command: &Command) -> Roff {
    let outcome = WITH_OUTCOME.contains(&command.get_name());
    let codes = EXIT_CODES.iter().filter(|(code, _, _)| outcome || (64..=128).contains(code));
    let mut rows: Vec<(String, String)> =
        codes.map(|(code, word, meaning)| (code.to_string(), format!("{word}: {meaning}"))).collect();
    if !outcome {
        rows.insert(0, ("0".into(), "success".into()));
    }
    definitions("EXIT STATUS", rows)
}

fn files_section() -> Roff {
    definitions("FILES", files::all().into_iter().map(|(path, what)| (path, what.to_string())))
}

fn definitions(title: &str, rows: impl IntoIterator<Item = (String, String)>) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (term, text) in rows {
        let line: [Inline; 1] = [bold(term)];
        roff.control("TP", []).text(line).text([roman(text)]);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_examples_exit_codes_and_files() {
        let mut whole = help::whole();
        whole.build();
        for (name, page) in pages(&whole) {
            for section in [".SH EXAMPLES", ".SH \"EXIT STATUS\"", ".SH FILES"] {
                assert!(page.contains(section), "{name} has no {section}:\n{page}");
            }
        }
    }

    #[test]
    fn only_commands_that_end_with_an_outcome_list_its_codes() {
        let mut whole = help::whole();
        whole.build();
        let of = |name: &str| page(whole.find_subcommand(name).unwrap());
        assert!(of("run").contains("MAX_ITERATIONS") && !of("list").contains("MAX_ITERATIONS"));
    }
}
