//! `ralph prices`: the table, one model, the user's own, and what is wrong with them.

use crate::scene::Scene;
use serde_json::Value;

fn config(scene: &Scene, text: &str) {
    let dir = scene.scratch.root().join("config/ralph");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    let dir = scene.scratch.root().join("config").display().to_string();
    scene.set("XDG_CONFIG_HOME", &dir);
    scene
}

#[test]
fn one_model_is_found_however_it_is_spelt() {
    let scene = scene();
    let answer = scene.ralph(&["prices", "us.anthropic.claude-sonnet-4-6-20260101-v1:0", "--json"]);
    let list: Value = serde_json::from_str(&answer.out).unwrap();
    let row = &list["prices"][0];
    assert_eq!((row["model"].as_str(), row["input"].as_f64()), (Some("claude-sonnet-4.6"), Some(3.0)));
    assert!(row["source"].as_str().unwrap().contains("platform.claude.com"));
    assert_eq!(row["asOf"].as_str().map(str::len), Some(10));
}

#[test]
fn every_line_fits_a_terminal() {
    let answer = scene().ralph(&["prices"]);
    assert_eq!(answer.code, 0);
    assert!(answer.out.lines().filter(|l| !l.contains("as of")).all(|l| l.chars().count() <= 80));
    assert!(answer.out.contains("claude-opus-5.5") && answer.out.contains("gpt-5 "));
}

#[test]
fn the_users_price_says_where_it_is_from() {
    let scene = scene();
    config(&scene, "[prices.\"my-model\"]\ninput = 1.5\noutput = 6\n");
    let answer = scene.ralph(&["prices", "My-Model"]);
    assert!(answer.out.contains("yours, from ") && answer.out.contains("config.toml"), "{}", answer.out);
    assert!(answer.out.contains("1.50") && answer.out.contains("6.00"));
}

#[test]
fn an_unknown_model_and_a_broken_table_say_what_to_do() {
    let scene = scene();
    let answer = scene.ralph(&["prices", "gtp-5"]);
    assert_eq!(answer.code, 64);
    assert!(answer.err.contains("did you mean `gpt-5`?") && answer.err.contains("[prices.\"gtp-5\"]"));
    config(&scene, "[prices.\"gpt-5\"]\ninput = -1\noutput = 6\n");
    for command in
        [&["prices"][..], &["run", "x", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1"]]
    {
        let answer = scene.ralph(command);
        assert_eq!(answer.code, 78, "{command:?}: {}", answer.err);
        assert!(
            answer.err.contains("config.toml:2:9: `prices.gpt-5.input` must be a price"),
            "{}",
            answer.err
        );
    }
}
