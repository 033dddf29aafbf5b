//! Short ways to tend a shell or Python script, and to see who of it is alive.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ralph_supervisor::{Exit, Launch, ProcessHandle, Sink};

pub const SUPERVISOR: &str = env!("CARGO_BIN_EXE_ralph-supervisor-test");
pub const TAG: &str = "RALPH_TEND_TEST";
/// Why a test of orphans is skipped: what this system cannot do is listed in `ralph_os::missing`.
pub const NO_ORPHANS: &str = "this system's fallback does not adopt orphans";

/// Everything the program wrote.
#[derive(Default)]
pub struct Kept {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Sink for Kept {
    fn stdout(&mut self, chunk: &[u8]) {
        self.stdout.extend_from_slice(chunk);
    }
    fn stderr(&mut self, chunk: &[u8]) {
        self.stderr.extend_from_slice(chunk);
    }
}

impl Kept {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// A tag no other test has.
pub fn tag() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub fn program(program: &str, args: &[&str]) -> Launch {
    let mut launch = Launch::new(SUPERVISOR, program, "/");
    launch.args = args.iter().map(Into::into).collect();
    launch
}

pub fn shell(script: &str) -> Launch {
    program("sh", &["-c", script])
}

pub fn python(script: &str) -> Launch {
    program("python3", &["-c", script])
}

pub fn tagged(mut launch: Launch, tag: &str) -> Launch {
    launch.env.push((TAG.into(), tag.into()));
    launch
}

pub fn run(launch: Launch) -> (Exit, Kept) {
    let (_tended, pump) = ralph_supervisor::start(launch).unwrap();
    let mut kept = Kept::default();
    (pump.run(&mut kept), kept)
}

/// Runs it in a thread and lets `meanwhile` act once the program has written its first byte.
pub fn run_and(launch: Launch, meanwhile: impl FnOnce(&ProcessHandle)) -> (Exit, Kept) {
    struct Telling(Kept, std::sync::mpsc::Sender<()>);
    impl Sink for Telling {
        fn stdout(&mut self, chunk: &[u8]) {
            self.0.stdout(chunk);
            let _ = self.1.send(());
        }
        fn stderr(&mut self, chunk: &[u8]) {
            self.0.stderr(chunk);
        }
    }
    let (tell, told) = std::sync::mpsc::channel();
    let (process, pump) = ralph_supervisor::start(launch).unwrap();
    let thread = std::thread::spawn(move || {
        let mut sink = Telling(Kept::default(), tell);
        (pump.run(&mut sink), sink.0)
    });
    told.recv().expect("the program wrote something");
    meanwhile(&process);
    thread.join().unwrap()
}

/// Every living process with this tag, our own descendants included, with its state letter.
pub fn alive(tag: &str) -> HashMap<u32, char> {
    let entry = format!("{TAG}={tag}");
    let mut found = HashMap::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environ = fs::read(process.path().join("environ")).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|one| one == entry.as_bytes()) {
            let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('X');
            if state != 'Z' && state != 'X' {
                found.insert(pid, state);
            }
        }
    }
    found
}

/// A time to sleep that no other test sleeps for: it marks a process that has no environment.
pub fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("7777.{:08}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Every living process with this mark as an argument of its own.
pub fn marked(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    pids.filter(has).collect()
}

/// Waits until it is so, at most a minute: a busy machine is slow, and what never happens fails all the same.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "not within 60 s: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
