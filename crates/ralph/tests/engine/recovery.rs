//! What must still be true after ralph itself was killed, or a person comes back: nothing that happened before is
//! forgotten, and nothing that was typed is ignored.

use crate::bed::{Bed, Done, Live, until};
use rustix::process::Signal;

const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];

fn killed(bed: &Bed, live: Live, when: &str) {
    bed.awaits(when);
    live.signal(Signal::KILL);
    live.end();
    bed.nobody_is_left();
}

#[test]
fn a_protected_path_touched_before_a_crash_is_seen_after_it() {
    let bed = Bed::git("write src/auth/login.rs evil\nwrite started yes\nhang");
    let live = bed.start(&["--verify", "true"]);
    killed(&bed, live, "started");
    bed.script("claim complete");
    let done = Done::of(&mut bed.ralph(&["resume", "--json"]));
    done.ends(4, "PROHIBITED_PATH");
    assert_eq!(done.records("inspected")[0]["violations"][0]["path"], "src/auth/login.rs");
}

#[test]
fn a_protected_path_touched_by_a_verification_that_a_crash_cut_short_is_seen_too() {
    let bed = Bed::git("write armed yes\nclaim complete");
    let evil =
        "test -f armed || exit 1; echo evil > .env; touch started; until [ -e go ]; do sleep 0.05; done";
    let live = bed.start(&["--verify", evil]);
    killed(&bed, live, "started");
    bed.touch("go");
    Done::of(&mut bed.ralph(&["resume", "--json"])).ends(4, "PROHIBITED_PATH");
}

#[test]
fn objects_of_git_that_were_deleted_before_a_crash_are_missed_after_it() {
    for packed in [false, true] {
        let bed = Bed::git("run rm -rf .git/objects/?? .git/objects/pack/*\nwrite started yes\nhang");
        if packed {
            bed.scratch.git(&["gc", "-q"]);
        }
        let live = bed.start(&["--verify", "true"]);
        killed(&bed, live, "started");
        bed.script("claim complete");
        let done = Done::of(&mut bed.ralph(&["resume", "--json"]));
        done.ends(4, "PROHIBITED_PATH");
        assert_eq!(done.records("inspected")[0]["violations"][0]["path"], ".git/objects");
    }
}

#[test]
fn an_open_breaker_binds_resume_too() {
    let bed = Bed::git("write started yes\nhang");
    let live = bed.start(&GREEN);
    bed.awaits("started");
    live.signal(Signal::INT);
    let first = live.end().ends(130, "INTERRUPTED");
    bed.script("claim progress");
    bed.done(&["--fresh", "--verify", "false"]).ends(1, "STALL");
    let resumed = Done::of(&mut bed.ralph(&["resume", first["runId"].as_str().unwrap(), "--json"]));
    resumed.ends(1, "CIRCUIT_OPEN");
}

#[test]
fn an_interrupted_run_is_not_continued_with_other_flags_than_it_began_with() {
    let bed = Bed::git("write started yes\nhang");
    let live = bed.start(&GREEN);
    bed.awaits("started");
    live.signal(Signal::INT);
    live.end();
    for flags in [["--protect", "important.txt"], ["--timeout", "3s"], ["--verify", "true"]] {
        let all: Vec<&str> = if flags[0] == "--verify" { flags.to_vec() } else { [GREEN, flags].concat() };
        let done = bed.done(&all);
        assert_eq!(done.code, 64, "{flags:?}: {}", done.err);
        assert!(done.err.contains("--fresh") && done.err.contains("ralph resume"), "{}", done.err);
    }
}

#[test]
fn a_stop_that_nobody_heard_does_not_end_the_next_process() {
    let bed = Bed::git(
        "write started yes\nrun until [ -e go ]; do sleep 0.05; done\nwrite done.txt yes\nclaim complete",
    );
    let live = bed.start(&GREEN);
    bed.awaits("started");
    // Held in the middle of a commit, it would hold the database too; then it is let go and held once more.
    let asked = (0..5).any(|_| {
        live.signal(Signal::STOP);
        let asked = Done::of(&mut bed.ralph(&["stop"])).code == 0;
        if !asked {
            live.signal(Signal::CONT);
        }
        asked
    });
    assert!(asked, "nobody could ask it");
    live.signal(Signal::KILL);
    live.end();
    bed.nobody_is_left();
    bed.touch("go");
    Done::of(&mut bed.ralph(&["resume", "--json"])).ends(0, "gate_passed");
}

#[test]
fn raised_limits_are_no_difference_in_replay() {
    let bed = Bed::git("claim progress");
    bed.done(&["--max-iterations", "1", "--verify", "false"]).ends(3, "MAX_ITERATIONS");
    Done::of(&mut bed.ralph(&["resume", "--max-iterations", "2", "--json"])).ends(3, "MAX_ITERATIONS");
    let replay = Done::of(&mut bed.ralph(&["replay"]));
    assert_eq!(replay.code, 0, "{}", replay.out);
}

#[test]
fn what_a_lost_tender_leaves_behind_is_ended_before_verification() {
    let bed = Bed::plain("");
    let script = "cat > /dev/null\n(setsid sh -c 'touch started; sleep 60' &)\n\
                  until [ -e started ]; do sleep 0.05; done\nkill -9 $PPID\nsleep 60\n";
    std::fs::write(bed.scratch.root().join("agent.sh"), script).unwrap();
    let mut command =
        bed.ralph(&["run", "Work", "--agent", "command", "--max-iterations", "1", "--max-cost", "2"]);
    command
        .args(["--verify", "test -f done.txt", "--json", "--", "sh"])
        .arg(bed.scratch.root().join("agent.sh"));
    let done = Done::of(&mut command);
    done.ends(3, "MAX_ITERATIONS");
    assert!(done.call()["outlived"].as_u64().unwrap() > 0, "{}", done.call());
    bed.nobody_is_left();
}

#[test]
fn an_iteration_that_a_crash_cut_in_two_is_billed_in_the_list() {
    let bed = Bed::git("write started yes\nhang");
    let live = bed.start(&GREEN);
    killed(&bed, live, "started");
    bed.script("write done.txt yes\nclaim complete");
    let result = Done::of(&mut bed.ralph(&["resume", "--json"])).ends(0, "gate_passed");
    let status = until("status", || {
        serde_json::from_str::<serde_json::Value>(&Done::of(&mut bed.ralph(&["status", "--json"])).out).ok()
    });
    let costs = status["iterations"].as_array().unwrap().iter().map(|i| i["cost_micro"].as_f64().unwrap());
    assert_eq!(costs.sum::<f64>() / 1e6, result["costUSD"].as_f64().unwrap());
}

/// The claim of a call that ended beside ralph's death is judged by a process that called nobody itself.
#[test]
fn a_test_that_was_bent_before_a_crash_is_not_believed_after_it() {
    let bed = Bed::git("write check.sh true\nclaim complete\nlinger 60s");
    bed.scratch.files(&[("check.sh", "test -f never.txt\n")]);
    let live = bed.start(&["--verify", "sh check.sh"]);
    bed.awaits_output("001.a1.out.jsonl", "EXIT_SIGNAL: true");
    live.signal(Signal::KILL);
    live.end();
    bed.nobody_is_left();
    Done::of(&mut bed.ralph(&["resume", "--json"])).ends(4, "ORACLE_CHANGED");
}
