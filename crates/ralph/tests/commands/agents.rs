//! `ralph agents`: who is installed, with which version, and what each can report.

use super::scene::Scene;
use ralph_agents::registry::AGENTS;
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
    assert_eq!(of("codex")["state_dirs"][0], ".codex");
    assert_eq!(of("claude")["hosts"][0], "api.anthropic.com");
    // Abilities of version 0.1 that scripts may read.
    assert_eq!(of("claude")["can"]["asks_permission"], false);
}

#[test]
fn every_agent_is_in_help_in_the_list_in_the_docs_and_is_found() {
    let mut scene = Scene::new();
    installed(&mut scene, &[]);
    let help = scene.ralph(&["run", "--help"]).out;
    let listed: Value = serde_json::from_str(&scene.ralph(&["agents", "--json"]).out).unwrap();
    let listed: Vec<&str> =
        listed["agents"].as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    let docs = include_str!("../../../../docs/agents.md");
    for info in AGENTS {
        let name = info.name;
        let named = help.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name);
        assert!(named, "`ralph run --help` does not name {name}");
        assert!(listed.contains(&name), "`ralph agents` does not list {name}");
        assert!(docs.contains(&format!("| `{name}` |")), "docs/agents.md does not list {name}");
        let Some(program) = info.program else { continue };
        let missing = scene.ralph(&["run", "x", "--agent", name, "--max-iterations", "1", "--max-cost", "1"]);
        assert!(missing.err.contains(&info.install()), "{program} missing: {}", missing.err);
    }
    assert_eq!(listed.len(), AGENTS.len());
}

#[test]
fn doctor_finds_the_credentials_of_every_agent() {
    for info in AGENTS.iter().filter(|info| info.program.is_some()) {
        let name = info.name;
        let mut scene = Scene::new();
        installed(&mut scene, &[(info.program.unwrap(), "echo 1.2.3")]);
        for variable in info.credentials.env {
            scene.set(variable, "");
        }
        let without = scene.ralph(&["doctor"]).out;
        assert!(without.contains("no credentials found"), "{name}: {without}");
        scene.set(info.credentials.env[0], "k");
        let with = scene.ralph(&["doctor"]).out;
        assert!(with.contains(&format!("credentials: {}", info.credentials.env[0])), "{name}: {with}");
    }
}
