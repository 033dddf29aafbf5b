//! Mistakes that the table of wrong inputs (`wrong_inputs.txt`) cannot hold: bytes, devices, what is nearly right.

use super::scene::{LIMITS, Scene};

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["run", "x"].into_iter().chain(LIMITS).chain(more.iter().copied()).collect()
}

#[test]
fn flags_that_belong_together_are_accepted_together() {
    let scene = Scene::new();
    let honoured = scene.ralph(&run(&[
        "--mode",
        "loop",
        "--sandbox",
        "off",
        "--network",
        "open",
        "--preset",
        "classic",
        "--dry-run",
        "--agent",
        "sim",
    ]));
    assert_eq!(honoured.code, 0, "{}", honoured.err);
}

#[test]
fn prompts_that_cannot_be_used() {
    let mut scene = Scene::new();
    std::fs::write(scene.scratch.workspace().join("bytes.md"), b"\xff\xfe").unwrap();
    for file in ["bytes.md", "/dev/zero"] {
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
fn a_word_that_is_not_text_is_refused_too() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    let words = [OsStr::new("list"), OsStr::from_bytes(b"--\xff"), OsStr::new("--json")];
    let answer = scene.ralph(&words);
    let error: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((answer.code, &error["code"]), (64, &64.into()), "{}", answer.err);
}
