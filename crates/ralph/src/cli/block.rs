//! `ralph block`: checks a status block rule by rule with line numbers, or generates one from facts so that it cannot
//! contradict itself. Exit code 65 if a rule is violated.

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
    /// Generate a valid block; STATUS and EXIT_SIGNAL are derived from the facts given.
    #[command(before_help = examples::BLOCK)]
    Emit(Emit),
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

#[derive(Debug, clap::Args)]
struct Emit {
    /// Number of tasks finished in this iteration.
    #[arg(long, value_name = "N", default_value_t = 0)]
    tasks: u64,
    /// Number of remaining tasks.
    #[arg(long, value_name = "N")]
    remaining: u64,
    /// Number of files created, edited or deleted.
    #[arg(long, value_name = "N")]
    files: u64,
    /// Test result.
    #[arg(long, value_name = "HOW", value_enum, ignore_case = true, default_value = "not_run")]
    tests: Ended,
    /// Main activity of the iteration.
    #[arg(long, value_name = "KIND", value_enum, ignore_case = true)]
    work_type: Kind,
    /// An error is unresolved.
    #[arg(long)]
    errors: bool,
    /// Other work remains besides the tasks.
    #[arg(long)]
    work_remains: bool,
    /// What is blocking the work and needs a person.
    #[arg(long, value_name = "WHAT")]
    blocked: Option<String>,
    /// Next action or summary, on one line.
    #[arg(long, value_name = "TEXT", required_unless_present = "blocked")]
    recommendation: Option<String>,
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
        What::Emit(emit) => emitted(emit),
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
        print(&told(&claim, &lints, args));
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

fn told(claim: &Claim, lints: &[Lint], args: &Check) -> String {
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

fn emitted(args: &Emit) -> Result<u8, Problem> {
    let facts = Facts {
        tasks_completed: args.tasks,
        tasks_remaining: Some(args.remaining),
        files_modified: Some(args.files),
        tests: Some(args.tests.tests()),
        work_type: Some(args.work_type.work_type()),
        errors: args.errors,
        work_remains: args.work_remains,
        blocker: args.blocked.clone(),
        recommendation: args.recommendation.clone().unwrap_or_default(),
    };
    let text = facts.block().map_err(|lint| refused(&lint))?;
    print(&(text + "\n"));
    Ok(0)
}

/// Why there is no block for these values, and which of them to change.
fn refused(lint: &Lint) -> Problem {
    let message = format!("these values make an invalid block: {}: {}", lint.code.name(), lint.detail);
    let hint = match lint.code {
        claim::Code::CompleteWithNextTask => {
            "if something is left to do, say so with --remaining or --work-remains; otherwise give a summary as \
             --recommendation"
        }
        _ => "give --recommendation as plain text on one line (see `ralph block emit --help`)",
    };
    Problem::new(Code::Usage, message).hint(hint)
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
