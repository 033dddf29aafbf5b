//! The pages of docs/first-hours: whoever types them sees what they say.

#[path = "hour.rs"]
mod hour;
#[path = "steady.rs"]
mod steady;
#[path = "transcript.rs"]
mod transcript;

use crate::clis::{CLAUDE, CODEX};
use hour::Hour;

const README: &str = include_str!("../../../../README.md");
const FIRST: &str = include_str!("../../../../docs/first-hours/1-red-python.md");
const A_KEY: bool = false;
const A_SUBSCRIPTION: bool = true;

#[test]
fn a_red_python_repository_with_claude_code() {
    Hour { page: "1-red-python", cli: &CLAUDE, folder: "slug", subscriber: A_KEY }.passes();
}

#[test]
fn a_feature_on_a_green_node_repository_with_codex() {
    Hour { page: "2-green-node", cli: &CODEX, folder: "shop", subscriber: A_KEY }.passes();
}

#[test]
fn a_greenfield_rust_project() {
    Hour { page: "3-greenfield-rust", cli: &CLAUDE, folder: "roman", subscriber: A_KEY }.passes();
}

#[test]
fn a_run_that_is_limited_waits_and_continues() {
    Hour { page: "4-limited", cli: &CLAUDE, folder: "weather", subscriber: A_SUBSCRIPTION }.passes();
}

#[test]
fn a_run_that_touches_a_protected_path() {
    Hour { page: "5-protected-path", cli: &CLAUDE, folder: "orders", subscriber: A_KEY }.passes();
}

#[test]
fn the_readme_shows_a_part_of_the_first_one() {
    let steady = |text: &str| steady::steady(&[text]).concat();
    let excerpt =
        README.split("```text\n").find_map(|block| block.strip_prefix("$ ralph init")?.split("```").next());
    let mut page = FIRST.lines().map(steady);
    for line in excerpt.unwrap().lines().skip(1).filter(|line| !line.is_empty()) {
        let line = steady(line);
        assert!(page.any(|of_page| of_page == line), "the page does not say, or not here: {line}");
    }
}
