//! `ralph completions`, `man` and `help TOPIC`.

use super::scene::{Scene, sim};
use std::process::Command;

/// What a shell gets that asks for the word after these.
fn offered(scene: &Scene, words: &[&str]) -> Vec<String> {
    let mut command = scene.command::<&str>(&[]);
    command.env("RALPH_COMPLETE", "fish").arg("--").arg("ralph").args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_string()).collect()
}

#[test]
fn every_shell_gets_something_to_load() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let answer = scene.ralph(&["completions", shell]);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{shell}");
        assert!(
            answer.out.contains("RALPH_COMPLETE") && answer.out.contains("ralph"),
            "{shell}: {}",
            answer.out
        );
    }
    let script = scene.scratch.workspace().join("script");
    std::fs::write(&script, scene.ralph(&["completions", "bash"]).out).unwrap();
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
}

#[test]
fn run_ids_agents_presets_keys_and_topics_are_completed() {
    let scene = Scene::new();
    assert_eq!(offered(&scene, &["status", ""]).iter().filter(|word| !word.starts_with('-')).count(), 0);
    scene.sim("Write it", &["--verify", "true"], "write a hi; claim complete");
    let list = scene.ralph(&["list"]).out;
    let short = list.lines().nth(1).and_then(|line| line.split_whitespace().next()).unwrap().to_string();
    for command in ["status", "explain", "resume", "replay", "stop"] {
        assert!(offered(&scene, &[command, ""]).contains(&short), "{command}");
    }
    assert!(offered(&scene, &["run", "--agent", "c"]).contains(&"codex".to_string()));
    assert_eq!(offered(&scene, &["run", "--preset", "cl"]), ["classic"]);
    assert_eq!(offered(&scene, &["config", "explain", "run.max_i"]), ["run.max_iterations"]);
    assert_eq!(offered(&scene, &["help", "exit"]), ["exit-codes"]);
    assert_eq!(offered(&scene, &["help", "sta"]), ["status", "stats", "status-block"]);
    assert_eq!(offered(&scene, &["man", "und"]), ["undo"]);
    for command in ["help", "man"] {
        let all = offered(&scene, &[command, ""]);
        assert!(
            ["run", "quarantine", "agent-sim"].iter().all(|name| all.iter().any(|it| it == name)),
            "{all:?}"
        );
    }
    assert!(offered(&scene, &["st"]).contains(&"status".to_string()));
}

#[test]
fn runs_of_this_workspace_are_offered_first() {
    let scene = Scene::new();
    let newest = |scene: &Scene| {
        let rows: serde_json::Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
        rows[0]["id"].as_str().map(|id| id[id.len() - 8..].to_owned()).unwrap()
    };
    scene.sim("Here", &["--verify", "true"], "write a hi; claim complete");
    let here = newest(&scene);
    let elsewhere = scene.scratch.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let there = ["-C", elsewhere.to_str().unwrap()];
    let args = [&there[..], &sim("There", &["--verify", "true"], "write b hi; claim complete")].concat();
    scene.ralph(&args);
    let runs = |words: &[&str]| {
        let mut offered = offered(&scene, words);
        offered.retain(|word| !word.starts_with('-'));
        offered
    };
    let offered = runs(&["status", ""]);
    assert_eq!((offered.len(), &offered[0]), (2, &here), "the newer one is of another workspace");
    assert_eq!(runs(&[&there[..], &["status", ""]].concat())[1], here);
}

#[test]
fn manual_pages_are_printed_or_written() {
    let mut scene = Scene::new();
    let page = scene.ralph(&["man"]);
    assert_eq!(page.code, 0);
    assert!(page.out.contains(".TH ralph 1") && page.out.contains("ralph\\-run(1)"), "{}", page.out);
    assert!(scene.ralph(&["man", "run"]).out.contains("\\-\\-max\\-iterations"));
    let dir = scene.scratch.root().join("man");
    assert_eq!(scene.ralph(&["man", "--dir", dir.to_str().unwrap()]).code, 0);
    for name in ["ralph.1", "ralph-run.1", "ralph-config-show.1", "ralph-circuit-reset.1"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    assert_eq!(scene.show(&["man", "rnu"]).code, 64);
    assert_eq!(scene.show(&["man", "--dir", "/proc/nowhere"]).code, 73);
    assert_eq!(scene.show(&["completions", "csh"]).code, 64);
    assert_eq!(scene.show(&["completions"]).code, 64);
    scene.compare("shells_mistakes");
}

#[test]
fn topics_are_told_and_unknown_ones_suggested() {
    let mut scene = Scene::new();
    for topic in ["exit-codes", "files", "money", "safety", "status-block", "variables"] {
        assert_eq!(scene.show(&["help", topic]).code, 0);
    }
    assert_eq!(scene.show(&["help", "exitcodes"]).code, 64);
    assert_eq!(scene.show(&["help", "runn"]).code, 64);
    assert_eq!(scene.ralph(&["help", "config", "show"]).out, scene.ralph(&["config", "show", "--help"]).out);
    assert_eq!(scene.ralph(&["help"]).out, scene.ralph(&["--help"]).out);
    scene.compare("topics");
}
