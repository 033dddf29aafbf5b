//! The task: an argument, the contents of a file, or what comes on stdin.

use super::Here;
use super::run::Args;
use crate::config::Settings;
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_os::{Links, ReadError, open_regular};
use ralph_rules::record::{FROM_ARGUMENT, FROM_STDIN};
use std::fs::File;
use std::io::{Error, ErrorKind, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// A prompt larger than this is a mistake, or an endless device.
const MOST: u64 = 1 << 20;

/// Flags that name files. They are relative to where they are typed; settings in files are relative to the workspace.
const FILE_FLAGS: [&str; 2] = ["prompt.file", "plan.file"];

/// The arguments with the task from stdin, if it is to be read from there, and with files that the workspace finds.
pub fn typed(args: &Args, here: &Here) -> Result<Args, Problem> {
    let mut args = args.clone();
    if args.task.as_deref() == Some("-") || args.settings.text("prompt.file") == Some("-") {
        args.from_stdin = Some(from_stdin()?);
    }
    for key in FILE_FLAGS.into_iter().filter(|_| here.typed_in != here.workspace) {
        let Some(file) = args.settings.text(key).filter(|file| *file != "-") else { continue };
        let path = here.typed_in.join(file);
        let path = path.strip_prefix(&here.workspace).unwrap_or(&path);
        let path = path.to_string_lossy().into_owned();
        args.settings = args.settings.with_text(key, &path);
    }
    Ok(args)
}

/// All of stdin; a person at a terminal ends it with Ctrl-D.
fn from_stdin() -> Result<String, Problem> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        say("Type the task, then press Ctrl-D:\n");
    }
    let text = text(stdin.lock()).map_err(|error| {
        Problem::new(Code::Usage, "cannot read the task from stdin")
            .cause(&error)
            .hint("pipe text into it: ralph run - < task.md")
    })?;
    match text.trim() {
        "" => Err(Problem::new(Code::Usage, "the task from stdin is empty")
            .hint("pipe text into it: ralph run - < task.md")),
        _ => Ok(text),
    }
}

/// The prompt and where it is from.
pub fn prompt(args: &Args, settings: &Settings, here: &Here) -> Result<(String, String), Problem> {
    if let Some(task) = &args.from_stdin {
        return Ok((task.clone(), FROM_STDIN.into()));
    }
    if let Some(task) = &args.task {
        return match task.trim() {
            "" => Err(Problem::new(Code::Usage, "the task is empty")
                .hint("give a task, or omit it to use PROMPT.md")),
            _ => Ok((task.clone(), FROM_ARGUMENT.into())),
        };
    }
    let file = PathBuf::from(&settings.prompt_file);
    if (args.stories || settings.stories)
        && settings.prompt_file == "PROMPT.md"
        && !here.workspace.join(&file).exists()
    {
        // Each prompt has a story in it.
        let plan = settings.plan.as_deref().unwrap_or("the plan");
        return Ok((format!("Implement the stories of {plan}, one at a time."), FROM_ARGUMENT.into()));
    }
    let text = read(&here.workspace, &file).map_err(|error| {
        let problem = match settings.prompt_file.as_str() {
            "PROMPT.md" if error.kind() == ErrorKind::NotFound => {
                Problem::new(Code::Usage, "no task: none was given, and there is no PROMPT.md here")
            }
            _ => {
                Problem::new(Code::Usage, format!("cannot read the prompt {}", file.display())).cause(&error)
            }
        };
        problem.hint("give a task, such as ralph run \"Make the tests pass\", or a file: --prompt FILE")
    })?;
    if text.trim().is_empty() {
        return Err(Problem::new(Code::Usage, format!("the prompt {} is empty", file.display()))
            .hint("write the task into it"));
    }
    Ok((text, file.display().to_string()))
}

/// Text of a bounded size. In the workspace an agent may have put anything, so only a regular file (or a link to one) is
/// read there. A pipe that the user names elsewhere (`--prompt <(generate)`) is welcome.
pub fn read(workspace: &Path, file: &Path) -> std::io::Result<String> {
    let path = workspace.join(file);
    let from = match path.starts_with(workspace) {
        true => open_regular(&path, Links::Follow)?,
        false => File::open(&path)?,
    };
    text(from)
}

fn text(from: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(ReadError::LargerThan(MOST).into());
    }
    let text = String::from_utf8(bytes).map_err(|_| Error::other("it is not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').map(Into::into).unwrap_or(text))
}
