//! How a program's end is reported.

use std::io::Read;
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

use ralph_sandbox::report::{End, Failure, Line, Stage};

use crate::kit::{Ran, everywhere};

#[test]
fn the_exit_code_and_both_streams_arrive() {
    everywhere(|scene| {
        // The report is printed to stderr too, after the program has ended at the latest.
        let ran = Ran::of(scene.shell_command("echo out; sleep 0.2; echo err >&2; exit 7").output().unwrap());
        ran.assert(7, "out\n");
        assert_eq!((ran.end(), ran.outlived()), (End::Code(7), 0));
        assert!(
            ran.stderr.contains("err\n") && ran.lines.iter().any(|line| matches!(line, Line::Started(_))),
            "{ran:?}"
        );
    });
}

#[test]
fn stdin_is_the_programs() {
    everywhere(|scene| {
        let mut command = scene.shell_command("cat");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"in").unwrap();
        Ran::of(child.wait_with_output().unwrap()).assert(0, "in");
    });
}

#[test]
fn a_signal_is_told_from_a_code() {
    everywhere(|scene| {
        let ran = scene.shell("kill -TERM $$");
        assert_eq!((ran.code, ran.end()), (128 + 15, End::Signal(15)), "{ran:?}");
        assert_eq!(scene.shell("exit 143").end(), End::Code(143));
    });
}

#[test]
fn those_who_outlive_the_program_are_counted_and_killed() {
    everywhere(|scene| {
        let began = Instant::now();
        let ran = scene.shell("setsid sleep 60 & (setsid setsid sleep 60 &) & true & sleep 0.3; exit 3");
        assert_eq!((ran.code, ran.outlived()), (3, 2), "{ran:?}");
        assert!(began.elapsed() < Duration::from_secs(30));
    });
}

#[test]
fn what_cannot_be_started_is_said() {
    everywhere(|scene| {
        let run = |cwd: &str, program: &str| {
            Ran::of(scene.command(&["run"]).args([cwd, program]).output().unwrap())
        };
        let failed = |stage| Line::Failed(Failure { stage, errno: 2, detail: String::new() });
        let ran = run("/", "no-such-program");
        assert_eq!((ran.code, ran.lines.last()), (125, Some(&failed(Stage::Program))), "{ran:?}");
        let ran = run("/no/such/directory", "true");
        assert_eq!((ran.code, ran.lines.last()), (125, Some(&failed(Stage::Cwd))), "{ran:?}");
    });
}

#[test]
fn a_sandbox_that_cannot_be_built_says_where() {
    everywhere(|scene| {
        scene.plan.tmp = scene.path("missing");
        let ran = scene.shell("true");
        let said = |line: &Line| match line {
            Line::Failed(failure) => failure.stage == Stage::Sandbox && failure.detail.contains("missing"),
            _ => false,
        };
        assert!(ran.code == 125 && ran.lines.iter().any(said), "{ran:?}");
    });
}

#[test]
fn signals_to_everyone_do_not_end_the_first_process() {
    everywhere(|scene| {
        let ran = scene.shell("trap '' TERM INT HUP QUIT; for it in TERM INT HUP QUIT KILL USR1; do kill -$it 1; done; kill -TERM -1; exit 4");
        assert_eq!((ran.code, ran.end()), (4, End::Code(4)), "{ran:?}");
    });
}

#[test]
fn dispositions_and_mask_of_signals_are_the_default() {
    everywhere(|scene| {
        let ran = scene.shell("grep -E 'Sig(Blk|Ign)' /proc/self/status");
        // The C library has two signals of its own, which it ignores in what it starts.
        let stdout = ran.stdout.replace("0000000180000000", "0000000000000000");
        assert_eq!(stdout, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", "{ran:?}");
    });
}

#[test]
fn no_descriptor_is_inherited() {
    everywhere(|scene| {
        let file = std::fs::File::open("/etc/passwd").unwrap();
        // Without the flag that closes it: as a careless caller leaves it.
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        assert!(file.as_raw_fd() > 2);
        let ran = scene.shell("exec ls -l /proc/self/fd");
        // It has the directory itself open.
        let links = ran.stdout.lines().filter_map(|line| line.split_once(" -> "));
        let own = links
            .filter(|(_, to)| !to.starts_with("/proc/"))
            .map(|(line, _)| line.rsplit(' ').next().unwrap());
        assert_eq!(own.collect::<Vec<_>>(), ["0", "1", "2"], "{ran:?}");
    });
}

#[test]
fn nobody_else_holds_the_programs_streams() {
    everywhere(|scene| {
        let mut command = scene.shell_command("echo first; exec >&-; sleep 30");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        let mut text = String::new();
        // Its own supervisor, the test program, holds a copy: only what the box holds is seen in the process's own list.
        let mut byte = [0];
        while child.stdout.as_mut().unwrap().read(&mut byte).unwrap() == 1 && byte != [b'\n'] {
            text.push(char::from(byte[0]));
        }
        assert_eq!(text, "first");
        let stdout = child.stdout.as_ref().unwrap().as_raw_fd();
        while holders_of(stdout) != [child.id()] {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", scene.plan.backend);
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Processes that hold the other end of a pipe. The test program plays the supervisor and holds it itself.
fn holders_of(fd: i32) -> Vec<u32> {
    let pipe = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let holds = |pid: &u32| {
        let fds = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        fds.filter_map(|fd| std::fs::read_link(fd.path()).ok()).any(|it| it == pipe)
    };
    pids.filter(|pid| *pid != std::process::id()).filter(holds).collect()
}
