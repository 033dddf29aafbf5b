//! Whole runs that go wrong in the ways runs do: outcome, reason, exit code and number of iterations of each, and what
//! the breaker and the ladder make of it.

use crate::bed::{Bed, Done};
use serde_json::Value;

/// A script of one section an iteration.
fn sections(each: impl Fn(u32) -> String, iterations: u32) -> String {
    (1..=iterations).map(|n| format!("[{n}]\n{}\n", each(n))).collect()
}

/// Exit code, reason and iterations.
#[track_caller]
fn comes_to(bed: &Bed, flags: &[&str], (code, reason, iterations): (i32, &str, u32)) -> Done {
    let done = bed.done(flags);
    assert_eq!(done.ends(code, reason)["iterations"], iterations, "{}", done.err);
    done
}

fn settings(bed: &Bed, text: &str) {
    bed.scratch.files(&[("ralph.toml", text)]);
}

fn json(bed: &Bed, args: &[&str]) -> Value {
    let done = Done::of(&mut bed.ralph(args));
    assert_eq!(done.code, 0, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

/// What changed the breaker, by code.
fn changes(bed: &Bed) -> Vec<String> {
    let status = json(bed, &["circuit", "status", "--json"]);
    let code = |change: &Value| change["code"].as_str().unwrap().to_string();
    status["history"].as_array().unwrap().iter().map(code).collect()
}

/// The journal decides itself again, whatever happened.
fn replays(bed: &Bed) {
    let done = Done::of(&mut bed.ralph(&["replay", "--strict"]));
    assert_eq!(done.code, 0, "{}", done.out);
}

#[test]
fn commits_inside_the_loop_are_work() {
    let bed = Bed::git(&sections(|n| format!("write a.txt {n}\ncommit Step {n}\nclaim progress"), 5));
    let done = comes_to(&bed, &[], (3, "MAX_ITERATIONS", 5));
    assert!(done.records("inspected").iter().all(|seen| seen["files"] == 1));
    replays(&bed);
}

#[test]
fn untracked_files_alone_are_work() {
    let bed = Bed::git(&sections(|n| format!("write new{n}.txt {n}\nclaim progress"), 5));
    comes_to(&bed, &[], (3, "MAX_ITERATIONS", 5));
    assert_eq!(bed.scratch.git(&["status", "--porcelain"]).lines().count(), 5);
}

#[test]
fn old_dirt_is_nobodys_work_committed_or_not() {
    for script in
        ["say Thinking\nclaim progress", "[1]\ncommit What lay there\nclaim progress\n[*]\nclaim progress"]
    {
        let bed = Bed::git(script);
        bed.scratch.files(&[("old.txt", "from before\n")]);
        comes_to(&bed, &[], (1, "STALL", 4));
        assert_eq!(bed.scratch.read("old.txt"), "from before\n");
    }
}

#[test]
fn to_and_fro_is_no_progress_and_told() {
    let script = sections(|n| format!("write a.txt {}\nclaim progress", ["B", "A"][n as usize % 2]), 10);
    let bed = Bed::git(&script);
    let done = comes_to(&bed, &["--max-iterations", "10"], (1, "STALL", 6));
    assert!(
        done.err.contains("the files are back in the state after iteration 1: no progress"),
        "{}",
        done.err
    );
    let story = Done::of(&mut bed.ralph(&["explain"])).out;
    assert!(
        story.contains("[seen_before]") && story.contains("the files are as they were after iteration 2"),
        "{story}"
    );
    assert_eq!(changes(&bed), ["half_open", "no_progress"]);
    let records = json(&bed, &["explain", "--json"]);
    let grounds: Vec<&Value> =
        records.as_array().unwrap().iter().map(|r| &r["grounds"]).filter(|g| g.is_object()).collect();
    assert_eq!(grounds.len(), 6);
    assert_eq!((&grounds[1]["files"], &grounds[2]["files"]["back"]), (&"new".into(), &1.into()), "{records}");
    replays(&bed);
}

const SHOWS_ERROR: [&str; 2] = ["--verify", "cat error.txt; exit 1"];

#[test]
fn five_different_errors_are_no_loop() {
    let words = ["", "no such table", "missing semicolon", "wrong type", "file not found", "overflow"];
    let bed =
        Bed::git(&sections(|n| format!("write error.txt error: {}\nclaim progress", words[n as usize]), 5));
    comes_to(&bed, &SHOWS_ERROR, (3, "MAX_ITERATIONS", 5));
}

#[test]
fn the_same_error_elsewhere_is_the_same_error() {
    let error =
        |n| format!("write error.txt error: mismatched types in /tmp/x{n}/a.rs:{n}0:{n}\nclaim progress");
    let bed = Bed::git(&sections(error, 8));
    let done =
        comes_to(&bed, &[&SHOWS_ERROR[..], &["--max-iterations", "8"]].concat(), (1, "SAME_ERROR_5X", 5));
    assert!(done.err.contains("the same error 3 times in a row (limit 5)"), "{}", done.err);
    let told = |n: &str| Done::of(&mut bed.ralph(&["explain", "--prompt", n])).out;
    assert!(!told("3").contains("Debug systematically"), "{}", told("3"));
    assert!(told("4").contains("You are stuck: this error keeps coming back"), "{}", told("4"));
    let first =
        "- Last error, 3 times in a row since iteration 1: error: mismatched types in /tmp/x1/a.rs:10:1\n";
    assert!(told("4").contains(first), "{}", told("4"));
    assert_eq!(changes(&bed), ["same_error"]);
    let again = bed.done(&[]);
    again.ends(1, "CIRCUIT_OPEN");
    for word in
        ["the last error was: error: mismatched types", "task.md", "cat error.txt", "ralph circuit reset"]
    {
        assert!(again.err.contains(word), "{word:?} is missing:\n{}", again.err);
    }
    replays(&bed);
}

#[test]
fn the_prompt_has_the_counts_of_the_verification_before_it() {
    let counts = |n| format!("write error.txt == {} failed, 1{n} passed in 0.1s ==\nclaim progress", 9 - n);
    let bed = Bed::git(&sections(counts, 3));
    comes_to(&bed, &[&SHOWS_ERROR[..], &["--max-iterations", "3"]].concat(), (3, "MAX_ITERATIONS", 3));
    let told = |n: &str| Done::of(&mut bed.ralph(&["explain", "--prompt", n])).out;
    assert!(told("2").contains("failed with exit code 1 (tests: 11 passing, 8 failing)\n"), "{}", told("2"));
    assert!(told("3").contains("failed with exit code 1 (tests: 12 passing, 7 failing)\n"), "{}", told("3"));
}

#[test]
fn refused_tools_are_named_with_what_would_allow_them() {
    let bed = Bed::git("deny WebFetch example.org\nclaim progress");
    let done = comes_to(&bed, &[], (1, "PERMISSION_DENIED", 3));
    assert!(done.err.contains("WebFetch denied in 3 iterations"), "{}", done.err);
    assert!(done.err.contains("agents.sim.args"), "{}", done.err);
}

#[test]
fn refused_tools_beside_progress_stop_nothing() {
    let bed = Bed::git(&sections(|n| format!("deny Bash ls\nwrite a.txt {n}\nclaim progress"), 5));
    comes_to(&bed, &[], (3, "MAX_ITERATIONS", 5));
}

#[test]
fn questions_are_answered_by_nobody_and_are_no_progress() {
    let bed = Bed::git("message Should I use the old parser?\nclaim none");
    comes_to(&bed, &[], (1, "STALL", 4));
    let told = Done::of(&mut bed.ralph(&["explain", "--prompt", "2"])).out;
    assert!(told.contains("the agent asked a question, but nobody is there to answer"), "{told}");
    assert!(told.contains("Nobody will answer questions: choose the safest option and continue."), "{told}");
    let bed = Bed::git(&sections(|n| format!("write a.txt {n}\nmessage Should I go on?\nclaim none"), 5));
    comes_to(&bed, &[], (3, "MAX_ITERATIONS", 5));
}

#[test]
fn blocked_ends_at_once_and_is_noted() {
    let bed = Bed::git("write a.txt 1\nrecommendation Need a password\nclaim blocked exit=true");
    comes_to(&bed, &["--verify", "true"], (2, "BLOCKED", 1));
    assert_eq!(changes(&bed), ["blocked"]);
    bed.script("write a.txt 2\nclaim complete");
    bed.done(&["--verify", "true"]).ends(0, "gate_passed");
}

#[test]
fn nothing_but_tests_saturates() {
    let bed = Bed::git(&sections(|n| format!("write tests/reads_test.py {n}\nclaim progress"), 5));
    comes_to(&bed, &[], (1, "TEST_SATURATION", 3));
    let bed = Bed::git("claim progress type=TESTING");
    comes_to(&bed, &[], (1, "TEST_SATURATION", 3));
}

#[test]
fn an_idle_agent_gets_one_other_approach_then_the_breaker_opens() {
    let bed = Bed::git("say Thinking\nrecommendation Look at the lexer\nclaim progress");
    comes_to(&bed, &[], (1, "STALL", 4));
    let told = |n: &str| Done::of(&mut bed.ralph(&["explain", "--prompt", n])).out;
    assert!(!told("3").contains("You are stuck"), "{}", told("3"));
    assert!(told("4").contains("You are stuck: no file changes"), "{}", told("4"));
    assert!(
        told("4").contains("- Iteration 3: 0 files changed; reported: Look at the lexer"),
        "{}",
        told("4")
    );
    assert_eq!(changes(&bed), ["half_open", "no_progress"]);
    Done::of(&mut bed.ralph(&["circuit", "reset"]));
    assert_eq!(changes(&bed), ["half_open", "no_progress", "reset"]);
    let status = Done::of(&mut bed.ralph(&["circuit", "status"])).out;
    assert!(status.starts_with("CLOSED") && status.contains("HALF_OPEN → OPEN"), "{status}");
}

#[test]
fn shrinking_answers_warn_or_open_as_the_settings_say() {
    let says = |n| {
        let words =
            if n < 4 { "I looked at the parser and changed a line. ".repeat(20) } else { "Ok.".into() };
        format!("write a.txt {n}\nmessage {words}\nclaim none")
    };
    let bed = Bed::git(&sections(says, 5));
    let done = comes_to(&bed, &[], (3, "MAX_ITERATIONS", 5));
    assert!(done.err.contains("the final message shrank to"), "{}", done.err);
    settings(&bed, "[breaker]\ndecline = \"open\"\n");
    comes_to(&bed, &[], (1, "OUTPUT_DECLINE", 4));
    assert_eq!(changes(&bed), ["output_decline"]);
}

#[test]
fn a_breaker_cools_down_where_that_was_asked_for() {
    let bed = Bed::git("say Thinking\nclaim progress");
    comes_to(&bed, &[], (1, "STALL", 4));
    bed.script("write done.txt yes\nclaim complete");
    settings(&bed, "[breaker]\ncooldown = \"1h\"\n");
    bed.done(&["--verify", "true"]).ends(1, "CIRCUIT_OPEN");
    let status = json(&bed, &["circuit", "status", "--json"]);
    assert_eq!((&status["state"], status["closesAt"].is_i64()), (&"OPEN".into(), true), "{status}");
    settings(&bed, "[breaker]\ncooldown = \"1ms\"\n");
    bed.done(&["--verify", "true"]).ends(0, "gate_passed");
    assert_eq!(changes(&bed), ["half_open", "no_progress", "cooldown"]);
}

/// A base agent that never gets on, and a rung that does.
fn with_ladder(weak: &str, strong: &str) -> Bed {
    let bed = Bed::git(weak);
    let script = bed.scratch.root().join("strong.sim");
    std::fs::write(&script, strong).unwrap();
    let rung = format!("[[ladder]]\nmodel = \"strong\"\nargs = [\"--script\", {:?}]\n", script.display());
    settings(&bed, &rung);
    bed
}

fn rungs(done: &Done) -> Vec<u64> {
    let calls = done.records("decided").into_iter().filter(|d| d["next"]["what"]["step"] == "call");
    calls.map(|call| call["next"]["what"]["rung"].as_u64().unwrap()).collect()
}

#[test]
fn the_ladder_is_climbed_where_it_is_needed_and_left_on_progress() {
    let strong = "[4]\nwrite a.txt 1\nclaim progress\n[8]\nwrite done.txt yes\nmessage All tests pass.\nclaim complete";
    let bed = with_ladder("say Thinking\nclaim progress", strong);
    let flags = ["--verify", "test -f done.txt || { date +%N; exit 1; }", "--max-iterations", "10"];
    settings(&bed, &(bed.scratch.read("ralph.toml") + "[breaker]\nsame_error = 9\n"));
    let done = comes_to(&bed, &flags, (0, "gate_passed", 8));
    assert_eq!(rungs(&done), [0, 0, 0, 1, 1, 1, 1, 1], "the error stays the same, so the run stays stuck");
    replays(&bed);

    let bed = with_ladder("say Thinking\nclaim progress", strong);
    let done = comes_to(&bed, &["--max-iterations", "9"], (0, "gate_passed", 8));
    assert_eq!(rungs(&done), [0, 0, 0, 1, 0, 0, 0, 1]);
    for words in
        ["escalating to rung 1 of 1: sim with strong", "progress: back to sim", "rung 1, sim (strong) 2×"]
    {
        assert!(done.err.contains(words), "{words:?} is missing:\n{}", done.err);
    }
    let status = json(&bed, &["status", "--json"]);
    assert_eq!(status["rungs"][3]["rung"], 1, "{status}");
    let text = Done::of(&mut bed.ralph(&["status"])).out;
    assert!(text.contains(", rung 1") && text.contains("rung 1: sim (strong)"), "{text}");
    let story = Done::of(&mut bed.ralph(&["explain"])).out;
    assert!(story.contains("[escalated]") && story.contains("[deescalated]"), "{story}");
    assert_eq!(changes(&bed), ["half_open", "progress_again", "half_open", "progress_again"]);
    replays(&bed);
}

#[test]
fn a_resumed_run_climbs_the_ladder_it_was_given() {
    let bed = with_ladder("say Thinking\nclaim progress", "write done.txt yes\nclaim complete");
    let verify = ["--verify", "test -f done.txt"];
    comes_to(&bed, &[&verify[..], &["--max-iterations", "3"]].concat(), (3, "MAX_ITERATIONS", 3));
    settings(&bed, "");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json", "--max-iterations", "5"]));
    assert_eq!(resumed.ends(0, "gate_passed")["iterations"], 4);
    assert_eq!(rungs(&resumed), [1]);
    replays(&bed);
}

#[test]
fn a_rung_that_is_not_installed_is_found_out_before_the_run() {
    let bed = Bed::git("claim progress");
    settings(&bed, "[[ladder]]\nagent = \"command\"\nargs = [\"/nowhere/agent\"]\n");
    let done = bed.done(&[]);
    done.ends(69, "REFUSED");
    assert!(done.err.contains("rung 1 of the ladder"), "{}", done.err);
}

#[test]
fn templates_are_checked_before_the_run_used_in_it_and_never_end_it() {
    let bed = Bed::git(&sections(|n| format!("write a.txt {n}\nclaim progress"), 3));
    settings(&bed, "[prompt]\ntemplates = \"prompts\"\n");
    let prompts = |source: &str| bed.scratch.files(&[("prompts/context.j2", source)]);
    prompts("one\n{{ iteratoin }}\n");
    let done = bed.done(&[]);
    done.ends(78, "REFUSED");
    assert!(done.err.contains("prompts/context.j2:2: undefined value"), "{}", done.err);

    prompts("Call {{ iteration }} of {{ max_iterations }}.\n");
    comes_to(&bed, &["--max-iterations", "2"], (3, "MAX_ITERATIONS", 2));
    let told = Done::of(&mut bed.ralph(&["explain", "--prompt"])).out;
    assert!(told.starts_with("Do the work\n\n\n---\nCall 2 of 2.\n"), "{told}");

    prompts("{% if files.count == 1 %}{{ nowhere }}{% endif %}");
    let done = comes_to(&bed, &["--fresh", "--max-iterations", "2"], (3, "MAX_ITERATIONS", 2));
    assert!(
        done.err.contains("a template failed, so the built-in one was used: context.j2:1"),
        "{}",
        done.err
    );

    settings(&bed, "[prompt]\ncontext = false\n");
    comes_to(&bed, &["--fresh", "--max-iterations", "2"], (3, "MAX_ITERATIONS", 2));
    let told = Done::of(&mut bed.ralph(&["explain", "--prompt", "2"])).out;
    assert!(!told.contains("Ralph Loop Context"), "{told}");
    assert_eq!(Done::of(&mut bed.ralph(&["explain", "--prompt", "7"])).code, 64);
}
