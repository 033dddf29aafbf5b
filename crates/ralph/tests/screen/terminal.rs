//! A pseudo-terminal with a run in it.

use ralph_testkit::{Scratch, tidy};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal, and who runs in it.
pub struct Terminal {
    pub scratch: Scratch,
    child: Child,
    keyboard: File,
    parser: Arc<Mutex<vt100::Parser>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Held open: the terminal of a child that ended can still be asked how it is.
    tty: File,
}

impl Terminal {
    /// Runs the scripted agent in a terminal of this size.
    pub fn run(script: &str, columns: u16, rows: u16, env: &[(&str, &str)], more: &[&str]) -> Terminal {
        let scratch = Scratch::new();
        let args = run_args(&scratch, script, more);
        Terminal::ralph(scratch, &args, (columns, rows), env)
    }

    /// Types this command in a terminal of this size.
    pub fn ralph(
        scratch: Scratch,
        args: &[String],
        (columns, rows): (u16, u16),
        env: &[(&str, &str)],
    ) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let tty = || File::options().read(true).write(true).open(&name).unwrap();
        let ours = tty();
        resize(master.as_fd(), columns, rows);
        // A session of its own whose terminal this is. Whoever runs the tests may ignore SIGHUP (nohup).
        let mut command: Command = scratch.command("setsid");
        command.args(["--ctty", "env", "--default-signal=HUP", env!("CARGO_BIN_EXE_ralph")]).args(args);
        command.env("TERM", "xterm-256color").envs(env.iter().copied());
        command.stdin(Stdio::from(tty())).stdout(Stdio::from(tty())).stderr(Stdio::from(tty()));
        let child = command.spawn().unwrap();
        let parser = Arc::new(Mutex::new(vt100::Parser::new(whole(rows), whole(columns), 200)));
        let bytes = Arc::new(Mutex::new(Vec::new()));
        play(File::from(master.try_clone().unwrap()), Arc::clone(&parser), Arc::clone(&bytes));
        Terminal { scratch, child, keyboard: File::from(master), parser, bytes, tty: ours }
    }

    /// Types another command in the same place, in a new terminal.
    pub fn again(mut self, args: &[&str]) -> Terminal {
        let scratch = std::mem::replace(&mut self.scratch, Scratch::new());
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Terminal::ralph(scratch, &args, (80, 24), &[])
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Changes the size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.lock().unwrap().screen_mut().set_size(whole(rows), whole(columns));
        resize(self.keyboard.as_fd(), columns, rows);
    }

    /// What is seen now.
    pub fn seen(&self) -> String {
        let parser = self.parser.lock().unwrap();
        let lines = parser.screen().contents();
        lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// Every byte that was written.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    /// Waits until this is seen.
    #[track_caller]
    pub fn awaits(&self, words: &str) {
        self.awaits_that(&format!("`{words}`"), |seen| seen.contains(words).then_some(()));
    }

    /// Waits until what is seen is so: a drawing may be read in two pieces.
    #[track_caller]
    pub fn awaits_that(&self, what: &str, is_so: impl Fn(&str) -> Option<()>) {
        let since = Instant::now();
        while is_so(&self.seen()).is_none() {
            assert!(since.elapsed() < PATIENCE, "{what} was never seen:\n{}", self.seen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Compares what is seen with a snapshot.
    pub fn compare(&self, name: &str) {
        let root = self.scratch.root().display().to_string();
        let look = || tidy(&self.seen().replace(&root, "<tmp>"));
        // A drawing may be read in two pieces: what is compared has come to rest.
        let mut text = look();
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(300));
            let again = look();
            if std::mem::replace(&mut text, again.clone()) == again {
                break;
            }
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
    }

    /// Makes a file in the workspace.
    pub fn touch(&self, name: &str) {
        File::create(self.scratch.workspace().join(name)).unwrap();
    }

    /// Whether keys come line by line and are seen, as in a shell.
    pub fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.tty).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Whether the cursor is hidden.
    pub fn hides_cursor(&self) -> bool {
        self.parser.lock().unwrap().screen().hide_cursor()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The letter of the process's state.
    pub fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
    }

    /// The answer of another command, typed elsewhere.
    pub fn asks(&self, args: &[&str]) -> String {
        let mut command = self.scratch.command(env!("CARGO_BIN_EXE_ralph"));
        let output = command.args(args).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits for the end.
    #[track_caller]
    pub fn end(&mut self) -> i32 {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(since.elapsed() < PATIENCE, "it never ended:\n{}", self.seen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is typed for a run of the scripted agent. Its task is one line of a text with a heading, as `init` writes it.
pub fn run_args(scratch: &Scratch, script: &str, more: &[&str]) -> Vec<String> {
    let path = scratch.root().join("agent.sim");
    std::fs::write(&path, script).unwrap();
    let path = path.to_str().unwrap();
    // At 40 columns no line with this cost breaks elsewhere when a duration takes one character more or less.
    let limits = ["--max-iterations", "5", "--max-cost", "10", "--verify", "test -f done"];
    let task = ["run", "# Task\n\nMend the parser\n\nIt loses quotes.", "--agent", "sim"];
    let args = [&task[..], &limits, more, &["--", "--no-partial-messages", "--script", path]].concat();
    args.into_iter().map(str::to_owned).collect()
}

fn whole(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).unwrap()
}

fn resize(terminal: impl AsFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

fn play(mut from: File, parser: Arc<Mutex<vt100::Parser>>, bytes: Arc<Mutex<Vec<u8>>>) {
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut piece) {
            parser.lock().unwrap().process(&piece[..n]);
            bytes.lock().unwrap().extend_from_slice(&piece[..n]);
        }
    });
}
