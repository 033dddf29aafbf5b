//! `ralph diff`, `accept` and `reject`: one run's change alone, on any tree. What the user staged, changed or left
//! untracked is neither shown, committed nor taken back.

use crate::bed::{Bed, Done};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// An agent that does this and says so; there is nothing to verify.
pub fn worked(files: &[(&str, &str)], before: impl Fn(&Bed), script: &str) -> Bed {
    let bed = Bed::git(&format!("{script}\nclaim progress"));
    bed.scratch.files(files);
    bed.scratch.git(&["add", "-A"]);
    bed.scratch.git(&["commit", "-q", "--allow-empty", "-m", "Files"]);
    before(&bed);
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    bed
}

pub fn ralph(bed: &Bed, args: &[&str]) -> Done {
    Done::of(&mut bed.ralph(args))
}

#[track_caller]
pub fn accepts(bed: &Bed) -> Value {
    let done = ralph(bed, &["accept", "--json"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    serde_json::from_str(done.out.lines().last().unwrap()).unwrap()
}

/// The names and states of the latest commit's files.
pub fn last_commit(bed: &Bed) -> String {
    bed.scratch.git(&["show", "--format=", "--name-status", "--no-renames", "HEAD"]).replace('\t', " ")
}

#[test]
fn a_diff_has_this_run_alone_on_a_dirty_tree() {
    let dirty = |bed: &Bed| bed.scratch.files(&[("mine.txt", "dirty\n"), ("both.txt", "one\nmine\n")]);
    let files = [("mine.txt", "clean\n"), ("both.txt", "one\n")];
    let bed = worked(&files, dirty, "append both.txt agent\nwrite new.txt new\nrun printf 'a\\000b' > bin");
    bed.scratch.files(&[("later.txt", "later\n"), ("new.txt", "edited later\n")]);
    let done = ralph(&bed, &["diff"]);
    let wanted = "diff --git a/bin b/bin\nnew file mode 100644\n/dev/null and b/bin differ: a binary file\n\
                  diff --git a/both.txt b/both.txt\n--- a/both.txt\n+++ b/both.txt\n@@ -1,2 +1,3 @@\n one\n mine\n+agent\n\
                  diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n";
    assert_eq!((done.code, done.out.as_str()), (0, wanted), "{}", done.err);
    assert!(done.err.contains("changed 3 files") && done.err.contains("as it left them"), "{}", done.err);
    assert_eq!(ralph(&bed, &["diff", "--name-only"]).out, "bin\nboth.txt\nnew.txt\n");
    let stat = ralph(&bed, &["diff", "--stat"]).out;
    assert_eq!(stat, " bin      | added: a binary file\n both.txt | +1 -0\n new.txt  | +1 -0 (added)\n");
    let json: Value = serde_json::from_str(&ralph(&bed, &["diff", "--json"]).out).unwrap();
    assert_eq!((&json["until"], json["files"].as_array().unwrap().len()), (&"end".into(), 3));
    assert_eq!(
        (&json["files"][1]["added"], &json["files"][0]["notShown"]),
        (&1.into(), &"a binary file".into())
    );
}

#[test]
fn a_diff_needs_no_git_and_shows_no_secret() {
    let bed = Bed::plain("write a.txt \"open\\nlong-secret-value-1234\\n\"\nclaim progress");
    bed.scratch.files(&[(".env", "MY_KEY=long-secret-value-1234\n")]);
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    for args in [&["diff"][..], &["diff", "--json"], &["logs", "--diff"], &["logs", "--diff", "--raw"]] {
        let shown = ralph(&bed, args);
        assert_eq!(shown.code, 0, "{}", shown.err);
        let (open, secret) = (shown.out.contains("open"), shown.out.contains("long-secret"));
        assert!(open && !secret && shown.out.contains("[redacted:MY_KEY]"), "{args:?}: {}", shown.out);
    }
}

#[test]
fn a_diff_of_a_run_under_way_goes_up_to_now() {
    let bed = Bed::git("write a.txt half\nwrite ready yes\nhang");
    let live = bed.start(&[]);
    bed.awaits("ready");
    let done = ralph(&bed, &["diff"]);
    assert!(done.out.contains("+half") && done.err.contains("to the files now"), "{}{}", done.out, done.err);
    assert_eq!(ralph(&bed, &["accept"]).code, 73);
    assert_eq!(ralph(&bed, &["reject", "--yes"]).code, 73);
    live.signal(rustix::process::Signal::KILL);
    live.end();
    bed.nobody_is_left();
    let done = ralph(&bed, &["diff"]);
    assert!(done.out.contains("+half") && done.err.contains("cut short"), "{}{}", done.out, done.err);
    let done = ralph(&bed, &["accept"]);
    assert!(done.code == 64 && done.err.contains("was cut short"), "{}", done.err);
}

#[test]
fn accepting_commits_the_run_and_leaves_index_and_files_as_they_are() {
    let mess = |bed: &Bed| {
        bed.scratch.files(&[("staged.txt", "staged\n"), ("dirty.txt", "dirty\n"), ("untracked.txt", "u\n")]);
        bed.scratch.git(&["add", "staged.txt"]);
    };
    let files =
        [("staged.txt", "s\n"), ("dirty.txt", "d\n"), ("old.txt", "o\n"), ("run.sh", "true\n"), ("a", "a\n")];
    let script = "write new/file.txt new\ndelete old.txt\nrun chmod +x run.sh; ln -s a link; rm a; mkdir a; echo b > a/b";
    let bed = worked(&files, mess, script);
    bed.scratch.files(&[("new/file.txt", "edited after the run\n")]);
    let made = accepts(&bed);
    let wanted = "D a\nA a/b\nA link\nA new/file.txt\nD old.txt\nM run.sh";
    assert_eq!((last_commit(&bed).as_str(), &made["branch"]), (wanted, &"main".into()), "{made}");
    let status = bed.scratch.git(&["status", "--porcelain", "-uall"]);
    assert_eq!(status, " M dirty.txt\n M new/file.txt\nM  staged.txt\n?? untracked.txt");
    assert_eq!(bed.scratch.git(&["show", "HEAD:new/file.txt"]), "new");
    assert_eq!(bed.scratch.git(&["ls-tree", "HEAD", "run.sh", "link"]).matches("120000").count(), 1);
    let message = bed.scratch.git(&["log", "-1", "--format=%an <%ae>%n%B"]);
    let run = made["runId"].as_str().unwrap();
    for words in [
        "Test <test@localhost>\nDo the work\n",
        "Ended with: MAX_ITERATIONS",
        "Verification: no verify command",
        "Cost: $",
        &format!("Ralph-Run: {run}"),
    ] {
        assert!(message.contains(words), "{words} is not in:\n{message}");
    }
    let again = accepts(&bed);
    assert_eq!(
        (&again["commit"], &again["whyNot"]),
        (&Value::Null, &"all of it is committed already".into())
    );
}

#[test]
fn a_file_with_other_changes_is_merged_or_nothing_is_committed() {
    let ten: String = (1..=10).map(|n| format!("{n}\n")).collect();
    let mine = |bed: &Bed| {
        bed.scratch.files(&[("a.txt", &bed.scratch.read("a.txt").replace("1\n2\n", "1\nmine\n"))]);
    };
    let bed = worked(&[("a.txt", &ten)], mine, "replace a.txt 9 agent");
    accepts(&bed);
    assert_eq!(bed.scratch.git(&["show", "HEAD:a.txt"]) + "\n", ten.replace('9', "agent"));
    let diff = bed.scratch.git(&["diff", "-U0"]);
    assert!(diff.contains("+mine") && !diff.contains("agent"), "the user's change is uncommitted: {diff}");
    assert_eq!(bed.scratch.git(&["diff", "--cached"]), "");

    let bed = worked(
        &[("a.txt", "1\n")],
        |bed| bed.scratch.files(&[("a.txt", "mine\n"), ("u.txt", "u\n")]),
        "write a.txt agent\nwrite b.txt b\nappend u.txt more",
    );
    let before = bed.scratch.git(&["rev-parse", "HEAD"]);
    let done = ralph(&bed, &["accept"]);
    assert_eq!(done.code, 73, "{}", done.err);
    for words in ["nothing was committed", "a.txt: it also has changes", "u.txt: it was not committed when"] {
        assert!(done.err.contains(words), "{words} is not in {}", done.err);
    }
    assert_eq!(bed.scratch.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(bed.scratch.git(&["diff", "--cached", "--name-only"]), "");
    bed.scratch.git(&["add", "a.txt", "u.txt"]);
    bed.scratch.git(&["commit", "-q", "-m", "Mine"]);
    accepts(&bed);
    assert_eq!(last_commit(&bed), "A b.txt");
}

#[test]
fn commits_of_the_agent_or_of_the_user_since_are_built_on() {
    let nothing = |_: &Bed| {};
    let bed = worked(
        &[("a.txt", "1\n")],
        nothing,
        "write a.txt two\nwrite b.txt b\ncommit Half\nwrite a.txt three",
    );
    accepts(&bed);
    assert_eq!(
        (last_commit(&bed).as_str(), bed.scratch.git(&["show", "HEAD:a.txt"]).as_str()),
        ("M a.txt", "three")
    );
    let bed = worked(&[("a.txt", "1\n")], nothing, "write a.txt two\ncommit All");
    assert_eq!(accepts(&bed)["whyNot"], "all of it is committed already");
    // The user goes on, on another branch.
    let bed = worked(&[("a.txt", "1\n")], nothing, "write b.txt b");
    bed.scratch.git(&["checkout", "-q", "-b", "other"]);
    bed.scratch.files(&[("c.txt", "c\n")]);
    bed.scratch.git(&["add", "c.txt"]);
    bed.scratch.git(&["commit", "-q", "-m", "Other"]);
    assert_eq!((&accepts(&bed)["branch"], last_commit(&bed).as_str()), (&"other".into(), "A b.txt"));
    assert_eq!(bed.scratch.git(&["log", "--format=%s", "-2"]), "Do the work\nOther");
}

#[test]
fn what_does_not_belong_into_the_commit_is_left_out_and_named() {
    let inner = |bed: &Bed| {
        fs::create_dir(bed.scratch.workspace().join("inner")).unwrap();
        bed.scratch.git(&["init", "-q", "inner"]);
        let excludes = bed.scratch.root().join("excludes");
        fs::write(&excludes, "*.swp\n").unwrap();
        bed.scratch.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    };
    let script = "write inner/x.txt x\nwrite a.swp swap\nwrite build.log log\nwrite b.txt b";
    let bed = worked(&[(".gitignore", "*.log\n")], inner, script);
    let made = accepts(&bed);
    assert_eq!(last_commit(&bed), "A b.txt");
    let left: Vec<&str> =
        made["leftOut"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(left, ["a.swp", "inner/x.txt"], "{made}");
}

#[test]
fn hooks_are_not_run_and_that_is_said() {
    let hook = |bed: &Bed| {
        let path = bed.scratch.workspace().join(".git/hooks/pre-commit");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\ntouch hooked\nexit 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let bed = worked(&[], hook, "write b.txt b");
    let done = ralph(&bed, &["accept"]);
    assert!(done.code == 0 && done.err.contains("hooks were not run (pre-commit)"), "{}", done.err);
    assert!(!bed.scratch.workspace().join("hooked").exists());
}

#[test]
fn a_merge_under_way_no_author_and_no_git_are_said() {
    let bed = worked(&[], |_| {}, "write b.txt b");
    let head = bed.scratch.git(&["rev-parse", "HEAD"]);
    let merge = bed.scratch.workspace().join(".git/MERGE_HEAD");
    fs::write(&merge, &head).unwrap();
    let done = ralph(&bed, &["accept"]);
    assert!(done.code == 73 && done.err.contains("in the middle of a merge"), "{}", done.err);
    fs::remove_file(merge).unwrap();
    bed.scratch.git(&["config", "--unset", "user.name"]);
    bed.scratch.git(&["config", "--unset", "user.email"]);
    bed.scratch.git(&["config", "user.useConfigOnly", "true"]);
    let done = ralph(&bed, &["accept"]);
    assert!(done.code == 73 && done.err.contains("git config --global user.name"), "{}", done.err);
    assert_eq!(
        (bed.scratch.git(&["rev-parse", "HEAD"]), bed.scratch.git(&["diff", "--cached"])),
        (head, String::new())
    );

    let bed = Bed::plain("write b.txt b\nclaim progress");
    bed.done(&["--max-iterations", "1"]);
    let done = ralph(&bed, &["accept"]);
    assert!(done.code == 0 && done.err.contains("not in a git repository"), "{}", done.err);
}

#[test]
fn a_repository_without_commits_and_a_linked_work_tree_are_committed_to() {
    let bed = Bed::plain("write b.txt b\nclaim progress");
    bed.scratch.git(&["init", "-q", "-b", "main"]);
    bed.scratch.git(&["config", "user.name", "Test"]);
    bed.scratch.git(&["config", "user.email", "test@localhost"]);
    bed.scratch.files(&[("mine.txt", "mine\n")]);
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    accepts(&bed);
    assert_eq!(bed.scratch.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "b.txt");
    assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "?? mine.txt");

    let bed = Bed::git("write deep/b.txt b\nclaim progress");
    let linked = bed.scratch.root().join("linked");
    bed.scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    fs::create_dir(linked.join("sub")).unwrap();
    let run = Done::of(bed.run(&["--max-iterations", "1"]).current_dir(linked.join("sub")));
    run.ends(3, "MAX_ITERATIONS");
    let done = Done::of(bed.ralph(&["accept"]).current_dir(linked.join("sub")));
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(bed.scratch.git(&["ls-tree", "-r", "--name-only", "linked"]), "sub/deep/b.txt");
    assert_eq!(bed.scratch.git(&["ls-tree", "-r", "--name-only", "main"]), "");
}

#[test]
fn a_review_is_accepted_first_and_no_commit_stops_there() {
    for no_commit in [false, true] {
        let bed = Bed::git("write src/done.py yes\nclaim complete");
        bed.scratch.files(&[("ralph.toml", "[gate]\nrequire = \"proven\"\nask_for_test = 0\n")]);
        bed.done(&["--verify", "true"]).ends(2, "NEEDS_REVIEW");
        let head = bed.scratch.git(&["rev-parse", "HEAD"]);
        let args: &[&str] = if no_commit { &["accept", "--no-commit"] } else { &["accept"] };
        let done = ralph(&bed, args);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(bed.scratch.git(&["rev-parse", "HEAD"]) == head, no_commit);
        if !no_commit {
            assert_eq!(last_commit(&bed), "A src/done.py");
            assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "?? ralph.toml");
        }
        let again = ralph(&bed, &["accept", "--no-commit"]);
        assert!(again.code == 64 && again.err.contains("was not left for review"), "{}", again.err);
    }
}

#[test]
fn rejecting_takes_the_change_back_and_keeps_it_in_the_quarantine() {
    let files = [("a.txt", "a\n"), ("edited.txt", "e\n"), ("gone.txt", "g\n")];
    let bed = worked(
        &files,
        |_| {},
        "write a.txt agent\nwrite deep/new.txt new\nwrite edited.txt agent\ndelete gone.txt",
    );
    bed.scratch.files(&[("edited.txt", "the user's newer work\n")]);
    let done = ralph(&bed, &["reject"]);
    assert_eq!(done.code, 64, "confirmation is needed: {}", done.err);
    let done = ralph(&bed, &["reject", "--yes"]);
    assert_eq!(done.code, 2, "a file is not as before the run: {}", done.err);
    for words in [
        "Put back 3 of 4 files that the run changed",
        "edited.txt: it changed after the run",
        "--newer-too` restores them too",
        "ralph quarantine restore",
    ] {
        assert!(done.err.contains(words), "{words} is not in {}", done.err);
    }
    let read = |name: &str| fs::read_to_string(bed.scratch.workspace().join(name)).ok();
    let now = ["a.txt", "deep/new.txt", "edited.txt", "gone.txt"].map(read);
    let wanted =
        [Some("a\n"), None, Some("the user's newer work\n"), Some("g\n")].map(|it| it.map(str::to_owned));
    assert_eq!(now, wanted);
    let case: Value = serde_json::from_str(&ralph(&bed, &["quarantine", "show", "--json"]).out).unwrap();
    let paths: Vec<&str> =
        case["found"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a.txt", "deep", "deep/new.txt", "edited.txt", "gone.txt"]);
    let again = ralph(&bed, &["reject", "--yes"]);
    assert!(again.code == 2 && again.err.contains("nothing to do"), "{}", again.err);
    assert!(again.err.contains(case["case"].as_str().unwrap()), "{}", again.err);
    let back = ralph(&bed, &["quarantine", "restore", case["case"].as_str().unwrap(), "--yes"]);
    assert_eq!(back.code, 0, "{}", back.err);
    let now = ["a.txt", "deep/new.txt", "edited.txt", "gone.txt"].map(read);
    let wanted = [Some("agent\n"), Some("new\n"), Some("agent\n"), None].map(|it| it.map(str::to_owned));
    assert_eq!(now, wanted, "the whole change is back");
    let aside: Value = serde_json::from_str(&ralph(&bed, &["quarantine", "show", "--json"]).out).unwrap();
    let aside = ralph(&bed, &["quarantine", "restore", aside["case"].as_str().unwrap(), "--yes"]);
    assert_eq!(aside.code, 0, "{}", aside.err);
    assert_eq!(bed.scratch.read("edited.txt"), "the user's newer work\n", "what was replaced is kept, too");
    let cases = || {
        let listed = ralph(&bed, &["quarantine", "list", "--json"]).out;
        serde_json::from_str::<Value>(&listed).unwrap().as_array().unwrap().len()
    };
    let before = cases();
    assert_eq!(ralph(&bed, &["reject", "--yes"]).code, 2);
    assert_eq!(cases(), before, "the work is there already");
}

#[test]
fn a_rejection_that_can_put_nothing_back_says_so_and_keeps_the_work() {
    let bed = worked(&[("a.txt", "a\n")], |_| {}, "write a.txt agent\nwrite new.txt agent");
    bed.scratch.files(&[("a.txt", "mine\n"), ("new.txt", "mine\n"), ("later.txt", "mine\n")]);
    let dry = ralph(&bed, &["reject", "--dry-run", "--json"]);
    let plan: Value = serde_json::from_str(&dry.out).unwrap();
    assert_eq!((dry.code, &plan["case"]), (0, &Value::Null));
    let done = ralph(&bed, &["reject", "--yes", "--json"]);
    let told: Value = serde_json::from_str(&done.out).unwrap();
    let left: Vec<&Value> = told["notPutBack"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    assert_eq!((done.code, left), (2, vec![&json!("a.txt"), &json!("new.txt")]), "{told}");
    assert_eq!((&told["files"], &told["done"]), (&json!(2), &Value::Null));
    let case = told["case"].as_str().unwrap();
    assert_eq!(ralph(&bed, &["quarantine", "restore", case, "--yes"]).code, 0);
    let now = ["a.txt", "new.txt", "later.txt"].map(|name| bed.scratch.read(name));
    assert_eq!(now, ["agent\n", "agent\n", "mine\n"]);
}

#[test]
fn a_directory_that_a_restored_file_replaces_can_be_brought_back() {
    let bed = worked(&[("d/x", "x\n")], |_| {}, "run rm -r d; echo agent > d");
    let told = |args: &[&str]| -> Value { serde_json::from_str(&ralph(&bed, args).out).unwrap() };
    let rejected = told(&["reject", "--yes", "--json"]);
    bed.scratch.files(&[("d/deep/mine", "mine\n")]);
    let case = rejected["case"].as_str().unwrap();
    assert_eq!(told(&["quarantine", "restore", case, "--yes", "--json"])["done"], true);
    assert_eq!(bed.scratch.read("d"), "agent\n");
    let aside = told(&["quarantine", "show", "--json"]);
    let done = ralph(&bed, &["quarantine", "restore", aside["case"].as_str().unwrap(), "--yes"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!((bed.scratch.read("d/x"), bed.scratch.read("d/deep/mine")), ("x\n".into(), "mine\n".into()));
}

#[test]
fn a_case_of_many_paths_is_listed_as_briefly_as_its_rejection() {
    let bed = worked(&[], |_| {}, "run mkdir many; cd many; seq 200 | xargs touch");
    let rejected = ralph(&bed, &["reject", "--yes"]);
    let case: Value = serde_json::from_str(&ralph(&bed, &["quarantine", "show", "--json"]).out).unwrap();
    let back = ralph(&bed, &["quarantine", "restore", case["case"].as_str().unwrap(), "--yes"]);
    assert_eq!((rejected.code, back.code), (0, 0), "{}{}", rejected.err, back.err);
    for told in [rejected, back] {
        assert!(told.err.lines().count() < 30 && told.err.contains("and 181 more"), "{}", told.err);
    }
}

#[test]
fn rejected_work_that_was_committed_is_said_to_stay_there() {
    let bed = worked(&[("a.txt", "a\n")], |_| {}, "write a.txt agent\ncommit Mine");
    let done = ralph(&bed, &["reject", "--yes"]);
    assert!(done.code == 0 && done.err.contains("stay in git"), "{}", done.err);
    assert_eq!(
        (bed.scratch.read("a.txt").as_str(), bed.scratch.git(&["show", "HEAD:a.txt"]).as_str()),
        ("a\n", "agent")
    );
}
