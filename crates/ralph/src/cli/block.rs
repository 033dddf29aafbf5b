//! `ralph block`: the status block, checked rule by rule with line numbers, or written from facts so that it cannot
//! contradict itself. Exit 65 where a rule is broken.

use super::{analyze, examples};
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use clap::{Subcommand, ValueEnum};
use ralph_rules::analysis::shape::RalphStatus;
use ralph_rules::claim::{self, Claim, Facts, Lint, Tests, WorkType, render};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Validate the block of a response: every broken rule with its line, exit 65 where there is one.
    #[command(before_help = examples::BLOCK)]
    Check(Check),
    /// Write a truthful block: STATUS and EXIT_SIGNAL follow from the facts.
    #[command(before_help = examples::BLOCK)]
    Emit(Emit),
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The response; `-` or nothing is stdin.
    file: Option<PathBuf>,
    /// How the tests really ended.
    #[arg(long, value_name = "HOW", value_enum, ignore_case = true)]
    tests: Option<Ended>,
    /// How many files really changed.
    #[arg(long, value_name = "N")]
    files: Option<u64>,
    /// How many tasks really remain.
    #[arg(long, value_name = "N")]
    remaining: Option<u64>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Emit {
    /// Tasks finished in this iteration.
    #[arg(long, value_name = "N", default_value_t = 0)]
    tasks: u64,
    /// Tasks that remain.
    #[arg(long, value_name = "N")]
    remaining: u64,
    /// Files created, edited or deleted.
    #[arg(long, value_name = "N")]
    files: u64,
    /// How the tests ended.
    #[arg(long, value_name = "HOW", value_enum, ignore_case = true, default_value = "not_run")]
    tests: Ended,
    /// The main activity.
    #[arg(long, value_name = "KIND", value_enum, ignore_case = true)]
    work_type: Kind,
    /// An error is not resolved.
    #[arg(long)]
    errors: bool,
    /// Meaningful work remains beside the tasks.
    #[arg(long)]
    work_remains: bool,
    /// What only a person can mend.
    #[arg(long, value_name = "WHAT")]
    blocked: Option<String>,
    /// The next action, or the summary; one line.
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

/// Checks or writes a block.
pub fn block(args: &Args) -> Result<u8, Problem> {
    match &args.what {
        What::Check(check) => checked(check),
        What::Emit(emit) => emitted(emit),
    }
}

fn checked(args: &Check) -> Result<u8, Problem> {
    let reply = analyze::read(args.file.as_deref(), None)?;
    let claim = claim::read(&reply.text, "COMPLETE");
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

/// The rules the message breaks by itself, and those it breaks beside the facts.
fn lints(claim: &Claim, args: &Check) -> Vec<Lint> {
    let facts = Facts {
        tests: args.tests.map(Ended::tests),
        files_modified: args.files,
        tasks_remaining: args.remaining,
        ..Facts::default()
    };
    let mut lints = claim.lints.clone();
    let line = claim.block_lines.map_or(0, |(first, _)| first);
    lints.extend(claim.block.iter().flat_map(|block| facts.against(block, line)));
    if claim.block.is_none() && lints.is_empty() {
        lints.push(Lint::new(claim::Code::NoBlock, 0, "a promise, but no status block"));
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
        let (status, exit) = (block.status.word(), block.exit_signal);
        let _ = writeln!(text, "{name}: a good block: STATUS {status}, EXIT_SIGNAL {exit}");
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
    let text = render(&facts.status());
    // COMPLETE with EXIT_SIGNAL false is right where an error stands or other work remains.
    let wrong = |lint: &&Lint| lint.code != claim::Code::CompleteWithExitFalse;
    if let Some(lint) = claim::read(&text, "COMPLETE").lints.iter().find(wrong) {
        let message = format!("no such block can be written: {}: {}", lint.code.name(), lint.detail);
        return Err(Problem::new(Code::Usage, message)
            .hint("give --recommendation in plain words, on one line, as --help shows"));
    }
    print(&(text + "\n"));
    Ok(0)
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
