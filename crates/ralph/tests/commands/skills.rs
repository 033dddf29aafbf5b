//! Skills: found, listed, checked, and the method of a run.

use crate::scene::{Answer, Scene};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

const SHIP: &str = "---\nname: ship\ndescription: Ship it. Use it to ship.\nallowed-tools:\n  - Read\n---\n\n# Ship\n\nFirst pack, then ship.\n\n\
    ## Completion Criteria\n\n- [ ] `test -f ok` passes\n- [ ] The parcel is labelled\n\n## Ralph Integration\n\n<promise>SHIPPED</promise>\n\n\
    ```toml ralph\nverify = [\"test -f ok\"]\nmax_iterations = 3\nmax_cost_usd = 1.0\n```\n";

/// Keeps what it is told, packs in the first call and ships in the second.
const AGENT: &str = "cat >> ../told; echo ==== >> ../told; if test -f packed; then echo a > ok; echo '<promise>SHIPPED</promise>'; \
    else echo a > packed; echo 'Packed.'; fi";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.scratch.files(&[(".ralph/skills/ship/SKILL.md", SHIP)]);
    scene
}

fn run(scene: &Scene, more: &[&str]) -> Answer {
    let args = ["run", "Send the parcel", "--skill", "ship", "--agent", "command"];
    scene.ralph(&[&args[..], more, &["--", "sh", "-c", AGENT]].concat())
}

fn json(scene: &Scene, args: &[&str]) -> Value {
    let answer = scene.ralph(args);
    assert_eq!(answer.code, 0, "{args:?}: {}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

fn told(scene: &Scene) -> Vec<String> {
    let text = std::fs::read_to_string(scene.scratch.root().join("told")).unwrap();
    text.split("====\n").filter(|part| !part.is_empty()).map(Into::into).collect()
}

#[test]
fn a_skill_leads_a_run_from_its_limits_to_the_receipt() {
    let scene = scene();
    let answer = run(&scene, &["--json"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    let told = told(&scene);
    assert_eq!(told.len(), 2);
    for prompt in &told {
        assert!(
            prompt.contains("First pack, then ship.") && prompt.contains("The parcel is labelled"),
            "{prompt}"
        );
        assert!(
            prompt.contains("<promise>SHIPPED</promise>") && !prompt.contains("allowed-tools"),
            "{prompt}"
        );
    }
    let lines: Vec<Value> = answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start =
        lines.iter().find(|line| line["fact"]["kind"] == "run_started" || line["kind"] == "run_started");
    let start = start.map_or_else(|| answer.out.lines().next().unwrap().to_owned(), ToString::to_string);
    assert!(start.contains("\"name\":\"ship\"") && start.contains("First pack, then ship."), "{start}");
    let skill = &lines.last().unwrap()["details"]["skill"];
    assert_eq!(skill["name"], "ship");
    assert_eq!(skill["hash"].as_str().unwrap().len(), 64);
    assert_eq!(skill["notChecked"], serde_json::json!(["The parcel is labelled"]));
    let status = scene.ralph(&["status"]);
    assert!(status.out.contains("not checked The parcel is labelled"), "{}", status.out);
    assert!(status.out.contains("skill       ship; 1 of 2 criteria checked by a command"), "{}", status.out);
    // Nothing reads the file again.
    std::fs::remove_file(scene.scratch.workspace().join(".ralph/skills/ship/SKILL.md")).unwrap();
    assert_eq!(scene.ralph(&["replay"]).code, 0);
    assert_eq!(json(&scene, &["stats", "--json"])["bySkill"][0]["skill"], "ship");
    let stats = scene.ralph(&["stats"]).out;
    let row = stats.lines().find(|line| line.starts_with("ship ")).unwrap_or_default();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["ship", "1", "1", "of", "1", "21%", "to", "100%", "2.0"],
        "{stats}"
    );
    assert!(
        scene.ralph(&["report"]).out.contains("### Ship\n- Runs: 1\n"),
        "{}",
        scene.ralph(&["report"]).out
    );
    let metrics = scene.scratch.read(".ralph/metrics/ralph-loops.jsonl");
    assert!(metrics.contains("\"skill\":\"ship\""), "{metrics}");
}

#[test]
fn a_resumed_run_keeps_its_skill_without_the_file() {
    let scene = scene();
    assert_eq!(run(&scene, &["--max-iterations", "1"]).code, 3);
    let status = scene.ralph(&["status"]).out;
    assert!(status.contains("skill       ship; 0 of 2 criteria checked by a command"), "{status}");
    std::fs::remove_file(scene.scratch.workspace().join(".ralph/skills/ship/SKILL.md")).unwrap();
    let answer = scene.ralph(&["resume", "--max-iterations", "2"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert!(told(&scene)[1].contains("First pack, then ship."));
    assert_eq!(scene.ralph(&["replay"]).code, 0);
}

#[test]
fn settings_say_that_they_come_from_the_skill_and_files_win() {
    let scene = scene();
    let shown = scene.ralph(&["config", "show", "--set", "--skill", "ship"]).out;
    for (key, value) in [
        ("run.max_iterations", "3"),
        ("run.max_cost_usd", "1.0"),
        ("verify.commands", "[\"test -f ok\"]"),
        ("gate.promise", "\"SHIPPED\""),
    ] {
        assert!(shown.contains(&format!("{key:<26} {value:<28} skill ship\n")), "{key}: {shown}");
    }
    scene.scratch.files(&[("ralph.toml", "[run]\nmax_iterations = 2\n[gate]\npromise = \"DONE\"\n")]);
    let explained = scene.ralph(&["config", "explain", "run.max_iterations", "--skill", "ship"]).out;
    assert!(explained.contains("value      2 (ralph.toml:2)\n  overridden 3 (skill ship)"), "{explained}");
    let promise = scene.ralph(&["config", "explain", "gate.promise", "--skill", "ship"]).out;
    assert!(
        promise.contains("value      \"SHIPPED\" (skill ship)\n  overridden \"DONE\" (ralph.toml:4)"),
        "{promise}"
    );
    let dry = run(&scene, &["--dry-run"]).out;
    let from = scene.scratch.workspace().join(".ralph/skills/ship/SKILL.md");
    let row = format!(
        "skill           ship ({}); sets run.max_cost_usd, verify.commands, gate.promise\n",
        from.display()
    );
    assert!(dry.contains(&row), "{dry}");
    assert!(dry.contains("promise         SHIPPED\n") && dry.contains("First pack, then ship."), "{dry}");
}

#[test]
fn a_run_with_a_skill_that_cannot_be_used_does_not_start() {
    let mut scene = scene();
    let skill = |body: &str| format!("---\nname: x\ndescription: d\n---\n{body}");
    for (text, code, said) in [
        (String::new(), 65, "skills/x/SKILL.md:1:1: a skill begins with front matter"),
        (skill("# No promise\n"), 65, "skills/x/SKILL.md:5:13: the promise is missing"),
        (
            skill(&"a long line of text\n".repeat(2_000)),
            65,
            "the skill is 40 KiB long, but at most 32 KiB travel",
        ),
        (
            skill("## Ralph Integration\n<promise>A</promise>\n```toml ralph\nverfy = []\n```"),
            65,
            "SKILL.md:8:1: unknown key `verfy`",
        ),
    ] {
        scene.scratch.files(&[(".agents/skills/x/SKILL.md", &text)]);
        let answer = scene.ralph(&[
            "run",
            "t",
            "--skill",
            "x",
            "--agent",
            "sim",
            "--max-iterations",
            "1",
            "--max-cost",
            "1",
        ]);
        assert_eq!(answer.code, code, "{}", answer.err);
        assert!(answer.err.contains(said), "{said}: {}", answer.err);
    }
    let unknown = scene.ralph(&["run", "t", "--skill", "shp"]);
    assert_eq!(unknown.code, 64);
    assert!(
        unknown.err.contains("unknown skill `shp`") && unknown.err.contains("did you mean `ship`?"),
        "{}",
        unknown.err
    );
    let promise = run(&scene, &["--promise", "DONE"]);
    assert_eq!(promise.code, 64);
    assert!(
        promise.err.contains("--promise cannot be used with --skill: the skill ship promises SHIPPED"),
        "{}",
        promise.err
    );
    scene.set("RALPH_PROMISE", "DONE");
    let variable = run(&scene, &[]);
    assert!(
        variable.code == 64 && variable.err.contains("RALPH_PROMISE cannot be used with --skill"),
        "{}",
        variable.err
    );
    assert!(!scene.scratch.state().join("ralph/ralph.db").exists(), "no run was recorded");
}

#[test]
fn an_agent_cannot_change_the_skill_of_its_run() {
    let scene = Scene::new();
    scene.scratch.files(&[(".agents/skills/ship/SKILL.md", SHIP), (".agents/skills/other/SKILL.md", SHIP)]);
    std::fs::create_dir_all(scene.scratch.workspace().join(".claude/skills")).unwrap();
    let link = scene.scratch.workspace().join(".claude/skills/ship");
    std::os::unix::fs::symlink("../../.agents/skills/ship", link).unwrap();
    let changes = |file: &str| {
        let script = format!("append .agents/skills/{file}/SKILL.md x; write ok a; claim promise SHIPPED");
        scene.sim("Send the parcel", &["--skill", "ship", "--fresh", "--json"], &script)
    };
    let own = changes("ship");
    assert_eq!(own.code, 4, "{}{}", own.out, own.err);
    assert_eq!(scene.scratch.read(".agents/skills/ship/SKILL.md"), SHIP);
    std::fs::remove_file(scene.scratch.workspace().join("ok")).ok();
    assert_eq!(changes("other").code, 0, "another skill is ordinary work");
}

#[test]
fn an_interrupted_run_is_not_resumed_with_another_version_of_its_skill() {
    let scene = scene();
    let waits = "touch ../begun; cat > /dev/null; sleep 60";
    let args = ["run", "Send the parcel", "--skill", "ship", "--agent", "command", "--", "sh", "-c", waits];
    let mut first = scene.command(&args).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let begun = scene.scratch.root().join("begun");
    let until = Instant::now() + Duration::from_secs(60);
    while !begun.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..2 {
        let pid = first.id().to_string();
        assert!(scene.scratch.command("kill").args(["-INT", &pid]).status().unwrap().success());
    }
    first.wait().unwrap();
    scene.scratch.files(&[(".ralph/skills/ship/SKILL.md", &SHIP.replace("First pack", "First wrap"))]);
    let again = scene.ralph(&args);
    assert_eq!(again.code, 64, "{}", again.err);
    assert!(again.err.contains("was started with a different skill"), "{}", again.err);
}

#[test]
fn what_lies_in_the_place_of_a_skill_neither_hangs_nor_panics() {
    let scene = Scene::new();
    scene.scratch.files(&[
        (".claude/skills/bytes/x", ""),
        (".claude/skills/pipe/x", ""),
        (".claude/skills/zero/x", ""),
        (".claude/skills/nowhere/x", ""),
        (".claude/skills/huge/SKILL.md", &"a".repeat(2 << 20)),
        (".claude/skills/Odd Name/SKILL.md", "---\nname: Odd Name\ndescription: d\n---\n"),
        (
            ".claude/skills/escape/SKILL.md",
            "---\nname: escape\ndescription: \"\\u001b[2J\\u0007gone\"\n---\n",
        ),
        (".claude/skills/folder/SKILL.md/x", ""),
        (".agents/skills", "a file"),
    ]);
    let at = |name: &str| scene.scratch.workspace().join(".claude/skills").join(name).join("SKILL.md");
    std::fs::write(at("bytes"), b"---\nname: \xff\n---\n").unwrap();
    assert!(scene.scratch.command("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
    std::os::unix::fs::symlink("/nowhere/SKILL.md", at("nowhere")).unwrap();
    let list = scene.ralph(&["skills", "list"]);
    assert_eq!(list.code, 0, "{}", list.err);
    assert!(!list.out.contains('\u{1b}') && !list.out.contains('\u{7}'), "{}", list.out);
    for name in ["bytes", "pipe", "zero", "nowhere", "huge", "Odd Name", "folder"] {
        let row = list.out.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        assert!(row.contains(" broken "), "{name}: {}", list.out);
        for args in [["skills", "check", name], ["skills", "show", name]] {
            let answer = scene.ralph(&args);
            assert_eq!(answer.code, 65, "{args:?}: {}", answer.err);
            assert!(answer.err.contains("SKILL.md"), "{args:?}: {}", answer.err);
        }
    }
    assert!(scene.ralph(&["skills", "check", "escape"]).out.contains("promise   missing"));
}

#[test]
fn skills_are_listed_shown_and_checked() {
    let mut scene = scene();
    scene.scratch.files(&[
        ("package.json", r#"{"scripts": {"test": "node --test", "lint": "eslint ."}}"#),
        (".claude/skills/ship/SKILL.md", "---\nname: ship\ndescription: Another\n---\n"),
        (
            ".agents/skills/tdd/SKILL.md",
            "---\nname: tdd\ndescription: 'Our own way'\n---\n\n# Ours\n\n## Completion Criteria\n\nnone\n",
        ),
        (".claude/skills/broken/SKILL.md", "---\nname: broken\ndescription: [a, b]\n---\n"),
    ]);
    scene.show(&["skills", "list"]);
    scene.show(&["skills", "check", "ship"]);
    scene.show(&["skills", "check", "tdd"]);
    scene.show(&["skills", "check", "broken"]);
    scene.show(&["skills", "check", "code-cleanup"]);
    scene.show(&["skills", "check", "code-cleanp"]);
    scene.show(&["skills", "show", "ship"]);
    scene.compare("skills");
}
