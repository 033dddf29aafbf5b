//! A plan taken story by story: each is proven by itself and ticked by ralph, an agent's ticks are put back, what is stuck
//! is set aside; whatever happens to the plan meanwhile, nothing is ticked unproven and no edit is lost.

use crate::bed::{Bed, Done, Live, until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// One file proves each story: `a.txt` the first, `b.txt` the second.
const PRD: &str = "\u{feff}{\r\n  \"project\": \"p\",\r\n  \"userStories\": [\r\n    {\"id\": \"B\", \"title\": \"Second\", \"priority\": 2, \
    \"passes\": false, \"verify\": [\"test -f b.txt\"], \"mine\": {\"kept\": [1,  2]}},\r\n    {\"id\": \"A\", \"title\": \"First\", \
    \"priority\": 1, \"passes\": false, \"acceptanceCriteria\": [\"a.txt exists\"], \"verify\": [\"test -f a.txt\"]}\r\n  ]\r\n}\r\n";
const STORIES: [&str; 3] = ["--plan", "prd.json", "--stories"];
const BOTH: &str = "[1]\nwrite a.txt yes\nclaim complete\n[2]\nwrite b.txt yes\nclaim complete";

fn bed(script: &str, prd: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[("prd.json", prd)]);
    bed
}

fn run(bed: &Bed, more: &[&str]) -> Done {
    bed.done(&[&STORIES[..], more].concat())
}

fn read(bed: &Bed) -> String {
    fs::read_to_string(bed.scratch.workspace().join("prd.json")).unwrap()
}

/// Each story that was ticked, and its grade.
fn grants(done: &Done) -> Vec<(String, String)> {
    let decided = done.records("decided").into_iter();
    let grants = decided.filter_map(|d| d["next"]["what"]["grant"].as_object().cloned());
    grants.map(|g| (g["key"].as_str().unwrap().into(), g["grade"].as_str().unwrap().into())).collect()
}

fn planned(done: &Done) -> Vec<Value> {
    done.records("planned")
}

#[test]
fn every_story_is_proven_by_itself_and_only_ticks_change() {
    let bed = bed(BOTH, PRD);
    fs::set_permissions(bed.scratch.workspace().join("prd.json"), PermissionsExt::from_mode(0o640)).unwrap();
    let done = run(&bed, &[]);
    let result = done.ends(0, "gate_passed");
    assert_eq!((&result["iterations"], &result["proof"]), (&2.into(), &"proven".into()));
    assert_eq!(grants(&done), [("A".into(), "proven".into()), ("B".into(), "proven".into())]);
    assert_eq!(read(&bed), PRD.replace("false", "true"), "every other byte is as it was");
    let mode = fs::metadata(bed.scratch.workspace().join("prd.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let sent = bed.prompts();
    assert!(
        sent[0].contains("A: First") && sent[0].contains("- a.txt exists") && !sent[0].contains("Second")
    );
    assert!(sent[1].contains("B: Second") && !sent[1].contains("First"), "{}", sent[1]);
    assert_eq!(result["details"]["stories"][1]["proof"], "proven");
    assert!(done.err.contains("story: A: First (0 done, 2 open)"), "{}", done.err);
    assert!(done.err.contains("story done  proven: B: Second"), "{}", done.err);
    assert!(bed.says(&["explain"]).contains("tick the story A: First"));
    assert!(bed.says(&["status", "--json"]).contains("\"stories\""));
    assert_eq!(Done::of(&mut bed.ralph(&["replay"])).code, 0);
}

#[test]
fn a_later_story_cannot_break_what_an_earlier_one_has_shown() {
    let script = "[1]\nwrite a.txt yes\nclaim complete\n[2]\ndelete a.txt\nwrite b.txt yes\nclaim complete\n\
        [3]\nwrite a.txt again\nclaim complete";
    let bed = bed(script, PRD);
    let done = run(&bed, &[]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 3, "{}", done.err);
    assert!(done.err.contains("but `test -f a.txt` failed"), "{}", done.err);
    assert!(done.err.contains("each story verified by its own commands"), "{}", done.err);
}

#[test]
fn a_check_of_a_later_story_cannot_be_rewritten_before_it_begins() {
    let bed = Bed::git(
        "[1]\nwrite a.py hi = 1\nwrite tests/b.sh test -f c.py\nclaim complete\n[2]\nwrite c.py z = 1\nclaim complete",
    );
    bed.scratch.files(&[
        ("a.py", "x = 1\n"),
        ("b.py", "x = 1\n"),
        ("tests/a.sh", "grep -q hi a.py\n"),
        ("tests/b.sh", "grep -q hi b.py\n"),
        (
            "prd.json",
            r#"{"userStories": [{"id": "A", "title": "First", "passes": false, "verify": ["sh tests/a.sh"]},
                {"id": "B", "title": "Second", "passes": false, "verify": ["sh tests/b.sh"], "dependsOn": ["A"]}]}"#,
        ),
    ]);
    let done = run(&bed, &[]);
    let result = done.result();
    assert_ne!((&result["status"], done.code), (&"COMPLETED".into(), 0), "{}", done.err);
    assert!(done.err.contains("tests/b.sh"), "{}", done.err);
}

#[test]
fn an_agents_ticks_are_put_back_and_named() {
    let script = "[1]\nrun sed -i s/false/true/ prd.json\nclaim complete\n[2]\nwrite a.txt yes\nclaim complete\n\
        [3]\nrun sed -i s/false/true/ prd.json\nwrite b.txt yes\nclaim complete";
    let bed = bed(script, PRD);
    let done = run(&bed, &[]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 3);
    assert_eq!(planned(&done)[1]["put_back"], serde_json::json!(["B", "A"]));
    assert!(done.err.contains("ticks put back: B, A"), "{}", done.err);
    let sent = bed.prompts();
    assert!(sent[1].contains("were put back, because only ralph sets them:\n- B\n- A\n"), "{}", sent[1]);
    assert!(!sent[2].contains("were put back"), "{}", sent[2]);
    assert_eq!(read(&bed), PRD.replace("false", "true"));
}

#[test]
fn an_agent_cannot_weaken_remove_or_break_the_plan() {
    for (act, said) in [
        ("run sed -i 's/test -f b.txt/true/' prd.json", "B was changed; it counts as it was"),
        ("write prd.json {\"userStories\": []}", "B was removed; it still counts"),
        ("write prd.json {broken", "was put back as it was; what was there is in "),
        ("delete prd.json", "there is no such file) and was put back"),
        ("run head -c 3000000 /dev/zero > prd.json", "larger than 1 MiB) and was put back"),
        (
            "run rm prd.json && ln -s /etc/hostname prd.json",
            "it is a link to /etc/hostname) and was put back",
        ),
        ("run sed -i 's/\"B\"/\"A\"/' prd.json", "the id A is used twice, first in line 4) and was put back"),
    ] {
        let script = format!(
            "[1]\nwrite a.txt yes\n{act}\nclaim complete\n[2]\nclaim complete\n[3]\nwrite b.txt yes\nclaim complete"
        );
        let bed = bed(&script, PRD);
        let done = run(&bed, &[]);
        assert_eq!(done.ends(0, "gate_passed")["iterations"], 3, "{act}: {}", done.err);
        let told = planned(&done).iter().any(|p| p["ignored"].to_string().contains(said));
        assert!(told, "{act}: {:?}", planned(&done));
        assert_eq!(grants(&done).len(), 2, "{act}");
        let failed = done.records("verified").iter().any(|v| v.to_string().contains("test -f b.txt"));
        assert!(failed, "{act}: the story's own command ran");
    }
}

#[test]
fn a_story_is_set_aside_and_what_is_left_blocks() {
    let bed = bed("[1]\nwrite x.txt 1\n[2]\nwrite x.txt 2\n[3]\nwrite b.txt yes\nclaim complete", PRD);
    bed.scratch.files(&[("ralph.toml", "[plan]\nfile = \"prd.json\"\nstories = true\nattempts = 2\n")]);
    let done = bed.done(&[]);
    let result = done.ends(2, "BLOCKED");
    assert_eq!(result["iterations"], 3);
    assert!(result["details"]["why"].as_str().unwrap().contains("A: First"), "{result}");
    assert_eq!(read(&bed).matches("true").count(), 1, "only B is ticked: {}", read(&bed));
    assert!(done.err.contains("set aside   A, after 2 iterations"), "{}", done.err);
    bed.script("write a.txt yes\nclaim complete");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json", "--hint", "a.txt it is"]));
    resumed.ends(0, "gate_passed");
    assert_eq!(read(&bed), PRD.replace("false", "true"));
}

#[test]
fn mistakes_are_told_before_anything_is_spent() {
    let cycle =
        "{\"stories\": [{\"id\": \"a\", \"dependsOn\": [\"b\"]},\n {\"id\": \"b\", \"dependsOn\": [\"a\"]}]}";
    let unknown = "{\"stories\": [\n{\"id\": \"a\", \"dependsOn\": [\"zz\"]}]}";
    for (prd, flags, code, said) in [
        (cycle, &STORIES[..], 65, "line 2, column 28: the dependencies form a cycle: a → b → a"),
        (unknown, &STORIES[..], 65, "line 2, column 27: a depends on zz, which is not in the plan"),
        (
            "{\"stories\": [{\"id\": \"a\"}]}",
            &STORIES[..],
            78,
            "no verify command could prove the story a of prd.json",
        ),
        (PRD, &["--stories"][..], 64, "--stories needs a plan, and none is named"),
    ] {
        let bed = bed("claim complete", prd);
        let done = bed.done(flags);
        assert_eq!(done.code, code, "{}", done.err);
        assert!(done.err.contains(said), "{said}: {}", done.err);
        assert!(done.result()["runId"].is_null());
    }
}

/// The first call waits until it is told to go on.
const WAITS: &str =
    "[1]\nwrite a.txt yes\nwrite started yes\nrun until [ -e go ]; do sleep 0.05; done\nclaim complete\n";

/// A run whose first call is under way.
fn under_way(rest: &str) -> (Bed, Live) {
    let bed = bed(&format!("{WAITS}{rest}"), PRD);
    let live = bed.start(&STORIES);
    bed.awaits("started");
    (bed, live)
}

/// The same, paused before its second call: the first story was granted.
fn paused(rest: &str) -> (Bed, Live) {
    let (bed, live) = under_way(rest);
    assert_eq!(Done::of(&mut bed.ralph(&["pause"])).code, 0);
    bed.touch("go");
    until("it is paused", || bed.says(&["list"]).contains("PAUSED").then_some(()));
    (bed, live)
}

fn edit(bed: &Bed, change: impl Fn(String) -> String) {
    let path = bed.scratch.workspace().join("prd.json");
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

#[test]
fn what_a_person_edits_between_two_calls_counts() {
    let (bed, live) = paused("[2]\nwrite c.txt yes\nclaim complete");
    assert!(
        read(&bed).contains("\"A\", \"title\": \"First\", \"priority\": 1, \"passes\": true"),
        "{}",
        read(&bed)
    );
    // The second story is ticked by hand, a third one is added.
    edit(&bed, |text| {
        text.replace("\"passes\": false", "\"passes\": true").replacen(
            "{\"id\": \"B\"",
            "{\"id\": \"C\", \"passes\": false, \"verify\": [\"test -f c.txt\"]},\r\n    {\"id\": \"B\"",
            1,
        )
    });
    let edited = read(&bed);
    assert_eq!(Done::of(&mut bed.ralph(&["continue"])).code, 0);
    let done = live.end();
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    let keys: Vec<String> = grants(&done).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["A", "C"]);
    assert_eq!(read(&bed), edited.replace("false", "true"));
    assert!(planned(&done).iter().all(|planned| planned["put_back"].is_null()), "{:?}", planned(&done));
}

#[test]
fn a_story_that_is_added_during_a_call_is_kept_and_taken() {
    let rest = "[2]\nwrite b.txt yes\nclaim complete\n[3]\nwrite c.txt yes\nclaim complete";
    let bed = bed(&format!("{WAITS}{rest}"), PRD);
    let live = bed.start(&[&STORIES[..], &["--verify", "true"]].concat());
    bed.awaits("started");
    let new = "{\"id\": \"C\", \"passes\": false},\r\n    {\"id\": \"B\"";
    edit(&bed, |text| text.replacen("{\"id\": \"B\"", new, 1));
    let edited = read(&bed);
    bed.touch("go");
    let done = live.end();
    let keys: Vec<String> = grants(&done).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["A", "B", "C"], "{}", done.err);
    done.ends(0, "gate_passed");
    assert_eq!(read(&bed), edited.replace("false", "true"));
}

#[test]
fn a_plan_that_a_person_broke_ends_the_run_and_is_left_alone() {
    let (bed, live) = paused("[2]\nwrite b.txt yes\nclaim complete");
    let whole = read(&bed);
    edit(&bed, |text| text.replacen("\"mine\"", "mine", 1));
    let broken = read(&bed);
    assert_eq!(Done::of(&mut bed.ralph(&["continue"])).code, 0);
    let done = live.end();
    let result = done.ends(65, "PLAN_UNUSABLE");
    assert!(
        result["error"].as_str().unwrap().contains("prd.json cannot be used: line 4, column "),
        "{result}"
    );
    assert_eq!(read(&bed), broken);
    edit(&bed, |_| whole.clone());
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json"]));
    assert_eq!(resumed.ends(0, "gate_passed")["iterations"], 2);
    assert_eq!(read(&bed), PRD.replace("false", "true"));
}

#[test]
fn a_tick_of_a_call_that_was_killed_is_put_back() {
    let script = "[1]\nrun sed -i s/false/true/ prd.json\nwrite started yes\nhang";
    let bed = bed(script, PRD);
    let live = bed.start(&STORIES);
    bed.awaits("started");
    live.signal(Signal::KILL);
    assert_ne!(live.end().code, 0);
    assert!(!read(&bed).contains("false"), "the agent's ticks");
    bed.script("[1]\nwrite a.txt yes\nclaim complete\n[2]\nwrite a.txt yes\nclaim complete\n[3]\nwrite b.txt yes\nclaim complete");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json"]));
    resumed.ends(0, "gate_passed");
    assert_eq!(planned(&resumed)[0]["put_back"], serde_json::json!(["B", "A"]), "{}", resumed.err);
    assert_eq!(grants(&resumed).len(), 2);
}

#[test]
fn a_plan_that_is_complete_already_needs_no_call() {
    let bed = bed("claim complete", &PRD.replace("false", "true"));
    let done = run(&bed, &["--verify", "true"]);
    assert_eq!(done.ends(0, "already_complete")["iterations"], 0);
    assert!(bed.prompts().is_empty());
}

#[test]
fn markdown_is_taken_item_by_item_too() {
    let plan = "# Plan\n- [ ] a\n  - verify: `test -f a.txt`\n- [ ] b\n  - [ ] inner\n    - verify: test -f c.txt\n  - verify: test -f b.txt\n## Optional\n- [ ] c\n";
    let bed = Bed::git(
        "[1]\nwrite a.txt 1\nclaim complete\n[2]\nwrite c.txt 1\nclaim complete\n[3]\nwrite b.txt 1\nclaim complete",
    );
    bed.scratch.files(&[("plan.md", plan)]);
    let done = bed.done(&["--plan", "plan.md", "--stories"]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 3);
    let keys: Vec<String> = grants(&done).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["a", "inner", "b"]);
    let now = fs::read_to_string(bed.scratch.workspace().join("plan.md")).unwrap();
    assert_eq!(now, plan.replacen("[ ]", "[x]", 3));
}
