//! A run that was started in a part of a repository: whose changes around it count, and what is said of them.

use crate::bed::{Bed, Done};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What the check of the whole repository says when it has been softened.
const SOFTENED: &str = "printf '#!/bin/sh\\ntrue\\n' > ../../scripts/check";
const MENDED: &str = "echo 'echo 2' > value.sh";
const VERIFY: &str = "sh ../../scripts/check";

/// A repository of two packages with a check for both. The runs are started in `packages/a`.
fn repository(script: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[
        ("packages/a/value.sh", "echo 1\n"),
        ("packages/b/tests/t.sh", "test 1 = 1\n"),
        ("scripts/check", "#!/bin/sh\ntest \"$(sh value.sh)\" = 2\n"),
    ]);
    for args in [&["add", "-A"][..], &["commit", "-qm", "before"]] {
        assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    }
    bed
}

fn at(bed: &Bed, name: &str) -> PathBuf {
    bed.scratch.workspace().join(name)
}

fn run_in(bed: &Bed, dir: &str, flags: &[&str]) -> Command {
    let mut command = bed.run(&[&["--verify", VERIFY], flags].concat());
    command.current_dir(at(bed, dir));
    command
}

fn names(result: &Value, set: &str) -> Vec<String> {
    let files = result["details"]["changes"][set].as_array().cloned().unwrap_or_default();
    files.iter().map(|file| file.as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_changed_around_is_named_and_asked_to_be_put_back() {
    let bed = repository(&format!("[*]\nrun {SOFTENED}; echo '# done' >> value.sh\nclaim complete"));
    let done = Done::of(&mut run_in(&bed, "packages/a", &["--max-iterations", "3"]));
    let result = done.ends(2, "NEEDS_REVIEW");
    let outside = names(&result, "outside");
    assert!(outside.len() == 1 && outside[0].starts_with("../../scripts/check ("), "{outside:?}");
    let said = "tests or configuration outside the workspace changed: ../../scripts/check";
    assert!(bed.prompts().last().unwrap().contains(said));
    let explained = Done::of(bed.ralph(&["explain"]).current_dir(at(&bed, "packages/a")));
    assert!(explained.out.contains(said), "{}", explained.out);
}

#[test]
fn what_the_agent_puts_back_does_not_count() {
    let put_back = "git checkout -q ../../scripts";
    let bed = repository(&format!(
        "[1]\nrun {SOFTENED}; {MENDED}\nclaim complete\n[*]\nrun {put_back}\nclaim complete"
    ));
    let result = Done::of(&mut run_in(&bed, "packages/a", &[])).ends(0, "gate_passed");
    assert_eq!((result["proof"].as_str(), names(&result, "outside").len()), (Some("proven"), 0));
}

#[test]
fn what_the_user_changes_around_between_calls_is_the_users() {
    let bed = repository("[1]\nrun echo '# first' >> value.sh\n[*]\nclaim complete");
    Done::of(&mut run_in(&bed, "packages/a", &["--max-iterations", "1"])).ends(3, "MAX_ITERATIONS");
    fs::write(at(&bed, "scripts/check"), "#!/bin/sh\n# both\ntest \"$(sh value.sh | tail -1)\" = 2\n")
        .unwrap();
    fs::write(at(&bed, "packages/b/tests/t.sh"), "test 2 = 2\n").unwrap();
    fs::write(at(&bed, "package.json"), "{}").unwrap();
    bed.script(&format!("[*]\nrun {MENDED}\nclaim complete"));
    let mut resume = bed.ralph(&["resume", "--json", "--max-iterations", "3"]);
    let result = Done::of(resume.current_dir(at(&bed, "packages/a"))).ends(0, "gate_passed");
    assert_eq!((result["proof"].as_str(), names(&result, "around").len()), (Some("proven"), 0));
}

#[test]
fn what_an_interrupted_call_changed_around_is_not_the_users() {
    let bed =
        repository(&format!("[*]\nrun {SOFTENED}; echo '# done' >> value.sh\nrun touch began; sleep 600"));
    let mut command = run_in(&bed, "packages/a", &[]);
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    bed.awaits("packages/a/began");
    child.kill().unwrap();
    child.wait().unwrap();
    bed.script("[*]\nclaim complete");
    let mut resume = bed.ralph(&["resume", "--json", "--max-iterations", "4"]);
    let result = Done::of(resume.current_dir(at(&bed, "packages/a"))).ends(2, "NEEDS_REVIEW");
    assert!(names(&result, "outside")[0].starts_with("../../scripts/check ("), "{result}");
}

#[test]
fn a_run_in_the_package_beside_is_no_false_alarm() {
    let wait = "touch waiting; while [ ! -e ../b/done ]; do sleep 0.05; done";
    let bed = repository(&format!("[*]\nrun {wait}; {MENDED}\nclaim complete"));
    let mut command = run_in(&bed, "packages/a", &["--max-iterations", "2"]);
    let first = std::thread::scope(|scope| {
        let first = scope.spawn(|| Done::of(&mut command));
        bed.awaits("packages/a/waiting");
        bed.script("[*]\nrun echo 'test 3 = 3' > tests/t.sh; touch done\nclaim complete");
        let mut beside = bed.run(&["--verify", "sh tests/t.sh", "--max-iterations", "2"]);
        Done::of(beside.current_dir(at(&bed, "packages/b")));
        first.join().unwrap()
    });
    let result = first.ends(0, "gate_passed");
    assert_eq!(result["proof"], "proven");
    let around = names(&result, "around");
    assert!(around.iter().any(|file| file == "../b/tests/t.sh (another run works there)"), "{around:?}");
}
