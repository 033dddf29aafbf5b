//! What the modes promise, and what they do where it cannot be had.

use crate::place::{HELD, Place, everybody};
use std::process::Command;

/// Runs a command where no namespaces can be made and no bubblewrap works: every user namespace is used up.
pub fn without_namespaces(command: &Command) -> Command {
    // Inside its own user namespace the limit of further ones can be set to none.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"";
    let mut shell = Command::new("unshare");
    shell.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap()).stdin(std::process::Stdio::null());
    shell
}

#[test]
fn require_does_not_start_where_less_can_be_held() {
    let place = Place::new(everybody()[0]);
    for mode in ["require", "strict"] {
        let run = place.run("echo work > done.txt", &["--sandbox", mode]);
        let done = place.finished(&mut without_namespaces(&run));
        assert_eq!(done.code, 78, "{mode}: {} {}", done.result, done.stderr);
        assert!(
            done.stderr.contains(&format!("sandbox.mode = \"{mode}\" is not possible here")),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains("namespaces: "), "it says why: {}", done.stderr);
        assert!(done.stderr.contains("ralph doctor"), "{}", done.stderr);
        assert!(!place.scratch.workspace().join("done.txt").exists());
    }
}

/// The machine has it: then it is not for the settings or the workspace to bring about a weaker one.
#[test]
fn auto_takes_nothing_weaker_where_only_the_run_fails() {
    for who in everybody() {
        let place = Place::new(who);
        place.config("[sandbox]\nhide = [\"/usr\"]\n");
        let done = place.done("echo work > done.txt", &[]);
        assert_eq!(done.code, 78, "{} {}", done.result, done.stderr);
        assert!(
            done.stderr.contains("the sandbox `namespaces` works on this machine, but"),
            "{}",
            done.stderr
        );
        assert!(
            done.stderr.contains("sandbox.hide") && done.stderr.contains("--sandbox off"),
            "{}",
            done.stderr
        );
        assert!(!place.scratch.workspace().join("done.txt").exists());
    }
}

#[test]
fn what_is_too_much_to_be_read_only_is_said_and_refused_where_it_is_required() {
    let place = Place::new(everybody()[0]);
    let keys = place.scratch.workspace().join("keys");
    std::fs::create_dir(&keys).unwrap();
    for n in 0..4100 {
        std::fs::write(keys.join(format!("{n}.pem")), "").unwrap();
    }
    let run =
        |flags: &[&str]| place.done("echo work > done.txt", &[&["--protect", "keys/*.pem"], flags].concat());
    let done = run(&[]);
    assert!(done.sandbox().contains("not protected paths"), "{}", done.sandbox());
    let missing = done.result["details"]["sandbox"]["missing"].to_string();
    assert!(missing.contains("more than the 4096 of each kind that can be mounted"), "{missing}");
    let refused = run(&["--sandbox", "require"]);
    assert_eq!(refused.code, 78, "{}", refused.stderr);
    assert!(refused.stderr.contains("too many paths are protected"), "{}", refused.stderr);
}

#[test]
fn auto_says_what_less_it_has() {
    let place = Place::new(everybody()[0]);
    let run = place.run("echo work > done.txt; touch /etc/ralph-was-here; true", &[]);
    let done = place.finished(&mut without_namespaces(&run));
    let sandbox = done.sandbox();
    assert!(sandbox.starts_with("landlock (files; not ") || sandbox.starts_with("none ("), "{sandbox}");
    let missing = done.result["details"]["sandbox"]["missing"].to_string();
    assert!(missing.contains("protected paths") && missing.contains("processes"), "{missing}");
    assert_eq!(place.scratch.read("done.txt"), "work\n");
}

#[test]
fn off_contains_nothing_and_says_so() {
    let place = Place::new(everybody()[0]).with_env("DEPLOY_TOKEN", "tok-4f9a8b7c6d5e");
    let done =
        place.done("echo work > done.txt; test -n \"$DEPLOY_TOKEN\" && echo has-it", &["--sandbox", "off"]);
    assert_eq!(done.sandbox(), "none");
    assert!(done.agent.contains("has-it"), "{}", done.agent);
    assert_eq!(done.result["details"]["sandbox"], serde_json::Value::Null);
}

#[test]
fn strict_shows_no_home_and_opens_no_network_to_the_verification() {
    let place = Place::new(everybody()[0]).with_env("ODD_VARIABLE", "odd-4711");
    place.home_file(".config/tool/settings", "settings-4711\n");
    let agent =
        "echo work > done.txt; cat ~/.config/tool/settings; env; unshare -U true && echo nested; true";
    let done = place.done(agent, &["--sandbox", "strict"]);
    assert!(done.sandbox().contains("network limited to hosts"), "{}", done.sandbox());
    for word in ["settings-4711", "odd-4711", "nested"] {
        assert!(!done.agent.contains(word), "{word}: {}", done.agent);
    }
}

#[test]
fn a_resumed_run_keeps_its_backend() {
    let place = Place::new(everybody()[0]);
    let done = place.done("echo one > one.txt", &[]);
    let backend = done.result["details"]["sandbox"]["backend"].clone();
    assert!(done.sandbox().contains(HELD), "{}", done.sandbox());
    let resume = |iterations: &str, flags: &[&str]| {
        let mut command = place.ralph(&["resume", "--json", "--max-iterations", iterations]);
        command.args(flags);
        command
    };
    let again = place.finished(&mut resume("2", &[]));
    assert_eq!(again.result["details"]["sandbox"]["backend"], backend, "{}", again.result);
    // Where it cannot be built any more, the run does not continue, and nothing weaker takes its place.
    let output = without_namespaces(&resume("3", &["--no-wait"])).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(78), "{said}");
    let gone = format!("the run began in the sandbox `{}`, which cannot be built", backend.as_str().unwrap());
    assert_eq!(said.matches(&gone).count(), 1, "{said}");
    assert!(said.contains("ralph resume --sandbox auto") && said.contains("ralph doctor"), "{said}");
    // Unless a person says so.
    let off = place.finished(&mut resume("9", &["--sandbox", "off"]));
    assert_eq!(off.sandbox(), "none", "{}", off.result);
}

#[test]
fn a_resumed_run_keeps_what_flags_narrowed() {
    let place = Place::new(everybody()[0]);
    place.home_file(".config/tool/settings", "settings-4711\n");
    let agent = "echo x >> done.txt; cat ~/.config/tool/settings; unshare -U true && echo nested; true";
    let done = place.done(agent, &["--sandbox", "strict", "--network", "off"]);
    assert!(done.sandbox().contains("no network"), "{}", done.sandbox());
    let resume = |flags: &[&str]| {
        let mut command = place.ralph(&["resume", "--json", "--max-iterations", "2"]);
        command.args(flags);
        command
    };
    let refused = resume(&["--network", "open"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(64), "{text}");
    assert!(text.contains("--network open opens more than the run began with: off"), "{text}");
    let again = place.finished(&mut resume(&[]));
    assert!(again.sandbox().contains("no network"), "{}", again.sandbox());
    for word in ["settings-4711", "nested"] {
        assert!(!again.agent.contains(word), "{word}: {}", again.agent);
    }
}

#[test]
fn unlisted_hosts_are_refused_and_reported() {
    let place = Place::new(everybody()[0]);
    let reach = "python3 - <<'P'\nimport urllib.request\ntry:\n  urllib.request.urlopen('http://refused.example:81/', timeout=5)\nexcept Exception as e:\n  print('refused', e)\nP\n";
    let done = place.done(&format!("echo work > done.txt\n{reach}"), &["--network", "hosts"]);
    assert!(done.sandbox().contains("network limited to hosts"), "{}", done.sandbox());
    let refused = done.result["details"]["sandbox"]["hostsRefused"].to_string();
    assert!(refused.contains("refused.example:81"), "{refused} {}", done.agent);
}

#[test]
fn a_limit_that_cannot_be_had_is_said_at_both_ends_and_only_to_those_who_set_it() {
    for who in everybody() {
        let place = Place::new(who);
        let told = |config: &str| {
            place.config(config);
            let agent = place.scratch.root().join("agent.sh");
            std::fs::write(&agent, "cat >/dev/null; echo work >> done.txt\n").unwrap();
            let mut command = place.ralph(&[
                "run",
                "Work",
                "--agent",
                "command",
                "--max-cost",
                "5",
                "--max-iterations",
                "2",
            ]);
            command.args(["--verify", "false", "--", "sh"]).arg(&agent);
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(text.contains(HELD), "{who:?}: {text}");
            text.matches("memory: not limited").count()
        };
        assert_eq!(told(""), 0, "{who:?}");
        // Root has control groups; others only where they are delegated. Told at the start and at the end.
        let set = told("[sandbox]\nmemory = \"2GiB\"\n");
        assert!([0, 2].contains(&set), "{who:?}");
        // Who sets the default asks for it all the same.
        assert_eq!(told("[sandbox]\nmemory = \"8GiB\"\n"), set, "{who:?}");
        let mut alone = place.ralph(&["verify", "--verify", "true"]);
        let receipt = String::from_utf8_lossy(&alone.output().unwrap().stdout).into_owned();
        assert_eq!(receipt.matches("memory: not limited").count(), set / 2, "{who:?}: {receipt}");
    }
}

#[test]
fn a_network_that_nothing_limits_is_refused() {
    let place = Place::new(everybody()[0]);
    let run = ["run", "Work", "--agent", "command", "--max-cost", "5", "--max-iterations", "1"];
    for command in [&["verify"][..], &run[..]] {
        let mut command = place.ralph(command);
        command.args(["--sandbox", "off", "--network", "off", "--verify", "true"]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(64), "{text}");
        assert!(text.contains("--network has no effect without a sandbox"), "{text}");
    }
}

#[test]
fn a_network_that_the_mode_limits_is_not_opened_silently() {
    let place = Place::new(everybody()[0]);
    let said = |command: &mut Command| {
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let run = ["run", "Work", "--agent", "command", "--max-cost", "5", "--max-iterations", "1"];
    for command in [&["verify"][..], &run[..]] {
        let mut typed = place.ralph(command);
        let (code, text) = said(typed.args(["--sandbox", "strict", "--network", "open", "--verify", "true"]));
        assert_eq!(code, Some(64), "{text}");
        assert!(text.contains("--network open contradicts --sandbox strict"), "{text}");
    }
    std::fs::write(place.scratch.workspace().join("ralph.toml"), "[sandbox]\nmode = \"strict\"\n").unwrap();
    let (code, text) = said(place.ralph(&["verify", "--verify", "true"]).env("RALPH_NETWORK", "open"));
    assert_eq!(code, Some(64), "{text}");
    let words = "RALPH_NETWORK=open contradicts sandbox.mode = \"strict\" (ralph.toml:2)";
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_projects_network_that_nothing_enforces_is_a_warning() {
    let place = Place::new(everybody()[0]);
    std::fs::write(place.scratch.workspace().join("ralph.toml"), "[sandbox]\nnetwork = \"off\"\n").unwrap();
    let mut command = place.ralph(&["verify", "--sandbox", "off", "--verify", "true"]);
    let text = String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned();
    let words = "sandbox.network = \"off\" (ralph.toml:2) has no effect: the sandbox is off (--sandbox off)";
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_run_in_the_background_warns_where_it_was_started() {
    let place = Place::new(everybody()[0]);
    let mut command = place.ralph(&["run", "Work", "--detach", "--sandbox", "off", "--agent", "command"]);
    command.args(["--max-cost", "5", "--max-iterations", "1", "--verify", "false", "--", "true"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("warning: no sandbox: the agent can do anything you can"), "{text}");
    place.nobody_is_left();
}
