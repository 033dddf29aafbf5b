//! A verify command that cannot run is found before the first call; tests that fail are not mistaken for one.

use super::scene::Scene;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// A script that would complete the run.
const WORK: &str = "write done.txt x; claim complete";

fn calls(scene: &Scene) -> u64 {
    let status: Value = serde_json::from_str(&scene.ralph(&["status", "--json"]).out).unwrap();
    status["result"]["iterations"].as_u64().unwrap()
}

#[test]
fn a_verify_command_that_cannot_run_stops_the_run_before_the_first_call() {
    let scene = Scene::new();
    std::fs::write(scene.scratch.workspace().join("test.sh"), "#!/bin/sh\nexit 1\n").unwrap();
    for (verify, words) in [
        ("no-such-tool test", "`no-such-tool` is not installed or not on the PATH"),
        ("sh -c 'no-such-tool test'", "`no-such-tool` is not installed"),
        ("cd . && ./gone.sh", "there is no file `./gone.sh`"),
        ("no-such-tool test | cat", "✗ before: `no-such-tool test | cat` could not be run"),
        ("sh -c 'sh -c no-such-tool'", "`no-such-tool` is not installed"),
        ("./test.sh", "`./test.sh` is not executable; run chmod +x ./test.sh"),
    ] {
        let answer = scene.sim("Work", &["--verify", verify], WORK);
        assert_eq!(answer.code, 78, "{verify}: {}", answer.err);
        assert!(answer.err.contains("VERIFY_CANNOT_RUN") && answer.err.contains(words), "{}", answer.err);
        assert!(answer.err.contains(" --force"), "{}", answer.err);
        assert_eq!(calls(&scene), 0, "{verify}");
    }
    let script = scene.scratch.workspace().join("test.sh");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(&script, "#!/bin/sh\ntest -f done.txt\n").unwrap();
    let resumed = scene.ralph(&["resume"]);
    assert_eq!(calls(&scene), 1, "{}", resumed.err);
}

#[test]
fn verify_names_the_missing_program() {
    let answer = Scene::new().ralph(&["verify", "--verify", "no-such-tool test"]);
    assert_ne!(answer.code, 0);
    assert!(answer.err.contains("it cannot run: `no-such-tool` is not installed"), "{}", answer.err);
}

#[test]
fn force_calls_the_agent_anyway() {
    let scene = Scene::new();
    let made = "run printf '#!/bin/sh\\ntrue\\n' > made.sh && chmod +x made.sh; claim complete";
    let answer = scene.sim("Make it", &["--verify", "./made.sh", "--force"], made);
    assert_eq!(calls(&scene), 1, "{}", answer.err);
    assert!(answer.err.contains("✓ `./made.sh` passed"), "{}", answer.err);
}

#[test]
fn tests_that_start_a_missing_program_are_red() {
    let scene = Scene::new();
    let suite = "test -f done.txt && exit 0\nno-such-tool || exit 1\n";
    std::fs::write(scene.scratch.workspace().join("suite.sh"), suite).unwrap();
    let answer = scene.sim("Work", &["--verify", "sh suite.sh"], WORK);
    assert_eq!(calls(&scene), 1, "{}", answer.err);
    assert!(answer.err.contains("✗ before: `sh suite.sh`"), "{}", answer.err);
}
