//! The command line: the simulator's own flags, the Claude flags that matter here, and everything else ignored.

use crate::output::Format;
use crate::perform::Kind;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Mode {
    /// Run a script.
    Run(Box<Flags>),
    /// Explain itself.
    Help,
    /// The version it imitates.
    Version,
    /// Be a child that gets away.
    Child(Kind, OsString),
}

/// The flags of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// `--script`.
    pub script: Option<PathBuf>,
    /// `--do`.
    pub inline: Option<String>,
    /// `--format` or `--output-format`.
    pub format: Format,
    /// `--iteration`.
    pub iteration: Option<u32>,
    /// `--calls`.
    pub calls: Option<PathBuf>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--no-partial-messages`.
    pub no_partial: bool,
    /// `--model`.
    pub model: Option<String>,
    /// `--append-system-prompt`.
    pub system: Option<String>,
    /// `--session-id` or `--resume`.
    pub session: Option<String>,
    /// `--permission-mode`.
    pub permission_mode: Option<String>,
}

/// Reads the command line; the error says what is wrong.
pub fn read(args: impl Iterator<Item = OsString>) -> Result<Mode, String> {
    let mut flags = Flags::default();
    let mut args = args;
    while let Some(arg) = args.next() {
        let arg = arg.to_string_lossy().into_owned();
        let (name, joined) = match arg.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(OsString::from(value))),
            _ => (arg, None),
        };
        let mut value =
            || joined.clone().or_else(|| args.next()).ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--help" | "-h" => return Ok(Mode::Help),
            "--version" | "-v" => return Ok(Mode::Version),
            crate::perform::CHILD => {
                let kind = Kind::read(&value()?).ok_or("unknown kind of child")?;
                return Ok(Mode::Child(kind, value()?));
            }
            "--no-partial-messages" => flags.no_partial = true,
            _ if takes_value(&name) => flags.set(&name, value()?)?,
            _ => {}
        }
    }
    Ok(Mode::Run(Box::new(flags)))
}

fn takes_value(name: &str) -> bool {
    let own = ["--script", "--do", "--format", "--output-format", "--iteration", "--calls", "--seed"];
    let claude = ["--model", "--append-system-prompt", "--session-id", "--resume", "--permission-mode"];
    own.contains(&name) || claude.contains(&name)
}

impl Flags {
    fn set(&mut self, name: &str, value: OsString) -> Result<(), String> {
        let text = value.to_string_lossy().into_owned();
        let number = || format!("{name} needs a number, not {text}");
        match name {
            "--script" => self.script = Some(value.into()),
            "--calls" => self.calls = Some(value.into()),
            "--do" => self.inline = Some(text),
            "--iteration" => self.iteration = Some(text.parse().map_err(|_| number())?),
            "--seed" => self.seed = Some(text.parse().map_err(|_| number())?),
            "--model" => self.model = Some(text),
            "--append-system-prompt" => self.system = Some(text),
            "--permission-mode" => self.permission_mode = Some(text),
            "--format" | "--output-format" => {
                self.format = match text.as_str() {
                    "stream-json" => Format::Stream,
                    "json" => Format::Json,
                    "text" => Format::Text,
                    _ => return Err(format!("unknown {name} {text}; use stream-json, json or text")),
                };
            }
            _ => self.session = Some(text),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(args: &[&str]) -> Result<Mode, String> {
        read(args.iter().map(OsString::from))
    }

    #[test]
    fn claudes_own_command_line_is_accepted() {
        let args = [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash,Edit",
            "--model",
            "m",
            "--append-system-prompt",
            "---X---",
            "--max-turns",
            "3",
            "--nonsense",
            "--do=say a=b",
            "--seed",
            "7",
        ];
        let Ok(Mode::Run(flags)) = asked(&args) else { panic!("not played") };
        let expected = Flags {
            inline: Some("say a=b".to_owned()),
            model: Some("m".to_owned()),
            system: Some("---X---".to_owned()),
            permission_mode: Some("acceptEdits".to_owned()),
            seed: Some(7),
            ..Flags::default()
        };
        assert_eq!(*flags, expected);
    }

    #[test]
    fn wrong_values_are_told() {
        assert_eq!(asked(&["--help"]), Ok(Mode::Help));
        for (args, words) in [
            (&["--script"][..], "needs a value"),
            (&["--seed", "x"], "needs a number"),
            (&["--format", "xml"], "stream-json, json or text"),
        ] {
            assert!(asked(args).unwrap_err().contains(words), "{args:?}");
        }
    }
}
