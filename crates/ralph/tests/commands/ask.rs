//! What is asked of a run that is not there, is over, or cannot be meant.

use super::scene::Scene;

#[test]
fn asking_nobody_or_nothing_says_so() {
    let mut scene = Scene::new();
    for args in [&["pause"][..], &["continue"], &["stop"], &["hint", "words"]] {
        assert_eq!(scene.show(args).code, 64);
    }
    assert_eq!(scene.sim("x", &["--verify", "true"], "write a x; claim complete").code, 0);
    let long = "x".repeat(3_000);
    for args in [
        &["pause"][..],
        &["continue"],
        &["stop", "--after"],
        &["hint", "words"],
        &["hint"],
        &["hint", ""],
        &["hint", "several", "words"],
        &["hint", "several", "words", "more"],
        &["pause", "nowhere"],
        &["hint", "-"],
    ] {
        let answer = scene.show(args);
        assert_eq!((answer.code, answer.out.as_str()), (64, ""), "{args:?}");
    }
    assert_eq!(scene.ralph(&["hint", &long]).code, 64);
    scene.compare("ask_nobody");
}
