//! The program `ralph __supervise [--record FILE] [--overlay OVER UPPER WORK | --room ROOM OVER N [FROM AT UPPER WORK]…]
//! [--sandbox PLAN] CWD PROGRAM [ARG…]`. Its stdin is the control socket to ralph, over which the program's own stdin
//! arrives; stdout and stderr are the program's. It adopts every descendant and leaves only when all are dead: after the
//! program ended, when told, or when ralph is gone and the socket closes.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process};

use crate::begin::{Begun, View, begin, let_go_of_stdio, take_control};
use crate::clear::Tree;
use crate::launch::OVERLAY;
use crate::record::{RECORD, Record};
use crate::room_mount::ROOM;
use crate::sandbox::{BoxReport, Boxed, SANDBOX};
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
    let mut plan = None;
    if first.as_ref().is_some_and(|word| word == SANDBOX) {
        plan = args.next();
        first = args.next();
    }
    let (Some(cwd), Some(program)) = (first, args.next()) else { return refuse() };
    let Ok((mut control, given)) = take_control() else { return refuse() };
    match begin(&view, plan.as_ref(), &cwd, program, args, given) {
        Ok(begun) => {
            let mut supervisor = Supervisor::new(control, begun);
            // A box tells itself when the program has started.
            if supervisor.sandbox.is_none() {
                supervisor.say(&Report::Started(supervisor.program.as_raw_pid()));
            }
            let_go_of_stdio(&supervisor.control);
            supervisor.watch();
            supervisor.clear(&mut record);
            ExitCode::SUCCESS
        }
        Err((place, error)) => {
            record.clear();
            let errno = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
            let _ = write!(control, "{}", Report::Failed(place, errno, String::new()));
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
    /// The program, or the box that it runs in.
    program: Pid,
    sandbox: Option<Boxed>,
    ended: bool,
    tree: Tree,
    /// When the grace of an `end` is over.
    kill_at: Option<Instant>,
    /// Since when the tree is frozen.
    frozen: Option<Instant>,
    clearing: bool,
    /// We kill the program, or its box.
    killing: bool,
}

impl Supervisor {
    fn new(control: UnixStream, Begun { program, sandbox, deaths }: Begun) -> Self {
        let (words, tree) = (Words::new(), Tree::new());
        Self {
            control,
            words,
            deaths,
            program,
            sandbox,
            ended: false,
            tree,
            kill_at: None,
            frozen: None,
            clearing: false,
            killing: false,
        }
    }

    /// Sends a report. If ralph is gone, that is noticed when reading.
    fn say(&mut self, report: &Report) {
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
            let dead = self.program_is_dead();
            // After it is looked for, so that nothing which a dead box has said is missed.
            self.hear_box();
            if dead {
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
            // One that has said its last word only has to die.
            let sandbox = self.sandbox.as_ref().filter(|sandbox| !sandbox.closed);
            fds.extend(sandbox.map(|sandbox| PollFd::new(sandbox.reports(), PollFlags::IN)));
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
            match &self.sandbox {
                Some(_) => self.box_ended(),
                None => {
                    let code = status.exit_status().map(Report::Code);
                    if let Some(report) = code.or_else(|| status.terminating_signal().map(Report::Signal)) {
                        self.say(&report);
                    }
                }
            }
        } else if self.clearing && status.terminating_signal() == Some(Signal::KILL.as_raw()) {
            self.tree.was_killed(pid);
        }
    }

    /// Passes on what the box reports.
    fn hear_box(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        for report in sandbox.read() {
            match report {
                BoxReport::Started(_) => {
                    self.say(&Report::Started(self.program.as_raw_pid()));
                    // An end that was ordered before could not reach it.
                    if self.kill_at.is_some() {
                        self.tree.terminate(&self.spared());
                    }
                }
                BoxReport::Failed(place, errno, text) => self.say(&Report::Failed(place, errno, text)),
                BoxReport::Code(code) => self.say(&Report::Code(code)),
                BoxReport::Signal(signal) => self.say(&Report::Signal(signal)),
                BoxReport::Note(text) => self.say(&Report::Note(text)),
                BoxReport::Outlived(_) => {}
            }
        }
        if self.sandbox.as_ref().is_some_and(|sandbox| sandbox.closed) {
            // It only has to clear up.
            let at = Instant::now() + PATIENCE;
            self.kill_at = Some(self.kill_at.map_or(at, |earlier| earlier.min(at)));
        }
    }

    /// The box is dead. One that did not tell how the program ended was killed.
    fn box_ended(&mut self) {
        self.hear_box();
        let Some(sandbox) = self.sandbox.as_ref().filter(|sandbox| !sandbox.closed) else { return };
        let report = if self.killing {
            Report::Signal(Signal::KILL.as_raw())
        } else if sandbox.started {
            Report::SandboxLost
        } else {
            let text = "it ended before it started the program";
            Report::Failed(FailedAt::Sandbox, 0, text.into())
        };
        self.say(&report);
    }

    /// Those that a signal for the program and its descendants is not for.
    fn spared(&self) -> Vec<Pid> {
        self.sandbox.as_ref().map_or_else(Vec::new, |sandbox| sandbox.own_processes(self.program))
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
                    self.tree.stop(&self.spared());
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
        self.tree.terminate(&self.spared());
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
        let mut own = vec![self.program];
        if !self.ended {
            self.killing = !self.program_is_dead();
            own.extend(self.spared());
            self.ask_box();
            // Where orphans are not adopted, those in other groups are found only while their parents live; and those in
            // a box all die with it, before they could be counted.
            if self.killing && (!ralph_os::ADOPTS || self.sandbox.is_some()) {
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
                self.say(&Report::Left(u32::try_from(alive).unwrap_or(u32::MAX)));
            }
            if children == Children::Counted {
                self.wait(Some(rest), false);
            }
            rest = if told { REST_WHEN_STUCK } else { LONGEST_REST.min(rest * 2) };
            children = self.reap(if alive == 0 { LONGEST_COUNT_OF_DEAD } else { LONGEST_COUNT });
        }
        record.clear();
        let outlived = self.outlived(&own);
        self.say(&Report::Cleared(outlived));
    }

    /// Lets the box end a program that would outlive it.
    fn ask_box(&mut self) {
        if !self.sandbox.as_ref().is_some_and(Boxed::is_apart) {
            return;
        }
        let _ = kill_process(self.program, Signal::USR1);
        let since = Instant::now();
        while !self.program_is_dead() && since.elapsed() < PATIENCE {
            self.wait(Some(LONGEST_REST), false);
        }
    }

    /// How many had to be killed, by us or by the box, besides the program and the processes of its box.
    fn outlived(&self, own: &[Pid]) -> u32 {
        let killed = self.tree.killed_besides(own);
        let Some(sandbox) = &self.sandbox else { return killed };
        // Of a box that we killed, the program is one of them: it cannot be told from the others.
        let program = u32::from(self.killing && !sandbox.closed);
        killed.saturating_sub(program) + sandbox.outlived
    }
}
