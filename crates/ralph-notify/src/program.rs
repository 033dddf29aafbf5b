//! Programs that are started with a note: the desktop's, or one of the user's. No shell is involved, and `{title}` and
//! `{text}` begin with a word of ralph's, so that nothing of them can be taken for an option.

use crate::message::{Message, escaped};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take.
const LONGEST: Duration = Duration::from_secs(20);

/// A program with its arguments, ready to be started; if it is not installed, the next one is.
pub(crate) struct Prepared {
    argvs: Vec<Vec<String>>,
    missing: String,
}

/// A program that was started.
pub(crate) struct Started {
    child: Child,
    program: String,
}

impl Prepared {
    /// Starts the first program that is installed.
    pub(crate) fn start(&self) -> Result<Started, String> {
        for (program, args) in self.argvs.iter().filter_map(|argv| argv.split_first()) {
            match start(program, args) {
                Ok(child) => return Ok(Started { child, program: program.clone() }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failed::NotStarted(error.kind()).words(program)),
            }
        }
        Err(self.missing.clone())
    }
}

impl Started {
    /// Waits for its end.
    pub(crate) fn wait(self) -> Result<String, String> {
        wait(self.child, LONGEST).map_err(|failed| failed.words(&self.program))
    }
}

/// Shows a note on the desktop.
pub(crate) fn desktop(message: &Message) -> Prepared {
    let (title, text) = (message.title(), message.text());
    // Its body may have markup; its title may not.
    let linux = ["notify-send", "--app-name=ralph", "--", &title, &escaped(&text)];
    let show = "display notification (item 2 of argv) with title (item 1 of argv)";
    let mac = ["osascript", "-e", "on run argv", "-e", show, "-e", "end run", &title, &text];
    let argvs = vec![linux.map(str::to_owned).to_vec(), mac.map(str::to_owned).to_vec()];
    Prepared { argvs, missing: "neither notify-send nor osascript is installed".into() }
}

/// A program of the user's.
pub(crate) fn command(argv: &[String], message: &Message) -> Prepared {
    let (title, text) = (message.title(), message.text());
    // One pass: a text that says {title} stays as it is.
    let filled: Vec<String> = argv.iter().map(|word| filled(word, &title, &text)).collect();
    let missing = format!("{} is not installed", argv.first().map_or("", String::as_str));
    Prepared { argvs: vec![filled], missing }
}

/// That no program shows notes on this desktop, in words.
pub(crate) fn missing_on_desktop() -> Option<&'static str> {
    let found = ["notify-send", "osascript"].into_iter().any(is_installed);
    (!found).then_some("neither notify-send nor osascript was found in PATH")
}

/// That a program of the user's is missing, in words.
pub(crate) fn missing_command(argv: &[String]) -> Option<&'static str> {
    let program = argv.first().map_or("", String::as_str);
    let words = match program.contains('/') {
        true => "the program was not found",
        false => "the program was not found in PATH",
    };
    (!is_installed(program)).then_some(words)
}

/// Whether a program would be found when it is started, which is done in `/`.
fn is_installed(program: &str) -> bool {
    let root = Path::new("/");
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_program(&root.join(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&path).any(|dir| is_program(&root.join(dir).join(program)))
}

fn filled(word: &str, title: &str, text: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = match (from.strip_prefix("{title}"), from.strip_prefix("{text}")) {
            (Some(after), _) => {
                out.push_str(title);
                after
            }
            (_, Some(after)) => {
                out.push_str(text);
                after
            }
            _ => {
                out.push('{');
                from.get(1..).unwrap_or_default()
            }
        };
    }
    out + rest
}

enum Failed {
    NotStarted(io::ErrorKind),
    Exit(Option<i32>),
    TooLong,
}

impl Failed {
    fn words(&self, program: &str) -> String {
        match self {
            Failed::NotStarted(kind) => format!("{program} cannot be started ({kind})"),
            Failed::Exit(Some(code)) => format!("{program} failed with exit code {code}"),
            Failed::Exit(None) => format!("{program} was ended by a signal"),
            Failed::TooLong => format!("{program} took longer than {} seconds", LONGEST.as_secs()),
        }
    }
}

fn start(program: &str, args: &[String]) -> io::Result<Child> {
    // Not in the workspace: what an agent wrote there is not to be found, and a Ctrl-C there is not meant for it.
    Command::new(program)
        .args(args)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Waits for its end; one that takes too long is killed with everything it started in its process group.
fn wait(mut child: Child, longest: Duration) -> Result<String, Failed> {
    let until = Instant::now() + longest;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok("done".into()),
            Ok(Some(status)) => return Err(Failed::Exit(status.code())),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return Err(Failed::TooLong);
            }
            Err(error) => return Err(Failed::NotStarted(error.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_view::note::Note;

    #[test]
    fn the_placeholders_are_filled_once() {
        let table = [
            ("{title}", "T"),
            ("--title={title}", "--title=T"),
            ("{text}", "a {title} b"),
            ("{title}{text}", "Ta {title} b"),
            ("{other} {", "{other} {"),
            ("", ""),
        ];
        for (word, expected) in table {
            assert_eq!(filled(word, "T", "a {title} b"), expected, "{word}");
        }
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_what_it_started() {
        use std::io::{BufRead, BufReader, Read};
        let began = Instant::now();
        let mut child = Command::new("sh")
            .args(["-c", "sleep 120 & echo started; wait"])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        assert!(matches!(wait(child, Duration::from_millis(50)), Err(Failed::TooLong)));
        // The pipe ends when nobody holds it any more.
        out.read_to_string(&mut line).unwrap();
        assert!(began.elapsed() < Duration::from_secs(100), "{:?}", began.elapsed());
    }

    #[test]
    fn a_program_gets_its_arguments_as_they_are_and_no_shell() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out").to_string_lossy().into_owned();
        let note = Note {
            task: "$(touch /tmp/never) ; `x` \"q\"".into(),
            run: "12345678".into(),
            ..Note::default()
        };
        let message = Message::single("1", note);
        let run = |argv: &[String]| command(argv, &message).start().and_then(Started::wait);
        let argv = ["sh", "-c", "printf '%s' \"$1\" > \"$2\"", "sh", "{text}", &out].map(str::to_owned);
        assert_eq!(run(&argv), Ok("done".into()));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), message.text());
        let failing = ["sh", "-c", "exit 3"].map(str::to_owned);
        assert_eq!(run(&failing), Err("sh failed with exit code 3".into()));
        let missing = ["no-such-program-here".to_owned()];
        assert_eq!(run(&missing), Err("no-such-program-here is not installed".into()));
    }

    #[test]
    fn a_program_that_would_not_be_found_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let in_path = Some("the program was not found in PATH");
        let elsewhere = Some("the program was not found");
        let table = [
            ("sh", None),
            ("/bin/sh", None),
            ("bin/sh", None),
            ("no-such-program-here", in_path),
            ("", in_path),
            ("/nowhere/sh", elsewhere),
            ("/bin", elsewhere),
            (plain.to_str().unwrap(), elsewhere),
        ];
        for (program, missing) in table {
            assert_eq!(missing_command(&[program.to_owned()]), missing, "{program}");
        }
        assert_eq!(missing_command(&[]), in_path);
    }
}
