//! Starting and ending the server.

use super::client::SOON;
use super::scene::Scene;
use super::served::Served;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

#[test]
fn a_signal_ends_it_and_its_streams_as_other_commands() {
    let scene = Scene::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut served = Served::start(&scene, &[]);
        let mut events = served.events("", None);
        let pid = Pid::from_child(&served.process);
        kill_process(pid, signal).unwrap();
        assert_eq!(served.process.wait().unwrap().code(), Some(code));
        assert_eq!(events.next(), None, "the stream has ended");
    }
    assert!(!scene.scratch.state().join("ralph").exists(), "a server that only shows creates nothing");
}

#[test]
fn a_signal_removes_the_file_that_leads_the_browser_to_the_page() {
    let mut scene = Scene::new();
    let programs = scene.scratch.root().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let seen = scene.scratch.root().join("seen");
    for name in ["xdg-open", "open"] {
        let program = programs.join(name);
        std::fs::write(
            &program,
            format!("#!/bin/sh\ncp \"$1\" '{0}.part' && mv '{0}.part' '{0}'\n", seen.display()),
        )
        .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    scene.set("PATH", &format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()));
    let left = scene.scratch.state().join("ralph/serve");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("open-old.html"), "left by a command that was killed").unwrap();
    let mut served = Served::start(&scene, &["--open"]);
    let until = Instant::now() + SOON;
    while !seen.exists() {
        assert!(Instant::now() < until, "the browser was not started");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(std::fs::read_to_string(&seen).unwrap().contains(&served.token));
    let files = || std::fs::read_dir(&left).unwrap().count();
    assert_eq!(files(), 1, "the old one is gone");
    // Once it answers, it has begun to listen for signals.
    assert_eq!(served.get("/healthz").status, 200);
    kill_process(Pid::from_child(&served.process), Signal::INT).unwrap();
    assert_eq!(served.process.wait().unwrap().code(), Some(130));
    assert_eq!(files(), 0);
}

/// A transaction that keeps everybody else out, readers too.
fn locked(scene: &Scene) -> rusqlite::Connection {
    let path = scene.scratch.state().join("ralph").join(ralph_store::DATABASE);
    let shell = rusqlite::Connection::open(path).unwrap();
    shell.execute_batch("pragma locking_mode = exclusive; begin immediate; commit").unwrap();
    shell
}

#[test]
fn a_database_that_is_locked_at_the_start_is_said_and_shown_once_it_is_free() {
    let scene = Scene::new();
    scene.sim("Make a", &["--verify", "test -e a"], "write a x; claim complete");
    let shell = locked(&scene);
    let began = Instant::now();
    let served = Served::start(&scene, &[]);
    assert!(began.elapsed() < Duration::from_secs(45), "it does not wait until the database is free");
    let stats = served.get("/api/v1/stats");
    let overview = served.get("/api/v1/overview");
    for answer in [&stats, &overview] {
        assert_eq!(answer.status, 503, "{}", answer.body);
        assert!(answer.body.contains("the database is locked by another process"), "{}", answer.body);
    }
    drop(shell);
    let until = Instant::now() + SOON;
    while served.get("/api/v1/overview").status != 200 {
        assert!(Instant::now() < until, "the database is free");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(served.get("/api/v1/overview").body.contains("Make a"));
}

#[test]
fn what_cannot_be_listened_on_is_said_with_what_to_do() {
    let scene = Scene::new();
    let served = Served::start(&scene, &[]);
    let taken = scene.ralph(&["serve", "--listen", &served.address.to_string()]);
    assert_eq!(taken.code, 73);
    assert!(taken.err.contains("is taken") && taken.err.contains("--listen 127.0.0.1:0"), "{}", taken.err);
    let open = scene.ralph(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, 64);
    assert!(open.err.contains("nothing is encrypted") && open.err.contains("--host NAME"), "{}", open.err);
    assert_eq!(scene.ralph(&["serve", "--listen", "nowhere"]).code, 64);
    let strange = scene.ralph(&["serve", "--listen", "192.0.2.1:7257", "--host", "desk"]);
    assert!(
        strange.code == 73 && strange.err.contains("192.0.2.1 is not an address of this machine"),
        "{}",
        strange.err
    );
    assert!(strange.err.contains("--listen 127.0.0.1:7257"), "{}", strange.err);
    for (name, why) in
        [("http://desk", "without http://"), ("a b", "spaces"), ("desk/x", "path"), ("::1", "brackets")]
    {
        let wrong = scene.ralph(&["serve", "--listen", "127.0.0.1:0", "--host", name]);
        assert!(wrong.code == 64 && wrong.err.contains(why), "{name}: {}", wrong.err);
    }
    let bare = scene.ralph(&["serve", "--listen", "127.0.0.1"]);
    assert!(bare.code == 64 && bare.err.contains("the port is missing; use 127.0.0.1:7257"), "{}", bare.err);
}

#[test]
fn an_agent_cannot_start_it() {
    let scene = Scene::new();
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let script = format!(
        "run timeout 30 '{ralph}' serve --allow-control --listen 127.0.0.1:0 > said 2>&1; claim blocked"
    );
    scene.sim("Serve", &["--verify", "true"], &script);
    let said = scene.scratch.read("said");
    assert!(said.contains("`ralph serve` cannot be used inside a run"), "{said}");
}

#[test]
fn a_token_file_is_kept_private_and_used_again() {
    let scene = Scene::new();
    let file = scene.scratch.root().join("token");
    let name = file.to_str().unwrap();
    let first = Served::start(&scene, &["--token-file", name]).token.clone();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let second = Served::start(&scene, &["--token-file", name]);
    assert_eq!(second.token, first);
    assert_eq!(second.get("/api/v1/overview").status, 200);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = scene.ralph(&["serve", "--listen", "127.0.0.1:0", "--token-file", name]);
    assert!(refused.code == 65 && refused.err.contains("chmod 600"), "{} {}", refused.code, refused.err);
}

#[test]
fn it_listens_on_ipv6_and_answers_to_names_it_was_given() {
    let scene = Scene::new();
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return ralph_testkit::skip("this machine has no IPv6");
    }
    let served = Served::start(&scene, &["--listen", "[::1]:0", "--host", "desk.example:8000"]);
    assert!(served.address.is_ipv6());
    assert_eq!(served.get("/api/v1/overview").status, 200);
    let to = |host: &str| {
        served
            .send(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())
            .status
    };
    assert_eq!((to("desk.example:8000"), to("desk.example"), to("evil.example")), (200, 421, 421));
}
