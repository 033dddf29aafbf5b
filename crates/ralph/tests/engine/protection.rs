//! Protection as a user meets it: a run that may go on after a restore, and what lies in quarantine afterwards.

use crate::bed::{Bed, Done};
use serde_json::Value;
use std::fs;

/// Lets runs go on after protected paths were put back: only the user's own config may say so.
fn may_go_on(bed: &Bed) {
    let dir = bed.scratch.root().join("config/ralph");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.toml"), "[protect]\non_violation = \"restore\"\n").unwrap();
}

fn json(bed: &Bed, args: &[&str]) -> Value {
    let done = Done::of(&mut bed.ralph(args));
    assert_eq!(done.code, 0, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

const GREEN: [&str; 2] = ["--verify", "test -e done.txt"];

#[test]
fn a_run_may_go_on_after_a_restore_but_that_iteration_is_not_done() {
    let script =
        "[1]\nwrite .env stolen\nwrite done.txt yes\nclaim complete\n[*]\nwrite more.txt x\nclaim complete";
    let bed = Bed::git(script);
    bed.scratch.files(&[(".env", "KEY=user")]);
    may_go_on(&bed);
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    assert_eq!(bed.scratch.read(".env"), "KEY=user");
    let prompt = bed.state_files().into_iter().find(|f| f.ends_with("002.a1.prompt.md")).unwrap();
    assert!(fs::read_to_string(prompt).unwrap().contains(".env"), "the agent is told");
    assert_eq!(Done::of(&mut bed.ralph(&["replay", "--strict"])).code, 0);
}

#[test]
fn it_goes_on_three_times_and_no_more() {
    let bed = Bed::git("run echo $RALPH_ITERATION > .env; echo $RALPH_ITERATION > work.txt\nclaim progress");
    bed.scratch.files(&[(".env", "KEY=user")]);
    may_go_on(&bed);
    let result = bed.done(&["--max-iterations", "9"]).ends(4, "PROHIBITED_PATH");
    assert_eq!(result["iterations"], 4);
    assert_eq!(bed.scratch.read(".env"), "KEY=user");
    assert_eq!(json(&bed, &["quarantine", "list", "--json"]).as_array().unwrap().len(), 4);
}

#[test]
fn a_project_cannot_let_a_run_go_on() {
    let bed = Bed::git("write .env stolen\nclaim complete");
    bed.scratch.files(&[("ralph.toml", "[protect]\non_violation = \"restore\"\n")]);
    let done = bed.done(&[]);
    assert!(done.code == 78 && done.err.contains("protect.on_violation"), "{}", done.err);
}

#[test]
fn the_result_says_what_happened_and_where_it_lies() {
    let bed = Bed::git(
        "run echo stolen > .env; rm secrets/key; mkdir -p src/auth; echo x > src/auth/a\nclaim complete",
    );
    bed.scratch.files(&[(".env", "KEY=user"), ("secrets/key", "k")]);
    let result = bed.done(&[]).ends(4, "PROHIBITED_PATH");
    let how = |path: &str| {
        let files = result["details"]["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).map(|file| file["how"].clone()).unwrap_or_default()
    };
    assert_eq!(
        (how(".env"), how("secrets/key"), how("src/auth/a")),
        ("modified".into(), "deleted".into(), "added".into())
    );
    let folder = result["details"]["quarantine"].as_str().unwrap();
    assert!(std::path::Path::new(folder).join("list.json").is_file(), "{result}");
    let shown = Done::of(&mut bed.ralph(&["quarantine", "show"]));
    assert!(
        shown.out.contains(".env (modified), saved as") && shown.out.contains("secrets/key (deleted)"),
        "{}",
        shown.out
    );
}

#[test]
fn settings_of_git_that_are_a_violation_are_named_without_their_values() {
    let bed = Bed::git(
        "[*]\nrun git config user.name A; git config core.hooksPath /somewhere/else\nclaim complete",
    );
    let result = Done::of(&mut bed.run(&["--max-iterations", "1"])).ends(4, "PROHIBITED_PATH");
    assert_eq!(result["details"]["files"][0]["keys"], serde_json::json!(["core.hookspath"]));
    let why = result["details"]["why"].as_str().unwrap();
    assert!(why.contains(".git/config (core.hookspath)"), "{why}");
    for command in ["explain", "quarantine show"] {
        let words: Vec<&str> = command.split(' ').collect();
        let shown = Done::of(&mut bed.ralph(&words)).out;
        assert!(shown.contains(".git/config (modified: core.hookspath)"), "{command}: {shown}");
        assert!(!shown.contains("/somewhere/else"), "{command}: {shown}");
    }
}

#[test]
fn what_is_in_quarantine_comes_back_only_by_explicit_wish() {
    let bed = Bed::git("run echo stolen > .env; chmod 640 .env; ln -s /etc/hosts secrets/l\nclaim complete");
    bed.scratch.files(&[(".env", "KEY=user"), ("secrets/key", "k")]);
    bed.done(&[]).ends(4, "PROHIBITED_PATH");
    let case = json(&bed, &["quarantine", "list", "--json"])[0]["case"].as_str().unwrap().to_string();
    let restore =
        |more: &[&str]| Done::of(&mut bed.ralph(&[&["quarantine", "restore", &case], more].concat()));
    let asked = restore(&[]);
    assert!(asked.code == 64 && asked.err.contains("replace .env"), "{}", asked.err);
    assert_eq!(restore(&["--dry-run"]).code, 0);
    assert_eq!(bed.scratch.read(".env"), "KEY=user");
    bed.scratch.files(&[(".env", "KEY=newer")]);
    let done = restore(&["--yes"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(bed.scratch.read(".env"), "stolen\n");
    let at = bed.scratch.workspace();
    assert_eq!(fs::read_link(at.join("secrets/l")).unwrap(), std::path::Path::new("/etc/hosts"));
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(at.join(".env")).unwrap().permissions().mode() & 0o777, 0o640);
    let cases = json(&bed, &["quarantine", "list", "--json"]);
    let newest = &cases.as_array().unwrap()[1];
    let kept = std::path::Path::new(newest["folder"].as_str().unwrap())
        .join(newest["found"][0]["file"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "KEY=newer", "what was replaced is kept");
    assert_eq!(restore(&["--yes", "--path", "nonsense"]).code, 64);
    assert_eq!(Done::of(&mut bed.ralph(&["quarantine", "show", "nonsense"])).code, 64);
}

#[test]
fn what_the_user_changes_between_two_calls_is_the_users() {
    let bed = Bed::git("run echo $RALPH_ITERATION > a.txt\nclaim progress");
    bed.scratch.files(&[(".env", "KEY=user")]);
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    bed.scratch.files(&[(".env", "KEY=newer")]);
    bed.scratch.git(&["config", "alias.x", "status"]);
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json", "--max-iterations", "2"]));
    resumed.ends(3, "MAX_ITERATIONS");
    assert_eq!(bed.scratch.read(".env"), "KEY=newer");
    assert_eq!(bed.scratch.git(&["config", "alias.x"]), "status");
}

#[test]
fn a_verification_that_touches_a_secret_is_put_back_too() {
    let bed = Bed::git("write done.txt yes\nclaim complete");
    bed.scratch.files(&[(".env", "KEY=user")]);
    let touch = "test ! -e done.txt || { echo tested >> .env; echo x > .git/hooks/post-commit; }";
    let result = bed.done(&["--verify", touch]).ends(4, "PROHIBITED_PATH");
    assert_eq!(result["details"]["files"].as_array().unwrap().len(), 2, "{result}");
    assert_eq!(bed.scratch.read(".env"), "KEY=user");
    assert!(!bed.scratch.workspace().join(".git/hooks/post-commit").exists());
}

/// A commit that is passed off as fetched in one call cannot be taken up in the next.
#[test]
fn a_forged_fetch_proves_nothing_later() {
    let make =
        "b=$(echo evil | git hash-object -w --stdin); t=$(printf \"100644 blob $b\\t.env\\n\" | git mktree)";
    let script = format!(
        "[1]\nrun {make}; git update-ref refs/remotes/origin/x $(git commit-tree $t -m x)\nwrite a x\nclaim progress\n\
         [*]\nrun git branch mine refs/remotes/origin/x\nwrite b x\nclaim progress"
    );
    let bed = Bed::git(&script);
    let result = bed.done(&["--max-iterations", "3"]).ends(4, "PROHIBITED_PATH");
    assert_eq!(
        (result["iterations"].as_u64(), &result["details"]["files"][0]["how"]),
        (Some(2), &"in_history".into())
    );
    assert!(result["details"]["files"][0]["commit"].is_string());
    let shown = Done::of(&mut bed.ralph(&["quarantine", "show"]));
    assert!(shown.out.contains("does not rewrite history"), "{}", shown.out);
}

/// History is the user's: a run that may go on after a restore still ends here.
#[test]
fn what_is_in_history_ends_the_run_whatever_the_setting() {
    let bed = Bed::git("run git add -f .env; git commit -qm leak\nclaim progress");
    bed.scratch.files(&[(".env", "KEY=user"), (".gitignore", ".env\n")]);
    may_go_on(&bed);
    bed.done(&["--max-iterations", "3"]).ends(4, "PROHIBITED_PATH");
    assert_eq!(bed.scratch.git(&["log", "-1", "--format=%s"]), "leak", "refs are left alone");
}

/// Nobody can restore them, so the run ends here too, says what is lost and what to type.
#[test]
fn deleted_objects_of_git_end_the_run_whatever_the_setting() {
    let bed = Bed::git("run rm -rf .git/objects/??\nclaim progress");
    may_go_on(&bed);
    let commit = bed.scratch.git(&["rev-parse", "HEAD"]);
    let done = bed.done(&["--max-iterations", "3"]);
    let result = done.ends(4, "PROHIBITED_PATH");
    assert_eq!(result["details"]["files"][0]["path"], ".git/objects");
    assert_eq!(result["details"]["files"][0]["how"], "deleted");
    let lost = format!("left as is  .git/objects (deleted: commit {} of branch", &commit[..10]);
    for text in [lost.as_str(), "git fsck ", "git fetch --refetch "] {
        assert!(done.err.contains(text), "{text:?}: {}", done.err);
    }
    assert_eq!(done.records("restored")[0]["left"][0], ".git/objects");
    assert_eq!(Done::of(&mut bed.ralph(&["replay", "--strict"])).code, 0);
}
