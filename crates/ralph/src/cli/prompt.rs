//! The task: an argument, or the contents of a file.

use super::Here;
use super::run::Args;
use crate::config::Settings;
use crate::problem::{Code, Problem};
use ralph_os::{Links, ReadError, open_regular};
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A prompt larger than this is a mistake, or an endless device.
const MOST: u64 = 1 << 20;

/// The prompt and where it is from.
pub fn prompt(args: &Args, settings: &Settings, here: &Here) -> Result<(String, String), Problem> {
    if let Some(task) = &args.task {
        return match task.trim() {
            "" => Err(Problem::new(Code::Usage, "the task is empty")
                .hint("give a task, or omit it to use PROMPT.md")),
            _ => Ok((task.clone(), "argument".into())),
        };
    }
    let file = PathBuf::from(&settings.prompt_file);
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
    let mut bytes = Vec::new();
    from.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(ReadError::LargerThan(MOST).into());
    }
    let text = String::from_utf8(bytes).map_err(|_| Error::other("it is not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').map(Into::into).unwrap_or(text))
}
