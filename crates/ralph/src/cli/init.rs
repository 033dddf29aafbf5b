//! `ralph init`: sets up a repository. Detects stacks, asks a person at a terminal, writes the files that do not exist yet,
//! and ends with the command to type next. `init.rs` knows the stacks, `questions.rs` asks.

use super::Here;
use super::init_place::{place, unanswered};
use super::questions::{Questions, at_terminal};
use crate::config;
use crate::init::found::{Found, Use, quoted};
use crate::init::text::{Choices, config as config_text};
use crate::init::write::{Done, append, is_there, make, refresh};
use crate::init::{SCHEMA, commit, detect, ignore, templates};
use crate::plain::plain;
use crate::print::{print, say};
use crate::problem::{Code, Problem};
use crate::style::Style;
use crate::values;
use ralph_agents::registry::AGENTS;
use ralph_engine::verification::ProgramSearch;
use ralph_os::{Links, read_regular};
use ralph_rules::money::Micro;
use std::fmt::Write;
use std::path::Path;

mod given;
mod offer_commit;
use given::Given;
use offer_commit::offer_commit;

/// A `.gitignore` larger than this is not ours to add to.
const GITIGNORE: u64 = 1 << 20;

/// Arguments of `ralph init`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task, written to PROMPT.md (default: a placeholder to edit).
    task: Option<String>,
    /// Show the files without writing them.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask; use what was detected and the default limits.
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    given: Given,
}

/// The default limits: enough for a first evening, small enough to lose.
const ITERATIONS: u32 = 10;
const COST: Micro = Micro(5_000_000);

/// What is known before anything is written.
struct Seen {
    found: Vec<Found>,
    choices: Choices,
    installed: Vec<&'static str>,
    notes: Vec<String>,
}

/// Detects, asks, writes.
pub fn init(args: &Args, here: &Here) -> Result<u8, Problem> {
    usable(here)?;
    if args.task.as_deref().is_some_and(|task| task.trim().is_empty()) {
        return Err(
            Problem::new(Code::Usage, "the task is empty").hint("give a task, or omit it and edit PROMPT.md")
        );
    }
    let asks = at_terminal() && !args.yes && !args.dry_run;
    let here = &place(asks, here)?;
    let mut task = args.task.clone();
    let mut seen = look(&args.given, here)?;
    let fresh = !is_there(&here.workspace.join("ralph.toml"));
    seen.notes.extend(args.given.without_effect().filter(|_| !fresh));
    if fresh && asks {
        say(&summary(&seen, here.err_style()));
        ask(&mut seen, &mut task, &args.given).map_err(|e| unanswered(&e))?;
    } else if fresh {
        say(&summary(&seen, here.err_style()));
    }
    let files = [
        ("ralph.toml", config_text(&seen.choices, &seen.found)),
        ("PROMPT.md", templates::prompt(&project(here), task.as_deref(), &seen.found, &seen.choices.verify)),
    ];
    let lines = ignore::missing(&here.workspace);
    let kept = is_there(&here.workspace.join("PROMPT.md"));
    match args.dry_run {
        true => show(&files, &lines, here),
        false => {
            let written = write(&files, &lines, here)?;
            offer_commit(&written, !at_terminal() || args.yes, here)?;
        }
    }
    let start = Start { task: task.as_deref(), kept, dry_run: args.dry_run };
    say(&farewell(&seen, &start, here));
    Ok(0)
}

/// Refuses before anything is written if a run could not work here.
fn usable(here: &Here) -> Result<(), Problem> {
    if here.workspace.to_str().is_none() {
        let message = format!("the path {} is not valid UTF-8", here.workspace.display());
        return Err(Problem::new(Code::Usage, message).hint("rename the directory, or use another checkout"));
    }
    Ok(())
}

fn look(given: &Given, here: &Here) -> Result<Seen, Problem> {
    let found = detect::detect(&here.workspace, &here.env);
    let config = config::load_files(&here.workspace, &here.env);
    let mut notes: Vec<String> = found.iter().flat_map(|f| f.notes.iter().cloned()).collect();
    if let Err(problem) = &config {
        notes.push(problem.message.clone());
    }
    let config = config.ok();
    let installed: Vec<&str> = AGENTS
        .iter()
        .filter(|info| info.program.is_some_and(|program| here.env.which(program, &here.workspace).is_some()))
        .map(|info| info.name)
        .collect();
    let wanted = given.agent()?;
    let own = wanted.is_none()
        && (here.env.settings.contains_key("RALPH_AGENT")
            || config.as_ref().is_some_and(|config| config.is_set("agent.name")));
    let agent = wanted.or(installed.first().copied()).unwrap_or("claude");
    let (most, dearest) = config.as_ref().map_or((ITERATIONS, COST), |config| {
        (config.settings.ceilings.max_iterations, config.settings.ceilings.max_cost)
    });
    let choices = Choices {
        agent: (!own).then(|| agent.to_string()),
        others: installed.iter().filter(|name| own || **name != agent).map(ToString::to_string).collect(),
        max_iterations: ITERATIONS.min(most),
        max_cost_usd: dollars(COST.min(dearest)),
        verify: match given.verify.is_empty() {
            true => verify(&found, &mut notes),
            false => given.verify.clone(),
        },
    };
    missing_tools(&choices.verify, here, &mut notes);
    Ok(Seen { found, choices, installed, notes })
}

/// The tests; if there are none, builds and linters.
fn verify(found: &[Found], notes: &mut Vec<String>) -> Vec<String> {
    let of = |what: Use| -> Vec<String> {
        let first = |f: &Found| f.checks.iter().find(|check| check.what == what).map(|check| f.at_top(check));
        found.iter().filter_map(first).collect()
    };
    let tests = of(Use::Test);
    if !tests.is_empty() {
        return tests;
    }
    let (mut other, lint) = (of(Use::Build), of(Use::Lint));
    other.extend(lint);
    if !other.is_empty() {
        notes.push("no tests found: a build or lint proves little, so write a test first".into());
    }
    other
}

/// A command whose program is missing would fail every time.
fn missing_tools(verify: &[String], here: &Here, notes: &mut Vec<String>) {
    let search = ProgramSearch { directory: &here.workspace, path: here.env.path.as_deref() };
    for command in verify {
        if let Some(missing) = search.missing_before(command) {
            notes.push(format!("`{command}` cannot run: {}", missing.words()));
        }
    }
}

/// What was detected, in a few lines.
fn summary(seen: &Seen, style: Style) -> String {
    let mut text = style.strong("Detected") + "\n";
    if seen.found.is_empty() {
        let what = match seen.choices.verify.is_empty() {
            true => "any repository works once you set a verify command".to_owned(),
            false => format!("verified by {}", plain(&seen.choices.verify.join("; "))),
        };
        let _ = writeln!(text, "  no known stack; {what}");
    }
    for found in &seen.found {
        let _ = writeln!(text, "  {:<28} {}", plain(&found.words()), style.faint(plain(&found.by)));
        for check in &found.checks {
            let _ = writeln!(text, "    {:<6} {}", check.what.word(), plain(&check.command));
        }
    }
    match seen.installed.as_slice() {
        [] => text.push_str("  no agent installed (`ralph agents` shows how to install one)\n"),
        names => {
            let _ = writeln!(
                text,
                "  {:<28} {}",
                if names.len() == 1 { "agent" } else { "agents" },
                names.join(", ")
            );
        }
    }
    text.push('\n');
    text
}

fn ask(seen: &mut Seen, task: &mut Option<String>, given: &Given) -> std::io::Result<()> {
    let mut questions = Questions::new(std::io::stdin().lock(), std::io::stderr());
    let choices = &mut seen.choices;
    if let (Some(agent), true) = (&mut choices.agent, seen.installed.len() != 1 && given.agent.is_none()) {
        let known = |name: &str| {
            ralph_agents::registry::find(name).map(|_| name.to_string()).map_err(|e| e.to_string())
        };
        if let Some(other) = questions.ask("Agent", agent.as_str(), known)? {
            *agent = other;
            choices.others =
                seen.installed.iter().filter(|name| *name != agent).map(ToString::to_string).collect();
        }
    }
    let offered = choices.max_iterations.to_string();
    if let Some(n) = questions.ask("Maximum iterations", &offered, values::count)? {
        choices.max_iterations = n;
    }
    let offered = choices.max_cost_usd.clone();
    if let Some(cost) = questions.ask("Maximum cost in dollars", &offered, values::money)? {
        choices.max_cost_usd = dollars(cost);
    }
    let offered = if choices.verify.is_empty() { "none".into() } else { choices.verify.join("; ") };
    let what = "Verify command (- for none)";
    let command = |text: &str| Ok(if text == "-" { Vec::new() } else { vec![text.to_string()] });
    if given.verify.is_empty()
        && let Some(verify) = questions.ask(what, &plain(&offered), command)?
    {
        choices.verify = verify;
    }
    if task.is_none() {
        let text = |text: &str| Ok(text.to_string());
        *task = questions.ask("Task", "edit PROMPT.md later", text)?;
    }
    say("\n");
    Ok(())
}

/// Dollars as TOML has numbers with a fraction.
fn dollars(amount: Micro) -> String {
    let text = format!("{}.{:06}", amount.0 / 1_000_000, amount.0 % 1_000_000);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_string() }
}

/// The workspace's own name.
fn project(here: &Here) -> String {
    here.workspace
        .file_name()
        .map(|name| plain(&name.to_string_lossy()).replace('`', "'"))
        .unwrap_or_default()
}

/// `--dry-run`: the files as they would be, on stdout.
fn show(files: &[(&str, String)], lines: &[&str], here: &Here) {
    let style = here.out_style();
    for (name, text) in files {
        if is_there(&here.workspace.join(name)) {
            say(&format!("{name} exists and would be left unchanged.\n"));
        } else {
            print(&format!("{}\n{text}\n", style.strong(format!("--- {name}"))));
        }
    }
    if !lines.is_empty() {
        let head = style.strong("--- .gitignore, lines to add");
        print(&format!("{head}\n{}\n\n", lines.join("\n")));
    }
}

/// Writes the files, and says which ones. A `.gitignore` that the user is working on is not among them.
fn write<'f>(files: &[(&'f str, String)], lines: &[&str], here: &Here) -> Result<Vec<&'f str>, Problem> {
    let style = here.err_style();
    let (mut told, mut written) = (String::new(), Vec::new());
    for (name, text) in files {
        let done = make(&here.workspace.join(name), text).map_err(|e| cannot(name, &e, &told, here))?;
        let word = match done {
            Done::Written => {
                written.push(*name);
                style.good("written")
            }
            Done::LeftAlone => style.faint("exists, unchanged"),
        };
        let _ = writeln!(told, "  {name:<11} {word}");
    }
    let place = here.workspace.join(".gitignore");
    if !lines.is_empty() {
        let now = read_regular(&place, GITIGNORE, Links::RefuseLast).unwrap_or_default();
        let clean = commit::is_clean(&here.workspace, ".gitignore");
        let word = match append(&place, &ignore::addition(&now, lines)) {
            Ok(()) => {
                written.extend(clean.then_some(".gitignore"));
                style.good(format!("{} added", lines.join(" and ")))
            }
            Err(e) => style.warn(format!("unchanged ({e}); add {} yourself", lines.join(" and "))),
        };
        let _ = writeln!(told, "  {:<11} {word}", ".gitignore");
    }
    // Only editors use these, so a failure does not matter.
    let _ = helpers(&here.workspace);
    say(&told);
    Ok(written)
}

/// The schema beside the file that names it, where git does not see it.
fn helpers(workspace: &Path) -> std::io::Result<()> {
    refresh(&workspace.join(".ralph/.gitignore"), "*\n")?;
    refresh(&workspace.join(SCHEMA), &config::schema_text())
}

fn cannot(name: &str, error: &std::io::Error, told: &str, here: &Here) -> Problem {
    say(told);
    let message = format!("cannot write {}", here.workspace.join(name).display());
    Problem::new(Code::Busy, message)
        .cause(error)
        .hint("make the directory writable, or print the files with `ralph init --dry-run`")
        .hint(
            "or run without files: `ralph run \"TASK\" --verify 'make test' --max-iterations 10 --max-cost 5`",
        )
}

/// What the closing command depends on.
struct Start<'a> {
    /// The task that was given.
    task: Option<&'a str>,
    /// A PROMPT.md existed already.
    kept: bool,
    dry_run: bool,
}

/// Notes, and the command to type next.
fn farewell(seen: &Seen, start: &Start<'_>, here: &Here) -> String {
    let style = here.err_style();
    let mut text = String::new();
    let mut note = |what: &str| {
        let _ = writeln!(text, "{} {}", style.warn("note:"), plain(what));
    };
    for what in &seen.notes {
        note(what);
    }
    let no_verify = seen.choices.verify.is_empty() && seen.notes.is_empty();
    if no_verify {
        note(
            "no verify command: completion cannot be verified until you add one under [verify] in ralph.toml",
        );
    }
    if seen.installed.is_empty() && !here.env.settings.contains_key("RALPH_AGENT") {
        note("no agent is installed: `ralph agents` shows how to install one; `ralph demo` needs none");
    }
    if here.env.state_home.is_none() {
        note("neither HOME nor XDG_STATE_HOME is set: a run needs one of them for its journal");
    }
    if ignore::repository(&here.workspace).is_none() {
        note("this is not a git repository: ralph works, but you have no history to compare with");
    }
    if start.kept && start.task.is_some() {
        note("PROMPT.md already exists and was not changed; your task is in the command below");
    }
    let first = match start {
        Start { dry_run: true, .. } => "Nothing was written. To write the files:",
        Start { task: None, kept: false, .. } if no_verify => {
            "Write your task into PROMPT.md and a verify command into ralph.toml, then run:"
        }
        Start { task: None, kept: false, .. } => "Write your task into PROMPT.md, then run:",
        _ if no_verify => "Add a verify command to ralph.toml, then run:",
        _ => "Next, run:",
    };
    let _ = writeln!(text, "\n{first}\n\n  {}", style.strong(command(start, here)));
    text
}

/// A file that existed already may lack the limits that a run needs.
fn command(start: &Start<'_>, here: &Here) -> String {
    if start.dry_run {
        return "ralph init".into();
    }
    let task = start.task.filter(|_| start.kept).map(|task| format!(" {}", quoted(task))).unwrap_or_default();
    let settings = config::load_files(&here.workspace, &here.env).map(|config| config.settings).ok();
    let limited = settings.is_none_or(|s| s.max_iterations.is_some() && s.max_cost.is_some());
    let limits = match limited {
        true => String::new(),
        false => format!(" --max-iterations {ITERATIONS} --max-cost {}", COST.0 / 1_000_000),
    };
    plain(&format!("ralph run{task}{limits}"))
}
