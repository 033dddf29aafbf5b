//! Nobody outlives the program: sessions, daemons, forkers, strangers that hold a pipe.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use ralph_supervisor::{Exit, How, Launch};

use crate::common::{NO_ORPHANS, SUPERVISOR, alive, eventually, python, run, run_and, shell, tag, tagged};
use ralph_testkit::skip;

/// Runs it and checks that its whole tree is dead when the pump returns.
fn dead_after(launch: Launch) -> Exit {
    let tag = tag();
    let (exit, kept) = run(tagged(launch, &tag));
    assert_eq!(alive(&tag).len(), 0, "{exit:?} {}", kept.text());
    exit
}

#[test]
fn background_children() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let exit = dead_after(shell("sleep 300 & nohup sleep 300 >/dev/null 2>&1 & exit 3"));
    assert_eq!((exit.code, exit.outlived, exit.how), (Some(3), 2, How::Ended));
}

#[test]
fn children_in_sessions_of_their_own() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let exit = dead_after(shell("setsid sleep 300 & setsid setsid -f sh -c 'sleep 300; :' & sleep 0.1"));
    assert_eq!(exit.code, Some(0));
    assert!(exit.outlived >= 2, "{exit:?}");
}

#[test]
fn a_daemon_that_forked_twice_and_closed_everything() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let exit = dead_after(python(
        "import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        time.sleep(300)
    os._exit(0)
os.wait()
sys.exit(4)",
    ));
    assert_eq!((exit.code, exit.outlived), (Some(4), 1));
}

#[test]
fn a_child_whose_first_thread_has_ended_but_not_the_others() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let exit = dead_after(python(
        "import ctypes, os, threading, time
if os.fork() == 0:
    os.setsid()
    threading.Thread(target=time.sleep, args=(300,)).start()
    ctypes.CDLL(None).pthread_exit(None)
time.sleep(0.3)",
    ));
    assert_eq!((exit.code, exit.left, exit.outlived), (Some(0), 0, 1));
}

#[test]
fn a_grandchild_that_holds_stdout_does_not_hang_us() {
    let since = Instant::now();
    let (exit, kept) = run(shell("echo done; (trap '' TERM HUP; sleep 300) & exit 0"));
    assert!(since.elapsed() < Duration::from_secs(120), "it sleeps for 300 s");
    assert!(exit.drained);
    assert_eq!((exit.code, kept.text().as_str()), (Some(0), "done\n"));
}

#[test]
fn orphans_that_die_during_the_call_leave_no_zombies() {
    let script = "for i in 1 2 3 4 5 6 7 8; do setsid -f true; done
zombies() { ps -o stat= --ppid $PPID | grep -c Z; }
for i in $(seq 600); do [ $(zombies) = 0 ] && break; sleep 0.1; done; zombies";
    let (_, kept) = run(shell(script));
    assert_eq!(kept.text(), "0\n");
}

#[test]
fn a_crowd_that_forks_again_and_again() {
    // 60 processes, each replacing itself by a child every 10 ms: no list of them is true when it is read.
    let exit = dead_after(python(
        "import os, time
until = time.time() + 300
for _ in range(60):
    if os.fork() == 0:
        while time.time() < until:
            if os.fork(): os._exit(0)
            time.sleep(0.01)
        os._exit(0)
time.sleep(0.1)
os._exit(0)",
    ));
    assert_eq!((exit.code, exit.left), (Some(0), 0));
}

#[test]
fn hares_that_change_session_with_every_step() {
    let exit = dead_after(python(
        "import os, time
until = time.time() + 300
for _ in range(5):
    if os.fork() == 0:
        while time.time() < until:
            os.setsid() if os.getpid() != os.getsid(0) else None
            if os.fork(): os._exit(0)
        os._exit(0)
time.sleep(0.1)
os._exit(0)",
    ));
    assert_eq!((exit.code, exit.left), (Some(0), 0));
}

/// A program that ends once there is a file `go` in the directory: time enough to take hold of its pipe.
fn holds() -> (tempfile::TempDir, Launch) {
    let dir = tempfile::tempdir().unwrap();
    let mut launch = shell("echo hold; while [ ! -e \"$1/go\" ]; do sleep 0.05; done");
    launch.args.extend(["sh".into(), dir.path().into()]);
    (dir, launch)
}

#[test]
fn a_stranger_that_holds_the_pipe_is_waited_for_no_longer_than_the_drain_limit() {
    let (dir, mut launch) = holds();
    launch.limits.drain = Duration::from_millis(200);
    let mut stranger = None;
    let (exit, kept) = run_and(launch, |process| {
        eventually("its pid is known", || process.pid().is_some());
        let pipe = format!("/proc/{}/fd/1", process.pid().unwrap());
        stranger = Some(OpenOptions::new().write(true).open(pipe).unwrap());
        std::fs::write(dir.path().join("go"), "").unwrap();
    });
    assert_eq!((exit.code, exit.drained, kept.text().as_str()), (Some(0), false, "hold\n"));
    // Not at once: a program that another test starts just now may hold a copy until it is executed.
    let mut stranger = stranger.unwrap();
    eventually("the reading end is closed", || stranger.write_all(b"late").is_err());
}

#[test]
fn a_stranger_that_floods_the_pipe_is_not_read_for_ever() {
    let mut flood = None;
    let (dir, launch) = holds();
    let (exit, kept) = run_and(launch, |process| {
        eventually("its pid is known", || process.pid().is_some());
        let program = format!("/proc/{}", process.pid().unwrap());
        let mut pipe = OpenOptions::new().write(true).open(format!("{program}/fd/1")).unwrap();
        flood = Some(std::thread::spawn(move || {
            eventually("it has ended", || !std::fs::exists(&program).unwrap());
            while pipe.write_all(&[b'x'; 65536]).is_ok() {}
        }));
        std::fs::write(dir.path().join("go"), "").unwrap();
    });
    assert_eq!((exit.code, exit.drained), (Some(0), false));
    assert!(kept.stdout.len() < 16 << 20, "{} bytes", kept.stdout.len());
    flood.unwrap().join().unwrap();
}

#[test]
fn the_tender_itself_holds_none_of_the_streams() {
    run_and(shell("echo on; exec sleep 300"), |process| {
        let supervisor = process.supervisor_pid();
        let is_null =
            |fd| std::fs::read_link(format!("/proc/{supervisor}/fd/{fd}")).unwrap() == Path::new("/dev/null");
        eventually("it let go of all three", || (0..3).all(is_null));
        process.kill();
    });
}

#[test]
fn a_lost_tender_is_told_and_the_program_does_not_go_on() {
    let tag = tag();
    let (exit, _) = run_and(tagged(shell("echo; sleep 300 & sleep 300; :"), &tag), |process| {
        eventually("its pid is known", || process.pid().is_some());
        let supervisor = process.supervisor_pid().to_string();
        std::process::Command::new("kill").args(["-9", &supervisor]).status().unwrap();
    });
    assert_eq!((exit.how, exit.code), (How::SupervisorLost, None));
    eventually("all dead", || alive(&tag).is_empty());
}

#[test]
fn what_withstands_killing_is_told_of_instead_of_waited_for() {
    // A supervisor of the test's own that claims it: real ones are found only in the kernel's bad days.
    let words = "echo started 1 >&0; echo ended code 0 >&0; echo left 2 >&0; exec sleep 300 >/dev/null 2>&1";
    let launch =
        Launch { supervisor_args: vec!["-c".into(), words.into()], ..Launch::new("/bin/sh", "true", "/") };
    let tag = tag();
    let (exit, _) = run(tagged(launch, &tag));
    assert_eq!((exit.code, exit.left, exit.how), (Some(0), 2, How::Ended));
    for pid in alive(&tag).keys() {
        std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    }
}

#[test]
fn the_tender_shrugs_off_signals_meant_for_everyone() {
    let (exit, _) = run(shell(&format!(
        "for s in TERM HUP INT QUIT; do kill -$s $PPID; done; sleep 0.1; grep -q {} /proc/$PPID/cmdline && exit 5",
        SUPERVISOR.rsplit('/').next().unwrap()
    )));
    assert_eq!((exit.code, exit.how), (Some(5), How::Ended));
}
