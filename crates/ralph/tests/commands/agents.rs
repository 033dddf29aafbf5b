//! `ralph agents`: who is installed, with which version, and what each can report.

use super::scene::Scene;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Programs that only say their version, alone on the PATH.
fn installed(scene: &mut Scene, programs: &[(&str, &str)]) {
    let bin = scene.scratch.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for (name, body) in programs {
        fs::write(bin.join(name), format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    scene.set("PATH", &bin.display().to_string());
}

#[test]
fn agents_are_listed_with_version_and_abilities() {
    let mut scene = Scene::new();
    installed(
        &mut scene,
        &[
            ("claude", "echo '2.1.325 (Claude Code)'"),
            ("codex", "echo 'codex-cli 0.166.0'"),
            ("goose", "exit 3"),
        ],
    );
    assert_eq!(scene.show(&["agents"]).code, 0);
    scene.compare("agents");
}

#[test]
fn scripts_get_the_same_and_an_override_is_followed() {
    let mut scene = Scene::new();
    installed(&mut scene, &[("my-codex", "echo 9.8.7")]);
    scene.scratch.files(&[("ralph.toml", "[agents.codex]\ncommand = \"my-codex\"\n")]);
    let answer = scene.ralph(&["agents", "--json"]);
    let list: Value = serde_json::from_str(&answer.out).unwrap();
    let of =
        |name: &str| list["agents"].as_array().unwrap().iter().find(|a| a["name"] == name).unwrap().clone();
    assert_eq!(
        (of("codex")["installed"].clone(), of("codex")["version"].clone()),
        (true.into(), "9.8.7".into())
    );
    assert_eq!(
        (of("claude")["installed"].clone(), of("claude")["version"].clone()),
        (false.into(), Value::Null)
    );
    assert_eq!(of("claude")["can"]["live_usage"], true);
    assert_eq!(of("sim")["installed"], true);
}
