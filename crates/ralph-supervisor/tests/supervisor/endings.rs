//! How a program ends, and how one that cannot be started is told of.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use ralph_supervisor::{How, Input, Launch, NotStarted, StartError};

use crate::common::{Kept, SUPERVISOR, program, run, shell};

#[test]
fn a_normal_end_has_its_code() {
    let (exit, kept) = run(shell("echo out; echo err >&2; exit 7"));
    assert_eq!((exit.code, exit.signal, exit.how), (Some(7), None, How::Ended));
    assert_eq!((exit.outlived, exit.left, exit.drained, exit.not_started), (0, 0, true, None));
    assert_eq!((kept.text().as_str(), kept.stderr.as_slice()), ("out\n", b"err\n".as_slice()));
}

#[test]
fn an_end_by_signal_has_its_signal() {
    let (exit, _) = run(shell("kill -SEGV $$"));
    assert_eq!((exit.code, exit.signal, exit.how), (None, Some(11), How::Ended));
}

#[test]
fn a_script_that_kills_its_own_group_does_not_reach_its_tender() {
    let (exit, _) = run(shell("kill -9 0"));
    assert_eq!((exit.signal, exit.how), (Some(9), How::Ended));
}

#[test]
fn a_program_that_is_not_there() {
    let (exit, _) = run(program("no-such-program-anywhere", &[]));
    let not_started = exit.not_started.unwrap();
    assert_eq!((exit.how, exit.code, not_started.code()), (How::NotStarted, None, 127));
    assert!(not_started.to_string().contains("no-such-program-anywhere"), "{not_started}");
}

#[test]
fn a_file_that_is_no_program() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes");
    std::fs::write(&file, "text").unwrap();
    let refused = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        run(program(file.to_str().unwrap(), &[])).0.not_started.unwrap()
    };
    let not_executable = refused(0o644);
    assert_eq!(not_executable, NotStarted::Program { program: file.clone().into(), errno: 13 });
    assert_eq!((not_executable.code(), refused(0o755).code()), (126, 126));
}

#[test]
fn a_directory_that_is_not_there_is_not_mistaken_for_the_program() {
    let (exit, _) = run(Launch::new(SUPERVISOR, "true", "/no/such/directory"));
    assert_eq!(exit.not_started, Some(NotStarted::Cwd { cwd: "/no/such/directory".into(), errno: 2 }));
}

#[test]
fn arguments_that_are_too_long() {
    let error = ralph_supervisor::start(program("true", &["x".repeat(1 << 20).as_str()])).unwrap_err();
    assert!(matches!(error, StartError::TooLong { .. }), "{error}");
}

#[test]
fn a_tender_that_is_none() {
    let (exit, kept) = run(Launch { supervisor_args: vec![], ..Launch::new("/bin/false", "true", "/") });
    assert_eq!(exit.not_started, Some(NotStarted::Supervisor { supervisor: "/bin/false".into() }));
    assert!(kept.stderr.is_empty());
    let error = ralph_supervisor::start(Launch::new("/no/such/ralph", "true", "/")).unwrap_err();
    assert!(matches!(error, StartError::Supervisor { .. }), "{error}");
}

#[test]
fn by_hand_the_tender_refuses() {
    let output =
        Command::new(SUPERVISOR).args(["__supervise", "/", "true"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be used by hand"));
}

#[test]
fn directory_and_environment_are_as_asked() {
    let mut launch = shell("pwd; echo $GIVEN; echo ${HOME-none}; echo ${PATH:+path}");
    launch.cwd = "/usr".into();
    launch.env = vec![("GIVEN".into(), "yes".into())];
    launch.env_remove = vec!["HOME".into()];
    assert_eq!(run(launch.clone()).1.text(), "/usr\nyes\nnone\npath\n");
    launch.program = "/bin/sh".into();
    launch.args = vec!["-c".into(), "env -i; exec /usr/bin/env".into()];
    launch.env_clear = true;
    let only = run(launch).1.text();
    assert!(only.contains("GIVEN=yes") && !only.contains("CARGO"), "{only}");
}

#[test]
fn the_program_inherits_no_more_than_it_would_without_a_tender() {
    let script = "for fd in /proc/$$/fd/*; do readlink $fd; done";
    let direct = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).output().unwrap();
    let mut launch = shell(script);
    launch.stdin = Input::Bytes(vec![]);
    let kinds = |text: &str| {
        let mut kinds: Vec<_> = text.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds(&run(launch).1.text()), kinds(&String::from_utf8_lossy(&direct.stdout)));
}

#[test]
fn a_dropped_pump_takes_the_tree_with_it() {
    let tag = crate::common::tag();
    let (_tended, pump) =
        ralph_supervisor::start(crate::common::tagged(shell("setsid sleep 300 & sleep 300"), &tag)).unwrap();
    crate::common::eventually("all run", || crate::common::alive(&tag).len() >= 3);
    drop(pump);
    assert_eq!(crate::common::alive(&tag).len(), 0);
}

#[test]
fn a_panic_of_the_sink_takes_the_tree_with_it() {
    struct Panicking(Kept);
    impl ralph_supervisor::Sink for Panicking {
        fn stdout(&mut self, _: &[u8]) {
            panic!("sink");
        }
        fn stderr(&mut self, chunk: &[u8]) {
            self.0.stderr(chunk);
        }
    }
    let tag = crate::common::tag();
    let (process, pump) =
        ralph_supervisor::start(crate::common::tagged(shell("echo; setsid sleep 300"), &tag)).unwrap();
    let thread = std::thread::spawn(move || pump.run(&mut Panicking(Kept::default())));
    assert!(thread.join().is_err());
    assert_eq!(crate::common::alive(&tag).len(), 0);
    assert!(!process.tree_is_busy());
}
