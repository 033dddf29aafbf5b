//! Verification has a sandbox of its own.

use crate::place::{HELD, Place, everybody};

#[test]
fn verify_commands_are_contained_like_the_agent() {
    for who in everybody() {
        let place = Place::new(who).with_env("DEPLOY_TOKEN", "tok-4f9a8b7c6d5e");
        let check = "env > seen.txt; touch /etc/ralph-was-here; echo x > secrets/key; test -s done.txt";
        let done = place.done("echo work > done.txt", &["--verify", check]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert_eq!(done.result["verificationPassed"], true, "{who:?}: {}", done.result);
        assert!(!place.scratch.read("seen.txt").contains("DEPLOY_TOKEN"), "{who:?}");
        assert!(!std::path::Path::new("/etc/ralph-was-here").exists());
        assert_eq!(place.scratch.read("secrets/key"), "protected\n");
    }
}

#[test]
fn verify_without_a_run_is_contained_and_says_so() {
    for who in everybody() {
        let place = Place::new(who);
        let check = "touch /etc/ralph-was-here 2>/dev/null && exit 1; touch ~/left; exit 0";
        let output = place.ralph(&["verify", "--json", "--verify", check]).output().unwrap();
        let receipt: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(receipt["sandbox"].as_str().unwrap().contains(HELD), "{who:?}: {receipt}");
        assert!(!place.home().join("left").exists());
        assert!(receipt["commands"].to_string().contains("passed"), "{receipt}");
        let output =
            place.ralph(&["verify", "--sandbox", "off", "--json", "--verify", "true"]).output().unwrap();
        let receipt: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(receipt["sandbox"], "none");
    }
}

#[test]
fn a_red_baseline_says_how_to_find_out_whether_it_is_the_sandbox() {
    let place = Place::new(everybody()[0]);
    let agent = place.scratch.root().join("agent.sh");
    std::fs::write(&agent, "cat >/dev/null; echo work > done.txt\n").unwrap();
    let mut command =
        place.ralph(&["run", "Work", "--agent", "command", "--max-cost", "5", "--max-iterations", "1"]);
    command.args(["--verify", "sh check.sh", "--", "sh"]).arg(&agent);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("if `ralph verify --sandbox off` passes, open what it needs"), "{text}");
    assert!(text.contains("sandbox: namespaces (") || text.contains("sandbox: bwrap ("), "{text}");
}

#[test]
fn network_can_be_switched_off_for_verification_alone() {
    let place = Place::new(everybody()[0]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reach = format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\"");
    place.config("[sandbox.verify]\nnetwork = \"off\"\n");
    let agent = format!("{reach} && echo reached && echo work > done.txt");
    let done = place.done(&agent, &["--verify", &format!("! {reach} && test -s done.txt")]);
    assert!(done.agent.contains("reached"), "{}", done.agent);
    assert_eq!(done.result["verificationPassed"], true, "{} {}", done.result, done.stderr);
    assert!(done.sandbox().ends_with("network open; verification: no network)"), "{}", done.sandbox());
    let output = place.ralph(&["verify", "--json", "--verify", &format!("! {reach}")]).output().unwrap();
    let receipt: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(receipt["sandbox"].as_str().unwrap().ends_with("processes; no network)"), "{receipt}");
}

/// The room of a proof is mounted over the workspace, and home has a layer around it all the same.
#[test]
fn home_has_its_layer_around_a_room() {
    for who in everybody() {
        let place = Place::new(who);
        let home = place.scratch.root().display().to_string();
        let place = place.with_env("HOME", &home);
        let check = "echo x > ~/.written && grep x ~/.written && python3 app.py | grep work\n";
        std::fs::write(place.scratch.workspace().join("check.sh"), check).unwrap();
        // All of it, because the agent's script lies there too.
        place.config("[gate]\nuntil = \"verified\"\n[sandbox]\nhome = \"all\"\n");
        let done = place.done("echo \"print('work')\" > app.py", &[]);
        assert_eq!(done.result["status"], "COMPLETED", "{who:?}: {} {}", done.result, done.stderr);
        assert_eq!(done.result["proof"], "proven", "{who:?}: {}", done.result);
        assert!(!place.scratch.root().join(".written").exists(), "{who:?}");
        let output = place.ralph(&["explain"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("proven") && !text.contains("sandbox: layer"), "{who:?}: {text}");
    }
}

#[test]
fn a_git_that_lies_in_the_workspace_is_not_used() {
    let place = Place::new(everybody()[0]);
    let (bin, mark) = (place.scratch.workspace().join(".venv/bin"), place.scratch.root().join("planted-ran"));
    let planted = format!("#!/bin/sh\ntouch {}\nexec /usr/bin/git \"$@\"\n", mark.display());
    place.scratch.files(&[(".venv/bin/git", &planted), ("done.txt", "work\n")]);
    std::fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    for args in [&["verify", "--verify", "sh check.sh"][..], &["doctor"], &["status"]] {
        let output = place.ralph(args).env("PATH", &path).output().unwrap();
        assert!(!mark.exists(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
