//! One SKILL.md for all: the file that ralph takes its method from is loaded by the real CLIs as their own. Its description
//! stands only in the front matter, which ralph does not send, so a request that has it comes from a CLI that read the file;
//! the method in the same request comes from ralph.

use crate::cli::Cli;
use crate::clis::{CLAUDE, CODEX, GEMINI, OPENCODE};
use crate::place::Place;
use crate::tests;
use std::fs;

const SKILL: &str = "---\nname: greeting\ndescription: >-\n  Writes greetings politely,\n  one word at a time.\n---\n\n# Greeting\n\n\
    Greet before you leave.\n\n## Completion Criteria\n\n- [ ] The greeting is polite\n\n## Ralph Integration\n\n\
    <promise>GREETED</promise>\n\n```toml ralph\nmax_iterations = 2\nkinds = [\"feature\"]\n```\n";
const DESCRIPTION: &str = "Writes greetings politely, one word at a time.";
const METHOD: &str = "Greet before you leave.";

tests! {
    claude_loads_the_skill => loads_the_skill(&CLAUDE);
    codex_loads_the_skill => loads_the_skill(&CODEX);
    gemini_loads_the_skill => loads_the_skill(&GEMINI);
    opencode_loads_the_skill => loads_the_skill(&OPENCODE);
}

fn loads_the_skill(cli: &'static Cli) {
    let place = Place::new(cli, "ok");
    let file = place.file(".agents/skills/greeting/SKILL.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, SKILL).unwrap();
    // The same file for the one that looks elsewhere.
    fs::create_dir_all(place.file(".claude/skills")).unwrap();
    std::os::unix::fs::symlink("../../.agents/skills/greeting", place.file(".claude/skills/greeting"))
        .unwrap();
    let done = place.run(&["--skill", "greeting"]);
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["details"]["skill"]["name"], "greeting", "{}", done.story());
    assert_eq!(result["details"]["skill"]["notChecked"][0], "The greeting is polite", "{}", done.story());
    let requests = place.requests();
    assert!(requests.contains(METHOD), "ralph did not send the method\n{}", done.story());
    assert!(requests.contains(DESCRIPTION), "{} did not load the skill\n{}", cli.info.name, done.story());
    place.replays();
}
