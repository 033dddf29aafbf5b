//! What a handle orders from another thread: end, kill, stop, cont, and the grace after a final result.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use ralph_supervisor::{How, Sink};

use crate::common::{alive, eventually, run_and, shell, tag, tagged};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn end_lets_the_program_end_itself() {
    let script = "trap 'echo bye; exit 9' TERM; echo on; while :; do sleep 0.05; done";
    let (exit, kept) = run_and(shell(script), |process| process.end(LONG));
    assert_eq!((exit.code, exit.how), (Some(9), How::Told));
    assert_eq!(kept.text(), "on\nbye\n");
}

#[test]
fn end_reaches_the_whole_tree() {
    let tag = tag();
    let script = "setsid sh -c 'trap \"echo tool; exit\" TERM; echo on; while :; do sleep 0.05; done' & wait; sleep 300";
    let mut launch = tagged(shell(&format!("trap 'wait; exit 0' TERM; {script}")), &tag);
    launch.merge_stderr = true;
    let (exit, kept) = run_and(launch, |process| process.end(LONG));
    assert!(kept.text().contains("tool"), "{exit:?} {}", kept.text());
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn what_ignores_term_is_killed_after_the_grace() {
    let tag = tag();
    let script = "trap '' TERM; (trap '' TERM; sleep 300; :) & echo on; while :; do sleep 0.05; done";
    let since = Instant::now();
    let (exit, _) = run_and(tagged(shell(script), &tag), |process| process.end(SHORT));
    assert!(since.elapsed() >= SHORT);
    assert_eq!((exit.signal, exit.how, alive(&tag).len()), (Some(9), How::Told, 0));
}

#[test]
fn kill_works_at_once_also_while_the_sink_is_busy() {
    struct Blocked(mpsc::Sender<()>, mpsc::Receiver<()>);
    impl Sink for Blocked {
        fn stdout(&mut self, _: &[u8]) {
            let _ = self.0.send(());
            let _ = self.1.recv_timeout(LONG);
        }
        fn stderr(&mut self, _: &[u8]) {}
    }
    let tag = tag();
    let (tell, told) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let (process, pump) = ralph_supervisor::start(tagged(shell("echo; setsid sleep 300"), &tag)).unwrap();
    let thread = std::thread::spawn(move || pump.run(&mut Blocked(tell, released)));
    told.recv().unwrap();
    process.kill();
    eventually("all dead but the sink still blocked", || alive(&tag).is_empty());
    assert!(!thread.is_finished());
    release.send(()).unwrap();
    let exit = thread.join().unwrap();
    assert_eq!((exit.signal, exit.how), (Some(9), How::Told));
    process.kill();
    process.end(SHORT);
}

#[test]
fn a_program_that_lingers_after_its_final_result_is_ended() {
    let mut launch = shell("echo result; sleep 300");
    launch.limits.final_grace = SHORT;
    let since = Instant::now();
    let (exit, kept) = run_and(launch, |process| process.final_seen());
    assert!(since.elapsed() >= SHORT);
    assert_eq!((exit.how, kept.text().as_str()), (How::Lingered, "result\n"));
}

#[test]
fn a_program_that_exits_after_its_final_result_ended_by_itself() {
    let (exit, _) = run_and(shell("echo result; sleep 0.1; exit 1"), |process| process.final_seen());
    assert_eq!((exit.how, exit.code), (How::Ended, Some(1)));
}

#[test]
fn the_grace_stands_still_while_paused() {
    let dir = tempfile::tempdir().unwrap();
    let mut launch = shell("echo result; while [ ! -e \"$1/go\" ]; do sleep 0.05; done; exit 6");
    launch.args.extend(["sh".into(), dir.path().into()]);
    launch.limits.final_grace = SHORT;
    let since = Instant::now();
    let (exit, _) = run_and(launch, |process| {
        process.pause();
        process.final_seen();
        std::thread::sleep(4 * SHORT);
        std::fs::write(dir.path().join("go"), "").unwrap();
    });
    let took = since.elapsed();
    assert_eq!((exit.how, exit.code), (How::Ended, Some(6)));
    let counted = Duration::from_millis(exit.ms);
    assert!(counted + 3 * SHORT < took, "the pause is no part of the {counted:?} of {took:?}");
}

#[test]
fn stop_freezes_everyone_and_cont_lets_them_go_on() {
    let tag = tag();
    let script = "setsid sh -c 'while [ ! -e $0/go ]; do :; done' $1 & echo on; while [ ! -e $1/go ]; do :; done; wait; exit 8";
    let dir = tempfile::tempdir().unwrap();
    let mut launch = tagged(shell(script), &tag);
    launch.args.extend(["sh".into(), dir.path().into()]);
    let (exit, _) = run_and(launch, |process| {
        let programs = || {
            let supervisor = process.supervisor_pid();
            alive(&tag)
                .into_iter()
                .filter(move |(pid, _)| *pid != supervisor)
                .map(|(_, state)| state)
                .collect::<Vec<_>>()
        };
        eventually("both run", || programs().len() == 2);
        process.stop();
        eventually("both frozen", || programs() == ['T', 'T']);
        let silence = process.silent_for();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(process.silent_for(), silence, "the clock stands still");
        std::fs::write(dir.path().join("go"), "").unwrap();
        process.cont();
    });
    assert_eq!((exit.code, exit.how), (Some(8), How::Ended));
}

#[test]
fn a_frozen_tree_can_still_be_ended() {
    let script = "trap 'exit 9' TERM; echo on; while :; do sleep 0.05; done";
    let (exit, _) = run_and(shell(script), |process| {
        process.stop();
        process.end(LONG);
    });
    assert_eq!((exit.code, exit.how), (Some(9), How::Told));
}

#[test]
fn a_busy_tree_and_an_idle_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut launch =
        shell("setsid sh -c 'while [ ! -e $0/rest ]; do :; done' $1 & echo on; wait; echo idle; sleep 300");
    launch.args.extend(["sh".into(), dir.path().into()]);
    let (exit, _) = run_and(launch, |process| {
        assert!(process.tree_is_busy(), "the first answer is yes");
        eventually("busy", || process.tree_is_busy());
        std::fs::write(dir.path().join("rest"), "").unwrap();
        std::thread::sleep(SHORT);
        eventually("idle", || {
            std::thread::sleep(Duration::from_millis(100));
            !process.tree_is_busy()
        });
        assert!(process.silent_for() > Duration::from_millis(50));
        process.kill();
    });
    assert_eq!(exit.how, How::Told);
}
