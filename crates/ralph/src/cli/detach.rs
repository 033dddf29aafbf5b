//! `ralph run --detach` and `ralph resume --detach`, or `--watch`: a run in the background. ralph starts itself again with the same
//! arguments in a new session; the output goes to the run's folder. Success is reported only once the journal has the start
//! record; if the other process refuses to start, its message and exit code are passed on.

use super::run::Output;
use super::{Here, runs, watch};
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use ralph_diagnostics::Discard;
use ralph_engine::home::Home;
use ralph_store::{RunRow, Store};
use serde_json::json;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// The output of a run in the background, in its folder.
pub const LOG: &str = "screen.log";
/// How often to check whether it has started.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of output that are searched for warnings and for the reason of a refusal.
const WORDS: usize = 64 * 1024;

/// What a run in the background gets from the process that starts it.
#[derive(Clone, Copy)]
pub struct Handover<'a> {
    /// How this process prints.
    pub output: Output,
    /// This process shows the monitor then.
    pub watch: bool,
    /// What was read from stdin, the task or a hint: the other process reads it once more.
    pub stdin: Option<&'a str>,
}

/// Starts the run `id`, new or resumed from `row`, and returns once it has started.
pub fn detach(
    Handover { output, watch, stdin }: Handover<'_>,
    id: &str,
    row: Option<&RunRow>,
    here: &Here,
) -> Result<u8, Problem> {
    let home = here.home()?;
    let log = home.run(id).join(LOG);
    let failed = |what: &str, e: &(dyn std::error::Error + 'static)| Problem::new(Code::Busy, what).cause(e);
    Home::create_private_dir(&home.run(id)).map_err(|e| failed("cannot create the run's folder", &e))?;
    let file = File::options().create(true).append(true).open(&log);
    let file = file.map_err(|e| failed("cannot create the run's log", &e))?;
    let said = file.metadata().map_or(0, |meta| meta.len());
    let both = file.try_clone().map_err(|e| failed("cannot create the run's log", &e))?;
    let program = std::env::current_exe().map_err(|e| failed("cannot find ralph's own executable", &e))?;
    let mut command = Command::new(program);
    let stdin = again(stdin).map_err(|e| failed("cannot hand over what was read from stdin", &e))?;
    command.args(typed(std::env::args_os().skip(1), id)).stdin(stdin).stdout(file).stderr(both);
    let mut child = command.spawn().map_err(|e| failed("cannot start the background process", &e))?;
    let refusal = begun(&home, id, row, &mut child)?;
    if refusal.is_none() && !output.quiet {
        let words = words(&log, said);
        words.lines().filter(|line| line.starts_with("warning: ")).for_each(|line| say(&format!("{line}\n")));
    }
    match refusal {
        Some(status) => Err(refused(status, &log, said, row.is_none().then(|| home.run(id)).as_deref())),
        None if watch => {
            // So that it leaves no process entry behind while it is watched.
            std::thread::spawn(move || child.wait().discard("wait for the run in the background"));
            watch::watch_started(id, here)
        }
        None => report_start(output, id, &child, &log),
    }
}

/// What was read from stdin, for the other process to read once more.
fn again(text: Option<&str>) -> std::io::Result<Stdio> {
    let Some(text) = text else { return Ok(Stdio::null()) };
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

/// The same arguments with `--detached ID` instead of `--detach` or `--watch`.
fn typed(words: impl Iterator<Item = OsString>, id: &str) -> Vec<OsString> {
    let (mut typed, mut ours) = (Vec::new(), true);
    for word in words {
        ours &= word != "--";
        if ours && (word == "--detach" || word == "--watch") {
            typed.extend(["--detached".into(), id.into()]);
            ours = false;
        } else {
            typed.push(word);
        }
    }
    typed
}

/// Waits until the run is in the journal; returns the exit status if the process ended before that.
fn begun(
    home: &Home,
    id: &str,
    before: Option<&RunRow>,
    child: &mut Child,
) -> Result<Option<ExitStatus>, Problem> {
    let head = before.map_or(0, |row| row.head);
    loop {
        let ended = child.try_wait().ok().flatten();
        let row = match home.store_if_any().map_err(|e| runs::broken(&e))? {
            Some(store) => store.run(id).map_err(|e| runs::broken(&e))?,
            None => None,
        };
        if row.is_some_and(|row| row.head > head) {
            return Ok(None);
        }
        if ended.is_some() {
            return Ok(ended);
        }
        std::thread::sleep(LOOK);
    }
}

/// What the other process printed so far, after what was in the log before.
fn words(log: &Path, said: u64) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let words = bytes.get(usize::try_from(said).unwrap_or(usize::MAX)..).unwrap_or_default();
    String::from_utf8_lossy(words.get(..words.len().min(WORDS)).unwrap_or_default()).into_owned()
}

/// The error of the other process. The folder of a run that never started is removed.
fn refused(status: ExitStatus, log: &Path, said: u64, folder: Option<&Path>) -> Problem {
    let words = words(log, said);
    if let Some(folder) = folder {
        std::fs::remove_dir_all(folder).discard("remove the folder of a run that did not start");
    }
    let said = words.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("the run did not start");
    let problem = Problem::new(code(status), said);
    let hints = words.lines().filter_map(|line| line.strip_prefix("hint: "));
    let problem = hints.fold(problem, |problem, hint| problem.hint(hint));
    let causes = words.lines().filter_map(|line| line.trim().strip_prefix("because: ")).map(Into::into);
    Problem { causes: causes.collect(), ..problem }
}

fn code(status: ExitStatus) -> Code {
    let all =
        [Code::Usage, Code::Input, Code::Unavailable, Code::Busy, Code::Journal, Code::Config, Code::Breaker];
    all.into_iter().find(|code| status.code() == Some(i32::from(*code as u8))).unwrap_or(Code::Bug)
}

fn report_start(output: Output, id: &str, child: &Child, log: &Path) -> Result<u8, Problem> {
    if output.json {
        print_json(&json!({"v": 1, "type": "detached", "runId": id, "pid": child.id(), "log": log}))?;
        return Ok(0);
    }
    print(&format!("{id}\n"));
    if !output.quiet {
        let short = runs::short(id);
        say(&format!(
            "Running in the background. Watch it with `ralph attach {short}`, stop it with `ralph stop {short}`.\n"
        ));
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_arguments_are_used_except_for_the_flag() {
        let again = |words: &[&str]| typed(words.iter().map(Into::into), "ID");
        assert_eq!(
            again(&["-C", "x", "run", "--detach", "task"]),
            ["-C", "x", "run", "--detached", "ID", "task"]
        );
        let mine = ["run", "t", "--detach", "--", "--detach"];
        assert_eq!(
            again(&mine),
            ["run", "t", "--detached", "ID", "--", "--detach"],
            "the agent's own arguments stay"
        );
        assert_eq!(again(&["resume", "--watch", "7ebeed4a"]), ["resume", "--detached", "ID", "7ebeed4a"]);
    }
}
