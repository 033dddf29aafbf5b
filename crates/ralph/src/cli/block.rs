//! `ralph block`: checks a status block rule by rule with line numbers, or generates one from what it measures, so that it
//! contradicts neither itself nor the facts. Exit code 65 if a rule is violated.

mod emit;
mod measure;
mod todo_lines;

use super::{Here, analyze, examples};
use crate::config;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use clap::{Subcommand, ValueEnum};
use ralph_rules::analysis::shape::RalphStatus;
use ralph_rules::claim::{self, Claim, Facts, Lint, Progress, Tests, WorkType};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// Arguments of `ralph block`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Check the status block of a response; exit with 65 if it violates a rule.
    #[command(before_help = examples::BLOCK)]
    Check(Check),
    /// Measure the work and generate a valid block from the facts.
    #[command(before_help = examples::BLOCK)]
    Emit(emit::Emit),
}

#[derive(Debug, clap::Args)]
struct Check {
    /// File with the response (default: stdin).
    file: Option<PathBuf>,
    /// Actual test result.
    #[arg(long, value_name = "HOW", value_enum, ignore_case = true)]
    tests: Option<Ended>,
    /// Actual number of changed files.
    #[arg(long, value_name = "N")]
    files: Option<u64>,
    /// Actual number of remaining tasks.
    #[arg(long, value_name = "N")]
    remaining: Option<u64>,
    /// An error is unresolved.
    #[arg(long)]
    errors: bool,
    /// Other work remains besides the tasks.
    #[arg(long)]
    work_remains: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Ended {
    Passing,
    Failing,
    NotRun,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Implementation,
    Testing,
    Documentation,
    Refactoring,
}

/// Checks or generates a block.
pub fn block(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.what {
        What::Check(check) => checked(check, here),
        What::Emit(emit) => emit::emitted(emit, here),
    }
}

fn checked(args: &Check, here: &Here) -> Result<u8, Problem> {
    let promise = config::load(&here.workspace, &here.env)?.settings.policy.gate.promise;
    let reply = analyze::read(args.file.as_deref(), None)?;
    let claim = claim::read_reply(&reply.text, reply.status.as_ref(), &promise);
    let lints = lints(&claim, args);
    if args.json {
        let block = RalphStatus::of(claim.block.as_ref());
        print_json(
            &json!({"ok": lints.is_empty(), "block": block, "lines": claim.block_lines, "lints": lints}),
        )?;
    } else {
        print(&report(&claim, &lints, args));
    }
    Ok(if lints.is_empty() { 0 } else { Code::Input as u8 })
}

/// Rules that the message violates by itself, and those it violates given the facts.
fn lints(claim: &Claim, args: &Check) -> Vec<Lint> {
    let facts = Facts {
        tests: args.tests.map(Ended::tests),
        files_modified: args.files,
        tasks_remaining: args.remaining,
        errors: args.errors,
        work_remains: args.work_remains,
        ..Facts::default()
    };
    let mut lints = claim.lints.clone();
    let line = claim.block_lines.map_or(0, |(first, _)| first);
    lints.extend(claim.block.iter().flat_map(|block| facts.against(block, line)));
    if claim.block.is_none() && lints.is_empty() {
        lints.push(Lint::new(claim::Code::NoBlock, 0, "there is a promise but no status block"));
    }
    lints
}

fn report(claim: &Claim, lints: &[Lint], args: &Check) -> String {
    let name = args.file.as_ref().map_or("-".into(), |file| file.display().to_string());
    let mut text = String::new();
    for lint in lints {
        let (line, code, detail) = (lint.line, lint.code.name(), plain(&lint.detail));
        let _ = match line {
            0 => writeln!(text, "{name}: {code}: {detail}"),
            line => writeln!(text, "{name}:{line}: {code}: {detail}"),
        };
    }
    if let Some(block) = claim.block.as_ref().filter(|_| lints.is_empty()) {
        let status = block.status.map_or("not given", Progress::word);
        let exit = block.exit_signal.map_or("not given".into(), |exit| exit.to_string());
        let _ = writeln!(text, "{name}: valid block: STATUS {status}, EXIT_SIGNAL {exit}");
    }
    text
}

impl Ended {
    fn tests(self) -> Tests {
        match self {
            Ended::Passing => Tests::Passing,
            Ended::Failing => Tests::Failing,
            Ended::NotRun => Tests::NotRun,
        }
    }
}

impl Kind {
    fn work_type(self) -> WorkType {
        match self {
            Kind::Implementation => WorkType::Implementation,
            Kind::Testing => WorkType::Testing,
            Kind::Documentation => WorkType::Documentation,
            Kind::Refactoring => WorkType::Refactoring,
        }
    }
}
