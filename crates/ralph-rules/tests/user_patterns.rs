//! The user's own phrases: which sentences say them, and what they do in a run and in an analysis.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use ralph_rules::analysis::{ExitDecision, Response, Trend};
use ralph_rules::claim::{Evidence, Means, UserPattern, read_with_patterns};
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;

fn pattern(means: Means, phrases: &[&str]) -> UserPattern {
    UserPattern { name: "mine".into(), phrases: phrases.iter().map(|p| (*p).to_string()).collect(), means }
}

/// Whether a message says "release candidate" in a way that counts.
const SENTENCES: &[(&str, bool)] = &[
    ("This is a release candidate.", true),
    ("THE RELEASE   CANDIDATE is built.", true),
    ("Built everything.\n\n- release candidate", true),
    ("The release\ncandidate is tagged.", true),
    ("This is not a release candidate.", false),
    ("This is not yet a release candidate.", false),
    ("This isn't a release candidate.", false),
    ("This will be a release candidate.", false),
    ("It should be a release candidate.", false),
    ("If the tests pass, this is a release candidate.", false),
    ("Is this a release candidate?", false),
    ("It is probably a release candidate.", false),
    ("The task says \"release candidate\".", false),
    ("The label is `release candidate`.", false),
    ("> release candidate", false),
    ("```\nrelease candidate\n```", false),
    ("Two release candidates exist.", false),
    ("The pre-release candidate exists.", false),
    ("- [ ] release candidate", false),
    ("Next: release candidate", false),
    ("", false),
];

#[test]
fn phrases_obey_the_rules_of_the_built_in_ones() {
    for (text, counts) in SENTENCES {
        for means in [Means::Done, Means::Object, Means::Note] {
            let patterns = [pattern(means, &["release  Candidate"])];
            let claim = read_with_patterns(text, None, "COMPLETE", &patterns);
            assert_eq!(claim.said(means).count(), usize::from(*counts), "{text:?}");
            let evidence = claim.evidence.contains(&Evidence::UserPattern);
            assert_eq!(evidence, *counts && means == Means::Done, "{text:?}");
        }
    }
}

#[test]
fn many_phrases_are_one_indicator_and_none_repeats_a_built_in_one() {
    let patterns =
        [pattern(Means::Done, &["release candidate", "ready to ship"]), pattern(Means::Done, &["shipped"])];
    let claim = read_with_patterns("Release candidate. Ready to ship. Shipped.", None, "COMPLETE", &patterns);
    assert_eq!(claim.evidence.len(), 1, "{claim:?}");
    let patterns = [pattern(Means::Done, &["all tests pass"])];
    let claim = read_with_patterns("All tests pass.", None, "COMPLETE", &patterns);
    assert_eq!(claim.evidence.into_iter().collect::<Vec<_>>(), [Evidence::TestsPass]);
}

#[test]
fn a_broken_block_takes_the_evidence_back() {
    let text = "Release candidate.\n---RALPH_STATUS---\nSTATUS: COMPLETE\n";
    let patterns = [pattern(Means::Done, &["release candidate"])];
    let claim = read_with_patterns(text, None, "COMPLETE", &patterns);
    assert!(claim.attempted && claim.evidence.is_empty(), "{claim:?}");
}

#[test]
fn an_objection_keeps_the_analysis_from_an_end() {
    let block = "---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\n\
        TESTS_STATUS: PASSING\nWORK_TYPE: TESTING\nEXIT_SIGNAL: true\nRECOMMENDATION: All done\n---END_RALPH_STATUS---";
    let text = format!("All tests pass. I left a workaround in place.\n\n{block}");
    for (means, decision) in
        [(Means::Object, ExitDecision::Continue), (Means::Note, ExitDecision::ProjectComplete)]
    {
        let mut policy = Policy::strict(3, Micro(1));
        policy.gate.patterns = vec![pattern(means, &["a workaround"])];
        let response = Response::read_for(&text, None, &policy.gate, None);
        let mut trend = Trend::default();
        trend.add(&response, &policy);
        assert_eq!(trend.decision(&policy), decision, "{means:?}");
    }
}
