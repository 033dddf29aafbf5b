//! Agents whose cost cannot be known: a line at the start says what would help.

use super::scene::{LIMITS, Scene};
use std::os::unix::fs::PermissionsExt;

#[test]
fn an_agent_whose_cost_nobody_knows_is_said_to_be() {
    let mut scene = Scene::new();
    let bin = scene.scratch.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["codex", "kimi"] {
        let program = bin.join(name);
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    scene.set("PATH", &format!("{}:{path}", bin.display()));
    let dry = |agent: &str, more: &[&str]| {
        let args = [&["run", "Work", "--dry-run", "--agent", agent][..], &LIMITS, more].concat();
        scene.ralph(&args).out
    };
    let unknown = dry("kimi", &[]);
    assert!(
        unknown.contains("the model of `kimi` is not known") && unknown.contains("--model MODEL"),
        "{unknown}"
    );
    let odd = dry("codex", &["--model", "gpt-0"]);
    assert!(odd.contains("the price of `gpt-0` is not known") && odd.contains("[prices.\"gpt-0\"]"), "{odd}");
    for known in
        [dry("codex", &["--model", "gpt-5"]), dry("codex", &["--", "-m", "gpt-5"]), dry("codex", &[])]
    {
        assert!(!known.contains("not known"), "{known}");
    }
}
