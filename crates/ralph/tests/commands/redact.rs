//! `ralph redact`: what it says about a run whose secret became known later.

use super::scene::{Scene, sim};

const KEY: &str = "tango-77-foxtrot-99";

#[test]
fn what_was_kept_before_a_secret_was_known_can_be_hidden_later() {
    let mut scene = Scene::new();
    scene.show(&["redact"]);
    let verify = ["--verify", "echo tango-77-foxtrot-99; test -f a.txt"];
    let script = "say tango-77-foxtrot-99; write a.txt good; claim complete";
    assert_eq!(scene.ralph(&sim("Write a.txt", &verify, script)).code, 0);
    scene.show(&["redact"]);
    scene.set("DEPLOY_TOKEN", KEY);
    assert_eq!(scene.show(&["redact", "--dry-run"]).code, 0);
    assert_eq!(scene.show(&["redact"]).code, 0);
    assert_eq!(scene.show(&["redact", "--all"]).code, 0);
    assert_eq!(scene.ralph(&["replay", "--strict"]).code, 0);
    scene.compare("redact");
}
