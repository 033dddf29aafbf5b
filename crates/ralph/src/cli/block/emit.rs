//! `ralph block emit`: puts what was measured and what was given together. What is given stands where nothing was measured;
//! where it contradicts the measurement it is refused, and so is a claim that the decision tables forbid.

use super::measure::{Measured, measure};
use super::{Ended, Kind};
use crate::cli::Here;
use crate::print::print;
use crate::problem::{Code, Problem};
use ralph_rules::claim::{self, Facts, Lint, Tests};

#[derive(Debug, clap::Args)]
pub struct Emit {
    /// Next action or summary, on one line.
    #[arg(long, value_name = "TEXT", required_unless_present = "blocked")]
    recommendation: Option<String>,
    /// Everything that was asked for is done; refused unless the facts agree.
    #[arg(long, conflicts_with_all = ["blocked", "errors", "work_remains"])]
    complete: bool,
    /// What is blocking the work and needs a person.
    #[arg(long, value_name = "WHAT")]
    blocked: Option<String>,
    /// Do not run the verify commands; TESTS_STATUS is NOT_RUN.
    #[arg(long)]
    no_tests: bool,
    /// An error is unresolved.
    #[arg(long)]
    errors: bool,
    /// Other work remains besides the tasks.
    #[arg(long)]
    work_remains: bool,
    /// Number of tasks finished in this iteration (default: items ticked in the plan).
    #[arg(long, value_name = "N")]
    tasks: Option<u64>,
    /// Number of remaining tasks (default: open items of the plan).
    #[arg(long, value_name = "N")]
    remaining: Option<u64>,
    /// Number of files created, edited or deleted (default: counted).
    #[arg(long, value_name = "N")]
    files: Option<u64>,
    /// Test result (default: from the verify commands).
    #[arg(long, value_name = "HOW", value_enum, ignore_case = true, conflicts_with = "no_tests")]
    tests: Option<Ended>,
    /// Main activity of the iteration (default: by the paths of the changed files).
    #[arg(long, value_name = "KIND", value_enum, ignore_case = true)]
    work_type: Option<Kind>,
}

/// Prints the block.
pub fn emitted(args: &Emit, here: &Here) -> Result<u8, Problem> {
    let measured = measure(here, !args.no_tests)?;
    let facts = facts(args, &measured)?;
    // Nobody keeps somebody who is blocked from saying so.
    if facts.blocker.is_none() {
        let mut forbidden = if args.complete { facts.why_not_complete() } else { Vec::new() };
        forbidden.extend(facts.against_recommendation().filter(|_| forbidden.is_empty()));
        if !forbidden.is_empty() {
            return Err(not_complete(&forbidden, &measured));
        }
    }
    let text = facts.block().map_err(|lint| refused(&lint))?;
    print(&(text + "\n"));
    Ok(0)
}

fn facts(args: &Emit, measured: &Measured) -> Result<Facts, Problem> {
    let (ticked, open) = match &measured.plan {
        Some(plan) => (Some(plan.ticked), Some(plan.open)),
        None => (None, None),
    };
    let file = measured.plan.as_ref().map_or("the plan", |plan| plan.file.as_str());
    let files = agreed("--files", args.files, measured.files, "files changed")?.ok_or_else(|| {
        Problem::new(
            Code::Usage,
            "the changed files cannot be counted: this is neither inside a call nor a git repository",
        )
        .hint("count them yourself: ralph block emit --files N …")
    })?;
    let tasks = agreed("--tasks", args.tasks, ticked, &format!("items ticked in {file}"))?;
    let facts = Facts {
        tasks_completed: tasks.unwrap_or(0),
        tasks_remaining: agreed("--remaining", args.remaining, open, &format!("open items in {file}"))?,
        files_modified: Some(files),
        tests: Some(tests(args, measured)?),
        work_type: args.work_type.map(Kind::work_type).or(measured.work_type),
        errors: args.errors,
        work_remains: args.work_remains || !measured.todos.is_empty(),
        blocker: args.blocked.clone(),
        recommendation: args.recommendation.clone().unwrap_or_default(),
    };
    // Without a plan only the agent knows what remains.
    let said = (args.complete || facts.recommends_end()).then_some(0);
    Ok(Facts { tasks_remaining: facts.tasks_remaining.or(said), ..facts })
}

/// The number measured or, where nothing was, the one given; they must not differ.
fn agreed(flag: &str, given: Option<u64>, measured: Option<u64>, what: &str) -> Result<Option<u64>, Problem> {
    match (given, measured) {
        (Some(given), Some(measured)) if given != measured => {
            Err(contradicts(&format!("{flag} {given}"), &format!("{what}: {measured}"), flag))
        }
        _ => Ok(measured.or(given)),
    }
}

fn tests(args: &Emit, measured: &Measured) -> Result<Tests, Problem> {
    match (args.tests.map(Ended::tests), measured.tests) {
        (Some(given), Some(ran)) if given != ran => {
            let how = measured.failing.clone().unwrap_or_else(|| "the verify commands passed".into());
            Err(contradicts(&format!("--tests {}", given.word()), &how, "--tests"))
        }
        (given, ran) => Ok(ran.or(given).unwrap_or(Tests::NotRun)),
    }
}

fn contradicts(given: &str, measured: &str, flag: &str) -> Problem {
    Problem::new(Code::Input, format!("`{given}` is not what was measured ({measured})"))
        .hint(format!("omit {flag}; it is measured"))
}

/// Why the claim to be done is refused: every condition that is not met, with what was measured.
fn not_complete(lints: &[Lint], measured: &Measured) -> Problem {
    let mut reasons: Vec<String> = lints.iter().map(|lint| lint.detail.clone()).collect();
    reasons.extend(measured.failing.clone());
    let shown = measured.todos.iter().take(5);
    reasons.extend(shown.map(|todo| format!("TODO or FIXME was added: {}:{}", todo.path, todo.line)));
    let message = format!("the work is not complete: {}", reasons.join("; "));
    Problem::new(Code::Input, message).hint(
        "finish it, or report what is next: ralph block emit --recommendation 'Next: …' (without --complete)",
    )
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
