//! `ralph watch` on a pseudo-terminal of its own, whose screen is played into an emulator.

use crate::served::in_place;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const ROWS: u16 = 50;
const COLUMNS: u16 = 160;

/// What was drawn, told whenever something was.
type Seen = Box<dyn FnMut(&str) + Send>;

/// A monitor; dropped, it ends.
pub struct Monitor {
    process: Child,
    screen: Arc<Mutex<String>>,
    /// Held open, or the monitor would lose its terminal.
    _keyboard: OwnedFd,
}

impl Monitor {
    /// Watches; `seen` gets the screen after every piece that was drawn.
    pub fn start(ralph: &Path, dir: &Path, run: Option<&str>, mut seen: Seen) -> Monitor {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let tty = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
        // A session of its own whose terminal this is.
        let mut command = in_place(Path::new("setsid"), dir);
        command.arg("--ctty").arg(ralph).arg("watch").args(run).env("TERM", "xterm-256color");
        let process = command.stdin(tty()).stdout(tty()).stderr(tty()).spawn().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut drawn, shown) = (File::from(master.try_clone().unwrap()), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut terminal = vt100::Parser::new(ROWS.try_into().unwrap(), COLUMNS.try_into().unwrap(), 0);
            let mut piece = [0; 64 * 1024];
            while let Ok(n @ 1..) = drawn.read(&mut piece) {
                terminal.process(&piece[..n]);
                let text = terminal.screen().contents();
                seen(&text);
                *shown.lock().unwrap() = text;
            }
        });
        Monitor { process, screen, _keyboard: master }
    }

    /// Waits until this is on the screen.
    pub fn awaits(&self, words: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.screen.lock().unwrap().contains(words) {
            assert!(Instant::now() < until, "{words} never came:\n{}", self.screen.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops it as Ctrl-Z by somebody else would, or lets it go on.
    pub fn hold(&self, held: bool) {
        // `setsid` has become the program.
        let pid = Pid::from_child(&self.process);
        let _ = kill_process(pid, if held { Signal::STOP } else { Signal::CONT });
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
