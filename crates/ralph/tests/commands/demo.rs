//! `ralph demo`: the first command anybody types.

use super::scene::Scene;

#[test]
fn the_demo_catches_the_early_claim_and_ends_proven() {
    let scene = Scene::new();
    let answer = scene.ralph(&["demo"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{}", answer.err);
    for words in
        ["the agent says it is done, but `sh test.sh` failed", "COMPLETED, proven", "3 of 5", "ralph run"]
    {
        assert!(answer.err.contains(words), "{words} is not in:\n{}", answer.err);
    }
    assert!(!answer.err.contains("git ") && !answer.err.contains("ralph undo"), "{}", answer.err);
    let id =
        answer.err.split("ralph explain ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    let story = scene.ralph(&["explain", id]);
    assert!(story.out.starts_with("COMPLETED, proven, after 3 iterations: "), "{}", story.out);
    assert_eq!(scene.ralph(&["replay", id]).code, 0);
}
