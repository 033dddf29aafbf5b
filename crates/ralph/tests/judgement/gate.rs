//! The gate beyond the plain claim: until verified, the marker file, signs without a claim, nothing to do.

use crate::bed::Bed;

const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];

fn with(script: &str, config: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[("ralph.toml", config)]);
    bed
}

#[test]
fn until_verified_ends_at_the_first_passing_verification() {
    let until = "[gate]\nuntil = \"verified\"\n";
    let bed = with("[1]\nwrite a.txt 1\nlie\n[2]\nwrite done.txt yes\nclaim progress", until);
    let result = bed.done(&GREEN).ends(0, "gate_passed");
    assert_eq!((&result["iterations"], &result["verificationPassed"]), (&2.into(), &true.into()));

    let green = with("claim complete", until);
    green.scratch.files(&[("done.txt", "yes")]);
    let done = green.done(&GREEN);
    assert_eq!(done.ends(1, "STALL")["iterations"], 4);
    assert!(done.err.contains("passed before the run too and no files have changed"), "{}", done.err);

    let unprovable = with("claim complete", until);
    assert_eq!(unprovable.done(&[]).code, 78);
}

#[test]
fn a_marker_file_is_a_claim_of_this_run() {
    let marker = "[gate]\nmarker_file = \".ralph-complete\"\n";
    let bed = with("write done.txt yes\nwrite .ralph-complete yes\nclaim none", marker);
    assert_eq!(bed.done(&GREEN).ends(0, "gate_passed")["iterations"], 1);

    let liar = with("write a.txt 1\nwrite .ralph-complete yes\nclaim none", marker);
    assert_eq!(
        liar.done(&[&GREEN[..], &["--max-iterations", "2"]].concat()).ends(3, "MAX_ITERATIONS")["iterations"],
        2
    );

    let stale = with("[1]\nwrite a.txt 1\nclaim none\n[2]\nwrite done.txt yes\nclaim none", marker);
    stale.scratch.files(&[(".ralph-complete", "yes")]);
    assert_eq!(
        stale.done(&[&GREEN[..], &["--max-iterations", "2"]].concat()).ends(3, "MAX_ITERATIONS")["iterations"],
        2
    );

    let denied = with("write done.txt yes\nwrite .ralph-complete yes\nclaim progress", marker);
    assert_eq!(
        denied.done(&[&GREEN[..], &["--max-iterations", "1"]].concat()).ends(3, "MAX_ITERATIONS")["iterations"],
        1
    );
}

#[test]
fn signs_without_a_claim_end_the_run_the_second_time() {
    let bed = Bed::git("message All tests pass. The project is complete.\nwrite done.txt yes\nclaim none");
    assert_eq!(bed.done(&GREEN).ends(0, "completion_signals")["iterations"], 2);
    let alone = Bed::git("message All tests pass. The project is complete.\nappend a.txt x\nclaim none");
    assert_eq!(alone.done(&["--max-iterations", "4"]).ends(3, "MAX_ITERATIONS")["verificationPassed"], false);
    let classic =
        Bed::git("message All tests pass. The project is complete.\nwrite done.txt yes\nclaim none");
    assert_eq!(classic.done(&["--preset", "classic"]).ends(0, "completion_signals")["iterations"], 2);
}

#[test]
fn where_nothing_is_to_do_the_claim_is_believed_the_second_time() {
    let bed = Bed::git("claim complete");
    bed.scratch.files(&[("done.txt", "yes")]);
    assert_eq!(bed.done(&GREEN).ends(0, "already_complete")["iterations"], 2);
}

#[test]
fn a_claim_that_contradicts_itself_is_no_claim() {
    let bed =
        Bed::git("[1]\nwrite done.txt yes\nclaim complete tests=FAILING\n[2]\nwrite a.txt 1\nclaim complete");
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    assert!(done.err.contains("the claim contradicts itself: TESTS_STATUS is FAILING"), "{}", done.err);
}
