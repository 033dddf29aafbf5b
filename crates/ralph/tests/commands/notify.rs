//! `ralph notify`, and the notes that runs send.

use crate::scene::{Scene, sim};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

fn configure(scene: &Scene, text: &str) {
    let dir = scene.scratch.root().join("config/ralph");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

fn listed(scene: &Scene) -> Value {
    serde_json::from_str(&scene.ralph(&["notify", "list", "--json"]).out).unwrap()
}

/// A receiver that answers so; what it got arrives as text.
fn receiver(answer: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            let mut text = Vec::new();
            let mut chunk = [0; 4_096];
            while let Ok(n @ 1..) = stream.read(&mut chunk) {
                text.extend_from_slice(&chunk[..n]);
            }
            let _ = send.send(String::from_utf8_lossy(&text).into_owned());
            if answer != "hang" {
                let _ = write!(stream, "HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            } else {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_secs(120));
                    drop(stream);
                });
            }
        }
    });
    (format!("http://{address}/hook"), receive)
}

#[test]
fn without_a_target_it_says_how_to_add_one() {
    let scene = Scene::new();
    for what in ["test", "flush"] {
        let answer = scene.ralph(&["notify", what]);
        assert_eq!(answer.code, 78, "{}", answer.err);
        assert!(
            answer.err.contains("[[notify.to]]") && answer.err.contains("ralph config edit --user"),
            "{}",
            answer.err
        );
    }
    let answer = scene.ralph(&["notify", "list"]);
    assert_eq!(answer.code, 0);
    assert!(answer.out.starts_with("Nobody is notified"), "{}", answer.out);
}

#[test]
fn a_run_tells_how_it_ended_and_no_more_than_that() {
    let scene = Scene::new();
    let file = scene.scratch.root().join("notes");
    let argv = format!(
        "[\"sh\", \"-c\", \"printf '%s\\\\n%s\\\\n--\\\\n' \\\"$1\\\" \\\"$2\\\" >> '{}'\", \"sh\", \"{{title}}\", \"{{text}}\"]",
        file.display()
    );
    configure(
        &scene,
        &format!(
            "[notify]\non = [\"started\", \"completed\", \"stopped\"]\n[[notify.to]]\ncommand = {argv}\n"
        ),
    );
    let answer = scene.sim(
        "@all Make a file; $(touch never)\nsecond line",
        &["--verify", "test -f a"],
        "write a hello; claim complete",
    );
    assert_eq!(answer.code, 0, "{}", answer.err);
    let notes = std::fs::read_to_string(&file).unwrap();
    assert!(notes.starts_with("ralph: started in "), "{notes}");
    assert!(notes.contains("ralph: completed in "), "{notes}");
    assert!(notes.contains("(sim): @all Make a file; $(touch never)\nCOMPLETED, proven: "), "{notes}");
    assert!(notes.contains("1 iteration, ") && notes.contains("\nNext: ralph diff "), "{notes}");
    for never in ["second line", "test -f a", &scene.scratch.workspace().display().to_string()] {
        assert!(!notes.contains(never), "{never}: {notes}");
    }
    let list = listed(&scene);
    let states: Vec<&str> =
        list["notes"].as_array().unwrap().iter().map(|n| n["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["sent", "sent"], "{list:#}");
    let flushed = scene.ralph(&["notify", "flush"]);
    assert_eq!((flushed.code, flushed.err.as_str()), (0, "Nothing to deliver.\n"));
}

#[test]
fn a_webhook_that_failed_is_flushed_by_the_next_command() {
    let scene = Scene::new();
    let (broken, _requests) = receiver("503 Busy");
    std::fs::create_dir_all(scene.scratch.root().join("config/ralph")).unwrap();
    let url = scene.scratch.root().join("config/ralph/hook.url");
    let private = |text: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(&url, text).unwrap();
        std::fs::set_permissions(&url, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    private(&broken);
    configure(&scene, "[[notify.to]]\nurl_file = \"hook.url\"\nallow_private = true\nformat = \"slack\"\n");
    assert_eq!(scene.sim("Make a file", &["--verify", "test -f a"], "write a hello; claim complete").code, 0);
    let list = listed(&scene);
    assert_eq!(list["notes"][0]["state"], "pending", "{list:#}");
    assert_eq!(list["notes"][0]["answer"], "answered 503");
    assert!(list["notes"][0]["nextAttempt"].as_i64() > list["notes"][0]["triedAt"].as_i64());
    assert!(!list.to_string().contains("127.0.0.1"), "no address is stored or shown: {list:#}");
    let (works, requests) = receiver("200 OK");
    private(&works);
    let flushed = scene.ralph(&["notify", "flush"]);
    assert_eq!(
        (flushed.code, flushed.out.as_str()),
        (0, "ok      1 webhook in hook.url (slack): answered 200\n")
    );
    assert!(requests.recv().unwrap().contains("{\"text\":\"*ralph: completed in "));
    assert_eq!(listed(&scene)["notes"][0]["state"], "sent");
    // A file that others can read holds no secret.
    std::fs::set_permissions(&url, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let test = scene.ralph(&["notify", "test"]);
    assert_eq!(test.code, 1);
    assert!(test.out.contains("failed") && test.out.contains("can be read by others"), "{}", test.out);
}

/// Quiet hours that last now and for some minutes more, in every time zone: all but one minute of the day.
fn quiet_now() -> &'static str {
    let minutes = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 60;
    if minutes % 15 < 8 { "00:00-23:59" } else { "12:05-12:04" }
}

#[test]
fn notes_wait_for_the_end_of_quiet_hours_unless_somebody_asks_for_them() {
    let scene = Scene::new();
    let file = scene.scratch.root().join("notes");
    let target =
        format!("[[notify.to]]\ncommand = [\"sh\", \"-c\", \"echo note >> '{}'\"]\n", file.display());
    let quiet = quiet_now();
    let with_quiet = format!("[notify]\nquiet = \"{quiet}\"\n{target}");
    let run = || {
        let args = ["--verify", "test -f a", "--fresh"];
        assert_eq!(scene.sim("Make a file", &args, "write a hello; claim complete").code, 0);
    };
    configure(&scene, &with_quiet);
    run();
    let until = format!("quiet until {}", quiet.split_once('-').unwrap().1);
    let list = scene.ralph(&["notify", "list"]).out;
    assert!(list.contains(&format!("1 command sh, {until}\n")), "{list}");
    assert_eq!(listed(&scene)["notes"][0]["waits"], until.as_str());
    assert!(!file.exists());
    let flushed = scene.ralph(&["notify", "flush"]);
    assert_eq!((flushed.code, flushed.out.as_str()), (0, "ok      1 command sh: done\n"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "note\n");
    assert_eq!(listed(&scene)["notes"][0]["waits"], Value::Null);
    run();
    configure(&scene, &target);
    assert_eq!(listed(&scene)["notes"][0]["waits"], "due now", "the quiet hours were removed");
    configure(&scene, "[[notify.to]]\ndesktop = true\n");
    let list = scene.ralph(&["notify", "list"]).out;
    assert!(!list.contains("Waiting:"), "{list}");
    let (_, closed) = list.split_once("\nNot sent:\n").unwrap();
    assert!(closed.lines().next().unwrap().ends_with(", target removed"), "{list}");
}

#[test]
fn a_receiver_that_hangs_costs_a_run_five_seconds_at_most() {
    let scene = Scene::new();
    let (url, requests) = receiver("hang");
    configure(&scene, "");
    let without = Instant::now();
    assert_eq!(scene.sim("Make a file", &["--verify", "test -f a"], "write a hello; claim complete").code, 0);
    let without = without.elapsed();
    std::fs::remove_file(scene.scratch.workspace().join("a")).unwrap();
    configure(&scene, &format!("[[notify.to]]\nwebhook = \"{url}\"\nallow_private = true\n"));
    let with = Instant::now();
    assert_eq!(
        scene.sim("Make a file", &["--verify", "test -f a", "--fresh"], "write a hello; claim complete").code,
        0
    );
    let with = with.elapsed();
    requests.recv().unwrap();
    assert!(with < without * 4 + Duration::from_secs(15), "{with:?} beside {without:?}");
    assert_eq!(listed(&scene)["notes"][0]["state"], "pending");
}

#[test]
fn a_test_says_what_each_target_answered() {
    let scene = Scene::new();
    let (gone, _requests) = receiver("410 Gone");
    configure(
        &scene,
        &format!(
            "[[notify.to]]\ncommand = [\"true\"]\n[[notify.to]]\nwebhook = \"{gone}\"\nallow_private = true\n[[notify.to]]\nurl_env = \"NO_SUCH_HOOK\"\n"
        ),
    );
    let answer = scene.ralph(&["notify", "test"]);
    assert_eq!(answer.code, 1);
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!(lines[0], "ok      1 command true: done");
    assert!(
        lines[1].starts_with("failed  2 webhook 127.0.0.1:")
            && lines[1]
                .ends_with("answered 410 Gone; if it answers a note so, nothing more is sent to this target"),
        "{}",
        lines[1]
    );
    assert_eq!(
        lines[2],
        "failed  3 webhook $NO_SUCH_HOOK (standard): the variable NO_SUCH_HOOK is not set here"
    );
    let list = scene.ralph(&["notify", "list"]);
    assert!(
        list.out.contains("  3  webhook $NO_SUCH_HOOK (standard): cannot be reached from here"),
        "{}",
        list.out
    );
}

#[test]
fn targets_that_differ_in_what_is_secret_are_told_apart_and_one_that_cannot_work_is_not_ready() {
    let scene = Scene::new();
    let hook = |url: &str, format| format!("[[notify.to]]\nwebhook = \"{url}\"\nformat = \"{format}\"\n");
    let hooks = [
        hook("https://hooks.example.com/one", "slack"),
        hook("https://hooks.example.com/two", "slack"),
        hook("https://hooks.example.com/two", "ntfy"),
        hook("https://10.1.2.3/hook", "standard"),
    ];
    configure(&scene, &hooks.concat());
    let list = scene.ralph(&["notify", "list"]).out;
    for line in [
        "  1  webhook hooks.example.com (slack): ready",
        "  2  webhook hooks.example.com (slack): ready",
        "  3  webhook hooks.example.com (ntfy): ready",
        "  4  webhook 10.1.2.3 (standard): cannot be reached from here: the address is on this machine or in a private network; set allow_private = true if it is yours",
    ] {
        assert!(list.lines().any(|found| found == line), "{line}:\n{list}");
    }
    assert_eq!(listed(&scene)["targets"][2]["number"], 3);
}

#[test]
fn the_trace_of_a_run_takes_the_same_way() {
    let scene = Scene::new();
    let (url, requests) = receiver("200 OK");
    let endpoint = url.trim_end_matches("/hook");
    configure(&scene, &format!("[otel]\nendpoint = \"{endpoint}\"\nheaders = {{ X-Key = \"sesame\" }}\n"));
    assert_eq!(scene.sim("Make a file", &["--verify", "test -f a"], "write a hello; claim complete").code, 0);
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("\r\nx-key: sesame\r\n"), "{request}");
    assert!(request.contains("\"resourceSpans\""), "{request}");
    let list = listed(&scene);
    assert_eq!((&list["targets"][0]["kind"], &list["notes"][0]["state"]), (&"traces".into(), &"sent".into()));
    assert!(!list.to_string().contains("sesame"), "{list:#}");
}

/// A run whose process is gone.
fn killed_run(scene: &Scene) {
    let script = "write begun.txt x; sleep 120s; claim complete";
    let mut run = scene.command(&sim("Make a file", &["--verify", "test -f a"], script)).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !scene.scratch.workspace().join("begun.txt").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn a_crash_that_is_listed_is_noted_once() {
    for command in [&["list"][..], &["list", "--json"], &["status"], &["status", "--json"]] {
        let scene = Scene::new();
        configure(&scene, "[[notify.to]]\nwebhook = \"https://example.org/hook\"\n");
        killed_run(&scene);
        assert_eq!(listed(&scene)["notes"], Value::Array(Vec::new()), "listing notes is not looking at runs");
        for _ in 0..2 {
            let answer = scene.ralph(command);
            assert!(answer.out.contains("CRASHED"), "{}", answer.out);
        }
        let list = listed(&scene);
        let notes = list["notes"].as_array().unwrap();
        assert_eq!(notes.len(), 1, "{command:?}: {list:#}");
        assert_eq!((&notes[0]["event"], &notes[0]["state"]), (&"crashed".into(), &"pending".into()));
    }
}

#[test]
fn a_killed_run_is_noted_by_the_next_command() {
    let scene = Scene::new();
    let file = scene.scratch.root().join("notes");
    let argv = format!(
        "[\"sh\", \"-c\", \"printf '%s\\\\n' \\\"$1\\\" >> '{}'\", \"sh\", \"{{title}}\"]",
        file.display()
    );
    let (url, requests) = receiver("200 OK");
    let endpoint = url.trim_end_matches("/hook");
    configure(&scene, &format!("[otel]\nendpoint = \"{endpoint}\"\n[[notify.to]]\ncommand = {argv}\n"));
    killed_run(&scene);
    for _ in 0..2 {
        scene.ralph(&["notify", "flush"]);
    }
    let notes = std::fs::read_to_string(&file).unwrap();
    assert_eq!(notes.lines().count(), 1, "{notes}");
    assert!(notes.starts_with("ralph: crashed in "), "{notes}");
    let trace = requests.recv_timeout(Duration::from_secs(60)).unwrap();
    let (_, trace) = trace.split_once("\r\n\r\n").unwrap();
    let trace: Value = serde_json::from_str(trace).unwrap();
    let spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let failed = spans.iter().filter(|span| span["status"]["code"] == 2);
    let failed: Vec<&str> = failed.map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(failed, ["invoke_workflow ralph", "invoke_agent sim"], "{trace:#}");
}

#[test]
fn a_program_that_is_missing_is_not_called_ready() {
    let scene = Scene::new();
    let to = |program: &str| format!("[[notify.to]]\ncommand = [\"{program}\", \"{{text}}\"]\n");
    configure(&scene, &["no-such-notifier", "/nowhere/notifier", "true"].map(to).concat());
    let answer = scene.ralph(&["notify", "list"]);
    for line in [
        "command no-such-notifier: the program was not found in PATH\n",
        "command /nowhere/notifier: the program was not found\n",
        "command true: ready\n",
    ] {
        assert!(answer.out.contains(line), "{line}: {}", answer.out);
    }
    let targets = listed(&scene)["targets"].clone();
    assert_eq!(targets[0]["problem"], "the program was not found in PATH");
    assert_eq!(targets[2]["problem"], Value::Null);
}

#[test]
fn a_test_that_is_answered_410_says_what_follows() {
    let scene = Scene::new();
    let (gone, _requests) = receiver("410 Gone");
    configure(&scene, &format!("[[notify.to]]\nwebhook = \"{gone}\"\nallow_private = true\n"));
    let answer = scene.ralph(&["notify", "test"]);
    assert_eq!(answer.code, 1, "{}", answer.err);
    let words = "answered 410 Gone; if it answers a note so, nothing more is sent to this target\n";
    assert!(answer.out.ends_with(words), "{}", answer.out);
    assert!(scene.ralph(&["notify", "list"]).out.contains(": ready\n"), "a test ends nothing");
    assert_eq!(scene.sim("Make a file", &["--verify", "test -f a"], "write a hello; claim complete").code, 0);
    let list = scene.ralph(&["notify", "list"]).out;
    assert!(list.contains("ended: it answered 410"), "{list}");
    let answer = scene.ralph(&["notify", "test"]);
    assert!(answer.out.ends_with("answered 410 Gone; this target still gets no notes\n"), "{}", answer.out);
}
