//! What an agent changes in the user's own configuration: git's, as far as it may decide something, and ralph's limits.

use crate::bed::{Bed, Done};
use serde_json::Value;

const VERIFY: &str = "test \"$(cat value)\" = 2";

/// A run whose agent does the work, and something in the user's configuration.
fn ends(does: &str, code: i32, reason: &str) -> (Bed, Value) {
    let bed = Bed::git("");
    bed.script(&format!(
        "[*]\nrun {}; echo 2 > value\nclaim complete",
        does.replace("ROOT", &bed.scratch.root().display().to_string())
    ));
    bed.scratch.files(&[("value", "1\n")]);
    for args in [&["add", "-A"][..], &["commit", "-qm", "before"]] {
        assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    }
    let result = Done::of(&mut bed.run(&["--verify", VERIFY, "--max-iterations", "3"])).ends(code, reason);
    (bed, result)
}

fn outside(result: &Value) -> Vec<String> {
    let files = result["details"]["changes"]["outside"].as_array().cloned().unwrap_or_default();
    files.iter().map(|file| file.as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_honest_setting_of_git_for_the_user_is_no_obstacle() {
    for does in [
        "git config --global user.name Bot; git config --global user.email bot@localhost",
        "git config --global --add safe.directory \"$PWD\"",
        "git config --global filter.lfs.clean 'git-lfs clean -- %f'; git config --global filter.lfs.required true",
        "git config --global --add maintenance.repo \"$PWD\"",
    ] {
        let (_, result) = ends(does, 0, "gate_passed");
        assert_eq!((result["proof"].as_str(), outside(&result).len()), (Some("proven"), 0), "{does}");
    }
}

#[test]
fn a_setting_of_git_that_runs_code_is_named_and_the_receipt_says_why() {
    let (bed, result) = ends("git config --global core.hooksPath /nowhere", 2, "NEEDS_REVIEW");
    let [named] = &outside(&result)[..] else { panic!("{result}") };
    assert!(named.ends_with(" (core.hookspath)"), "{named}");
    assert!(!result.to_string().contains("/nowhere"), "values may be secrets");
    let status = Done::of(&mut bed.ralph(&["status"])).out;
    assert!(status.contains("proof") && !status.contains("belong to the check"), "{status}");
    let explained = Done::of(&mut bed.ralph(&["explain"])).out;
    assert!(explained.contains("configuration outside the workspace changed"), "{explained}");
}

#[test]
fn the_user_s_limits_for_agents_do_not_change_without_a_word() {
    let does = "mkdir -p ROOT/config/ralph; printf '[ceilings]\\nmax_cost_usd = 600.0\\n' > ROOT/config/ralph/config.toml";
    let (_, result) = ends(does, 2, "NEEDS_REVIEW");
    let [named] = &outside(&result)[..] else { panic!("{result}") };
    assert!(named.ends_with("/ralph/config.toml"), "{named}");
}
