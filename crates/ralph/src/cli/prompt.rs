//! The task: an argument, or the contents of a file.

use super::Here;
use super::run::Args;
use crate::config::Settings;
use crate::problem::{Code, Problem};
use std::io::Read;
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
    let text = read(&here.workspace.join(&file)).map_err(|error| {
        let problem = match settings.prompt_file.as_str() {
            "PROMPT.md" if error.kind() == std::io::ErrorKind::NotFound => {
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

/// Text of a bounded size; pipes are welcome.
pub fn read(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(std::io::Error::other("it is larger than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8 text"))?;
    Ok(text.strip_prefix('\u{feff}').map(Into::into).unwrap_or(text))
}
