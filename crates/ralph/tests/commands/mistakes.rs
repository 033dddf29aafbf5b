//! The usual mistakes on the command line: each is told with what to do next.

use super::scene::{LIMITS, Scene};

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["run", "x"].into_iter().chain(LIMITS).chain(more.iter().copied()).collect()
}

#[test]
fn wrong_words_and_values_are_64_with_a_suggestion() {
    let mut scene = Scene::new();
    let typed: [&[&str]; 14] = [
        &["runn"],
        &["run", "--agnet", "claude"],
        &["run", "x", "--max-iterations", "many"],
        &["run", "x", "--max-iterations", "-1"],
        &["run", "x", "--max-iterations", "0"],
        &["run", "x", "--max-cost", "NaN"],
        &["run", "x", "--max-cost", "-5"],
        &["run", "x", "--max-time", "1.5h"],
        &["run", "x", "--timeout", "0s"],
        &["run", "x", "--sandbox", "of"],
        &["run", "x", "--mode", "hok"],
        &["run", "x", "--promise", ""],
        &["circuit", "rest"],
        &["list", "--color", "blue"],
    ];
    for args in typed {
        let answer = scene.show(args);
        assert_eq!((answer.code, answer.out.as_str()), (64, ""), "{args:?}");
    }
    scene.compare("mistakes_words");
}

#[test]
fn flags_of_later_versions_are_refused_never_ignored() {
    let scene = Scene::new();
    let flags: [&[&str]; 5] =
        [&["--sandbox", "require"], &["--mode", "hook"], &["--skill", "tdd"], &["--fallback"], &["--auto"]];
    for flag in flags {
        let answer = scene.ralph(&run(flag));
        assert_eq!(answer.code, 64, "{flag:?}");
        assert!(answer.err.contains("is not supported by this version of ralph"), "{flag:?}: {}", answer.err);
    }
    let honoured = scene.ralph(&run(&[
        "--mode",
        "loop",
        "--sandbox",
        "off",
        "--preset",
        "classic",
        "--dry-run",
        "--agent",
        "sim",
    ]));
    assert_eq!(honoured.code, 0, "{}", honoured.err);
}

#[test]
fn what_a_run_needs_is_told() {
    let mut scene = Scene::new();
    scene.show(&["run", "x"]);
    scene.show(&["run", "x", "--max-iterations", "3"]);
    scene.show(&["run", "--max-iterations", "3", "--max-cost", "1"]);
    scene.show(&run(&["--agent", "cluade"]));
    scene.show(&run(&["--agent", "codex"]));
    scene.show(&run(&["--agent", "command"]));
    scene.show(&run(&["--agent", "command", "--", "./not-there"]));
    scene.show(&run(&["--agent", "sim", "--verify", " "]));
    scene.show(&run(&["--agent", "sim", "--protect", "["]));
    scene.show(&["run", "", "--max-iterations", "3", "--max-cost", "1"]);
    scene.set("PATH", "/nonexistent");
    assert_eq!(scene.show(&run(&[])).code, 69);
    scene.compare("mistakes_needs");
}

#[test]
fn prompts_that_cannot_be_used() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("empty.md", " \n"), ("dir/file", "")]);
    std::fs::write(scene.scratch.workspace().join("bytes.md"), b"\xff\xfe").unwrap();
    for file in ["missing.md", "empty.md", "dir", "bytes.md", "/dev/zero"] {
        let args = ["run", "--prompt", file, "--max-iterations", "3", "--max-cost", "1", "--agent", "sim"];
        assert_eq!(scene.show(&args).code, 64, "{file}");
    }
    scene.compare("mistakes_prompts");
}

#[test]
fn a_run_inside_a_run_is_refused() {
    let mut scene = Scene::new();
    scene.set("RALPH_RUN", "0198f3c2-7a1b-7c3d-8e4f-0123456789ab");
    let answer = scene.ralph(&run(&["--agent", "sim"]));
    assert_eq!(answer.code, 64);
    assert!(answer.err.contains("inside run 456789ab") && answer.err.contains("--nested"), "{}", answer.err);
    assert_eq!(scene.ralph(&["resume"]).code, 64);
    assert_eq!(scene.ralph(&run(&["--agent", "sim", "--nested", "--dry-run"])).code, 0);
}

#[test]
fn directories_that_cannot_be_worked_in() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("file", "")]);
    assert_eq!(scene.show(&["-C", "missing", "list"]).code, 64);
    assert_eq!(scene.show(&["-C", "file", "list"]).code, 64);
    scene.compare("mistakes_directories");
}
