//! The box of a container: creates it, attaches to it, and removes it.

use super::command_line;
use super::engine::{ask, remove};
use super::filter;
use super::mounts::{Mounts, look};
use crate::box_stage::{NOT_BUILT, ProgramArgs};
use crate::plan::{Container, ContainerEngine, Plan};
use crate::report::{End, Failure, Line, Reporter};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, getppid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked whether the supervisor is still there.
const LOOK: Duration = Duration::from_millis(200);
/// How long what the engine left is waited for: podman's monitor ends shortly after the container.
const PATIENCE: Duration = Duration::from_secs(3);
/// Exit codes of an engine that may be its own.
const ENGINES_OWN: std::ops::RangeInclusive<i32> = 125..=127;
/// podman's processes above the program: the box, its client and monitor, and the first process inside.
const OF_PODMAN: usize = 3;
/// An exit code above this is that of a program ended by a signal.
const SIGNALLED: i32 = 128;
const LAST_SIGNAL: i32 = 64;
/// Name in the plan's `tmp` of the system call filter.
const FILTER: &str = ".ralph-filter.json";

/// Runs a program in a container of this plan and reports what becomes of it. Called by the box in the place of everything
/// else that a box does: it must be able to notice that its parent is gone, and to run the engine.
pub(crate) fn run(plan: &Plan, container: &Container, program: &ProgramArgs, report: &mut Reporter) -> i32 {
    let name = name();
    let mut attached = match Attached::begin(plan, container, &name, program) {
        Ok((attached, notes)) => {
            notes.into_iter().for_each(|note| report.send(&Line::Note(note)));
            attached
        }
        Err(why) => {
            report.send(&Line::Failed(Failure::sandbox(why, 0)));
            return NOT_BUILT;
        }
    };
    // Where a daemon runs the program, the client is told of signals and passes them on.
    let is_below = container.engine == ContainerEngine::Podman && container.layers;
    let levels = if is_below { OF_PODMAN } else { 0 };
    let ended = attached.watch(|| report.send(&Line::Started(levels)));
    // What is inside is over before it is said that it ended.
    let last = ended.map(|status| attached.last_line(status));
    attached.remove();
    last.iter().for_each(|line| report.send(line));
    0
}

/// A name that no other container has.
pub(super) fn name() -> String {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("ralph-{}-{}", std::process::id(), since.as_nanos())
}

/// Creates a container; returns what could not be done as planned.
pub(super) fn create(
    plan: &Plan,
    container: &Container,
    name: &str,
    program: &ProgramArgs,
) -> Result<Vec<String>, String> {
    let mounts = Mounts::of(plan, container.layers, &look);
    let failed = |path: &Path, error: io::Error| format!("cannot prepare {}: {error}", path.display());
    for path in &mounts.directories {
        fs::create_dir_all(path).map_err(|error| failed(path, error))?;
    }
    for path in &mounts.files {
        let above = path.parent().map_or(Ok(()), fs::create_dir_all);
        let made = above.and_then(|()| fs::File::options().create(true).append(true).open(path));
        made.map_err(|error| failed(path, error))?;
    }
    let filter = container.filter.as_deref().map(|own| narrowed_filter(own, plan)).transpose()?;
    let made = (&mounts, filter.as_deref());
    let words = command_line::create(plan, container, name, made, program);
    let created = ask(Command::new(&container.program).args(words.map_err(|why| why.to_string())?));
    created.map_err(|why| format!("{}: {why}", container.engine.program()))?;
    Ok(mounts.notes)
}

/// Writes the engine's filter, narrowed, into the plan's `tmp`; it is read when the container is created.
fn narrowed_filter(own: &Path, plan: &Plan) -> Result<PathBuf, String> {
    let path = plan.tmp.join(FILTER);
    let text = fs::read_to_string(own).map_err(|error| error.to_string());
    let text = text.and_then(|text| filter::narrowed(&text, plan.nested));
    let written = text.and_then(|text| fs::write(&path, text).map_err(|error| error.to_string()));
    let why = |why| format!("cannot narrow the engine's system call filter {}: {why}", own.display());
    written.map(|()| path).map_err(why)
}

/// A container, with the engine's client attached to it.
struct Attached<'a> {
    container: &'a Container,
    name: &'a str,
    client: Child,
    supervisor: Option<Pid>,
    signals: Signals,
    started: bool,
    /// The client is not the first one, whose exit code is the program's.
    again: bool,
}

/// What the box hears of.
struct Signals {
    /// Has a byte in it when a child has died.
    deaths: UnixStream,
    /// The supervisor asks for the end of the container.
    asked: Arc<AtomicBool>,
}

impl<'a> Attached<'a> {
    fn begin(
        plan: &Plan,
        container: &'a Container,
        name: &'a str,
        program: &ProgramArgs,
    ) -> Result<(Attached<'a>, Vec<String>), String> {
        let supervisor = getppid();
        let failed = |error: io::Error| format!("{}: {error}", container.engine.program());
        let signals = take_place().map_err(failed)?;
        let notes = create(plan, container, name, program)?;
        let client =
            Command::new(&container.program).args(["start", "--attach", "--interactive", name]).spawn();
        let client = client.map_err(|error| {
            let _ = remove(&container.program, &[name]);
            failed(error)
        })?;
        let (started, again) = (false, false);
        Ok((Attached { container, name, client, supervisor, signals, started, again }, notes))
    }

    /// Until the program has ended; none if the supervisor is gone or asks for its end. Calls `started` when the program
    /// runs.
    fn watch(&mut self, mut started: impl FnMut()) -> Option<ExitStatus> {
        loop {
            if let Ok(Some(status)) = self.client.try_wait()
                && !self.attach_again()
            {
                // One that ended at once was never seen running.
                if !self.started && self.has_run() {
                    self.started = true;
                    started();
                }
                return Some(status);
            }
            if getppid() != self.supervisor || self.signals.asked.load(Ordering::Relaxed) {
                return None;
            }
            if !self.started && self.has_run() {
                self.started = true;
                started();
            }
            let mut fds = [PollFd::new(&self.signals.deaths, PollFlags::IN)];
            let _ = poll(&mut fds, LOOK.try_into().ok().as_ref());
            while self.signals.deaths.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
        }
    }

    /// Attaches another client where one ended before the program, and tells whether it did: a signal that docker's client
    /// passes on ends it, too.
    fn attach_again(&mut self) -> bool {
        if self.state() != "running" {
            return false;
        }
        let mut command = Command::new(&self.container.program);
        command.args(["attach", "--no-stdin", "--sig-proxy=false", self.name]).stdin(Stdio::null());
        let client = command.spawn().map(|client| self.client = client);
        self.again |= client.is_ok();
        client.is_ok()
    }

    fn state(&self) -> String {
        self.inspect("{{.State.Status}}").unwrap_or_default()
    }

    /// Whether the program runs or has run.
    fn has_run(&self) -> bool {
        matches!(self.state().as_str(), "running" | "stopping" | "stopped" | "exited" | "paused" | "dead")
    }

    fn inspect(&self, format: &str) -> Result<String, String> {
        ask(Command::new(&self.container.program).args(["inspect", "--format", format, self.name]))
    }

    /// What is reported of a client that ended.
    fn last_line(&self, status: ExitStatus) -> Line {
        let seen = if self.again { self.inspect("{{.State.ExitCode}}").ok() } else { None };
        let code = match (seen.and_then(|code| code.parse().ok()).or(status.code()), status.signal()) {
            (Some(code), _) => code,
            (None, signal) => return Line::Ended(End::Signal(signal.unwrap_or(0))),
        };
        if ENGINES_OWN.contains(&code) && !self.started {
            let why = self.inspect("{{.State.Error}}").unwrap_or_default();
            let why = if why.is_empty() { "it could not be started; see its output".to_owned() } else { why };
            let detail = format!("{}: {why}", self.container.engine.program());
            return Line::Failed(Failure::sandbox(detail, 0));
        }
        let signal = code - SIGNALLED;
        let by_signal = (1..=LAST_SIGNAL).contains(&signal);
        Line::Ended(if by_signal { End::Signal(signal) } else { End::Code(code) })
    }

    /// Ends the container, whatever it does, and waits for what the engine started for it.
    fn remove(&mut self) {
        if remove(&self.container.program, &[self.name]).is_err() {
            // The label leads to it at the next start.
            let _ = self.client.kill();
        }
        let _ = self.client.wait();
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(_) => return,
            }
        }
    }
}

/// Becomes the parent of what the engine leaves, and outlives signals to everyone.
fn take_place() -> io::Result<Signals> {
    // Without it the supervisor is their parent, and ends them.
    let _ = ralph_os::adopt_orphans();
    let heard = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&heard))?;
    }
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGUSR1, Arc::clone(&asked))?;
    let (deaths, bell) = UnixStream::pair()?;
    deaths.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, bell)?;
    Ok(Signals { deaths, asked })
}
