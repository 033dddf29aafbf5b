//! Whole runs in containers of a real podman: as root with the machine's own root as image, as an ordinary user without root
//! and with an image of its own.

use crate::place::{HELD, Place, Who, everybody, until};
use ralph_testkit::{PODMAN_SETTINGS, podman_settings, small_image};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// There in every container of podman, and not here.
const MARK: &str = "/run/.containerenv";
const SMALL: &str = "localhost/ralph-test:1";
/// Gives nobody a range of ids, as every ordinary user has, without changing this machine.
const WITH_IDS: &str = "mount --bind \"$0\" /etc/subuid && mount --bind \"$0\" /etc/subgid && exec \"$@\"";

/// A place with podman.
struct Yard {
    place: Place,
    image: &'static str,
    /// The path is short: podman 4 cannot wait for the end of a container if it is long.
    _runtime: TempDir,
}

impl Yard {
    fn new(who: Who) -> Yard {
        assert!(!Path::new(MARK).exists(), "these tests tell inside from outside by {MARK}");
        let place = Place::new(who);
        let root = place.scratch.root().to_owned();
        let settings = podman_settings(&root);
        let mut place = place.with_env(PODMAN_SETTINGS, settings.to_str().unwrap());
        let runtime = tempfile::tempdir_in("/tmp").unwrap();
        let is_root = who == Who::Myself && rustix::process::getuid().is_root();
        if who == Who::Nobody {
            let ids = root.join("ids");
            fs::write(&ids, "nobody:100000:65536\n").unwrap();
            std::os::unix::fs::chown(runtime.path(), Some(65534), Some(65534)).unwrap();
            let words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", WITH_IDS];
            place = place.through(&[&words[..], &[ids.to_str().unwrap()]].concat());
        }
        if !is_root {
            place = place.with_env("XDG_RUNTIME_DIR", runtime.path().to_str().unwrap());
            small_image(&root);
            place.give_away();
        }
        let yard = Yard { place, image: if is_root { "/" } else { SMALL }, _runtime: runtime };
        if !is_root {
            yard.podman(&["import", "--quiet", root.join("image.tar").to_str().unwrap(), SMALL]);
        }
        yard.config("mode = \"container\"\n");
        yard
    }

    /// The user's settings: these of the sandbox, with engine and image.
    fn config(&self, sandbox: &str) {
        let image = self.image;
        let readable = self.place.scratch.root().join("agent.sh");
        self.place.config(&format!(
            "[gate]\nuntil = \"verified\"\n[sandbox]\nreadable = [\"{}\"]\n{sandbox}\n[sandbox.container]\nimage = \"{image}\"\n",
            readable.display()
        ));
    }

    fn podman(&self, args: &[&str]) -> String {
        let mut command = self.place.command("podman");
        // Not the environment that a run is found by: a process of podman's own stays.
        command.args(args).env_remove("XDG_STATE_HOME");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Containers of the workspace, in whatever state.
    fn containers(&self) -> usize {
        let filter = format!("label=ralph.workspace={}", self.place.scratch.workspace().display());
        self.podman(&["ps", "--all", "--quiet", "--filter", &filter]).lines().count()
    }

    /// A command without the variable that names a sandbox: the settings do.
    fn ralph(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.place.ralph(args);
        command.env_remove("RALPH_SANDBOX");
        command
    }

    fn run(&self, script: &str, flags: &[&str]) -> std::process::Command {
        let mut command = self.place.run(script, flags);
        command.env_remove("RALPH_SANDBOX");
        command
    }

    fn done(&self, script: &str, flags: &[&str]) -> crate::place::Done {
        self.place.finished(&mut self.run(script, flags))
    }

    /// What a command says that does not start.
    fn refused(&self, flags: &[&str]) -> String {
        let mut run = self.run("echo work > done.txt", flags);
        let done = self.place.finished(run.env("PATH", self.only_podman()));
        assert_eq!(done.code, 78, "{} {}", done.result, done.stderr);
        assert!(!self.workspace("done.txt").exists(), "nothing was started");
        done.stderr
    }

    /// A directory for `PATH` with podman and nothing else.
    fn only_podman(&self) -> PathBuf {
        let dir = self.place.scratch.root().join("bin");
        if !dir.exists() {
            fs::create_dir(&dir).unwrap();
            std::os::unix::fs::symlink("/usr/bin/podman", dir.join("podman")).unwrap();
        }
        dir
    }

    fn workspace(&self, path: &str) -> PathBuf {
        self.place.scratch.workspace().join(path)
    }

    /// Starts a run whose agent does not end, and waits until it works.
    fn started(&self, script: &str) -> std::process::Child {
        let script = format!("echo on > started.txt; {script}");
        let said = self.place.scratch.root().join("said.txt");
        let mut command = self.run(&script, &[]);
        let stderr = fs::File::create(&said).unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
        until("the agent has started", || {
            assert!(child.try_wait().unwrap().is_none(), "{}", fs::read_to_string(&said).unwrap());
            self.workspace("started.txt").exists().then_some(())
        });
        child
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        // Without root a process of podman's own keeps its namespace.
        let _ = self.place.command("podman").args(["system", "migrate"]).output();
    }
}

#[test]
fn agent_verification_and_proof_run_in_containers() {
    for who in everybody() {
        let yard = Yard::new(who);
        let scratch = &yard.place.scratch;
        scratch.files(&[
            ("check.sh", &format!("test -e {MARK} || exit 9\ngrep -q lib node_modules/lib/index.js && sh app.sh | grep work\n")),
            (".gitignore", "node_modules/\n"),
            ("node_modules/lib/index.js", "lib\n"),
        ]);
        yard.place.give_away();
        let agent = format!(
            "test -e {MARK} && echo inside; echo 'echo work' > app.sh; touch ~/.scratch /tmp/x && echo home-ok"
        );
        let done = yard.done(&agent, &[]);
        assert_eq!(done.result["status"], "COMPLETED", "{who:?}: {} {}", done.result, done.stderr);
        assert_eq!(done.result["proof"], "proven", "{who:?}: {}", done.result);
        assert_eq!(done.sandbox(), format!("container ({HELD})"), "{who:?}");
        assert!(done.agent.contains("inside") && done.agent.contains("home-ok"), "{who:?}: {}", done.agent);
        assert!(!yard.place.home().join(".scratch").exists(), "the home directory is the user's");
        let details = &done.result["details"]["sandbox"];
        assert_eq!((&details["backend"], &details["image"]), (&json!("container"), &json!(yard.image)));
        assert_eq!(details["missing"], json!([]));
        assert_eq!(yard.containers(), 0, "{who:?}");
        let status = yard.ralph(&["status"]).output().unwrap();
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        assert!(status.contains("container (files, protected paths, processes; network open)"), "{status}");
    }
}

#[test]
fn what_lies_outside_and_what_is_protected_cannot_be_written() {
    for who in everybody() {
        let yard = Yard::new(who);
        let place = &yard.place;
        let other = place.scratch.root().join("other.txt");
        fs::write(&other, "mine\n").unwrap();
        place.give_away();
        let agent = format!(
            "echo work > done.txt; echo x > {other}; echo x > secrets/key; rm -rf secrets; mv secrets gone; \
             echo x > .git/config; echo x > .git/hooks/pre-commit; mv .git elsewhere; touch /etc/ralph-was-here; \
             echo x > /tmp/ralph-left-this; true",
            other = other.display()
        );
        let config = place.scratch.read(".git/config");
        let done = yard.done(&agent, &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert_eq!(place.scratch.read("done.txt"), "work\n");
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n");
        assert_eq!(place.scratch.read("secrets/key"), "protected\n");
        assert_eq!(place.scratch.read(".git/config"), config);
        for left in ["/etc/ralph-was-here", "/tmp/ralph-left-this"] {
            assert!(!Path::new(left).exists(), "{who:?}: {left}");
        }
        assert!(!yard.workspace(".git/hooks/pre-commit").exists());
        // Prevented, so there is nothing to detect.
        assert!(done.result["details"].get("quarantine").is_none(), "{}", done.result);
        assert!(done.agent.contains("Read-only file system"), "{}", done.agent);
    }
}

#[test]
fn variables_of_the_engine_and_secrets_stay_outside() {
    let mut yard = Yard::new(everybody()[0]);
    let runtime = yard.place.scratch.root().join("runtime");
    fs::create_dir(&runtime).unwrap();
    let place = std::mem::replace(&mut yard.place, Place::new(everybody()[0]));
    yard.place = place
        .with_env("DEPLOY_TOKEN", "tok-4f9a8b7c6d5e")
        .with_env("HARMLESS", "kept-4711")
        .with_env("DOCKER_CONFIG", runtime.to_str().unwrap());
    let done = yard.done("echo work > done.txt; env", &[]);
    for word in ["HARMLESS=kept-4711", "RALPH_CALL=", "RALPH_RUN="] {
        assert!(done.agent.contains(word), "{word}: {}", done.agent);
    }
    for word in ["tok-4f9a8b7c6d5e", PODMAN_SETTINGS, "DOCKER_CONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        assert!(!done.agent.contains(word), "{word}: {}", done.agent);
    }
}

#[test]
fn a_renewed_login_comes_back_and_nothing_else_does() {
    for who in everybody() {
        let yard = Yard::new(who);
        let login = yard.place.home_file(".claude/.credentials.json", "{\"token\":\"old\"}");
        let settings = yard.place.home_file(".claude/settings.json", "{}");
        let agent = yard.place.scratch.root().join("agent.sh");
        let script = "#!/bin/sh\ncat > /dev/null\ncat ~/.claude/.credentials.json >&2\n\
             echo '{\"token\":\"new\"}' > ~/.claude/.credentials.json\necho '{\"hooks\":1}' > ~/.claude/settings.json\n";
        fs::write(&agent, script).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let config = yard.place.scratch.root().join("config/ralph/config.toml");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}[agents.claude]\ncommand = \"{}\"\n", agent.display())).unwrap();
        yard.place.give_away();
        let mut run =
            yard.ralph(&["run", "Work", "--agent", "claude", "--json", "--max-cost", "5", "--no-wait"]);
        run.args(["--max-iterations", "1", "--verify", "sh check.sh"]);
        let done = yard.place.finished(&mut run);
        assert!(done.sandbox().contains(HELD), "{who:?}: {} {}", done.result, done.stderr);
        assert!(done.agent.contains("\"old\""), "{who:?}: {}", done.agent);
        assert_eq!(
            fs::read_to_string(&login).unwrap().trim(),
            "{\"token\":\"new\"}",
            "{who:?}: {}",
            done.agent
        );
        assert_eq!(fs::read_to_string(&settings).unwrap(), "{}", "{who:?}");
    }
}

#[test]
fn what_cannot_be_used_is_said_before_the_run_starts() {
    let yard = Yard::new(everybody()[0]);
    let said = yard.refused(&["--network", "hosts"]);
    assert!(said.contains("network = \"hosts\" is not possible with mode = \"container\""), "{said}");
    for (container, words) in [
        ("", "sandbox.container.image is not set: name an image"),
        ("image = \"localhost/none:1\"", "ralph pulls none, run `podman pull localhost/none:1`"),
        ("image = \"/none\"", "is not a directory that can be a root"),
        ("engine = \"docker\"\nimage = \"x\"", "docker was not found on PATH: install it"),
        ("image = \"/\"\n[sandbox.verify]\nnetwork = \"hosts\"", "network = \"hosts\" is not possible"),
    ] {
        yard.place.config(&format!("[sandbox]\nmode = \"container\"\n[sandbox.container]\n{container}\n"));
        let said = yard.refused(&[]);
        assert!(said.contains("sandbox.mode = \"container\" is not possible here"), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("bubblewrap"), "what does not help is not advised: {said}");
    }
}

#[test]
fn an_image_without_the_agent_is_refused() {
    for who in everybody() {
        let yard = Yard::new(who);
        let mut run = yard.ralph(&["run", "Work", "--agent", "command", "--json", "--max-cost", "5"]);
        run.args(["--max-iterations", "1", "--verify", "sh check.sh", "--", "no-such-agent"]);
        let done = yard.place.finished(&mut run);
        assert_eq!(done.code, 78, "{who:?}: {}", done.result);
        assert!(
            done.stderr.contains("it has no program no-such-agent; add it to the image"),
            "{}",
            done.stderr
        );
        assert_eq!(yard.containers(), 0, "{who:?}");
    }
}

#[test]
fn programs_are_those_of_the_image() {
    let yard = Yard::new(everybody()[0]);
    // Neither the agent nor the verify command is on the user's own path.
    let mut run = yard.run("echo work > done.txt", &["--verify", "true | grep -c x; test -s done.txt"]);
    let done = yard.place.finished(run.env("PATH", yard.only_podman()));
    assert_eq!(done.result["verificationPassed"], true, "{} {}", done.result, done.stderr);
    assert!(done.sandbox().contains(HELD), "{}", done.sandbox());
}

#[test]
fn a_resumed_run_keeps_its_container() {
    for who in everybody() {
        let yard = Yard::new(who);
        let done = yard.done(&format!("test -e {MARK} && echo one > one.txt"), &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        fs::remove_file(yard.workspace("one.txt")).unwrap();
        // Whatever is set now.
        yard.place.config("[sandbox]\nmode = \"auto\"\n");
        let resume = |iterations: &str, flags: &[&str]| {
            let mut command = yard.ralph(&["resume", "--json", "--max-iterations", iterations]);
            command.args(flags);
            command
        };
        let again = yard.place.finished(&mut resume("2", &[]));
        assert_eq!(again.result["details"]["sandbox"]["image"], yard.image, "{who:?}: {}", again.result);
        assert!(again.sandbox().starts_with("container ("), "{who:?}: {}", again.sandbox());
        // Where it cannot be had any more, nothing weaker takes its place.
        let refused = yard.place.finished(&mut resume("3", &["--network", "hosts"]));
        assert_eq!(refused.code, 78, "{who:?}: {}", refused.result);
        // Unless a person says so.
        let off = yard.place.finished(&mut resume("9", &["--sandbox", "off"]));
        assert_eq!(off.sandbox(), "none", "{who:?}: {}", off.result);
    }
}

#[test]
fn verify_without_a_run_is_in_a_container() {
    for who in everybody() {
        let yard = Yard::new(who);
        let check = format!("test -e {MARK} && echo x > ~/left && ! touch secrets/key");
        let output = yard.ralph(&["verify", "--json", "--verify", &check]).output().unwrap();
        let receipt: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(receipt["sandbox"], format!("container ({HELD})"), "{who:?}: {receipt}");
        assert!(receipt["commands"].to_string().contains("passed"), "{who:?}: {receipt}");
        assert!(!yard.place.home().join("left").exists());
        assert_eq!(yard.containers(), 0, "{who:?}");
    }
}

#[test]
fn the_network_is_off_inside_where_it_is_switched_off() {
    let yard = Yard::new(everybody()[0]);
    let count = "echo interfaces-$(grep -c : /proc/net/dev); echo work > done.txt";
    let done = yard.done(count, &["--network", "off"]);
    assert!(done.sandbox().ends_with("; no network)"), "{}", done.sandbox());
    assert!(done.agent.contains("interfaces-1\n"), "{}", done.agent);
}

#[test]
fn killing_ralph_leaves_nobody_and_the_next_start_removes_the_container() {
    for who in everybody() {
        let yard = Yard::new(who);
        let mut child = yard.started("(setsid sleep 300 &) ; sleep 300");
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        yard.place.nobody_is_left();
        let done = yard.done("echo work > done.txt", &["--fresh"]);
        assert_eq!(done.result["verificationPassed"], true, "{who:?}: {} {}", done.result, done.stderr);
        assert_eq!(yard.containers(), 0, "{who:?}");
    }
}

#[test]
fn killing_a_supervisor_or_a_box_leaves_nobody_and_no_container() {
    for who in everybody() {
        for depth in [1, 2] {
            let yard = Yard::new(who);
            let mut child = yard.started("(setsid sleep 300 &) ; sleep 300");
            let mut level = vec![Pid::from_child(&child)];
            for _ in 0..depth {
                level = level.into_iter().flat_map(ralph_os::children).map(|it| it.pid).collect();
            }
            assert!(!level.is_empty(), "{who:?} {depth}");
            level.iter().for_each(|pid| kill_process(*pid, Signal::KILL).unwrap());
            // The call is over, and ralph goes on to the end of its only iteration.
            child.wait().unwrap();
            yard.place.nobody_is_left();
            assert_eq!(yard.containers(), 0, "{who:?} {depth}");
        }
    }
}

#[test]
fn a_stopped_run_ends_its_agent_inside() {
    let yard = Yard::new(everybody()[0]);
    let script = "trap 'echo told >> told.txt' TERM; sleep 1; echo on > ready.txt; \
                  while [ ! -e told.txt ]; do sleep 0.1; done; sleep 0.5";
    let mut child = yard.started(script);
    // Until the box has said who is above the program.
    until("the agent works", || yard.workspace("ready.txt").exists().then_some(()));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    // Once, although several processes of the engine's would pass it on: to some agents a second one means at once.
    assert_eq!(yard.place.scratch.read("told.txt"), "told\n");
    yard.place.nobody_is_left();
    assert_eq!(yard.containers(), 0);
}

#[test]
fn doctor_tries_the_container() {
    let yard = Yard::new(everybody()[0]);
    yard.config("mode = \"container\"\n[agent]\nname = \"command\"\n");
    let rows = |flags: &[&str]| {
        let output = yard.ralph(&[&["doctor", "--json"], flags].concat()).output().unwrap();
        let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
        rows.to_string()
    };
    assert!(
        rows(&[]).contains("container (files, protected paths, processes; network open)"),
        "{}",
        rows(&[])
    );
    yard.place.config("[sandbox]\nmode = \"auto\"\n[sandbox.container]\nimage = \"localhost/none:1\"\n");
    assert!(rows(&[]).contains("podman pull localhost/none:1"), "{}", rows(&[]));
    yard.place.config("[sandbox]\nmode = \"auto\"\n");
    assert!(!rows(&[]).contains("podman"), "{}", rows(&[]));
}
