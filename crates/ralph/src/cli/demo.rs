//! `ralph demo`: the whole loop on a throw-away repository with the built-in scripted agent. No key, no network. The
//! loop, the verification and the receipt are the real ones; only the agent is scripted.

use super::run::{Args as RunArgs, Output, begin};
use super::{Here, resolve, say};
use crate::problem::{Code, Problem};
use ralph_sim::demo::{FILES, PROMPT, SCRIPT, VERIFY};
use std::path::Path;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the repository, to look around in it.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    output: Output,
}

/// Plays the demo.
pub fn demo(args: &Args, here: &Here) -> Result<u8, Problem> {
    let failed = |e: &dyn std::error::Error| Problem::new(Code::Busy, "the demo's repository cannot be made").cause(e);
    let dir = tempfile::Builder::new().prefix("ralph-demo-").tempdir().map_err(|e| failed(&e))?;
    let workspace = dir.path().join("slug");
    let script = dir.path().join("agent.sim");
    write_all(&workspace, &script).map_err(|e| failed(&e))?;
    say(&format!(
        "A small project in {} has a failing test. A scripted agent (no key, no network) gets three attempts;\n\
         ralph runs `{VERIFY}` after each and believes only that.\n\n",
        workspace.display()
    ));
    let inside = Here { env: here.env.clone(), workspace: workspace.canonicalize().map_err(|e| failed(&e))?, color: here.color };
    let run = RunArgs {
        task: Some(PROMPT.into()),
        agent: Some("sim".into()),
        max_iterations: Some(5),
        max_cost: Some("1".into()),
        verify: vec![VERIFY.into()],
        rest: vec!["--script".into(), script.display().to_string()],
        ..RunArgs::default()
    };
    let mut resolved = resolve::resolve(&run, &inside)?;
    resolved.warnings.clear();
    let code = begin(resolved, args.output, &inside)?;
    if args.keep {
        let kept = dir.keep();
        say(&format!("The repository is kept in {}.\n", kept.join("slug").display()));
    }
    say("\nNow in a repository of yours:\n\n  ralph run \"What is to be done\" --verify 'your test command' --max-iterations 10 --max-cost 5\n");
    Ok(code)
}

fn write_all(workspace: &Path, script: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(workspace)?;
    for (name, text) in FILES {
        std::fs::write(workspace.join(name), text)?;
    }
    std::fs::write(script, SCRIPT)
}
