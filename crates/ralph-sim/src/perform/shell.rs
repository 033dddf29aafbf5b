//! Commands the agent runs. Output goes through a file without a name, not a pipe: a command that leaves a
//! process behind returns at once, as with Claude.

use crate::output::Answer;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

/// Claude shows the model no more than this of a command's output.
const SHOWN: u64 = 30_000;

/// Runs a command by `sh -c`.
pub fn run(command: &str) -> Answer {
    told(captured(Command::new("sh").arg("-c").arg(command)))
}

/// Commits everything, under a name of its own, so that it works where git knows nobody.
pub fn commit(message: &str) -> Answer {
    let added = told(captured(Command::new("git").args(["add", "-A"])));
    if added.failed {
        return added;
    }
    let who =
        ["-c", "user.name=agent-sim", "-c", "user.email=agent-sim@localhost", "-c", "commit.gpgsign=false"];
    told(captured(Command::new("git").args(who).args(["commit", "-m", message])))
}

fn told(done: io::Result<(ExitStatus, String)>) -> Answer {
    match done {
        Ok((status, output)) if status.success() => Answer::good(output),
        Ok((status, output)) => {
            let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
            Answer::bad(format!("Exit code {code}\n{output}").trim_end())
        }
        Err(error) => Answer::bad(format!("the command could not be started: {error}")),
    }
}

fn captured(command: &mut Command) -> io::Result<(ExitStatus, String)> {
    let mut output = nameless()?;
    let status =
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?).status()?;
    output.rewind()?;
    let mut bytes = Vec::new();
    output.take(SHOWN).read_to_end(&mut bytes)?;
    Ok((status, String::from_utf8_lossy(&bytes).trim_end().to_owned()))
}

/// A file that is gone from its directory before anything is written to it.
fn nameless() -> io::Result<File> {
    let stamp = crate::clock::now().as_nanos();
    let path = std::env::temp_dir().join(format!("agent-sim-{}-{stamp}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
