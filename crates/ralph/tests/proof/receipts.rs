//! `ralph verify` and the receipts of runs: what they say, and that they notice what changed since.

use crate::bed::{Bed, Done};
use crate::case::with_tools;
use serde_json::Value;
use std::fs;

/// A repository on `main` with a check that is red, and a branch.
fn repository() -> Bed {
    let bed = Bed::git("write greet.sh echo hello\nclaim complete");
    bed.scratch.files(&[("greet.sh", "echo helo\n"), ("check.sh", "[ \"$(sh greet.sh)\" = hello ]\n")]);
    for args in [
        &["add", "-A"][..],
        &["commit", "-qm", "before"],
        &["branch", "-M", "main"],
        &["switch", "-qc", "work"],
    ] {
        assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    }
    bed
}

fn verify(bed: &Bed, args: &[&str]) -> (i32, Value) {
    let done = Done::of(&mut with_tools(bed.ralph(&[&["verify", "--json"], args].concat())));
    (done.code, serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err)))
}

const CHECK: [&str; 2] = ["--verify", "sh check.sh"];

#[test]
fn a_working_tree_is_verified_whoever_made_it() {
    let bed = repository();
    let (code, red) = verify(&bed, &CHECK);
    assert_eq!((code, red["verdict"].as_str()), (1, Some("failed")));
    bed.scratch.files(&[("greet.sh", "echo hello\n"), ("tests/test_more.sh", "true\n")]);
    let (code, green) = verify(&bed, &CHECK);
    assert_eq!((code, green["verdict"].as_str()), (0, Some("proven")), "{green}");
    assert_eq!((green["proof"].as_str(), green["filesChanged"].as_u64()), (Some("proven"), Some(2)));
    // The base failed and the files of now pass: that is the work, not chance.
    assert_eq!(
        (green["flaky"].as_bool(), green["reasons"].as_array().map(Vec::len)),
        (Some(false), Some(1)),
        "{green}"
    );
    assert_eq!(
        (green["commands"].as_array().unwrap().len(), green["rooms"].as_array().unwrap().len()),
        (2, 2)
    );
    bed.scratch.files(&[("greet.sh", "echo helo\n"), ("check.sh", "exit 0\n")]);
    let (code, cheat) = verify(&bed, &CHECK);
    assert_eq!((code, cheat["verdict"].as_str()), (4, Some("oracle_changed")), "{cheat}");
    assert!(cheat["changes"]["oracle"][0].as_str().unwrap().starts_with("check.sh ("), "{cheat}");
    let kept = bed.state_files();
    assert!(kept.iter().all(|path| path.components().any(|c| c.as_os_str() == "rooms")), "{kept:?}");
}

#[test]
fn a_subdirectory_and_a_submodule_are_compared_with_themselves() {
    let bed = repository();
    bed.scratch.files(&[("part/add.sh", "echo 3\n"), ("part/check.sh", "[ \"$(sh add.sh)\" = 3 ]\n")]);
    let git = |args: &[&str]| assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    git(&["init", "-q", "lib"]);
    bed.scratch.files(&[("lib/two.sh", "echo 2\n")]);
    git(&["-C", "lib", "add", "-A"]);
    git(&["-C", "lib", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "lib"]);
    git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
    git(&["commit", "-qm", "parts"]);
    bed.scratch.files(&[("greet.sh", "echo hello # more\n")]);
    let suite = ["--base", "HEAD", "--verify", "[ \"$(sh lib/two.sh)\" = 2 ]"];
    assert_eq!(verify(&bed, &suite).1["proof"], "unbroken", "what the submodule holds is not new");
    bed.scratch.files(&[("part/add.sh", "echo 4\n"), ("part/check.sh", "[ \"$(sh add.sh)\" = 4 ]\n")]);
    let mut command = bed.ralph(&["verify", "--json", "--base", "HEAD", "--verify", "sh check.sh"]);
    let done = Done::of(command.current_dir(bed.scratch.workspace().join("part")));
    let receipt: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    assert_eq!((done.code, receipt["proof"].as_str()), (2, Some("revised")), "{receipt}");
}

#[test]
fn a_branch_is_verified_apart_and_nothing_here_is_touched() {
    let bed = repository();
    bed.scratch.files(&[("greet.sh", "echo hello\n")]);
    for args in [&["commit", "-qam", "work"][..], &["switch", "-q", "main"]] {
        assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    }
    let (code, receipt) = verify(&bed, &[&CHECK[..], &["--branch", "work"]].concat());
    assert_eq!((code, receipt["verdict"].as_str()), (0, Some("proven")), "{receipt}");
    assert_eq!(verify(&bed, &CHECK).0, 1, "the files here are red");
    let wrong = Done::of(&mut bed.ralph(&["verify", "--branch", "nope", "--verify", "true"]));
    assert!(wrong.code == 64 && wrong.err.contains("nope"), "{}", wrong.err);
    let nothing = Done::of(&mut bed.ralph(&["verify"]));
    assert!(nothing.code == 64 && nothing.err.contains("--verify"), "{}", nothing.err);
}

#[test]
fn a_receipt_notices_what_changed_since() {
    let bed = repository();
    bed.scratch.files(&[("greet.sh", "echo hello\n")]);
    let path = bed.scratch.root().join("receipt.json");
    fs::write(&path, verify(&bed, &CHECK).1.to_string()).unwrap();
    let check = || verify(&bed, &["--check", path.to_str().unwrap()]);
    let (code, holds) = check();
    assert_eq!((code, &holds["holds"]), (0, &Value::Bool(true)), "{holds}");
    bed.scratch.files(&[("greet.sh", "echo hello # later\n")]);
    let (code, fails) = check();
    assert_eq!((code, &fails["holds"]), (1, &Value::Bool(false)), "{fails}");
    fs::write(&path, "{}").unwrap();
    assert_eq!(Done::of(&mut bed.ralph(&["verify", "--check", path.to_str().unwrap()])).code, 65);
}

#[test]
fn a_run_leaves_a_receipt_bound_to_its_journal() {
    let bed = repository();
    let done = Done::of(&mut bed.run(&["--verify", "sh check.sh"]));
    let result = done.ends(0, "gate_passed");
    let run = result["runId"].as_str().unwrap();
    let path = bed.scratch.state().join("ralph/runs").join(run).join("receipt.json");
    let receipt: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        (receipt["verdict"].as_str(), receipt["reason"].as_str()),
        (Some("proven"), Some("gate_passed"))
    );
    assert_eq!((receipt["chain"]["run"].as_str(), receipt["filesChanged"].as_u64()), (Some(run), Some(1)));
    assert!(fs::read_to_string(path.with_extension("md")).unwrap().contains("sh check.sh"));
    let (code, holds) = verify(&bed, &["--check", path.to_str().unwrap()]);
    assert_eq!((code, &holds["holds"]), (0, &Value::Bool(true)), "{holds}");
    let mut forged = receipt;
    forged["chain"]["hash"] = "00".into();
    fs::write(&path, forged.to_string()).unwrap();
    assert_eq!(verify(&bed, &["--check", path.to_str().unwrap()]).0, 1);
}
