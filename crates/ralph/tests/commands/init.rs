//! `ralph init`: what it writes, what it leaves alone, and what it says where it cannot.

use super::scene::Scene;
use ralph_testkit::Scratch;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

/// Programs of these names, alone on the PATH; each does nothing and succeeds.
pub fn only_installed(scene: &mut Scene, programs: &[&str]) {
    let bin = scene.scratch.root().join("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in programs {
        fs::write(bin.join(name), "#!/bin/sh\nexit 0\n").unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    scene.set("PATH", &bin.display().to_string());
}

#[test]
fn a_repository_is_made_ready_and_nothing_is_ever_overwritten() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    only_installed(&mut scene, &["claude", "codex", "cargo", "cargo-clippy"]);
    scene.scratch.files(&[("Cargo.toml", "[package]\nname = \"a\"\n"), (".gitignore", "target\r\nx")]);
    scene.show(&["init", "--dry-run"]);
    assert!(!scene.scratch.workspace().join("ralph.toml").exists());
    assert_eq!(scene.show(&["init", "--yes", "Make it faster"]).code, 0);
    assert_eq!(scene.scratch.read(".gitignore"), "target\r\nx\r\n.ralph/\r\nralph.local.toml\r\n");
    let prompt = scene.scratch.read("PROMPT.md");
    assert!(prompt.starts_with("# Task\n\nMake it faster\n") && prompt.contains("EXIT_SIGNAL: false | true"));
    assert!(prompt.contains("    cargo test\n") && !prompt.contains("{{"), "{prompt}");
    let before = (scene.scratch.read("ralph.toml"), prompt);
    assert_eq!(scene.show(&["init"]).code, 0);
    scene.scratch.files(&[("ralph.toml", "# mine\n")]);
    assert_eq!(scene.show(&["init", "--yes", "Another task"]).code, 0);
    assert_eq!(
        (scene.scratch.read("ralph.toml"), scene.scratch.read("PROMPT.md")),
        ("# mine\n".into(), before.1)
    );
    scene.compare("init");
}

#[test]
fn what_is_written_is_what_a_run_reads() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &["codex", "make"]);
    scene.scratch.files(&[("Makefile", "lint:\n\ttrue\ntest:\n\ttrue\n")]);
    assert_eq!(scene.ralph(&["init", "--yes"]).code, 0);
    let answer = scene.ralph(&["run", "--dry-run", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(
        (plan["policy"]["max_iterations"].as_u64(), plan["policy"]["max_cost"].as_u64()),
        (Some(10), Some(5_000_000))
    );
    assert_eq!(
        (plan["verify"][0].as_str(), plan["agent"]["name"].as_str()),
        (Some("make test"), Some("codex"))
    );
    let schema = scene.scratch.read(".ralph/ralph.schema.json");
    assert_eq!(schema, scene.ralph(&["config", "schema"]).out);
    assert!(scene.scratch.read("ralph.toml").starts_with("#:schema ./.ralph/ralph.schema.json\n"));
    assert!(!scene.scratch.workspace().join(".gitignore").exists(), "no repository, nothing to ignore");
}

#[test]
fn nothing_known_is_said_and_still_something_to_start_from() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &[]);
    assert_eq!(scene.show(&["init", "--yes"]).code, 0);
    scene.compare("init_empty");
}

#[test]
fn what_is_given_is_not_detected() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &["claude", "codex", "cargo"]);
    assert_eq!(scene.show(&["init", "--agent", "cdex"]).code, 64);
    let given = ["init", "--agent", "codex", "--verify", "cargo test", "--verify", "cargo doc", "Write it"];
    assert_eq!(scene.show(&given).code, 0);
    assert!(scene.scratch.read("PROMPT.md").contains("    cargo test\n    cargo doc\n"));
    let settings = scene.scratch.read("ralph.toml");
    assert!(settings.contains("name = \"codex\"") && settings.contains("\"cargo doc\""), "{settings}");
    assert_eq!(scene.show(&given).code, 0);
    scene.compare("init_given");
}

#[test]
fn lines_that_git_ignores_already_are_not_written_again() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    scene.scratch.files(&[(".gitignore", "/.ralph\n*.local.*\n")]);
    assert_eq!(scene.ralph(&["init", "--yes"]).code, 0);
    assert_eq!(scene.scratch.read(".gitignore"), "/.ralph\n*.local.*\n");
    let status = scene.scratch.git(&["status", "--porcelain", "-uall"]);
    assert_eq!(status, "?? .gitignore\n?? PROMPT.md\n?? ralph.toml");
}

#[test]
fn an_agent_may_commit_what_init_wrote() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    let said = scene.ralph(&["init", "--yes", "Make it"]);
    assert!(said.err.contains("Not committed yet: git add ralph.toml PROMPT.md .gitignore"), "{}", said.err);
    let answer = scene.sim("x", &["--verify", "true"], "write a x; commit all; claim complete");
    assert_ne!(answer.code, 4, "{}", answer.err);
    let committed = scene.scratch.git(&["show", "--name-only", "--format="]);
    assert!(committed.contains("ralph.toml") && committed.contains("PROMPT.md"), "{committed}");
}

#[test]
fn a_link_is_never_written_through() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    let outside = scene.scratch.root().join("outside");
    fs::write(&outside, "theirs").unwrap();
    for name in ["ralph.toml", "PROMPT.md", ".gitignore"] {
        std::os::unix::fs::symlink(&outside, scene.scratch.workspace().join(name)).unwrap();
    }
    let answer = scene.ralph(&["init", "--yes"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
    assert!(answer.err.contains("it is a link to"), "{}", answer.err);
    scene.set("HOME", "");
}

#[test]
fn places_where_nothing_can_be_written_are_told() {
    let mut scene = Scene::new();
    let answer = scene.ralph(&["-C", "/proc", "init", "--yes"]);
    assert_eq!(answer.code, 73, "{}", answer.err);
    assert!(answer.err.contains("cannot write /proc") && answer.err.contains("--dry-run"));
    assert_eq!(scene.ralph(&["-C", "/proc", "init", "--dry-run"]).code, 0);
    let odd = scene.scratch.root().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    let answer = scene.ralph(&["-C".as_ref(), odd.as_os_str(), "init".as_ref()]);
    assert_eq!(answer.code, 64);
    assert!(answer.err.contains("is not valid UTF-8"), "{}", answer.err);
    assert_eq!(scene.show(&["init", ""]).code, 64);
    assert_eq!(scene.show(&["init", "--yse"]).code, 64);
    scene.scratch.files(&[("ralph.toml", "[run]\nmax_iteration = 3\n")]);
    assert_eq!(scene.show(&["init", "--yes"]).code, 0);
    scene.compare("init_mistakes");
}

#[test]
fn without_a_home_it_works_and_says_what_a_run_will_need() {
    let scene = Scene::new();
    let mut command = scene.command(&["init", "--yes"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("neither HOME nor XDG_STATE_HOME is set"));
}

#[test]
fn a_workspace_behind_a_link_is_written_where_it_is() {
    let scene = Scene::new();
    let link = scene.scratch.root().join("link");
    std::os::unix::fs::symlink(scene.scratch.workspace(), &link).unwrap();
    scene.scratch.files(&[("go.mod", "module a\n")]);
    assert_eq!(scene.ralph(&["-C".as_ref(), link.as_os_str(), "init".as_ref(), "--yes".as_ref()]).code, 0);
    assert!(scene.scratch.read("ralph.toml").contains("\"go test ./...\""));
}
