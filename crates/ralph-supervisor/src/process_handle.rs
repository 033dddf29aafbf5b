//! The handle of a running program, usable from any thread. Orders go straight to the supervisor, so they work even while
//! the sink is slow.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::Clock;
use crate::exit::How;
use crate::wire::Order;

/// A tree that uses less than this part of one processor is idle: an agent that waits for its model still
/// turns over now and then.
const IDLE_SHARE: u32 = 100;

/// How long after the grace a supervisor may take to kill everybody and to report it: more than it waits itself for
/// those that withstand SIGKILL.
const ANSWER: Duration = Duration::from_secs(8);

/// A running program.
#[derive(Debug, Clone)]
pub struct ProcessHandle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    control: UnixStream,
    bell: UnixStream,
    supervisor: Pid,
    known: Mutex<Known>,
}

/// State shared by handle and pump.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) clock: Clock,
    pub(crate) last_byte: Duration,
    pub(crate) final_at: Option<Duration>,
    pub(crate) to_stdin: Vec<Feeding>,
    /// Why the program ends; the first reason counts.
    pub(crate) cause: Option<How>,
    pub(crate) program: Option<u32>,
    /// All processes are gone.
    pub(crate) over: bool,
    /// An end was ordered: how long the supervisor may still take to report it.
    pub(crate) answer_within: Option<Duration>,
    cpu: Option<(Duration, Duration)>,
}

/// Something for the program's stdin.
#[derive(Debug)]
pub(crate) enum Feeding {
    Bytes(Vec<u8>),
    Close,
}

impl ProcessHandle {
    pub(crate) fn new(control: UnixStream, bell: UnixStream, supervisor: &Child) -> Self {
        let known = Known {
            clock: Clock::started_at(Instant::now()),
            last_byte: Duration::ZERO,
            final_at: None,
            to_stdin: Vec::new(),
            cause: None,
            program: None,
            over: false,
            answer_within: None,
            cpu: None,
        };
        Self(Arc::new(Shared {
            control,
            bell,
            supervisor: Pid::from_child(supervisor),
            known: Mutex::new(known),
        }))
    }

    /// TERM to the whole tree, KILL to what is left after `grace`.
    pub fn end(&self, grace: Duration) {
        self.end_because(How::Told, grace);
    }

    /// KILL to the whole tree, now.
    pub fn kill(&self) {
        self.known().cause.get_or_insert(How::Told);
        self.expect_end(Duration::ZERO);
        self.order(Order::Kill);
    }

    /// Stops the whole tree and the clock (Ctrl-Z).
    pub fn stop(&self) {
        self.pause();
        self.order(Order::Stop);
    }

    /// Continues a stopped tree and the clock.
    pub fn cont(&self) {
        self.order(Order::Cont);
        self.resume();
    }

    /// Stops the clock only: silence and the grace after a final result stand still.
    pub fn pause(&self) {
        self.known().clock.pause(Instant::now());
        self.ring();
    }

    /// Starts the clock again.
    pub fn resume(&self) {
        self.known().clock.resume(Instant::now());
        self.ring();
    }

    /// Writes to the program's stdin, as soon as it reads.
    pub fn send(&self, bytes: Vec<u8>) {
        self.known().to_stdin.push(Feeding::Bytes(bytes));
        self.ring();
    }

    /// Closes the program's stdin after everything sent before.
    pub fn close_stdin(&self) {
        self.known().to_stdin.push(Feeding::Close);
        self.ring();
    }

    /// The program has said its final result: if it does not exit within the grace it is ended.
    pub fn final_seen(&self) {
        let mut known = self.known();
        let ran = known.clock.ran(Instant::now());
        known.final_at.get_or_insert(ran);
        drop(known);
        self.ring();
    }

    /// How long neither stream had output, without pauses.
    #[must_use]
    pub fn silent_for(&self) -> Duration {
        let known = self.known();
        known.clock.ran(Instant::now()).saturating_sub(known.last_byte)
    }

    /// True if the process tree has worked since this was last asked: at least a hundredth of one
    /// processor. The first answer is true, as there is nothing yet to compare with.
    #[must_use]
    pub fn tree_is_busy(&self) -> bool {
        if self.known().over {
            return false;
        }
        let cpu = ralph_os::tree_cpu(self.0.supervisor);
        let mut known = self.known();
        let ran = known.clock.ran(Instant::now());
        known.cpu.replace((cpu, ran)).is_none_or(|(cpu_before, ran_before)| {
            let worked = cpu.saturating_sub(cpu_before);
            !worked.is_zero() && worked * IDLE_SHARE >= ran.saturating_sub(ran_before)
        })
    }

    /// The program's process id, once it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.known().program
    }

    /// The supervisor's process id.
    #[must_use]
    pub fn supervisor_pid(&self) -> u32 {
        self.0.supervisor.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn end_because(&self, cause: How, grace: Duration) {
        self.known().cause.get_or_insert(cause);
        self.expect_end(grace);
        self.order(Order::End(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX)));
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        // Each change is complete in itself, so a thread that panicked left nothing half done.
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the pump replace a supervisor that does not report the end in time.
    fn expect_end(&self, grace: Duration) {
        let mut known = self.known();
        let bound = grace.saturating_add(ANSWER);
        known.answer_within = Some(known.answer_within.map_or(bound, |earlier| earlier.min(bound)));
        drop(known);
        self.ring();
    }

    /// One short write, which the socket takes whole. If the supervisor is gone the pump will notice.
    fn order(&self, order: Order) {
        // Not after the end, when its number may belong to another process.
        let known = self.known();
        if !known.over {
            let _ = (&self.0.control).write_all(order.to_string().as_bytes());
            // A program can stop its supervisor, which would then hear nothing.
            let _ = kill_process(self.0.supervisor, Signal::CONT);
        }
    }

    /// Wakes the pump. A full pipe wakes it as well.
    fn ring(&self) {
        let _ = (&self.0.bell).write(&[1]);
    }
}
