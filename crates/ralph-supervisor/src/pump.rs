//! The one thread of a call: feeds stdin, reads both streams into the sink, and reads the supervisor's reports to the end.
//! The sink is called inline, so a slow sink slows the program down and memory stays bounded.

use std::io::{PipeReader, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ralph_os::{Process, read_process};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::exit::{Exit, How, NotStarted};
use crate::launch::{Ends, Launch, PIPE_BYTES};
use crate::process_handle::{Feeding, ProcessHandle};
use crate::wire::{FailedAt, Report, Words};
use crate::{strays, supervisors};

/// Most bytes of one read.
const CHUNK: usize = 256 * 1024;
/// How long a pump that is closed waits for its supervisor to exit.
const EXIT_PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// How often to look whether the supervisor was stopped; more often once it was told to end the program.
const LOOK: Duration = Duration::from_secs(1);
const LOOK_WHEN_TOLD: Duration = Duration::from_millis(50);
/// A supervisor that was told to end the program and is stopped this often is replaced.
const STOPPED_TOO_OFTEN: u32 = 3;

/// Takes the program's output as it comes, in chunks of up to 256 KiB that break anywhere.
pub trait Sink {
    /// Bytes from stdout.
    fn stdout(&mut self, chunk: &[u8]);
    /// Bytes from stderr.
    fn stderr(&mut self, chunk: &[u8]);
}

/// Moves the bytes of one program; run it in a thread of its own.
#[derive(Debug)]
pub struct Pump {
    process: ProcessHandle,
    ends: Ends,
    stdout_open: bool,
    wake: UnixStream,
    words: Words,
    launch: Launch,
    /// The program as this side sees it, to be killed if its supervisor is lost.
    program: Option<Process>,
    exit: Exit,
    /// The supervisor sent its last report, or is gone.
    settled: bool,
    control_open: bool,
    /// How often the supervisor was found stopped since it was told to end the program.
    stopped: u32,
    /// The supervisor is waited for.
    buried: bool,
    drain: Drain,
}

/// What may still be read once all processes are dead.
#[derive(Debug)]
struct Drain {
    time: Duration,
    /// Dead processes left at most two full pipes; more output comes from an unrelated process.
    bytes: usize,
    /// The last wait timed out.
    dry: bool,
}

impl Drain {
    fn is_over(&self) -> bool {
        self.bytes == 0 || (self.dry && self.time.is_zero())
    }
}

/// Which ends have something for us.
#[derive(Debug, Default)]
struct Ready {
    stdout: bool,
    stderr: bool,
    control: bool,
    wake: bool,
    stdin: bool,
}

impl Pump {
    pub(crate) fn new(process: ProcessHandle, ends: Ends, wake: UnixStream, launch: Launch) -> Self {
        let exit = Exit {
            code: None,
            signal: None,
            not_started: None,
            outlived: 0,
            left: 0,
            how: How::Ended,
            supervisor_lost: false,
            drained: false,
            notes: Vec::new(),
            ms: 0,
        };
        let drain = Drain { time: launch.limits.drain, bytes: 4 * PIPE_BYTES, dry: false };
        Self {
            process,
            ends,
            stdout_open: true,
            wake,
            words: Words::new(),
            launch,
            program: None,
            exit,
            settled: false,
            control_open: true,
            stopped: 0,
            buried: false,
            drain,
        }
    }

    /// Runs until the program and all its descendants are dead and every byte has gone to the sink.
    pub fn run(mut self, sink: &mut dyn Sink) -> Exit {
        let mut buffer = vec![0; CHUNK];
        loop {
            self.exit.drained = !self.stdout_open && self.ends.stderr.is_none();
            if self.settled && (self.exit.drained || self.drain.is_over()) {
                return self.close();
            }
            let ready = self.wait();
            if ready.wake {
                self.take_feedings();
            }
            if ready.stdin {
                self.ends.stdin.write();
            }
            // Output before the supervisor's word, so that its last word never overtakes the bytes.
            self.read_streams(&ready, &mut buffer, sink);
            if ready.control {
                self.recv();
            }
            self.end_if_it_lingers();
            self.continue_supervisor();
        }
    }

    fn read_streams(&mut self, ready: &Ready, buffer: &mut [u8], sink: &mut dyn Sink) {
        if ready.stdout {
            let chunk = read(&mut self.ends.stdout, buffer);
            self.stdout_open = !chunk.is_empty();
            self.note_bytes(chunk.len());
            if !chunk.is_empty() {
                sink.stdout(chunk);
            }
        }
        if ready.stderr
            && let Some(stderr) = &mut self.ends.stderr
        {
            let chunk = read(stderr, buffer);
            if chunk.is_empty() {
                self.ends.stderr = None;
            } else {
                self.note_bytes(chunk.len());
                sink.stderr(chunk);
            }
        }
    }

    fn note_bytes(&mut self, count: usize) {
        if count > 0 {
            let mut known = self.process.known();
            known.last_byte = known.clock.ran(Instant::now());
        }
        if self.settled {
            self.drain.bytes = self.drain.bytes.saturating_sub(count);
        }
    }

    /// Sleeps until an end is ready or a timer is due.
    fn wait(&mut self) -> Ready {
        let look = if self.process.known().answer_within.is_some() { LOOK_WHEN_TOLD } else { LOOK };
        let timeout =
            if self.settled { self.drain.time } else { self.grace_left().map_or(look, |it| it.min(look)) };
        let since = Instant::now();
        let ready = self.poll(Some(timeout));
        if self.settled {
            self.drain.time = self.drain.time.saturating_sub(since.elapsed());
            self.drain.dry = !ready.stdout && !ready.stderr;
        } else if !ready.control {
            // At most what was waited for: the time during which ralph itself was stopped does not count.
            self.wait_for_answer(since.elapsed().min(timeout));
        }
        ready
    }

    /// A supervisor that does not do what it was told in time is replaced.
    fn wait_for_answer(&mut self, waited: Duration) {
        let mut known = self.process.known();
        let late = known.answer_within.as_mut().is_some_and(|left| {
            *left = left.saturating_sub(waited);
            left.is_zero()
        });
        drop(known);
        if late {
            self.lose_supervisor();
        }
    }

    /// Continues a supervisor that was stopped. Only its own program has reason to do that; if it does so again and
    /// again to escape its end, ralph does the ending itself.
    fn continue_supervisor(&mut self) {
        let supervisor = Pid::from_child(&self.ends.supervisor);
        if self.settled || !supervisors::was_stopped(supervisor) {
            return;
        }
        let _ = kill_process(supervisor, Signal::CONT);
        self.stopped += u32::from(self.process.known().answer_within.is_some());
        if self.stopped >= STOPPED_TOO_OFTEN {
            self.lose_supervisor();
        }
    }

    fn poll(&self, timeout: Option<Duration>) -> Ready {
        let stdout = self.stdout_open.then_some(&self.ends.stdout);
        let stdin = self.ends.stdin.pending();
        let control = self.control_open.then_some(&self.ends.control);
        let mut fds = Vec::with_capacity(5);
        fds.push(PollFd::new(&self.wake, PollFlags::IN));
        fds.extend(stdout.map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(self.ends.stderr.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(control.map(|fd| PollFd::new(fd, PollFlags::IN)));
        fds.extend(stdin.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Ready::default();
        }
        let mut answers = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut answer = |asked: bool| asked && answers.next().unwrap_or(false);
        Ready {
            wake: answer(true),
            stdout: answer(stdout.is_some()),
            stderr: answer(self.ends.stderr.is_some()),
            control: answer(control.is_some()),
            stdin: answer(stdin.is_some()),
        }
    }

    fn take_feedings(&mut self) {
        while self.wake.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
        let feedings = std::mem::take(&mut self.process.known().to_stdin);
        for feeding in feedings {
            match feeding {
                Feeding::Bytes(bytes) => self.ends.stdin.push(bytes),
                Feeding::Close => self.ends.stdin.close(),
            }
        }
        self.ends.stdin.write();
    }

    /// What is left of the grace after a final result; nothing to wait for without one, while paused, or
    /// once the end is under way.
    fn grace_left(&self) -> Option<Duration> {
        let known = self.process.known();
        let final_at = known.final_at.filter(|_| known.cause.is_none() && !known.clock.is_paused())?;
        let due = final_at + self.launch.limits.final_grace;
        Some(due.saturating_sub(known.clock.ran(Instant::now())))
    }

    fn end_if_it_lingers(&self) {
        if !self.settled && self.grace_left().is_some_and(|left| left.is_zero()) {
            self.process.end_because(How::Lingered, self.launch.limits.end_grace);
        }
    }

    /// Reads the supervisor's reports. If they end without the final one, the supervisor died.
    fn recv(&mut self) {
        let mut bytes = [0; 512];
        match self.ends.control.read(&mut bytes) {
            Ok(0) => self.lose_supervisor(),
            Ok(count) => {
                for report in self.words.read(bytes.get(..count).unwrap_or_default()) {
                    self.take_report(report);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.lose_supervisor(),
        }
    }

    fn take_report(&mut self, report: Report) {
        match report {
            Report::Started(pid) => self.meet_program(pid),
            Report::Failed(place, errno, text) => {
                self.exit.not_started = Some(self.not_started(place, errno, text));
                self.settle(Some(How::NotStarted));
            }
            Report::Code(code) => self.program_ended(Some(code), None),
            Report::Signal(signal) => self.program_ended(None, Some(signal)),
            Report::SandboxLost => {
                self.program_ended(None, None);
                if self.exit.how == How::Ended {
                    self.exit.how = How::SandboxLost;
                }
            }
            Report::Note(text) => self.exit.notes.push(text),
            Report::Left(count) => {
                self.exit.left = count;
                self.settle(None);
            }
            Report::Cleared(count) => {
                (self.exit.outlived, self.exit.left) = (count, 0);
                self.settle(None);
            }
        }
    }

    fn meet_program(&mut self, pid: i32) {
        let supervisor = i32::try_from(self.ends.supervisor.id()).ok();
        // In a sandbox the number is that of another world; only a child of our supervisor is the program.
        let process = Pid::from_raw(pid).and_then(read_process);
        self.program = process.filter(|process| Some(process.parent) == supervisor);
        self.process.known().program = u32::try_from(pid).ok();
    }

    fn program_ended(&mut self, code: Option<i32>, signal: Option<i32>) {
        (self.exit.code, self.exit.signal) = (code, signal);
        // What is told from now on is no longer why it ended.
        self.exit.how = *self.process.known().cause.get_or_insert(How::Ended);
        self.ends.stdin.give_up();
    }

    fn not_started(&self, place: FailedAt, errno: i32, text: String) -> NotStarted {
        match place {
            FailedAt::Overlay => NotStarted::Overlay { errno },
            FailedAt::Room => NotStarted::Room { errno },
            FailedAt::Sandbox => NotStarted::Sandbox { errno, text },
            FailedAt::Cwd => NotStarted::Cwd { cwd: self.launch.cwd.clone(), errno },
            FailedAt::Program => NotStarted::Program { program: self.launch.program.clone(), errno },
            FailedAt::Supervisor => NotStarted::Supervisor { supervisor: self.launch.supervisor.clone() },
        }
    }

    fn settle(&mut self, how: Option<How>) {
        self.settled = true;
        if let Some(how) = how {
            self.exit.how = how;
        }
    }

    /// The supervisor is gone or does not answer: ends its tree from here.
    fn lose_supervisor(&mut self) {
        self.control_open = false;
        if self.settled {
            return;
        }
        let met = self.process.known().program.is_some();
        self.kill_orphans();
        self.bury_supervisor();
        self.end_strays();
        // A program that was quick to kill its supervisor did run, though nobody said so.
        if met || self.exit.supervisor_lost {
            self.exit.supervisor_lost = true;
            let how = *self.process.known().cause.get_or_insert(How::SupervisorLost);
            self.settle(Some(how));
        } else {
            self.exit.not_started =
                Some(NotStarted::Supervisor { supervisor: self.launch.supervisor.clone() });
            self.settle(Some(How::NotStarted));
        }
        self.ends.stdin.give_up();
    }

    /// Waits for the end of a supervisor that has exited, or ends it.
    fn bury_supervisor(&mut self) {
        if std::mem::replace(&mut self.buried, true) {
            return;
        }
        // From now on no order is given: the supervisor's number may become another process's.
        self.process.known().over = true;
        supervisors::bury(&mut self.ends.supervisor);
    }

    /// Ends what came to us from the supervisor.
    fn end_strays(&mut self) {
        let strays = strays::end(&supervisors::living());
        self.exit.supervisor_lost |= strays != strays::Strays::default();
        self.exit.outlived = self.exit.outlived.saturating_add(strays.killed);
        self.exit.left = self.exit.left.saturating_add(strays.left);
    }

    /// The program and what is below it. What had left it before comes to us where orphans are adopted; elsewhere it
    /// cannot be found from here.
    fn kill_orphans(&mut self) {
        let Some(program) = self.program.filter(|_| !ralph_os::ADOPTS) else { return };
        if read_process(program.pid).is_some_and(|now| now.began == program.began) {
            for process in ralph_os::descendants(program.pid) {
                self.exit.outlived += u32::from(kill_process(process.pid, Signal::KILL).is_ok());
            }
            let _ = kill_process(program.pid, Signal::KILL);
        }
    }

    fn close(mut self) -> Exit {
        let mut known = self.process.known();
        self.exit.ms = u64::try_from(known.clock.ran(Instant::now()).as_millis()).unwrap_or(u64::MAX);
        known.over = true;
        drop(known);
        self.part_from_supervisor();
        self.exit.clone()
    }

    /// A supervisor that has done its work closes the socket by exiting. One that some processes withstand keeps trying.
    fn part_from_supervisor(&mut self) {
        // Handles may keep the socket open for long; this is what tells the supervisor that nobody listens.
        let _ = self.ends.control.shutdown(Shutdown::Write);
        if self.control_open && self.exit.left > 0 {
            return;
        }
        let mut late = false;
        while self.control_open && !late {
            let mut fds = [PollFd::new(&self.ends.control, PollFlags::IN)];
            late = poll(&mut fds, Some(&EXIT_PATIENCE)) == Ok(0);
            let closed = !late && self.ends.control.read(&mut [0; 512]).is_ok_and(|count| count == 0);
            self.control_open = !closed;
        }
        // Where its orphans would not come to us, a supervisor that is slow is left to its work.
        if late && !ralph_os::ADOPTS {
            return;
        }
        self.bury_supervisor();
        if late {
            self.end_strays();
        }
    }
}

fn read<'a>(pipe: &mut PipeReader, buffer: &'a mut [u8]) -> &'a [u8] {
    loop {
        match pipe.read(buffer) {
            Ok(count) => return buffer.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return &[],
        }
    }
}

/// Kills the tree when the pump is dropped, also by a panic of its sink.
impl Drop for Pump {
    fn drop(&mut self) {
        if !self.settled {
            self.process.kill();
        }
        self.process.known().over = true;
        if !self.buried {
            self.part_from_supervisor();
        }
    }
}
