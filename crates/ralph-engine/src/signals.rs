//! Signals. The first Ctrl-C, SIGTERM or SIGHUP is a person's request to stop: the agent is ended, the workspace
//! inspected, the journal closed. The second ends ralph at once; the supervisor then ends the agent, and the journal stays
//! as after a crash. SIGUSR1 ends a wait, as `ralph continue` does. Ctrl-Z freezes agents and timers with ralph. A
//! hang-up that was ignored when ralph started (nohup) stays ignored; the others are received also by a command that a
//! script put into the background.
//!
//! From the first instruction of `main` until a run or a terminal listens, a signal ends the process at once with the same
//! exit code (`exit_on_signal`): nothing has begun that would have to be ended.
//!
//! Signals belong to a process, not to a run, so one thread receives them (`RECEIVERS` says for whom) and passes each to
//! every run and terminal of the process, however many there are.

use crate::clock::Clock;
use crate::event_source::EventSender;
use crate::under_way::UnderWay;
use ralph_rules::record::{Asked, Request, Seen};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGUSR1};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Something drawn on a terminal, which must be as it was while ralph is stopped and when it ends.
pub trait Suspend: Send + Sync {
    /// Ralph stops (Ctrl-Z), or ends at once: restore the terminal.
    fn suspend(&self);
    /// Ralph was continued.
    fn resume(&self);
}

/// How long a drawing under way is waited for.
const DRAWING: Duration = Duration::from_millis(200);

/// Waits for a drawing under way, but not for one that the terminal itself holds up. Nothing new is drawn while the guard lives.
pub fn wait_for_drawing(drawing: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
    let until = Instant::now() + DRAWING;
    loop {
        match drawing.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// True until a run or a terminal listens. Read by the handlers of `exit_on_signal`.
static NOBODY_LISTENS: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Ends this process with 128 and the signal's number on SIGINT, SIGTERM and SIGHUP, until somebody listens. To be called
/// first of all. If a handler is refused, the signal's own action stays.
pub fn exit_on_signal() {
    let armed = NOBODY_LISTENS.get_or_init(|| Arc::new(AtomicBool::new(true)));
    let exit_on = |signal: i32| {
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(armed));
    };
    exit_on(SIGINT);
    exit_on(SIGTERM);
    if ralph_os::SHOWS_IGNORED_SIGNALS && !ralph_os::hang_up_is_ignored() {
        exit_on(SIGHUP);
    }
}

/// Who receives signals. The only process-wide state of a run: a signal's handler cannot be had twice.
static RECEIVERS: Mutex<Receivers> = Mutex::new(Receivers {
    last_id: 0,
    runs: Vec::new(),
    ran: false,
    terminals: Vec::new(),
    say: None,
    thread: None,
});

struct Receivers {
    last_id: u64,
    runs: Vec<(u64, RunReceiver)>,
    /// There was a run: what follows it only prints its result, and is not cut short.
    ran: bool,
    terminals: Vec<(u64, Arc<dyn Suspend>)>,
    /// Says what a signal does that ends the process at once.
    say: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Closes the receiving thread; there is one while there are runs or terminals.
    thread: Option<Handle>,
}

/// One run's share of the signals.
#[derive(Clone)]
struct RunReceiver {
    sender: EventSender,
    clock: Clock,
    under_way: UnderWay,
    asked_to_stop: bool,
}

/// Receives signals until dropped.
#[must_use]
pub struct Listening(u64);

impl Drop for Listening {
    fn drop(&mut self) {
        let mut receivers = receivers();
        receivers.runs.retain(|(id, _)| *id != self.0);
        receivers.terminals.retain(|(id, _)| *id != self.0);
        if receivers.runs.is_empty()
            && receivers.terminals.is_empty()
            && let Some(thread) = receivers.thread.take()
        {
            thread.close();
        }
    }
}

/// Passes signals to a run from now on.
pub fn listen(sender: EventSender, clock: Clock, under_way: UnderWay) -> io::Result<Listening> {
    let mut receivers = receivers();
    receivers.start_thread()?;
    receivers.ran = true;
    let id = receivers.next_id();
    receivers.runs.push((id, RunReceiver { sender, clock, under_way, asked_to_stop: false }));
    Ok(Listening(id))
}

/// Suspends a terminal from now on, whenever ralph is stopped or ended by a signal.
pub fn suspend_with(terminal: Arc<dyn Suspend>) -> Listening {
    let mut receivers = receivers();
    // If there is none, a signal still ends the process; the run that follows reports why.
    let _ = receivers.start_thread();
    let id = receivers.next_id();
    receivers.terminals.push((id, terminal));
    Listening(id)
}

/// From now on, calls this before a signal ends the process at once; the terminals have been restored by then.
pub fn before_forced_exit(say: impl Fn() + Send + Sync + 'static) {
    receivers().say = Some(Arc::new(say));
}

impl Receivers {
    fn start_thread(&mut self) -> io::Result<()> {
        if self.thread.is_none() {
            self.thread = Some(receive()?);
            // Only now, so that there is no moment without a handler.
            if let Some(armed) = NOBODY_LISTENS.get() {
                armed.store(false, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Whether the process ends now: no run has begun, or one was asked to stop before. From now on all were.
    fn ask_all_to_stop(&mut self) -> bool {
        let asked = self.runs.iter().any(|(_, run)| run.asked_to_stop);
        self.runs.iter_mut().for_each(|(_, run)| run.asked_to_stop = true);
        asked || !self.ran
    }
}

fn receivers() -> MutexGuard<'static, Receivers> {
    RECEIVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runs and terminals, taken out so that none of them is called while the list is locked.
fn everyone() -> (Vec<RunReceiver>, Vec<Arc<dyn Suspend>>) {
    let receivers = receivers();
    let runs = receivers.runs.iter().map(|(_, run)| run.clone()).collect();
    (runs, receivers.terminals.iter().map(|(_, terminal)| Arc::clone(terminal)).collect())
}

/// Starts the thread that receives signals.
fn receive() -> io::Result<Handle> {
    let hang_up = (!ralph_os::hang_up_is_ignored()).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGUSR1].into_iter().chain(hang_up))?;
    let handle = signals.handle();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in &mut signals {
            dispatch(signal);
        }
    })?;
    Ok(handle)
}

fn dispatch(signal: i32) {
    match signal {
        SIGTSTP => freeze(),
        SIGCONT => thaw(),
        SIGUSR1 => ask_all(&Request::Continue),
        _ if receivers().ask_all_to_stop() => {
            everyone().1.iter().for_each(|terminal| terminal.suspend());
            let say = receivers().say.clone();
            if let Some(say) = say {
                say();
            }
            ralph_supervisor::end_stopped();
            std::process::exit(128 + signal)
        }
        _ => ask_all(&Request::Stop { after: false, signal }),
    }
}

/// A run that is over already does not receive it; a second signal then ends the process.
fn ask_all(request: &Request) {
    for run in everyone().0 {
        let _ = run.sender.send(Seen::Asked(Asked { request: request.clone() }).into());
    }
}

/// Stops the agents, the timers and ourselves.
fn freeze() {
    let (runs, terminals) = everyone();
    // First of all: a shell that sees another process of this job stop takes the terminal at once.
    terminals.iter().for_each(|terminal| terminal.suspend());
    for run in runs {
        run.clock.pause();
        run.under_way.freeze();
    }
    let _ = kill_process(getpid(), Signal::STOP);
}

/// Ralph was continued. Not done right after `freeze`: this thread may run on for a moment after the stop was sent.
fn thaw() {
    let (runs, terminals) = everyone();
    for run in runs {
        run.under_way.thaw();
        run.clock.resume();
    }
    terminals.iter().for_each(|terminal| terminal.resume());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_source::{ChannelEvents, EventSource};
    use ralph_rules::next::Wake;

    fn listening_run() -> (ChannelEvents, Listening) {
        let clock = Clock::from(0);
        let (events, sender) = ChannelEvents::new(clock.clone());
        (events, listen(sender, clock, UnderWay::default()).unwrap())
    }

    fn is_continued(events: &mut ChannelEvents) -> bool {
        let seen = events.recv(Wake { at: None, ran: Some(60_000) }).seen;
        matches!(seen, Seen::Asked(Asked { request: Request::Continue }))
    }

    #[test]
    fn a_signal_reaches_every_run_of_the_process() {
        let (mut first, first_listens) = listening_run();
        let (mut second, second_listens) = listening_run();
        kill_process(getpid(), Signal::USR1).unwrap();
        assert!(is_continued(&mut first) && is_continued(&mut second));
        drop(first_listens);
        kill_process(getpid(), Signal::USR1).unwrap();
        assert!(is_continued(&mut second), "the end of one run does not take signals from another");
        drop(second_listens);
        assert!(receivers().thread.is_none(), "the thread ends with the last run");
    }
}
