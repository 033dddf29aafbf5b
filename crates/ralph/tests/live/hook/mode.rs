//! `ralph run --mode hook`: one session of Claude Code for one task, without anything installed.

use super::client::{Client, VERIFY};
use crate::clis::CLAUDE;
use crate::run::Done;
use serde_json::Value;
use std::fs;

fn run(client: &Client, more: &[&str]) -> Done {
    let start = ["run", "Write hello into greeting.txt.", "--mode", "hook", "--agent", "claude", "--json"];
    let limits = ["--max-cost", "5", "--verify", VERIFY];
    let done = client.ralph(&[&start[..], &limits, more].concat());
    client.place.nobody_is_left(&done);
    done
}

/// Proven in the session, and once more when nothing of it is alive; no trace of a plugin is left.
#[test]
fn one_session_is_proven_twice() {
    let client = Client::new(&CLAUDE, "work");
    let done = run(&client, &["--max-iterations", "4"]);
    let result = done.ends(0, "gate_passed");
    assert_eq!((&result["iterations"], &result["proof"]), (&2.into(), &"proven".into()), "{}", done.story());
    assert!(
        done.story().contains("Verified again with no process of the session left: passed"),
        "{}",
        done.story()
    );
    assert!(done.story().contains("iteration 2 of 4"), "{}", done.story());
    let status: Value = serde_json::from_str(client.ralph(&["hook", "status", "--json"]).out()).unwrap();
    assert_eq!(status["clients"][0]["state"], "not_installed", "{status:#}");
    client.place.replays();
}

/// What only a living process of the session made pass does not pass without it.
#[test]
fn what_needs_the_session_alive_is_not_proven() {
    let client = Client::new(&CLAUDE, "alive");
    let alive = "grep -qx hello greeting.txt && pgrep -f 'sleep 30[4]' >/dev/null";
    let start = ["run", "Write hello into greeting.txt.", "--mode", "hook", "--agent", "claude", "--json"];
    let limits = ["--max-iterations", "2", "--max-cost", "5", "--verify", alive];
    let done = client.ralph(&[&start[..], &limits].concat());
    client.place.nobody_is_left(&done);
    assert_ne!(done.code, 0, "{}", done.story());
    assert!(done.story().contains("it does not pass any more"), "{}", done.story());
}

/// The client would end the turn at the ninth answer of a hook in a row; here only ralph's own limit counts.
#[test]
fn the_cap_of_eight_blocks_is_off() {
    let client = Client::new(&CLAUDE, "nostatus");
    let patient = "[breaker]\nhalf_open_after = 50\nopen_after = 50\nsame_error = 50\nstuck = 0\n";
    fs::write(client.place.file("ralph.toml"), patient).unwrap();
    client.place.git(&["add", "ralph.toml"]);
    client.place.git(&["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-qm", "Patience"]);
    let done = run(&client, &["--max-iterations", "11"]);
    let result = done.ends(3, "MAX_ITERATIONS");
    assert_eq!(result["iterations"], 11, "{}", done.story());
}

/// Where hooks are switched off the session works unchecked, so that is an error that names them.
#[test]
fn a_hook_that_was_never_called_is_named() {
    let client = Client::new(&CLAUDE, "ok");
    let settings = client.place.root().join("home/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, r#"{"disableAllHooks": true}"#).unwrap();
    let done = run(&client, &["--max-iterations", "2"]);
    assert_eq!(done.code, 69, "{}", done.story());
    assert!(done.story().contains("never called the hooks UserPromptSubmit and Stop"), "{}", done.story());
    assert_eq!(client.runs()[0]["status"], "INTERRUPTED");
}
