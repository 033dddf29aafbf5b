//! While a second agent reviews the work, its lines are not taken for the agent's.

use super::client::SOON;
use super::scene::Scene;
use super::served::Served;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Instant;

const WORK: &str = "say worker writes\nwrite done.txt yes\nclaim complete\n";
const SHIP: &str = "message <<END\n---RALPH_REVIEW---\nVERDICT: SHIP\nFINDINGS:\n- none\n---END_RALPH_REVIEW---\nEND\nclaim none\n";

/// The texts of a page of lines.
fn texts(served: &Served, path: &str) -> String {
    let got = served.get(path);
    assert_eq!(got.status, 200, "{path}: {}", got.body);
    got.json()["lines"].to_string()
}

/// Reads an address until the answer is so.
fn until(served: &Served, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + SOON;
    loop {
        let answer = served.get(path).json();
        if is_so(&answer) {
            return answer;
        }
        assert!(Instant::now() < end, "{answer}");
    }
}

#[test]
fn lines_of_a_review_are_told_from_the_agents() {
    let scene = Scene::new();
    let (script, door) = (scene.scratch.root().join("review.sim"), scene.scratch.root().join("door"));
    let wait = format!("say reviewer reads\nrun while [ ! -e '{}' ]; do sleep 0.05; done\n", door.display());
    std::fs::write(&script, wait + SHIP).unwrap();
    let settings = format!("[review]\nagent = \"sim\"\n[agents.sim]\nargs = [\"--script\", {script:?}]\n");
    scene.scratch.files(&[("ralph.toml", &(settings + "[gate]\nask_for_test = 0\n"))]);
    let served = Served::start(&scene, &[]);
    let args = ["run", "Work", "--agent", "sim", "--max-iterations", "2", "--max-cost", "1"];
    let args = [&args[..], &["--verify", "test -f done.txt", "--", "--do", WORK]].concat();
    let mut run = scene.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();

    let overview = until(&served, "/api/v1/overview", |overview| {
        overview["cards"][0]["line"].as_str().is_some_and(|line| line.contains("while"))
    });
    let path = format!("/api/v1/runs/{}", overview["cards"][0]["id"].as_str().unwrap());
    let detail = until(&served, &path, |detail| detail["lines"].to_string().contains("reviewer reads"));
    assert_eq!(detail["call"], json!({ "iteration": 1, "attempt": 2, "review": true }), "{detail}");
    let activity = format!("{path}/iterations/1/activity");
    assert!(texts(&served, &activity).contains("worker writes"));
    assert!(texts(&served, &format!("{activity}?attempt=2")).contains("reviewer reads"));

    std::fs::write(door, "").unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0));
    let review = texts(&served, &format!("{activity}?attempt=2"));
    assert!(review.contains("reviewer reads") && !review.contains("worker writes"), "{review}");
    assert_eq!(served.get(&format!("{activity}?attempt=3")).status, 404);
}
