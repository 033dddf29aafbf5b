//! `ralph demo`: a complete run on a throwaway repository with the built-in scripted agent. No key, no network. The loop,
//! the verification and the receipt are real; only the agent is scripted.

use super::run::{Args as RunArgs, Output, begin};
use super::{Here, resolve};
use crate::config::Flags;
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_rules::record::THROWAWAY;
use ralph_sim::demo::{FILES, PROMPT, SCRIPT, VERIFY};
use std::path::Path;
use std::process::{Command, Stdio};

/// Arguments of `ralph demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the repository instead of deleting it.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs the demo.
pub fn demo(args: &Args, here: &Here) -> Result<u8, Problem> {
    let failed = |e: &(dyn std::error::Error + 'static)| {
        Problem::new(Code::Busy, "cannot create the demo repository").cause(e)
    };
    let dir = tempfile::Builder::new().prefix("ralph-demo-").tempdir().map_err(|e| failed(&e))?;
    let workspace = dir.path().join("slug");
    let script = dir.path().join("agent.sim");
    write_all(&workspace, &script).map_err(|e| failed(&e))?;
    commit(&workspace);
    say(&format!(
        "A small project in {} has a failing test. A scripted agent (no key, no network) works on it;\n\
         after each attempt, ralph runs `{VERIFY}` and trusts only the result.\n\n",
        workspace.display()
    ));
    let workspace = workspace.canonicalize().map_err(|e| failed(&e))?;
    let inside = Here { workspace: workspace.clone(), typed_in: workspace, ..here.clone() };
    let run = RunArgs {
        task: Some(PROMPT.into()),
        settings: Flags::of([
            ("agent.name", "sim".into()),
            ("run.max_iterations", 5.into()),
            ("run.max_cost_usd", 1.into()),
            ("verify.commands", vec![VERIFY].into()),
        ]),
        rest: vec!["--script".into(), script.display().to_string()],
        ..RunArgs::default()
    };
    let mut resolved = resolve::resolve(&run, &inside)?;
    resolved.warnings.clear();
    if !args.keep {
        resolved.plan.prompt_from = THROWAWAY.into();
    }
    let code = begin(&uuid::Uuid::now_v7().to_string(), resolved, args.output, &inside)?;
    if args.keep {
        let kept = dir.keep();
        say(&format!("\nThe repository was kept: {}\n", kept.join("slug").display()));
    } else {
        say("\nThe throwaway repository was deleted (`ralph demo --keep` keeps it).\n");
    }
    say(
        "Now in your own repository:\n\n  ralph init \"Make the tests pass\"    detect the test command, write ralph.toml and PROMPT.md\n  ralph run                            run the agent until the tests pass\n",
    );
    Ok(code)
}

fn write_all(workspace: &Path, script: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(workspace)?;
    for (name, text) in FILES {
        std::fs::write(workspace.join(name), text)?;
    }
    std::fs::write(script, SCRIPT)
}

/// Makes it a git repository with one commit, if git is installed, without the user's own settings, hooks and keys.
fn commit(workspace: &Path) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_"))
        {
            command.env_remove(name);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args([
            "-c",
            "user.name=ralph demo",
            "-c",
            "user.email=demo@localhost",
            "-c",
            "core.hooksPath=/dev/null",
        ]);
        command.args(["-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"]).args(args);
        command.current_dir(workspace).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let _ =
        git(&["init", "-q", "--template="]) && git(&["add", "-A"]) && git(&["commit", "-q", "-m", "Start"]);
}
