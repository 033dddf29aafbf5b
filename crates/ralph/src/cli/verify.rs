//! `ralph verify`: verifies the working tree or a branch without running an agent, and prints a receipt; or checks whether
//! a receipt is still valid.

use super::{Here, agent, resolve, runs, sandbox, secrets};
use crate::config::{SandboxFlags, Settings, Sources};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use crate::show::seconds;
use ralph_engine::proof::map::Tried;
use ralph_engine::receipt::{Receipt, diff_hash};
use ralph_engine::snapshots::Snapshots;
use ralph_engine::verification::ProgramSearch;
use ralph_engine::verification::standalone::{self, Progress, StandaloneVerify};
use ralph_engine::{git_checkout, open};
use ralph_os::{Links, read_regular};
use ralph_rules::grade::Grade;
use ralph_rules::record::{Check, CheckOutcome};
use ralph_rules::state::State;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Arguments of `ralph verify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Verify this branch or commit, in a separate checkout, instead of the working tree.
    #[arg(long, value_name = "REV", conflicts_with = "check")]
    branch: Option<String>,
    /// Commit to compare tests with (default: where the work branched off the main branch).
    #[arg(long, value_name = "REV", conflicts_with = "check")]
    base: Option<String>,
    /// Verify command to use instead of the configured ones (repeatable).
    #[arg(long, value_name = "CMD", conflicts_with = "check")]
    verify: Vec<String>,
    /// Find the parts of the change that no check notices: put each one back and verify again.
    #[arg(long, conflicts_with = "check")]
    map: bool,
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// Check whether this receipt is still valid: files, diff, journal.
    #[arg(long, value_name = "RECEIPT")]
    check: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Verifies, or checks a receipt.
pub fn verify(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.check {
        Some(path) => check(path, args.json, here),
        None => alone(args, here),
    }
}

fn alone(args: &Args, here: &Here) -> Result<u8, Problem> {
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let config = sources.variables(&here.env).flags(&args.sandbox.0).load()?;
    let settings = &config.settings;
    sandbox::network_is_possible(&args.sandbox.0, &config)?;
    let concerns = |warning: &&String| ["verify.", "sandbox."].iter().any(|name| warning.starts_with(name));
    for warning in config.warnings().iter().filter(concerns).chain(&sandbox::unenforced(&config)) {
        say(&format!("warning: {warning}\n"));
    }
    let commands = commands(args, &settings.verify)?;
    git_checkout::check(&here.workspace).map_err(|error| {
        Problem::new(Code::Input, "git cannot read this repository")
            .cause(&error)
            .hint("remove it, or put back the file that was there")
    })?;
    let rev = |word: &Option<String>| {
        word.as_deref()
            .map(|word| {
                git_checkout::named(&here.workspace, word).ok_or_else(|| {
                    Problem::new(
                        Code::Usage,
                        format!("`{word}` is not a commit, branch or tag in this repository"),
                    )
                    .hint("list branches with `git branch --all`")
                })
            })
            .transpose()
    };
    let (branch, base) = (rev(&args.branch)?, rev(&args.base)?);
    let head = branch.clone().or_else(|| git_checkout::named(&here.workspace, "HEAD"));
    let base = base.or_else(|| head.and_then(|head| git_checkout::base_of(&here.workspace, &head)));
    if args.map && base.is_none() {
        return Err(Problem::new(Code::Usage, "--map needs a commit to compare with, and none was found")
            .hint("name it: ralph verify --map --base REV"));
    }
    let request = StandaloneVerify {
        base,
        commit: branch,
        map: args.map.then_some(settings.policy.map_time),
        ..request(commands, settings, here)?
    };
    let redactor = secrets::redactor(settings, &here.workspace, here)?;
    let search = sandbox::programs(settings, here);
    let receipt = standalone::verify(&request, &redactor, |progress| show_progress(progress, search))
        .map_err(|e| Problem::new(Code::Busy, "cannot run the verification").cause(&e))?;
    match args.json {
        true => print_json(&receipt)?,
        false => print(&receipt.markdown()),
    }
    Ok(receipt.exit_code(settings.policy.gate.require))
}

/// Whether these commands pass on the working tree now, with nothing to compare it with.
pub fn is_green(commands: &[String], settings: &Settings, here: &Here) -> Result<bool, Problem> {
    let request = request(commands.to_vec(), settings, here)?;
    let redactor = secrets::redactor(settings, &here.workspace, here)?;
    let search = sandbox::programs(settings, here);
    let mut green = true;
    let seen = |progress: Progress<'_>| {
        if let Progress::Ran(_, result) = &progress {
            green &= result.how == CheckOutcome::Passed;
        }
        show_progress(progress, search);
    };
    standalone::verify(&request, &redactor, seen)
        .map_err(|e| Problem::new(Code::Busy, "cannot run the verification").cause(&e))?;
    Ok(green)
}

/// A verification of the working tree.
fn request(commands: Vec<String>, settings: &Settings, here: &Here) -> Result<StandaloneVerify, Problem> {
    let mut request = sandbox::request(settings, false, here)?;
    request.add_commands(commands.iter().map(String::as_str));
    let (contained, given) = sandbox::of_verification(&request, &resolve::protect(settings), here)?;
    Ok(StandaloneVerify {
        workspace: here.workspace.clone(),
        base: None,
        commit: None,
        commands,
        timeout: settings.policy.verify_timeout,
        oracle: settings.policy.oracle,
        oracle_paths: settings.oracle_paths.clone(),
        work_paths: settings.work_paths.clone(),
        setup: settings.verify_setup.clone(),
        rooms: here.home()?.rooms(&here.workspace),
        own_dir: here.home()?.within(&here.workspace),
        places: agent::places(here),
        scratch: here.home()?.dir().join("verify").join(std::process::id().to_string()),
        supervisor: agent::own_program()?,
        sandbox: (contained, given),
        map: None,
    })
}

/// The commands to verify with.
fn commands(args: &Args, configured: &[String]) -> Result<Vec<String>, Problem> {
    let commands = if args.verify.is_empty() { configured.to_vec() } else { args.verify.clone() };
    if commands.is_empty() || commands.iter().any(|command| command.trim().is_empty()) {
        return Err(Problem::new(
            Code::Usage,
            "no verify command: none is configured, and --verify was not given",
        )
        .hint("give one: ralph verify --verify 'cargo test'")
        .hint("or add it to ralph.toml:\n\n      [verify]\n      commands = [\"cargo test\"]"));
    }
    Ok(commands)
}

/// Says how a verification came out.
fn show_progress(progress: Progress<'_>, search: ProgramSearch<'_>) {
    let (check, result) = match progress {
        Progress::Ran(check, result) => (check, result),
        Progress::Tried(tried) => return say(&format!("{}\n", tried_words(tried))),
    };
    if let Check::InRoom(sets) = check {
        let how = if result.how == CheckOutcome::Passed { "passes" } else { "fails" };
        let (line, took) = (&result.command, seconds(result.ms));
        return say(&format!("`{line}` {how} on {} ({took})\n", sets.words()));
    }
    let how = if result.how == CheckOutcome::Passed { "passed" } else { "failed" };
    say(&format!("`{}` {how} ({})\n", result.command, seconds(result.ms)));
    if result.how != CheckOutcome::Passed {
        say(&format!("{}\n", crate::plain::plain_lines(&result.tail).trim_end()));
        if let Some(missing) = search.missing_after(result) {
            say(&format!("it cannot run: {}\n", plain(&missing.words())));
        }
    }
}

/// One verification of the map: `the checks fail without src/a.py:10-12 (0.4s)`.
fn tried_words(tried: &Tried) -> String {
    let how = if tried.failed { "fail" } else { "pass" };
    let without = match tried.places.as_slice() {
        [] => "with the whole change".to_owned(),
        [place] => format!("without {place}"),
        [first, rest @ ..] => format!("without {first} and {} more", rest.len()),
    };
    plain(&format!("the checks {how} {without} ({})", seconds(tried.ms)))
}

/// A receipt larger than this is something else.
const LARGEST_RECEIPT: u64 = 64 << 20;

/// Which parts of a receipt are still valid.
fn check(path: &Path, as_json: bool, here: &Here) -> Result<u8, Problem> {
    let text = read_regular(path, LARGEST_RECEIPT, Links::Follow).map_err(|e| {
        Problem::new(Code::Input, format!("cannot read the receipt {}", path.display()))
            .cause(&e)
            .hint("use the output of `ralph verify --json`, or a run's receipt.json")
    })?;
    let receipt: Receipt = serde_json::from_slice(&text)
        .ok()
        .filter(|receipt: &Receipt| receipt.r#type == "receipt")
        .ok_or_else(|| {
            Problem::new(Code::Input, format!("{} is not a receipt", path.display()))
                .hint("use the output of `ralph verify --json`, or a run's receipt.json")
        })?;
    let parts = match &receipt.chain {
        Some(chain) => of_run(&receipt, &chain.run, here)?,
        None => of_tree(&receipt, here)?,
    };
    let all = parts.iter().all(|(_, holds, _)| *holds);
    if as_json {
        let parts: Vec<_> = parts
            .iter()
            .map(|(part, holds, why)| json!({"part": part, "holds": holds, "why": why}))
            .collect();
        print_json(
            &json!({"v": 1, "type": "check", "holds": all, "verdict": receipt.verdict, "parts": parts}),
        )?;
    } else {
        let style = here.out_style();
        for (part, holds, why) in &parts {
            let mark = if *holds { style.good("✓") } else { style.bad("✗") };
            print(&format!("{mark} {part}{}{why}\n", if why.is_empty() { "" } else { ": " }));
        }
    }
    Ok(if all { receipt.exit_code(Grade::Unbroken) } else { 1 })
}

type Part = (&'static str, bool, String);

fn of_run(receipt: &Receipt, run: &str, here: &Here) -> Result<Vec<Part>, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let (Some(chain), Some(state)) = (&receipt.chain, runs::records(&store, run).ok().map(|r| State::of(&r)))
    else {
        return Ok(vec![("journal", false, format!("run {run} is not in the database"))]);
    };
    let head = store.verify_chain(&ralph_engine::run::stream_of(run)).ok().flatten();
    let bound =
        head.as_ref().is_some_and(|head| head.seq == chain.seq && head.chain.to_string() == chain.hash);
    let why = if bound {
        String::new()
    } else {
        "it differs from the receipt: it was changed, or the run continued".into()
    };
    let mut parts = vec![("journal", bound, why)];
    let Some(start) = &state.start else { return Ok(parts) };
    let workspace = Path::new(&start.workspace);
    let tree = open::tree_of(&home, workspace, start).ok().and_then(|tree| tree.walk(None).ok());
    let before = Snapshots::of(&home, workspace, run).after(0);
    parts.extend(files(receipt, tree.as_ref().map(|now| (before.as_ref(), now))));
    Ok(parts)
}

fn of_tree(receipt: &Receipt, here: &Here) -> Result<Vec<Part>, Problem> {
    let (home, workspace) = (here.home()?, Path::new(&receipt.workspace));
    let scratch = home.dir().join("verify").join(std::process::id().to_string());
    let trees = standalone::trees(workspace, receipt, &scratch, home.within(workspace).as_ref());
    let trees = trees.map_err(|e| Problem::new(Code::Input, "cannot read the files").cause(&e))?;
    Ok(files(receipt, Some((trees.0.as_ref(), &trees.1))))
}

fn files(receipt: &Receipt, trees: Option<(Option<&ralph_tree::Index>, &ralph_tree::Index)>) -> Vec<Part> {
    let Some((before, now)) = trees else { return vec![("files", false, "cannot be read".into())] };
    let same = format!("{:032x}", now.id()) == receipt.tree;
    let why = |same: bool, why: &str| if same { String::new() } else { why.to_owned() };
    let mut parts = vec![("files", same, why(same, "they differ from the ones that were verified"))];
    if let Some(hash) = &receipt.diff_hash {
        let same = before.is_some_and(|before| diff_hash(before, now).0 == *hash);
        parts.push(("difference", same, why(same, "it differs, or its base no longer exists")));
    }
    parts
}
