//! mini-swe-agent: how it is started and what its end means. The trajectory that it saves after every step says it
//! all (`mini/trajectory.rs`); where there is none, the screen must do (`mini/screen.rs`).

mod screen;
mod trajectory;

use crate::aider::WIDE;
use crate::args::names;
use crate::claude::dollars;
use crate::error_phrases::{class_of, worded};
use crate::mini::screen::Screen;
use crate::mini::trajectory::Trajectory;
use crate::output::aborted;
use crate::plain::{Tail, clean};
use crate::seam::{Abilities, Agent, Call, Exit, Failure, Format, Launch, Reader, ReaderEvent, Reply};
use ralph_rules::failure::Class;

/// Where it saves what it did.
const TRAJECTORY: &str = "trajectory.json";
/// The longest task that is passed as an argument, the only way in: half of what Linux takes for one.
const LONGEST: usize = 64 << 10;
/// The file of a longer one.
const PROMPT: &str = "prompt.md";
/// How much of stderr is kept.
const STDERR: usize = 8 << 10;

/// Set for every call.
const ENV: &[(&str, &str)] = &[
    // Where it was never set up it would ask for it, and there is nobody to answer.
    ("MSWEA_CONFIGURED", "true"),
    // By itself it tries ten times over minutes. We wait instead, visibly.
    ("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "2"),
];

/// The adapter.
pub struct Mini;

impl Agent for Mini {
    fn name(&self) -> &'static str {
        "mini"
    }

    fn can(&self) -> Abilities {
        Abilities {
            live_usage: true,
            cost: true,
            shows_tool_start: true,
            native_budget: true,
            ..Abilities::default()
        }
    }

    fn launch(&self, call: &Call) -> Launch {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let by_file = by_file(call);
        Launch {
            program: call.program.clone().unwrap_or_else(|| "mini".to_owned()),
            args: args(call, by_file),
            env: ENV.iter().chain(WIDE).map(pair).collect(),
            files: if by_file {
                vec![(PROMPT.to_owned(), call.prompt.clone().into_bytes())]
            } else {
                Vec::new()
            },
            reports: if reports(call) { vec![TRAJECTORY.to_owned()] } else { Vec::new() },
            ..Launch::default()
        }
    }

    fn reader(&self, _call: &Call) -> Box<dyn Reader> {
        Box::new(MiniReader { screen: Screen::default(), trajectory: None, stderr: Tail::new(STDERR) })
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        self.reader(&Call::default())
    }

    /// It has no flag for it, and prints it before everything else.
    fn version_args(&self) -> &'static [&'static str] {
        &["--help"]
    }
}

fn by_file(call: &Call) -> bool {
    call.prompt.len() > LONGEST || call.prompt.contains('\0')
}

fn reports(call: &Call) -> bool {
    !call.scratch.is_empty() && !names(call, &["-o", "--output"])
}

/// The command line. `-y` runs every command unasked: the other modes ask a person before each, or need one.
fn args(call: &Call, by_file: bool) -> Vec<String> {
    let mut args = vec!["-y".to_owned(), "--exit-immediately".to_owned()];
    let mut put = |flags: [&str; 2], value: String| {
        if !names(call, &flags) {
            args.extend([flags[0].to_owned(), value]);
        }
    };
    let task = if by_file {
        format!("Read the whole file {}/{PROMPT} and do what it says.", call.scratch)
    } else {
        call.prompt.clone()
    };
    put(["-t", "--task"], task);
    if reports(call) {
        put(["-o", "--output"], format!("{}/{TRAJECTORY}", call.scratch));
    }
    if let Some(model) = &call.model {
        put(["-m", "--model"], model.clone());
    }
    if let Some(budget) = call.budget {
        put(["-l", "--cost-limit"], dollars(budget));
    }
    args.extend(call.args.iter().cloned());
    args
}

/// The reader of one call.
struct MiniReader {
    screen: Screen,
    trajectory: Option<Trajectory>,
    stderr: Tail,
}

impl Reader for MiniReader {
    fn start(&mut self, out: &mut Vec<ReaderEvent>) {
        out.push(ReaderEvent::CloseStdin);
    }

    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        self.screen.line(&clean(&String::from_utf8_lossy(line)), out);
    }

    fn read_stderr(&mut self, line: &[u8]) {
        self.stderr.push_line(line);
    }

    fn read_report(&mut self, _name: &str, bytes: &[u8]) {
        self.trajectory = Trajectory::read(bytes);
    }

    fn read_document(&mut self, bytes: &[u8], _out: &mut Vec<ReaderEvent>) -> bool {
        self.trajectory = Trajectory::read(bytes);
        self.trajectory.is_some()
    }

    fn close(self: Box<Self>, exit: Exit) -> Reply {
        let ended = self.ended(exit);
        let reader = *self;
        match reader.trajectory {
            Some(trajectory) => trajectory.reply(ended),
            None => {
                let finished = reader.screen.finished();
                let failure = reader.screen.failure().or_else(|| (!finished).then_some(ended));
                let (text, text_bytes) =
                    if failure.is_none() { reader.screen.submission() } else { (String::new(), 0) };
                Reply {
                    text,
                    text_bytes,
                    finished: finished && failure.is_none(),
                    failure,
                    turns: Some(reader.screen.steps).filter(|turns| *turns > 0),
                    cost: reader.screen.cost(),
                    format: Format::Text,
                    ..Reply::default()
                }
            }
        }
    }
}

impl MiniReader {
    /// What an end without its own word means: the exit, and what was said about it on stderr.
    fn ended(&self, exit: Exit) -> Failure {
        let killed = exit.signal.is_some() || exit.code.is_some_and(|code| code > 128);
        let code = match exit.code {
            Some(code) if code != 0 && !killed && !exit.by_us => code,
            _ => return aborted(exit),
        };
        let stderr = clean(&self.stderr.text()).trim().to_owned();
        let said = stderr.get(stderr.ceil_char_boundary(stderr.len().saturating_sub(400))..).unwrap_or("");
        let class = class_of(said).unwrap_or(Class::Unknown);
        worded(class, format!("exit code {code}: {said}").trim_end_matches([' ', ':']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::money::Micro;

    #[test]
    fn the_command_line_has_the_task_the_report_and_the_budget() {
        let call = Call {
            prompt: "do the work".into(),
            model: Some("openai/m".into()),
            budget: Some(Micro(500_000)),
            scratch: "/run/call".into(),
            args: vec!["-c".into(), "mini.yaml".into()],
            ..Call::default()
        };
        let launch = Mini.launch(&call);
        let expected = [
            "-y",
            "--exit-immediately",
            "-t",
            "do the work",
            "-o",
            "/run/call/trajectory.json",
            "-m",
            "openai/m",
            "-l",
            "0.5",
            "-c",
            "mini.yaml",
        ];
        assert_eq!((launch.program.as_str(), launch.args), ("mini", expected.map(str::to_owned).to_vec()));
        assert_eq!((launch.files.len(), launch.reports), (0, vec!["trajectory.json".to_owned()]));
    }

    #[test]
    fn a_long_task_is_a_file() {
        let call = Call { prompt: "x".repeat(LONGEST + 1), scratch: "/run/call".into(), ..Call::default() };
        let launch = Mini.launch(&call);
        assert_eq!(launch.files.len(), 1);
        assert!(launch.args[3].contains("/run/call/prompt.md"));
        assert!(launch.args.iter().all(|arg| arg.len() < 200));
    }

    #[test]
    fn what_the_user_sets_is_not_set_twice() {
        let args = ["-o", "mine.json", "--model=m", "--cost-limit", "0"].map(str::to_owned).to_vec();
        let call = Call {
            args,
            model: Some("other".into()),
            budget: Some(Micro(1)),
            scratch: "/run/call".into(),
            ..Call::default()
        };
        let launch = Mini.launch(&call);
        assert!(launch.reports.is_empty());
        assert_eq!(launch.args[4..], ["-o", "mine.json", "--model=m", "--cost-limit", "0"]);
    }
}
