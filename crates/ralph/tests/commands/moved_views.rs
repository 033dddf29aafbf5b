//! `[views]`: files for other programs at the paths of older tools. Nobody's work, and hidden from git, in any kind of
//! repository, without a change to a file of the user's.

use super::scene::{Answer, Scene, sim};
use ralph_testkit::Scratch;
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const SEEDS: &str = "[views]\nsession = \".ralph-session.json\"\nstatus = \".claude/metrics/status.json\"\n\
    metrics = \".claude/metrics/ralph-loops.jsonl\"\nreport = \".claude/metrics\"\n";

/// A repository in which everything is committed, with these settings.
fn repository(toml: &str) -> Scene {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    scene.scratch.files(&[("ralph.toml", toml), (".gitignore", "*.log\n"), ("src/a.txt", "a\n")]);
    scene.scratch.git(&["add", "-A"]);
    scene.scratch.git(&["commit", "-q", "-m", "Files"]);
    scene
}

/// A run whose agent changes one file and commits all it finds.
fn commit_everything(scene: &Scene, file: &str) -> Answer {
    let script =
        format!("write {file} new; run git add -A && git commit -q -m Work; message Done.; claim complete");
    scene.sim("Work", &["--verify", &format!("test -f {file}"), "--fresh"], &script)
}

fn appears(path: &Path) -> bool {
    (0..1200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        path.exists()
    })
}

fn exclude(scene: &Scene) -> String {
    scene.scratch.read(".git/info/exclude")
}

#[test]
fn neither_git_status_nor_add_all_finds_views_at_the_seeds_paths() {
    let scene = repository(SEEDS);
    let answer = commit_everything(&scene, "one.txt");
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.err.contains("1 file changed: one.txt"), "{}", answer.err);
    for view in [".ralph-session.json", ".claude/metrics/status.json", ".claude/metrics/ralph-loops.jsonl"] {
        assert!(!scene.scratch.read(view).is_empty(), "{view}");
    }
    assert!(!scene.scratch.workspace().join(".ralph/metrics").exists());
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(scene.scratch.git(&["ls-files"]), ".gitignore\none.txt\nralph.toml\nsrc/a.txt");
    assert_eq!(scene.scratch.read(".gitignore"), "*.log\n");
    let once = exclude(&scene);
    assert_eq!(once.matches("/.ralph-session.json\n").count(), 1, "{once}");
    assert_eq!(commit_everything(&scene, "two.txt").code, 0);
    assert_eq!(exclude(&scene), once, "added once");
    assert_eq!(scene.scratch.read(".claude/metrics/ralph-loops.jsonl").lines().count(), 2);
}

#[test]
fn views_come_back_hidden_after_an_agent_cleaned_up() {
    let scene = repository(SEEDS);
    let script = "write one.txt new; run git clean -qfdx; write two.txt new; claim complete";
    let answer = scene.sim("Clean", &["--verify", "test -f two.txt"], script);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(!scene.scratch.read(".claude/metrics/status.json").is_empty());
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "?? two.txt");
}

#[test]
fn a_users_own_ignore_file_beside_a_view_stays_as_it_is() {
    let scene = repository(SEEDS);
    scene.scratch.files(&[(".claude/metrics/.gitignore", "*.tmp\n")]);
    scene.scratch.git(&["add", "-A"]);
    scene.scratch.git(&["commit", "-q", "-m", "Theirs"]);
    assert_eq!(commit_everything(&scene, "one.txt").code, 0);
    assert_eq!(scene.scratch.read(".claude/metrics/.gitignore"), "*.tmp\n");
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "");
    let rules = exclude(&scene);
    assert!(rules.contains("/.claude/metrics/ralph-report-*.md\n"), "{rules}");
    let theirs = scene.sim("Edit", &["--fresh"], "append .claude/metrics/.gitignore x; claim complete");
    assert!(theirs.err.contains("1 file changed: .claude/metrics/.gitignore"), "{}", theirs.err);
}

#[test]
fn a_line_of_the_users_own_is_enough() {
    let scene = repository("[views]\nsession = \".ralph-session.json\"\n");
    scene.scratch.files(&[(".gitignore", "*.log\n.ralph-session.json\n")]);
    scene.scratch.git(&["commit", "-q", "-a", "-m", "Ignored already"]);
    let before = exclude(&scene);
    assert_eq!(commit_everything(&scene, "one.txt").code, 0);
    assert_eq!((exclude(&scene), scene.scratch.git(&["status", "--porcelain"])), (before, String::new()));
}

#[test]
fn a_part_of_a_repository_and_a_linked_work_tree_are_no_different() {
    let scene = repository(SEEDS);
    let root = scene.scratch.root().join("linked");
    scene.scratch.git(&["worktree", "add", "-q", "-b", "other", root.to_str().unwrap()]);
    fs::create_dir(root.join("part")).unwrap();
    fs::write(root.join("part/ralph.toml"), SEEDS).unwrap();
    let git = |args: &[&str]| scene.scratch.git(&[&["-C", root.to_str().unwrap()], args].concat());
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "Part"]);
    for at in [root.clone(), root.join("part")] {
        let args = ["-C", at.to_str().unwrap(), "run", "Work", "--agent", "sim", "--max-iterations", "3"];
        let more = ["--max-cost", "1", "--verify", "test -f x", "--", "--do"];
        let script = "write x new; run git add -A && git commit -q -m Work; claim complete";
        let answer = scene.ralph(&[&args[..], &more, &[script]].concat());
        assert_eq!(answer.code, 0, "{}", answer.err);
        assert!(at.join(".ralph-session.json").exists());
        assert_eq!(git(&["status", "--porcelain"]), "");
    }
    assert_eq!(git(&["ls-files"]), ".gitignore\npart/ralph.toml\npart/x\nralph.toml\nsrc/a.txt\nx");
    assert!(exclude(&scene).contains("\n/part/.ralph-session.json\n"));
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "", "the other work tree");
}

#[test]
fn a_run_in_another_work_tree_is_not_disturbed() {
    let scene = repository("");
    let linked = scene.scratch.root().join("linked");
    scene.scratch.git(&["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    let script = "write begun x; run until [ -e go ]\\; do sleep 0.05\\; done; claim complete";
    let mut command = scene.command(&sim("Slow", &["--verify", "true"], script));
    let slow = command.current_dir(&linked).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(appears(&linked.join("begun")), "the other run has begun");
    scene.scratch.files(&[("ralph.toml", SEEDS)]);
    let before = exclude(&scene);
    let quick = scene.sim("Quick", &["--verify", "test -f one"], "write one new; claim complete");
    assert_eq!(quick.code, 0, "{}", quick.err);
    assert_eq!(exclude(&scene), before, "not while the other run would notice");
    fs::write(linked.join("go"), "").unwrap();
    let slow = Answer::from(slow.wait_with_output().unwrap());
    assert_eq!(slow.code, 0, "it found nothing that its agent had not done: {}", slow.err);
    assert_eq!(commit_everything(&scene, "two.txt").code, 0);
    assert!(exclude(&scene).contains("/.ralph-session.json\n"));
}

/// As if the runs so far had been yesterday's.
fn a_day_passes(scene: &Scene) {
    let database = Connection::open(scene.scratch.state().join("ralph/ralph.db")).unwrap();
    let yesterday =
        "update account set started = started - 86400000; delete from memo where key like 'reported/%';";
    database.execute_batch(yesterday).unwrap();
}

fn reports(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("ralph-report-")).collect()
}

#[test]
fn reports_are_written_where_they_are_wanted_and_are_nobodys_work() {
    let scene = repository("[views]\nreport = \".\"\n");
    assert_eq!(commit_everything(&scene, "one.txt").code, 0);
    a_day_passes(&scene);
    let idle =
        scene.sim("Idle", &["--max-iterations", "2", "--max-cost", "5"], "message Nothing; claim none");
    assert!(idle.err.contains("none changed"), "{}", idle.err);
    let workspace = scene.scratch.workspace();
    let [name] = reports(&workspace).try_into().unwrap();
    assert!(scene.scratch.read(&name).starts_with("# Ralph Loop Performance Report - 20"));
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "");
    fs::write(workspace.join(&name), "My own report\n").unwrap();
    a_day_passes(&scene);
    assert_eq!(commit_everything(&scene, "two.txt").code, 0);
    assert_eq!(scene.scratch.read(&name), "My own report\n");
}

#[test]
fn metrics_are_never_appended_to_something_else() {
    let scene = repository("[views]\nmetrics = \"data.jsonl\"\n");
    scene.scratch.files(&[("data.jsonl", "{\"id\":1}\n")]);
    let answer = commit_everything(&scene, "one.txt");
    assert_eq!(answer.code, 78, "{}", answer.err);
    assert_eq!(scene.scratch.read("data.jsonl"), "{\"id\":1}\n");
    let theirs = "{\"loopId\":\"of another tool\"}\n";
    scene.scratch.files(&[("data.jsonl", theirs)]);
    assert_eq!(commit_everything(&scene, "one.txt").code, 0);
    let lines = scene.scratch.read("data.jsonl");
    assert!(lines.starts_with(theirs) && lines.lines().count() == 2, "{lines}");
}

#[test]
fn a_run_that_was_killed_goes_on_with_its_moved_views() {
    let scene = repository(SEEDS);
    let script = "write begun x; run until [ -e go ]\\; do sleep 0.05\\; done; claim complete";
    let mut command = scene.command(&sim("Slow", &["--verify", "test -f begun"], script));
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let workspace = scene.scratch.workspace();
    assert!(appears(&workspace.join("begun")), "the agent works");
    run.kill().unwrap();
    run.wait().unwrap();
    fs::write(workspace.join("go"), "").unwrap();
    let once = exclude(&scene);
    let resumed = scene.ralph(&["resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(exclude(&scene), once);
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "?? begun\n?? go");
    assert!(scene.scratch.read(".claude/metrics/ralph-loops.jsonl").contains("COMPLETED"));
}

#[test]
fn no_view_lies_among_the_files_of_git() {
    for view in ["metrics = \".git/x.jsonl\"", "report = \".git/hooks\"", "session = \"sub/.git/s.json\""] {
        let scene = repository(&format!("[views]\n{view}\n"));
        let answer = commit_everything(&scene, "one.txt");
        assert_eq!(answer.code, 78, "{view}: {}", answer.err);
        assert!(answer.err.contains("choose a path outside .git"), "{}", answer.err);
    }
}
