//! A second agent reads proven work, as a person would see it: worker and reviewer are both scripted.

use crate::bed::{Bed, Done, until};
use rustix::process::Signal;
use serde_json::Value;

const WORK: &str = "[1]\nwrite src/done.py yes\nspend 0.10\nclaim complete\n\
                    [*]\nappend src/done.py again\nspend 0.10\nclaim complete\n";
const SHIP: &str = "message <<END\nFine.\n\n---RALPH_REVIEW---\nVERDICT: SHIP\nFINDINGS:\n- none\n\
                    ---END_RALPH_REVIEW---\nEND\nclaim none\n";
const REVISE: &str = "message <<END\n---RALPH_REVIEW---\nVERDICT: REVISE\nFINDINGS:\n- src/done.py:1 says nothing\n\
                      - no test\n---END_RALPH_REVIEW---\nEND\nclaim none\n";

/// A repository whose check needs `src/done.py`, a worker that writes it, and this reviewer.
fn bed(review: &str) -> Bed {
    let bed = Bed::git(WORK);
    let script = bed.scratch.root().join("review.sim");
    std::fs::write(&script, review).unwrap();
    let settings = format!(
        "[review]\nagent = \"sim\"\n[agents.sim]\nargs = [\"--script\", {:?}]\n[gate]\nask_for_test = 0\n",
        script.display()
    );
    bed.scratch.files(&[("ralph.toml", &settings), ("check.sh", "test -f src/done.py\n")]);
    bed.scratch.git(&["add", "."]);
    bed.scratch.git(&["commit", "-qm", "check"]);
    bed
}

const VERIFY: [&str; 2] = ["--verify", "sh check.sh"];

/// The steps of reviews, and of everything else.
fn calls(done: &Done) -> (usize, usize) {
    let calls: Vec<Value> =
        done.records("decided").into_iter().filter(|d| d["next"]["what"]["step"] == "call").collect();
    let reviews = calls.iter().filter(|call| call["next"]["what"]["review"] == true).count();
    (calls.len() - reviews, reviews)
}

fn micro(value: &Value) -> i64 {
    #[allow(clippy::cast_possible_truncation)] // a few dollars
    let micro = (value.as_f64().unwrap() * 1e6).round() as i64;
    micro
}

/// What the result says it cost is what worker and reviewer were charged together.
#[track_caller]
fn costs_add_up(done: &Done, result: &Value) {
    let charged: i64 = done.records("call_ended").iter().map(|call| call["charged"].as_i64().unwrap()).sum();
    assert_eq!(micro(&result["costUSD"]), charged, "{result}");
}

#[test]
fn ship_completes_the_run() {
    let bed = bed(&format!("spend 0.03\n{SHIP}"));
    let done = bed.done(&VERIFY);
    let result = done.ends(0, "gate_passed");
    assert_eq!((&result["proof"], &result["iterations"]), (&"proven".into(), &1.into()), "{}", done.err);
    assert_eq!(calls(&done), (1, 1));
    costs_add_up(&done, &result);
    assert!(done.err.contains("review 1 of 2 by sim: SHIP"), "{}", done.err);
    let logs = Done::of(&mut bed.ralph(&["logs"])).out;
    assert!(logs.contains("Review 1 of 2 by sim"), "{logs}");
    let explained = Done::of(&mut bed.ralph(&["explain"])).out;
    assert!(explained.contains("review 1 of 2 by sim: SHIP [review_ships]"), "{explained}");
    let replayed = Done::of(&mut bed.ralph(&["replay"]));
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
}

#[test]
fn revise_is_told_to_the_worker_and_its_answer_is_reviewed() {
    let bed = bed(&format!("[1]\n{REVISE}[*]\n{SHIP}"));
    let done = bed.done(&VERIFY);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2, "{}", done.err);
    assert_eq!(calls(&done), (2, 2));
    assert!(done.err.contains("review 1 of 2 by sim: REVISE, 2 findings"), "{}", done.err);
    let prompt = Done::of(&mut bed.ralph(&["explain", "--prompt", "2"])).out;
    assert!(prompt.contains("src/done.py:1 says nothing"), "{prompt}");
}

#[test]
fn after_two_objections_a_person_decides() {
    let bed = bed(REVISE);
    let done = bed.done(&VERIFY);
    let result = done.ends(2, "NEEDS_REVIEW");
    assert_eq!((calls(&done), &result["iterations"]), ((2, 2), &2.into()));
    costs_add_up(&done, &result);
    let accepted = Done::of(&mut bed.ralph(&["accept", "--json"]));
    assert_eq!(accepted.code, 0, "{}{}", accepted.out, accepted.err);
}

#[test]
fn a_reviewer_that_crashes_changes_nothing_and_is_named() {
    for review in ["crash\n", "say Hm\nfail auth\n", "message It is fine.\nclaim none\n", "claim complete\n"]
    {
        let bed = bed(review);
        let done = bed.done(&VERIFY);
        done.ends(0, "gate_passed");
        assert_eq!(calls(&done), (1, 1));
        assert!(done.err.contains("review 1 of 2 by sim has no verdict"), "{review}: {}", done.err);
    }
}

#[test]
fn what_a_reviewer_writes_is_thrown_away() {
    let bed = bed(&format!("write src/done.py spoiled\nwrite new.txt mine\nrun rm check.sh\n{SHIP}"));
    let done = bed.done(&VERIFY);
    done.ends(0, "gate_passed");
    assert_eq!(bed.scratch.read("src/done.py"), "yes\n");
    assert!(!bed.scratch.workspace().join("new.txt").exists());
    assert!(bed.scratch.workspace().join("check.sh").exists());
    assert!(bed.state_files().iter().all(|file| !file.ends_with("new.txt")), "nothing of it is kept");
}

#[test]
fn a_kill_during_a_review_is_recovered() {
    let bed = bed("hang\n");
    let live = bed.start(&VERIFY);
    until("the review", || bed.state_files().iter().any(|f| f.ends_with("001.a2.out.jsonl")).then_some(()));
    live.signal(Signal::KILL);
    live.end();
    bed.nobody_is_left();
    let done = Done::of(&mut bed.ralph(&["resume", "--json"]));
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["iterations"], 1, "{}", done.err);
    assert!(done.err.contains("has no verdict: ralph ended abruptly"), "{}", done.err);
}

#[test]
fn a_reviewer_that_is_not_installed_is_said_at_the_start() {
    let bed = bed(SHIP);
    bed.scratch
        .files(&[("ralph.toml", "[review]\nagent = \"command\"\n[agents.command]\ncommand = \"./none\"\n")]);
    let done = bed.done(&VERIFY);
    assert!(done.code != 0 && done.err.contains("review.agent"), "{}", done.err);
}
