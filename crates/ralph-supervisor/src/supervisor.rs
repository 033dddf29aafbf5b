//! The program `ralph __supervise [--record FILE] [--overlay OVER UPPER WORK | --room ROOM OVER N [FROM AT UPPER WORK]…]
//! CWD PROGRAM [ARG…]`. Its stdin is the control socket to ralph, over which the program's own stdin arrives; stdout and
//! stderr are the program's. It adopts every descendant and leaves only when all are dead: after the program ended, when
//! told, or when ralph is gone and the socket closes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::clear::Tree;
use crate::launch::OVERLAY;
use crate::overlay::Overlay;
use crate::record::{RECORD, Record};
use crate::room_mount::{ROOM, RoomMount};
use crate::wire::{FailedAt, Order, Report, Words};

/// A sweep that takes longer reports how many processes are left, instead of waiting for ever.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two sweeps, unless a child dies before.
const FIRST_REST: Duration = Duration::from_millis(1);
const LONGEST_REST: Duration = Duration::from_millis(20);
const REST_WHEN_STUCK: Duration = Duration::from_millis(500);
/// Longest time spent reaping at a stretch when many processes die; then living ones are handled.
const LONGEST_COUNT: Duration = Duration::from_millis(10);
/// The same when no living process was found, so that thousands of zombies are not listed again and again.
const LONGEST_COUNT_OF_DEAD: Duration = Duration::from_millis(500);

/// Runs as the supervisor; `args` are those after `__supervise`. To be called before anything else in `main`.
#[must_use]
pub fn supervise(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let mut first = args.next();
    let mut record = Record::none();
    if first.as_ref().is_some_and(|word| word == RECORD) {
        let Some(path) = args.next() else { return refuse() };
        record = Record::begin(path.as_ref());
        first = args.next();
    }
    let mut view = View::Ordinary;
    if let Some(word) = first.as_ref().filter(|word| *word == OVERLAY || *word == ROOM) {
        match View::from_args(word, &mut args) {
            Some(found) => view = found,
            None => return refuse(),
        }
        first = args.next();
    }
    let (Some(cwd), Some(program)) = (first, args.next()) else { return refuse() };
    let Ok((mut control, stdin)) = take_control() else { return refuse() };
    match begin(&view, &cwd, program, args, stdin) {
        Ok((program, deaths)) => {
            let mut supervisor = Supervisor::new(control, deaths, program);
            supervisor.say(Report::Started(program.as_raw_pid()));
            let_go_of_stdio(&supervisor.control);
            supervisor.watch();
            supervisor.clear(&mut record);
            ExitCode::SUCCESS
        }
        Err((place, error)) => {
            record.clear();
            let errno = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
            let _ = write!(control, "{}", Report::Failed(place, errno));
            ExitCode::FAILURE
        }
    }
}

fn refuse() -> ExitCode {
    let _ = writeln!(
        std::io::stderr(),
        "ralph __supervise is started by ralph itself and cannot be used by hand."
    );
    ExitCode::from(2)
}

/// The control socket, out of reach of the program, and the program's stdin that comes over it.
fn take_control() -> rustix::io::Result<(UnixStream, OwnedFd)> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let stdin = crate::launch::receive(&socket)?;
    Ok((UnixStream::from(socket), stdin))
}

type NotBegun = (FailedAt, std::io::Error);

/// What the program sees of the file system.
enum View {
    /// What everybody sees.
    Ordinary,
    Overlay(Overlay),
    Room(RoomMount),
}

impl View {
    /// The view that `word` announces.
    fn from_args(word: &OsString, args: &mut impl Iterator<Item = OsString>) -> Option<View> {
        if word == ROOM {
            return RoomMount::from_args(args).map(View::Room);
        }
        let (over, upper, work) = (args.next()?.into(), args.next()?.into(), args.next()?.into());
        Some(View::Overlay(Overlay { over, upper, work }))
    }

    fn enter(&self) -> Result<(), NotBegun> {
        match self {
            View::Ordinary => Ok(()),
            View::Overlay(overlay) => overlay.enter().map_err(|error| (FailedAt::Overlay, error)),
            View::Room(room) => room.enter().map_err(|error| (FailedAt::Room, error)),
        }
    }
}

/// Takes its place and starts the program; the stream has a byte in it whenever a child has died.
fn begin(
    view: &View,
    cwd: &OsString,
    program: OsString,
    args: impl Iterator<Item = OsString>,
    stdin: OwnedFd,
) -> Result<(Pid, UnixStream), NotBegun> {
    view.enter()?;
    let deaths = take_place().map_err(|error| (FailedAt::Supervisor, error))?;
    std::env::set_current_dir(cwd).map_err(|error| (FailedAt::Cwd, error))?;
    let mut command = Command::new(program);
    // A group of its own: the common `kill 0` of a script must not reach its supervisor.
    command.args(args).stdin(Stdio::from(stdin)).process_group(0);
    let child = command.spawn().map_err(|error| (FailedAt::Program, error))?;
    Ok((Pid::from_child(&child), deaths))
}

fn take_place() -> std::io::Result<UnixStream> {
    ralph_os::adopt_orphans()?;
    // Whoever stops us and kills ralph must not be left alone. Without it only the next sweep finds them.
    let _ = ralph_os::continue_when_parent_dies();
    // Refused only where we lead a session or group already, which serves as well.
    let _ = rustix::process::setsid();
    // A signal to everyone (a closing terminal, a service manager) is for ralph to answer: it tells us, or
    // it is gone and the socket closes. Caught, not ignored: what is ignored the program would inherit.
    let heard = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&heard))?;
    }
    let (deaths, bell) = UnixStream::pair()?;
    deaths.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, bell)?;
    Ok(deaths)
}

/// Ralph must see the end of the program's streams when the program is gone, so we may not hold them.
fn let_go_of_stdio(control: &UnixStream) {
    let nothing = File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let Ok(other) = nothing.or_else(|_| control.try_clone().map(OwnedFd::from)) else { return };
    let _ = rustix::stdio::dup2_stdin(&other);
    let _ = rustix::stdio::dup2_stdout(&other);
    let _ = rustix::stdio::dup2_stderr(&other);
}

/// What reaping left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Children {
    /// No child at all; where every orphan becomes ours, the tree is empty.
    None,
    /// Some are alive, all dead ones are reaped.
    Counted,
    /// Some dead ones may not be reaped yet.
    MoreToCount,
}

#[derive(Debug)]
struct Supervisor {
    control: UnixStream,
    words: Words,
    deaths: UnixStream,
    program: Pid,
    ended: bool,
    tree: Tree,
    /// When the grace of an `end` is over.
    kill_at: Option<Instant>,
    /// Since when the tree is frozen.
    frozen: Option<Instant>,
    clearing: bool,
}

impl Supervisor {
    fn new(control: UnixStream, deaths: UnixStream, program: Pid) -> Self {
        let (words, tree) = (Words::new(), Tree::new());
        Self {
            control,
            words,
            deaths,
            program,
            ended: false,
            tree,
            kill_at: None,
            frozen: None,
            clearing: false,
        }
    }

    /// Sends a report. If ralph is gone, that is noticed when reading.
    fn say(&mut self, report: Report) {
        let _ = self.control.write_all(report.to_string().as_bytes());
    }

    /// Until the program has ended or the tree is to be killed.
    fn watch(&mut self) {
        let mut children = Children::Counted;
        loop {
            let grace = if self.frozen.is_some() { None } else { self.kill_at };
            let rest = grace.map(|at| at.saturating_duration_since(Instant::now()));
            let pause = if children == Children::MoreToCount { Some(Duration::ZERO) } else { rest };
            let told = self.wait(pause, true);
            if self.program_is_dead() {
                return;
            }
            children = self.reap(LONGEST_COUNT);
            let kill = told && self.obey();
            if self.ended || kill || rest.is_some_and(|rest| rest.is_zero()) {
                return;
            }
        }
    }

    /// Sleeps until a child died, an order came (then true), or `rest` is over.
    fn wait(&mut self, rest: Option<Duration>, listen: bool) -> bool {
        let mut fds = vec![PollFd::new(&self.deaths, PollFlags::IN)];
        if listen {
            fds.push(PollFd::new(&self.control, PollFlags::IN));
        }
        let rest = rest.and_then(|rest| rest.try_into().ok());
        let _ = poll(&mut fds, rest.as_ref());
        let told = fds.get(1).is_some_and(|control| !control.revents().is_empty());
        // Emptied before the dead are counted, so that a death in between rings again.
        while self.deaths.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
        told
    }

    /// Looked at before it is counted: uncounted, it keeps the number of its group from being used again.
    fn program_is_dead(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        rustix::process::waitid(WaitId::Pid(self.program), look).is_ok_and(|dead| dead.is_some())
    }

    /// Reaps dead children.
    fn reap(&mut self, longest: Duration) -> Children {
        let since = Instant::now();
        while since.elapsed() < longest {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.bury(pid, status),
                Ok(None) => return Children::Counted,
                Err(Errno::INTR) => {}
                Err(_) => return Children::None,
            }
        }
        Children::MoreToCount
    }

    fn bury(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.program {
            self.ended = true;
            let code = status.exit_status().map(Report::Code);
            if let Some(report) = code.or_else(|| status.terminating_signal().map(Report::Signal)) {
                self.say(report);
            }
        } else if self.clearing && status.terminating_signal() == Some(Signal::KILL.as_raw()) {
            self.tree.was_killed(pid);
        }
    }

    /// Reads orders. True when everyone is to be killed now.
    fn obey(&mut self) -> bool {
        let mut bytes = [0; 512];
        let orders = match self.control.read(&mut bytes) {
            Ok(0) => return true,
            Ok(count) => self.words.read(bytes.get(..count).unwrap_or_default()),
            Err(error) => return error.kind() != std::io::ErrorKind::Interrupted,
        };
        for order in orders {
            match order {
                Order::Kill => return true,
                Order::End(ms) => self.end(Duration::from_millis(ms)),
                Order::Stop => {
                    self.tree.stop();
                    self.frozen.get_or_insert_with(Instant::now);
                }
                Order::Cont => self.thaw(),
            }
        }
        false
    }

    fn end(&mut self, grace: Duration) {
        let at = Instant::now() + grace.min(Duration::from_secs(86_400));
        self.kill_at = Some(self.kill_at.map_or(at, |earlier| earlier.min(at)));
        self.tree.terminate();
        // Also those that somebody else has stopped: they receive the signal only when they run.
        self.thaw();
    }

    /// Continues the tree; the time it was stopped does not count towards its grace.
    fn thaw(&mut self) {
        if let Some(since) = self.frozen.take() {
            self.kill_at = self.kill_at.map(|at| at + since.elapsed());
        }
        self.tree.cont();
    }

    /// Kills until no process is left.
    fn clear(&mut self, record: &mut Record) {
        self.clearing = true;
        if !self.ended {
            // Where orphans are not adopted, those in other groups are found only while their parents live.
            if !ralph_os::ADOPTS && !self.program_is_dead() {
                self.tree.kill();
            }
            self.tree.kill_group(self.program);
        }
        let (since, mut rest, mut told) = (Instant::now(), FIRST_REST, false);
        let mut children = self.reap(LONGEST_COUNT);
        while children != Children::None {
            let alive = self.tree.kill();
            if !told && since.elapsed() > PATIENCE {
                told = true;
                self.say(Report::Left(u32::try_from(alive).unwrap_or(u32::MAX)));
            }
            if children == Children::Counted {
                self.wait(Some(rest), false);
            }
            rest = if told { REST_WHEN_STUCK } else { LONGEST_REST.min(rest * 2) };
            children = self.reap(if alive == 0 { LONGEST_COUNT_OF_DEAD } else { LONGEST_COUNT });
        }
        record.clear();
        self.say(Report::Cleared(self.tree.killed_besides(self.program)));
    }
}
