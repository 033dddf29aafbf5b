//! Plans: what is open contradicts a claim, what is complete and proven needs no call, what is not named binds nothing.

use crate::bed::{Bed, Done};
use std::fs;

const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];
const PLAN: [&str; 2] = ["--plan", "fix_plan.md"];

fn run(bed: &Bed, more: &[&str]) -> Done {
    bed.done(&[&GREEN[..], &PLAN[..], more].concat())
}

/// The prompts that were sent, in order.
fn codes(done: &Done) -> Vec<String> {
    let decided = done.records("decided").into_iter();
    decided.filter_map(|d| Some(d["because"][0]["code"].as_str()?.to_string())).collect()
}

#[test]
fn an_open_item_keeps_a_proven_claim_from_ending_the_run() {
    let bed = Bed::git(
        "[1]\nwrite done.txt yes\nreplace fix_plan.md \"[ ] the parser\" \"[x] the parser\"\nclaim complete\n\
         [2]\nreplace fix_plan.md \"[ ] the lexer\" \"[x] the lexer\"\nclaim complete",
    );
    bed.scratch.files(&[(
        "fix_plan.md",
        "# Plan\r\n- [ ] the parser\r\n- [ ] the lexer\r\n## Optional\r\n- [ ] colours\r\n",
    )]);
    let done = run(&bed, &[]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    assert!(codes(&done).contains(&"contradictory_claim".into()), "{:?}", codes(&done));
    let seen: Vec<_> = done.records("inspected").iter().map(|r| r["plan"].clone()).collect();
    assert_eq!(
        (&seen[0]["done"], &seen[0]["pending"], &seen[0]["optional"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!((&seen[1]["done"], &seen[1]["pending"]), (&2.into(), &0.into()));
    assert!(done.err.contains("the plan fix_plan.md has 1 open item"), "{}", done.err);
    let sent = bed.prompts();
    assert!(
        !sent[0].contains("the lexer")
            && sent[1].contains("Still open in the plan fix_plan.md: 1\n  - the lexer"),
        "{sent:?}"
    );
    assert!(!sent[1].contains("colours"));
    assert_eq!(Done::of(&mut bed.ralph(&["replay"])).code, 0);
}

#[test]
fn a_plan_that_is_not_named_binds_nothing() {
    let bed = Bed::git("write done.txt yes\nclaim complete");
    bed.scratch.files(&[("fix_plan.md", "- [ ] open\n"), ("prd.json", "{broken")]);
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 1);
    assert!(done.records("inspected")[0]["plan"].is_null());
}

#[test]
fn a_complete_plan_that_is_proven_ends_the_run_without_a_call() {
    let bed = Bed::git("claim complete");
    bed.scratch.files(&[("fix_plan.md", "- [x] the parser\n"), ("done.txt", "yes")]);
    let done = run(&bed, &[]);
    let result = done.ends(0, "already_complete");
    assert_eq!((&result["iterations"], &result["costUSD"]), (&0.into(), &0.0.into()));
    assert_eq!(result["verificationPassed"], true);
    assert!(done.records("call_ended").is_empty() && bed.prompts().is_empty());
    assert!(done.err.contains("the plan is complete (1 item)"), "{}", done.err);
}

#[test]
fn a_complete_plan_alone_is_no_proof() {
    let bed = Bed::git("write done.txt yes\nclaim complete");
    bed.scratch.files(&[("fix_plan.md", "- [x] the parser\n")]);
    assert_eq!(run(&bed, &[]).ends(0, "gate_passed")["iterations"], 1);
    let bed = Bed::git("claim complete");
    bed.scratch.files(&[("fix_plan.md", "- [x] the parser\n")]);
    let result = bed.done(&PLAN).ends(0, "gate_passed");
    assert_eq!((&result["iterations"], &result["verificationPassed"]), (&1.into(), &false.into()));
}

#[test]
fn stories_of_a_prd_bind_too() {
    let bed = Bed::git(
        "[1]\nwrite done.txt yes\nclaim complete\n[2]\nrun sed -i s/false/true/ prd.json\nclaim complete",
    );
    let prd =
        r#"{"project":"p","userStories":[{"id":"US-001","title":"Login","priority":1,"passes":false}]}"#;
    bed.scratch.files(&[("prd.json", prd), ("ralph.toml", "[plan]\nfile = \"prd.json\"\n")]);
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    assert!(bed.prompts()[1].contains("  - US-001: Login"));
}

#[test]
fn a_plan_that_is_taken_away_is_not_complete_and_nothing_else_is_read() {
    let bed = Bed::git(
        "[1]\nwrite done.txt yes\nrun rm fix_plan.md && ln -s ../secret.md fix_plan.md\nclaim complete\n\
         [2]\ndelete fix_plan.md\nwrite a.txt 2\nclaim complete\n[3]\nwrite fix_plan.md - nothing to tick\nclaim complete\n\
         [4]\nwrite fix_plan.md - [x] the parser\nclaim complete",
    );
    bed.scratch.files(&[("fix_plan.md", "- [ ] the parser\n")]);
    fs::write(bed.scratch.root().join("secret.md"), "- [ ] the password is hunter2\n").unwrap();
    let done = run(&bed, &[]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 4);
    let said = codes(&done);
    assert_eq!(said.iter().filter(|code| *code == "contradictory_claim").count(), 3, "{said:?}");
    assert!(done.err.contains("it is a link to"), "{}", done.err);
    assert!(done.err.contains("had open items and now has none at all"), "{}", done.err);
    assert!(!done.out.contains("hunter2") && bed.prompts().iter().all(|prompt| !prompt.contains("hunter2")));
}

#[test]
fn a_mistake_in_a_plan_is_told_before_anything_is_spent() {
    let bed = Bed::git("claim complete");
    bed.scratch.files(&[("prd.json", "{\"stories\": [\n  {\"passes\": maybe}]}"), ("empty.md", "# Plan\n")]);
    for (file, code, said) in [
        ("prd.json", 65, "cannot read the plan prd.json: line 2, column 14: "),
        ("missing.md", 64, "cannot read the plan missing.md"),
        (".", 65, "it is a directory, not a regular file"),
    ] {
        let done = bed.done(&["--plan", file]);
        assert_eq!(done.code, code, "{}", done.err);
        assert!(done.err.contains(said), "{}", done.err);
        assert!(done.result()["runId"].is_null());
    }
    let warned = bed.done(&["--plan", "empty.md"]);
    assert!(warned.err.contains("the plan empty.md has no checkboxes"), "{}", warned.err);
    assert!(warned.result()["runId"].is_string());
}
