//! What `ralph block emit` measures: the files that changed since the call began, or since the commit that is checked out;
//! the ticks of the plan; the kind of work; added TODO lines; the verify commands. Inside a call only what ralph put into
//! the call's directory is read, never the state of the run.

use super::todo_lines::{self, TodoLine};
use crate::cli::{Here, agent};
use crate::config;
use crate::problem::{Code, Problem};
use ralph_diagnostics::Discard;
use ralph_engine::call_directory::{CallFacts, PlanAtStart};
use ralph_engine::clock::Clock;
use ralph_engine::proof::is_documentation;
use ralph_engine::redact::Redactor;
use ralph_engine::under_way::UnderWay;
use ralph_engine::verification::{Room, Runner, VerifyCommand};
use ralph_engine::{bound_files, git_checkout};
use ralph_os::{Links, read_regular};
use ralph_rules::claim::{Tests, WorkType};
use ralph_rules::claim_check::tests_of;
use ralph_rules::record::{Check, CheckOutcome, CheckResult, Verified};
use ralph_supervisor::Launch;
use ralph_tree::{changes, looks_like_test, shown};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files larger than this are not searched for TODO lines.
const LARGEST: u64 = 1 << 20;

/// What was measured; `None` is what could not be.
#[derive(Debug, Default)]
pub struct Measured {
    /// Files that were created, edited or deleted.
    pub files: Option<u64>,
    /// The plan.
    pub plan: Option<PlanCount>,
    /// How the verify commands ended.
    pub tests: Option<Tests>,
    /// The first command that did not pass, in words.
    pub failing: Option<String>,
    /// The kind of work.
    pub work_type: Option<WorkType>,
    /// Added TODO and FIXME lines.
    pub todos: Vec<TodoLine>,
}

/// How the plan changed.
#[derive(Debug)]
pub struct PlanCount {
    /// As the user named it.
    pub file: String,
    /// Items that were ticked.
    pub ticked: u64,
    /// Items that are open.
    pub open: u64,
}

/// Where it is measured and against what.
struct Site {
    facts: CallFacts,
    changed: Option<Vec<Vec<u8>>>,
    /// For the bytecode of Python.
    scratch: PathBuf,
}

/// Measures the workspace.
pub fn measure(here: &Here, tests: bool) -> Result<Measured, Problem> {
    let site = match &here.env.call {
        Some(call) => of_call(call)?,
        None => since_head(here)?,
    };
    let mut measured = Measured { plan: plan(&site.facts)?, ..Measured::default() };
    if let Some(changed) = &site.changed {
        measured.files = Some(changed.len() as u64);
        measured.work_type = work_type(&site.facts, changed);
        measured.todos = todos(&site.facts, changed);
    }
    if tests && !site.facts.verify.is_empty() {
        let verified = verify(&site, &mut measured);
        std::fs::remove_dir_all(&site.scratch).discard("remove bytecode");
        verified?;
    }
    Ok(measured)
}

fn of_call(call: &Path) -> Result<Site, Problem> {
    let unreadable = |error: &(dyn std::error::Error + 'static)| {
        Problem::new(Code::Input, format!("cannot read the call's directory {}", call.display()))
            .cause(error)
            .hint("write the status block yourself")
    };
    let (facts, before) = CallFacts::read(call).map_err(|e| unreadable(&e))?;
    let tree = facts.tree().map_err(|e| unreadable(&e))?;
    let now = tree.walk(Some(&before)).map_err(|e| unreadable(&e))?;
    let changed = changes(&before, &now).paths().map(|path| path.as_bytes().to_vec()).collect();
    Ok(Site { facts, changed: Some(changed), scratch: call.join("emit") })
}

/// Outside a call: what git says, and the commands and the plan that are configured here.
fn since_head(here: &Here) -> Result<Site, Problem> {
    let settings = config::load(&here.workspace, &here.env)?.settings;
    let changed = git_checkout::changed_since_head(&here.workspace);
    let ours = |path: &Vec<u8>| !path.starts_with(b".ralph/");
    let changed = changed.map(|paths| paths.into_iter().filter(ours).collect());
    let plan = settings.plan.as_ref().map(|file| PlanAtStart {
        file: file.clone(),
        path: here.workspace.join(file),
        done: done_at_head(&here.workspace, file),
    });
    let facts = CallFacts {
        workspace: here.workspace.clone(),
        commit: Some("HEAD".into()),
        verify: settings.verify.clone(),
        verify_timeout: settings.policy.verify_timeout,
        plan,
        ..CallFacts::default()
    };
    let scratch = here.home()?.dir().join("verify").join(std::process::id().to_string());
    Ok(Site { facts, changed, scratch })
}

fn done_at_head(workspace: &Path, file: &str) -> u32 {
    let text = git_checkout::content_at(workspace, "HEAD", file.as_bytes());
    let plan = text.and_then(|text| ralph_rules::plan::read(file, &text).ok());
    plan.map_or(0, |plan| plan.done)
}

fn plan(facts: &CallFacts) -> Result<Option<PlanCount>, Problem> {
    let Some(given) = &facts.plan else { return Ok(None) };
    let plan = bound_files::plan(&given.path).map_err(|why| {
        Problem::new(Code::Input, format!("the plan {} cannot be read: {why}", given.file))
            .hint("fix the file, or write the status block yourself")
    })?;
    let ticked = plan.done.saturating_sub(given.done).into();
    let count = PlanCount { file: given.file.clone(), ticked, open: plan.pending.into() };
    Ok((plan.done > 0 || plan.pending > 0).then_some(count))
}

/// Code is implementation, tests without code are testing, the rest is documentation. Whether behaviour stayed the same
/// cannot be seen in the paths, so refactoring is never measured.
fn work_type(facts: &CallFacts, changed: &[Vec<u8>]) -> Option<WorkType> {
    let is_plan = |path: &[u8]| {
        facts.plan.as_ref().is_some_and(|plan| facts.workspace.join(OsStr::from_bytes(path)) == plan.path)
    };
    let kind = |path: &[u8]| match path {
        path if looks_like_test(path) => WorkType::Testing,
        path if is_documentation(path) => WorkType::Documentation,
        _ => WorkType::Implementation,
    };
    // Of several kinds the first one in this order decides.
    let kinds = changed.iter().filter(|path| !is_plan(path)).map(|path| kind(path));
    kinds.min_by_key(|kind| match kind {
        WorkType::Implementation | WorkType::Refactoring => 0,
        WorkType::Testing => 1,
        WorkType::Documentation => 2,
    })
}

/// Documentation may speak about such lines, so only other files are searched.
fn todos(facts: &CallFacts, changed: &[Vec<u8>]) -> Vec<TodoLine> {
    let mut found = Vec::new();
    for path in changed.iter().filter(|path| !is_documentation(path)) {
        let full = facts.workspace.join(OsStr::from_bytes(path));
        let Ok(now) = read_regular(&full, LARGEST, Links::RefuseLast) else { continue };
        let before = || git_checkout::content_at(&facts.workspace, facts.commit.as_deref()?, path);
        found.extend(todo_lines::added(&shown(path), &now, before));
    }
    found
}

/// Runs the verify commands as a run does: under a supervisor that ends all their processes, with their deadline.
fn verify(site: &Site, measured: &mut Measured) -> Result<(), Problem> {
    let facts = &site.facts;
    let failed = |e: &dyn std::fmt::Display| {
        Problem::new(Code::Busy, format!("cannot run the verify commands: {e}"))
            .hint("skip them: ralph block emit --no-tests")
    };
    std::fs::create_dir_all(&site.scratch).map_err(|e| failed(&e))?;
    let redactor = Redactor::new(std::iter::empty::<(String, String)>());
    let runner = Runner {
        launch: Launch::new(agent::own_program()?, "sh", &facts.workspace),
        deadline: facts.verify_timeout,
        until: None,
        after_failure: false,
        clock: &Clock::from(0),
        redactor: &redactor,
        under_way: &UnderWay::default(),
        // It runs inside the sandbox of the agent that asks, if there is one.
        sandbox: None,
        run: None,
    };
    let mut room = Room::unchanged(&facts.workspace, site.scratch.clone());
    let commands: Vec<_> = facts.verify.iter().map(|line| VerifyCommand { line, output: None }).collect();
    let results = runner.run(&commands, &mut room, &mut |_, _| ()).map_err(|e| failed(&e))?;
    measured.failing = results.iter().find(|result| result.how != CheckOutcome::Passed).map(in_words);
    let verified = Verified {
        check: Check::AsIs,
        results,
        interrupted: false,
        tree: 0,
        violations: Vec::new(),
        oracle: None,
        room: None,
        analyzers: Vec::new(),
        sandbox: None,
    };
    // A command that timed out or could not run shows nothing about the tests, but they do not pass.
    measured.tests = Some(tests_of(&verified).unwrap_or(Tests::NotRun));
    Ok(())
}

fn in_words(result: &CheckResult) -> String {
    let command = &result.command;
    match (result.how, result.exit) {
        (CheckOutcome::TimedOut, _) => format!("`{command}` timed out"),
        (CheckOutcome::NotRun, _) => format!("`{command}` could not be run"),
        (_, Some(code)) => format!("`{command}` failed with exit code {code}"),
        _ => format!("`{command}` failed"),
    }
}
