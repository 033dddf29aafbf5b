//! What ralph logs about itself: nothing unless asked, on stderr where asked, without secrets in the run's folder.

use super::scene::{LIMITS, Scene};
use std::path::PathBuf;

/// Every `debug.log` below a directory.
fn debug_logs(dir: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let below = |path: PathBuf| match path.is_dir() {
        true => debug_logs(path),
        false => Some(path).filter(|path| path.ends_with("debug.log")).into_iter().collect(),
    };
    entries.flat_map(|entry| below(entry.path())).collect()
}

#[test]
fn a_run_logs_nothing_about_itself_by_default() {
    let scene = Scene::new();
    let answer = scene.sim("do it", &LIMITS, "say done\n");
    assert!(!answer.err.contains("DEBUG") && !answer.err.contains("WARN"), "{}", answer.err);
    assert_eq!(debug_logs(scene.scratch.root().to_path_buf()), Vec::<PathBuf>::new());
}

#[test]
fn ralph_log_prints_each_step_and_keeps_it_with_the_run() {
    let mut scene = Scene::new();
    scene.set("RALPH_LOG", "debug");
    scene.set("DEPLOY_TOKEN", "hunter2hunter2");
    let more: Vec<&str> = LIMITS.into_iter().chain(["--verify", "echo hunter2hunter2; false"]).collect();
    let answer = scene.sim("do it", &more, "say done\n");
    assert!(
        answer.err.contains("DEBUG ralph_engine") && answer.err.contains("started the agent"),
        "{}",
        answer.err
    );
    let logs = debug_logs(scene.scratch.root().to_path_buf());
    assert_eq!(logs.len(), 1, "{logs:?}");
    let kept = std::fs::read_to_string(&logs[0]).unwrap();
    assert!(kept.contains("started the agent") && !kept.contains("hunter2"), "{kept}");
}

#[test]
fn a_level_that_does_not_exist_is_an_error_that_lists_the_levels() {
    let mut scene = Scene::new();
    scene.set("RALPH_LOG", "debgu");
    let answer = scene.ralph(&["list"]);
    assert_eq!(answer.code, 64);
    assert!(
        answer.err.contains("`debgu` is not a log level") && answer.err.contains("trace"),
        "{}",
        answer.err
    );
}
