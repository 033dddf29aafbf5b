//! A program that is quicker than its supervisor's first word. Its orphan comes to this process at once, where the end
//! of any other call would find and count it: so the test has a process of its own.
#![allow(missing_docs, clippy::unwrap_used)]

use ralph_supervisor::{How, Launch, Sink};
use ralph_testkit::skip;

/// What the program writes is not looked at.
struct Nowhere;

impl Sink for Nowhere {
    fn stdout(&mut self, _: &[u8]) {}
    fn stderr(&mut self, _: &[u8]) {}
}

#[test]
fn a_program_that_is_quicker_than_its_supervisors_first_word_did_run() {
    if !ralph_os::ADOPTS {
        return skip("this system's fallback does not adopt orphans");
    }
    let supervisor =
        "env -i setsid sh -c '(setsid sleep 300 >/dev/null 2>&1 & echo $! >\"$0\")' \"$0\"; kill -9 $$";
    let pid_file = tempfile::NamedTempFile::new().unwrap();
    let args = vec!["-c".into(), supervisor.into(), pid_file.path().into()];
    let launch = Launch { supervisor_args: args, ..Launch::new("/bin/sh", "true", "/") };
    let (_process, pump) = ralph_supervisor::start(launch).unwrap();
    let exit = pump.run(&mut Nowhere);
    assert_eq!((exit.how, exit.supervisor_lost, exit.not_started), (How::SupervisorLost, true, None));
    let pid: i32 = std::fs::read_to_string(pid_file.path()).unwrap().trim().parse().unwrap();
    let orphan = rustix::process::Pid::from_raw(pid).and_then(ralph_os::read_process);
    assert!(orphan.is_none_or(|process| !process.alive), "it is dead when the pump returns");
}
