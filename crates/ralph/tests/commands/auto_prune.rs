//! The end of a run deletes the files of older runs, as `prune.keep` says.

use super::scene::{Answer, Scene, sim};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// So short that every run that ended before is older.
const AT_ONCE: &str = "[prune]\nkeep = \"1ms\"\n";

fn own_config(scene: &Scene, text: &str) {
    let dir = scene.scratch.root().join("config/ralph");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.toml"), text).unwrap();
}

/// The ids of the runs that have files.
fn folders(scene: &Scene) -> BTreeSet<String> {
    let runs = fs::read_dir(scene.scratch.state().join("ralph/runs")).unwrap();
    runs.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Whether a content is in the snapshot stores.
fn is_stored(scene: &Scene, content: &str) -> bool {
    let keep = scene.scratch.state().join("ralph/keep");
    files(&keep).iter().any(|file| fs::read(file).unwrap() == content.as_bytes())
}

/// A run here that ends at once; the id of its folder.
fn run(scene: &Scene, task: &str, content: &str) -> (String, Answer) {
    run_in(scene, &scene.scratch.workspace(), task, content)
}

fn run_in(scene: &Scene, workspace: &Path, task: &str, content: &str) -> (String, Answer) {
    let before = folders_if_any(scene);
    let script = format!("write a.txt {content}; claim complete");
    let flags = sim(task, &["--verify", "true"], &script);
    let answer = scene.ralph(&[&["-C", workspace.to_str().unwrap()], &flags[..]].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    let id = folders(scene).difference(&before).next().unwrap().clone();
    (id, answer)
}

fn folders_if_any(scene: &Scene) -> BTreeSet<String> {
    if scene.scratch.state().join("ralph/runs").exists() { folders(scene) } else { BTreeSet::new() }
}

#[test]
fn older_runs_go_and_the_latest_and_resumable_ones_stay() {
    let scene = Scene::new();
    let (first, answer) = run(&scene, "First", "one-and-only");
    assert!(!answer.err.contains("deleted"), "{}", answer.err);
    let (second, answer) = run(&scene, "Second", "two");
    assert!(!answer.err.contains("deleted"), "both are young: {}", answer.err);
    let limit = ["--max-iterations", "1", "--max-cost", "1", "--verify", "false"];
    assert_eq!(scene.sim("Can go on", &limit, "write a.txt three; claim progress").code, 3);
    assert_eq!(folders(&scene).len(), 3);

    scene.scratch.files(&[("ralph.toml", AT_ONCE)]);
    let (last, answer) = run(&scene, "Last", "four");
    let line = "deleted transcripts and snapshots of 2 runs older than 1 ms (";
    assert!(answer.err.contains(line) && answer.err.contains("); change with prune.keep"), "{}", answer.err);
    let left = folders(&scene);
    assert!(!left.contains(&first) && !left.contains(&second) && left.contains(&last), "{left:?}");
    assert_eq!(left.len(), 2, "the one that can be resumed is still there");
    assert!(!is_stored(&scene, "one-and-only\n"), "no run that is left names it");
    assert_eq!(scene.ralph(&["replay", &first]).code, 0, "its journal is whole");
    assert!(scene.ralph(&["logs", &first]).out.contains("no transcript (pruned"));
    assert!(scene.ralph(&["list"]).out.contains("First"), "it is still listed");
    assert_eq!(scene.ralph(&["undo", &last, "--yes"]).code, 0);
    assert_eq!(scene.scratch.read("a.txt"), "three\n");
    let resumable = left.iter().find(|id| **id != last).unwrap();
    let resumed = scene.ralph(&["resume", resumable, "--max-iterations", "9"]);
    assert!(resumed.code == 1 && !resumed.err.contains("deleted"), "over, but only now: {}", resumed.err);
    assert_eq!(folders(&scene), left);
}

#[test]
fn nothing_goes_where_the_key_says_forever_and_nothing_is_said_with_quiet() {
    let scene = Scene::new();
    own_config(&scene, AT_ONCE);
    scene.scratch.files(&[("ralph.toml", "[prune]\nkeep = \"forever\"\n")]);
    run(&scene, "First", "one");
    run(&scene, "Second", "two");
    assert_eq!(folders(&scene).len(), 2);
    fs::remove_file(scene.scratch.workspace().join("ralph.toml")).unwrap();
    let quiet = scene.sim("Third", &["--verify", "true", "--quiet"], "write a.txt three; claim complete");
    assert!(!quiet.err.contains("deleted"), "{}", quiet.err);
    assert_eq!(folders(&scene).len(), 1);
    let json = scene.sim("Fourth", &["--verify", "true", "--json"], "write a.txt four; claim complete");
    assert!(json.err.contains("deleted transcripts and snapshots of 1 run "), "{}", json.err);
    assert!(json.out.lines().last().unwrap().contains("\"type\":\"result\""), "{}", json.out);
}

#[test]
fn an_agent_cannot_have_older_runs_deleted() {
    let mut scene = Scene::new();
    own_config(&scene, AT_ONCE);
    run(&scene, "First", "one");
    scene.set("RALPH_RUN", "0198c1d2-aaaa-7bbb-8ccc-1234567890ab");
    let flags = ["--verify", "true", "--nested"];
    assert_eq!(scene.sim("Second", &flags, "write a.txt two; claim complete").code, 0);
    assert_eq!(folders(&scene).len(), 2);
}

#[test]
fn a_project_never_shortens_what_is_kept_of_another() {
    let scene = Scene::new();
    let other = scene.scratch.root().join("other");
    fs::create_dir(&other).unwrap();
    let (theirs, _) = run_in(&scene, &other, "First", "one");
    let (their_last, _) = run_in(&scene, &other, "Second", "two");
    scene.scratch.files(&[("ralph.toml", AT_ONCE)]);
    run(&scene, "Mine", "one");
    assert_eq!(folders(&scene).len(), 3, "a project's key is for the project");

    fs::remove_file(scene.scratch.workspace().join("ralph.toml")).unwrap();
    own_config(&scene, AT_ONCE);
    for kept in ["[prune]\nkeep = \"7d\"\n", "[prune\n"] {
        fs::write(other.join("ralph.toml"), kept).unwrap();
        run(&scene, "Mine", "two");
        assert!(folders(&scene).contains(&theirs), "{kept}");
    }
    fs::remove_file(other.join("ralph.toml")).unwrap();
    let (mine, _) = run(&scene, "Mine", "three");
    assert_eq!(folders(&scene), [their_last, mine].into(), "the user's own key is for all workspaces");
}

#[test]
fn a_workspace_where_a_run_is_active_is_left_alone() {
    let scene = Scene::new();
    let other = scene.scratch.root().join("other");
    fs::create_dir(&other).unwrap();
    let (theirs, _) = run_in(&scene, &other, "First", "one");
    let script = "write begun.txt x; sleep 60s; claim complete";
    let slow = sim("Slow", &["--verify", "true"], script);
    let mut command = scene.command(&[&["-C", other.to_str().unwrap()], &slow[..]].concat());
    let mut active = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = (0..1200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        other.join("begun.txt").exists()
    });
    own_config(&scene, AT_ONCE);
    let pruned = run(&scene, "Mine", "one");
    let by_hand = scene.ralph(&["prune", "--keep", "1ms", "--yes"]);
    let left = folders(&scene);
    let stopped = scene.ralph(&["-C", other.to_str().unwrap(), "stop"]);
    active.wait().unwrap();
    assert!(begun && stopped.code == 0 && by_hand.code == 0, "{}", by_hand.err);
    assert!(left.contains(&theirs) && !pruned.1.err.contains("deleted"), "{left:?} {}", pruned.1.err);
    let logs = scene.ralph(&["logs", &theirs]).out;
    assert!(!logs.contains("no transcript") && logs.contains("gate_passed"), "{logs}");
}

#[test]
fn runs_of_a_workspace_that_is_gone_can_be_deleted() {
    let scene = Scene::new();
    let other = scene.scratch.root().join("other");
    fs::create_dir(&other).unwrap();
    run_in(&scene, &other, "First", "one");
    let (last, _) = run_in(&scene, &other, "Second", "two");
    fs::remove_dir_all(&other).unwrap();
    own_config(&scene, AT_ONCE);
    assert_eq!(scene.ralph(&["prune", "--yes"]).code, 0);
    assert_eq!(folders(&scene), [last].into(), "its latest run stays");
    assert_eq!(scene.ralph(&["prune", "--yes", "--keep", "1ms"]).code, 0);
    assert_eq!(folders(&scene), BTreeSet::new(), "unless that is typed");
    assert!(!is_stored(&scene, "one\n") && !is_stored(&scene, "two\n"));
}

/// Killed after the folder was emptied, before its contents were deleted from the store.
#[test]
fn what_a_killed_prune_began_is_finished() {
    let scene = Scene::new();
    let (first, _) = run(&scene, "First", "one-and-only");
    run(&scene, "Second", "two");
    run(&scene, "Third", "three");
    let folder = scene.scratch.state().join("ralph/runs").join(&first);
    for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { fs::remove_dir_all(entry).unwrap() } else { fs::remove_file(entry).unwrap() }
    }
    // The second run names it as the state that it began with.
    assert!(is_stored(&scene, "one-and-only\n"));
    scene.scratch.files(&[("ralph.toml", AT_ONCE)]);
    let (last, _) = run(&scene, "Last", "four");
    assert_eq!(folders(&scene), [last].into());
    assert!(!is_stored(&scene, "one-and-only\n"));
}
