//! The commands that come next after a run, by how it ended. All of them are safe on any tree: they concern this run's
//! change alone, and none stages, stashes or resets anything.

use crate::fact_text::seconds;
use crate::style::Style;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ralph_agents::registry;
use ralph_engine::outcome::Outcome;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::failure::Class;
use ralph_rules::record::{How, Ms, Violation};
use ralph_rules::state::{Phase, State};
use std::fmt::Write;
use std::path::Path;

/// Width of the column of commands, at least.
const COMMANDS: usize = 34;

/// A command and what it is good for.
pub type Step = (String, String);

/// What to do after a run that ended so, in lines; `short` is the end of its id.
pub fn next_steps(outcome: &Outcome, state: &State, short: &str, style: Style) -> String {
    let steps = next_commands(outcome, state, short);
    let width = steps.iter().map(|(command, _)| command.chars().count()).fold(COMMANDS, usize::max);
    steps.iter().fold(String::new(), |mut text, (command, what)| {
        let _ = writeln!(text, "  {}  {what}", style.note(format!("{command:<width$}")));
        text
    })
}

/// The same as data.
pub fn next_commands(outcome: &Outcome, state: &State, short: &str) -> Vec<Step> {
    if !outcome.recorded {
        return vec![("ralph doctor".into(), "find out why the run could not be recorded".into())];
    }
    let mut steps = Vec::new();
    let mut step = |command: String, what: &str| steps.push((command, what.to_owned()));
    let kept = !state.start.as_ref().is_some_and(|start| start.is_throwaway());
    let changed = kept && !state.trees.all.is_empty() && outcome.reason != Reason::WorkspaceLost.name();
    let in_git =
        state.start.as_ref().is_some_and(|start| start.base.is_some() || is_in_git(&start.workspace));
    if changed {
        step(format!("ralph diff {short}"), "see what the run changed, and nothing else");
    }
    if changed && outcome.status == Status::Completed && outcome.reason != Reason::Accepted.name() {
        if in_git {
            step(format!("ralph accept {short}"), "commit exactly that; nothing else is staged");
        }
        let or = if in_git { "or " } else { "" };
        step(format!("ralph reject {short}"), &format!("{or}take it back, and keep it in the quarantine"));
    }
    steps.extend(by_reason(outcome, state, short));
    if changed && outcome.status != Status::Completed {
        steps.push((
            format!("ralph undo {short}"),
            "restore the files to their state before the run".to_owned(),
        ));
    }
    steps.push((format!("ralph explain {short}"), "why each decision was made".to_owned()));
    steps
}

/// The one command to name where there is room for one; `short` is the end of the run's id.
pub(crate) fn first_command(outcome: &Outcome, state: &State, short: &str) -> String {
    if outcome.status == Status::Completed && !state.trees.all.is_empty() {
        return format!("ralph diff {short}");
    }
    let steps = by_reason(outcome, state, short).into_iter().map(|(command, _)| command);
    steps
        .into_iter()
        .find(|step| step.starts_with("ralph "))
        .unwrap_or_else(|| format!("ralph explain {short}"))
}

/// A limit of a run.
#[derive(Clone, Copy)]
enum Limit {
    Iterations,
    Cost,
    Time,
}

/// The flag that doubles a limit: a command can be typed as it is printed.
fn twice(limit: Limit, state: &State) -> String {
    let Some(policy) = state.start.as_ref().map(|start| &start.policy) else { return String::new() };
    match limit {
        Limit::Iterations => format!("--max-iterations {}", policy.max_iterations.saturating_mul(2)),
        Limit::Cost => {
            let twice = policy.max_cost.plus(policy.max_cost).to_string();
            format!("--max-cost {}", twice.trim_start_matches('$'))
        }
        Limit::Time => {
            let seconds = policy.max_time.unwrap_or_default().saturating_mul(2) / 1_000;
            format!("--max-time {}s", seconds.max(1))
        }
    }
}

/// What helps after this ending.
fn by_reason(outcome: &Outcome, state: &State, short: &str) -> Vec<Step> {
    let step = |command: String, what: &str| (command, what.to_owned());
    let resume = |what: &str| step(format!("ralph resume {short}"), what);
    let raise = |limit| {
        step(format!("ralph resume {short} {}", twice(limit, state)), "continue, with twice the limit")
    };
    match outcome.reason.as_str() {
        "PROHIBITED_PATH" => protected(state, short),
        "NEEDS_REVIEW" => {
            let used_up = state.start.as_ref().is_some_and(|s| state.calls.done >= s.policy.max_iterations);
            let more = if used_up { format!(" {}", twice(Limit::Iterations, state)) } else { String::new() };
            vec![
                step(format!("ralph accept {short}"), "verify once more and commit, if the work is right"),
                step(format!("ralph resume {short}{more}"), "or send it back to the agent"),
            ]
        }
        "ORACLE_CHANGED" => vec![step(
            "verify.oracle = \"flag\"".into(),
            "in your own config.toml, if the task is to change tests",
        )],
        "BLOCKED" if state.stories.latest.as_ref().is_some_and(|planned| !planned.left.is_empty()) => {
            vec![answer(short, "continue with the stories that are left")]
        }
        "BLOCKED" => vec![answer(short, "answer the agent, and continue")],
        "PLAN_UNUSABLE" => vec![resume("continue, once the plan is fixed")],
        "STALL" | "SAME_ERROR_5X" | "PERMISSION_DENIED" | "OUTPUT_DECLINE" | "TEST_SATURATION" => {
            stuck(outcome, state, short)
        }
        "MAX_ITERATIONS" => vec![raise(Limit::Iterations)],
        "COST_LIMIT" => vec![raise(Limit::Cost)],
        "TIME_LIMIT" => vec![raise(Limit::Time)],
        "DAILY_BUDGET" => vec![resume("continue tomorrow, or with a higher daily_cost_usd")],
        "RATE_LIMIT" | "AGENT_UNAVAILABLE" => unavailable(state, short),
        "INTERRUPTED" | "STORE_UNSAFE" | "BASELINE_TIMED_OUT" | "WORKSPACE_UNWRITABLE" => {
            vec![resume("continue from here")]
        }
        "VERIFY_CANNOT_RUN" => vec![
            resume("continue, once the command can run"),
            step(format!("ralph resume {short} --force"), "or now, if the agent is to make it run"),
            step("ralph run --verify 'CMD'".into(), "or start again with another verify command"),
        ],
        "WORKSPACE_LOST" => vec![
            resume("continue, once the workspace is back at its path"),
            step(format!("ralph resume {short} -C DIR"), "or where it is now"),
        ],
        _ => Vec::new(),
    }
}

/// What became of the protected paths, and the two ways on.
fn protected(state: &State, short: &str) -> Vec<Step> {
    let mut steps = vec![(
        "ralph quarantine show".to_owned(),
        "see the agent's version of the protected paths".to_owned(),
    )];
    // What is in a commit is not the quarantine's to write back.
    let case = state.trees.quarantine.as_ref().filter(|_| state.trees.violations.is_empty());
    if let Some(case) = case.and_then(|folder| folder.rsplit('/').next()) {
        let what = "write the agent's version back, if it is right".to_owned();
        steps.push((format!("ralph quarantine restore {short}/{case}"), what));
    }
    if state.trees.violations.iter().any(lost_objects) {
        steps.push(("git fsck".into(), "list what the repository misses".into()));
        let what = "get back what a remote has of it; otherwise copy .git/objects from another clone";
        steps.push(("git fetch --refetch".into(), what.into()));
    }
    steps.push(("ralph run".into(), "start again, once the task says what to do instead".into()));
    steps
}

/// Objects that git misses, which nothing restores.
fn lost_objects(violation: &Violation) -> bool {
    let path = Path::new(&violation.path);
    let of_git = path.ends_with("objects") && path.components().any(|part| part.as_os_str() == ".git");
    of_git && matches!(violation.how, How::Deleted | How::Modified)
}

/// A repository without a commit has no base, but it can be committed to.
fn is_in_git(workspace: &str) -> bool {
    // A file in worktrees and submodules.
    let is_repository = |git: &Path| git.is_file() || git.join("HEAD").is_file();
    Path::new(workspace).ancestors().any(|dir| is_repository(&dir.join(".git")))
}

fn answer(short: &str, what: &str) -> Step {
    (format!("ralph resume {short} --hint \"…\""), what.to_owned())
}

/// The log and the plan to look at, then the ways on.
fn stuck(outcome: &Outcome, state: &State, short: &str) -> Vec<Step> {
    let mut steps =
        vec![(format!("ralph logs {short} -i {}", state.calls.done), "what the agent did last".to_owned())];
    if let Some(plan) = state.start.as_ref().and_then(|start| start.plan.as_ref()) {
        steps.push((plan.file.clone(), "the plan: is its next task clear and possible?".to_owned()));
    }
    steps.push(answer(short, "say what to do differently, and continue"));
    if state.start.as_ref().is_some_and(|start| start.verify.is_empty()) {
        steps.push(("ralph run --verify 'CMD'".into(), "or start again with a command that decides".into()));
    }
    if outcome.reason != Reason::TestSaturation.name() {
        steps.push(("ralph circuit reset".into(), "or allow new runs here, once the cause is fixed".into()));
    }
    steps
}

/// When to come back, and how to log in.
fn unavailable(state: &State, short: &str) -> Vec<Step> {
    let start = state.start.as_deref();
    let mut steps = Vec::new();
    let class = state.faults.last.as_ref().map(|fault| fault.class);
    if class == Some(Class::Auth) {
        let agent = start.map(|start| start.rung(state.ladder.rung).name.as_str()).unwrap_or_default();
        if let Ok(info) = registry::find(agent) {
            steps.extend(info.login().map(|login| (login.to_owned(), format!("log in to {}", info.title))));
            let variables = info.credentials.env;
            if let (true, Some(variable)) = (steps.is_empty(), variables.first()) {
                steps.push((format!("export {variable}=…"), format!("give {} its key", info.title)));
            }
        }
    }
    let refused = match &state.phase {
        Phase::Refused(refused) => refused.until,
        _ => None,
    };
    let until = refused.or_else(|| state.faults.wait_until(&start?.run)).filter(|until| *until > state.at);
    let zone = start.map_or("UTC", |start| start.zone.as_str());
    let when = match (class, until.filter(|_| class != Some(Class::Auth))) {
        (Some(Class::Auth), _) => "then continue from here".to_owned(),
        (_, Some(until)) => format!("continue at {}", moment(until, state.at, zone)),
        _ => "continue from here".to_owned(),
    };
    steps.push((format!("ralph resume {short}"), when));
    steps
}

/// A time to come, in the run's zone, with its day if that is another one, and how far it is.
fn moment(at: Ms, now: Ms, zone: &str) -> String {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let local = |ms: Ms| Timestamp::from_millisecond(ms).map(|time| time.to_zoned(zone.clone()));
    let (Ok(then), Ok(today)) = (local(at), local(now)) else { return "a later time".into() };
    let format = if then.date() == today.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    format!("{} or later (in {})", then.strftime(format), seconds(at - now))
}
