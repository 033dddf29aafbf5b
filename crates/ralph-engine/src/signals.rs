//! Signals. The first Ctrl-C, SIGTERM or SIGHUP is a person's request to stop: the agent is ended, the workspace
//! inspected, the journal closed. The second ends ralph at once; the supervisor then ends the agent, and the journal stays
//! as after a crash. SIGUSR1 ends a wait, as `ralph continue` does. Ctrl-Z freezes the agent and the timers with ralph. A hang-up that
//! was ignored when ralph started (nohup) stays ignored; the others are heard also by a run that a script put into the
//! background.

use crate::clock::Clock;
use crate::event_source::EventSender;
use crate::under_way::UnderWay;
use ralph_rules::record::{Asked, Request, Seen};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGUSR1};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::OnceLock;

/// What a screen wants done around a stop: it leaves the terminal as it found it, and takes it again.
pub struct Screen {
    /// Before ralph stops (Ctrl-Z), or ends at once.
    pub leave: fn(),
    /// It was continued.
    pub back: fn(),
}

static SCREEN: OnceLock<Screen> = OnceLock::new();

/// Tells what the screen of this process wants; the first one counts.
pub fn screen(screen: Screen) {
    let _ = SCREEN.set(screen);
}

/// Listens to signals until dropped.
pub struct Listening(Handle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Begins to listen.
pub fn listen(sender: EventSender, clock: Clock, under_way: UnderWay) -> io::Result<Listening> {
    let hang_up = (!ralph_os::hang_up_is_ignored()).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGUSR1].into_iter().chain(hang_up))?;
    let handle = signals.handle();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut asked = false;
        for signal in &mut signals {
            match signal {
                SIGTSTP => freeze(&clock, &under_way),
                SIGCONT => thaw(&clock, &under_way),
                SIGUSR1 => {
                    let _ = sender.send(Seen::Asked(Asked { request: Request::Continue }).into());
                }
                _ if asked => {
                    leave_screen();
                    std::process::exit(128 + signal)
                }
                _ => {
                    asked = true;
                    let request = Request::Stop { after: false, signal };
                    // Nobody hears when the run is over already; the second signal then ends the process.
                    let _ = sender.send(Seen::Asked(Asked { request }).into());
                }
            }
        }
    })?;
    Ok(Listening(handle))
}

/// Stops the agent, the timers and ourselves.
fn freeze(clock: &Clock, under_way: &UnderWay) {
    // First of all: a shell that sees another process of this job stop takes the terminal at once.
    leave_screen();
    clock.pause();
    under_way.freeze();
    let _ = kill_process(getpid(), Signal::STOP);
}

/// Somebody continues us. Not done right after `freeze`: this thread may run on for a moment after the stop was sent.
fn thaw(clock: &Clock, under_way: &UnderWay) {
    under_way.thaw();
    clock.resume();
    if let Some(screen) = SCREEN.get() {
        (screen.back)();
    }
}

fn leave_screen() {
    if let Some(screen) = SCREEN.get() {
        (screen.leave)();
    }
}
