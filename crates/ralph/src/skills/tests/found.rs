//! Where skills are found, which one wins, and what a run takes from it.

use crate::config::Sources;
use crate::env::Env;
use crate::problem::{Code, Problem};
use crate::skills::built_in::BUILT_IN;
use crate::skills::search::Source;
use crate::skills::skill::MOST_BYTES;
use crate::skills::{Skill, all, find};
use std::path::Path;

struct Place {
    dir: tempfile::TempDir,
    env: Env,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let (work, home) = (dir.path().join("work"), dir.path().join("home"));
    std::fs::create_dir_all(&work).unwrap();
    Place { env: Env { home: Some(home), ..Env::default() }, dir }
}

impl Place {
    fn work(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }

    fn write(&self, path: &str, text: &str) -> &Place {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn skill(&self, top: &str, name: &str, description: &str) -> &Place {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
        self.write(&format!("{top}/{name}/SKILL.md"), &text)
    }

    fn find(&self, name: &str) -> Result<Skill, Problem> {
        find(name, &self.work(), &self.env)
    }
}

#[test]
fn the_first_directory_wins_and_the_rest_is_listed() {
    let place = place();
    let order = [
        "work/.ralph/skills",
        "work/.claude/skills",
        "work/.agents/skills",
        "home/.ralph/skills",
        "home/.claude/skills",
        "home/.agents/skills",
    ];
    assert_eq!(place.find("tdd").unwrap().source, Source::BuiltIn);
    for (n, top) in order.iter().enumerate().rev() {
        place.skill(top, "tdd", &format!("number {n}"));
        let found = place.find("tdd").unwrap();
        assert_eq!(found.description, format!("number {n}"));
        assert_eq!(found.source, if n < 3 { Source::Project } else { Source::User });
    }
    place.write("work/.ralph/skills/.hidden/SKILL.md", "").write("work/.ralph/skills/no-file/README.md", "");
    let all = all(&place.work(), &place.env);
    let tdd = all.iter().filter(|found| found.name == "tdd").count();
    assert_eq!((tdd, all.len()), (7, 9));
}

#[test]
fn a_broken_skill_is_not_replaced_by_another_of_its_name() {
    let place = place();
    place.write("work/.claude/skills/tdd/SKILL.md", "# no front matter");
    let problem = place.find("tdd").unwrap_err();
    assert_eq!(problem.code, Code::Input);
    assert!(
        problem.message.ends_with("tdd/SKILL.md:1:1: a skill begins with front matter, which is missing"),
        "{}",
        problem.message
    );
}

#[test]
fn an_unknown_skill_is_refused_with_the_nearest_name() {
    let place = place();
    let problem = place.find("systematic-debuging").unwrap_err();
    assert_eq!(
        (problem.code, problem.message.as_str()),
        (Code::Usage, "unknown skill `systematic-debuging`")
    );
    assert_eq!(problem.hints.first().map(String::as_str), Some("did you mean `systematic-debugging`?"));
    for name in ["", "../tdd", "/etc", "a\u{1b}", "zzz"] {
        let problem = place.find(name).unwrap_err();
        assert!(problem.hints.last().unwrap().contains("ralph skills list"), "{name}");
    }
}

#[test]
fn what_cannot_be_a_skill_is_refused_with_its_place() {
    let place = place();
    place.skill("work/.ralph/skills", "other", "x");
    std::fs::rename(place.work().join(".ralph/skills/other"), place.work().join(".ralph/skills/mine"))
        .unwrap();
    let said = place.find("mine").unwrap_err().message;
    assert!(said.ends_with("SKILL.md:2:1: `name` is \"other\", but its directory is \"mine\""), "{said}");
    let long = format!("---\nname: long\ndescription: b\n---\n{}", "line\n".repeat(MOST_BYTES / 5));
    place.write("work/.ralph/skills/long/SKILL.md", &long);
    let said = place.find("long").unwrap_err().message;
    assert!(
        said.contains("SKILL.md:6551:5: the skill is 33 KiB long, but at most 32 KiB travel with a prompt"),
        "{said}"
    );
    let fits = long.get(..MOST_BYTES).unwrap();
    place.write("work/.ralph/skills/long/SKILL.md", fits);
    assert_eq!(place.find("long").unwrap().text.len(), MOST_BYTES);
    std::fs::create_dir_all(place.work().join(".ralph/skills/folder/SKILL.md")).unwrap();
    assert_eq!(place.find("folder").unwrap_err().code, Code::Input);
    place.write("work/.ralph/skills/bytes/SKILL.md", "");
    std::fs::write(place.work().join(".ralph/skills/bytes/SKILL.md"), b"---\n\xff").unwrap();
    assert!(place.find("bytes").unwrap_err().causes.concat().contains("it is not UTF-8 text (line 2)"));
}

/// A skill with this block, or the place and the message of its first mistake with the hints.
fn with_block(place: &Place, block: &str) -> Result<Skill, (String, Vec<String>)> {
    let front = "---\nname: own\ndescription: b\n---\n# Own\n\n## Ralph Integration\n<promise>OK</promise>\n";
    place.write("work/.ralph/skills/own/SKILL.md", &format!("{front}```toml ralph\n{block}\n```\n"));
    let told =
        |problem: Problem| (problem.message.rsplit("SKILL.md:").next().unwrap().to_owned(), problem.hints);
    place.find("own").map_err(told)
}

#[test]
fn a_mistake_in_a_block_is_told_like_one_in_a_config_file() {
    let place = place();
    for (wrong, said, hint) in [
        ("verfy = []", "10:1: unknown key `verfy` in a skill", "did you mean `verify`?"),
        (
            "timeout = \"1m\"",
            "10:1: unknown key `timeout` in a skill",
            "a skill can set verify, max_iterations, max_cost_usd, kinds; everything else belongs in ralph.toml",
        ),
        (
            "verify = [\"a\"]\n  max_iterations = \"3\"",
            "11:20: `max_iterations` must be a whole number above 0, not \"3\"",
            "for example: max_iterations = 7",
        ),
        (
            "max_cost_usd = 0",
            "10:16: `max_cost_usd` must be an amount in dollars above 0, such as 5.0, not 0",
            "for example: max_cost_usd = 2.5",
        ),
        (
            "verify = [\" \"]",
            "10:10: `verify` contains an empty command, which proves nothing",
            "use a command that fails while the work is not done, such as 'cargo test'",
        ),
        (
            "kinds = [\"bug\", \"featur\"]",
            "10:17: `kinds` contains an unknown kind, \"featur\"",
            "did you mean \"feature\"?",
        ),
        ("verify = [", "", "correct it, then run `ralph skills check own`"),
        (
            "[run]\nmax_iterations = 3",
            "10:2: unknown key `run` in a skill",
            "a skill can set verify, max_iterations, max_cost_usd, kinds; everything else belongs in ralph.toml",
        ),
    ] {
        let (message, hints) = with_block(&place, wrong).unwrap_err();
        assert!(message == said || said.is_empty() && message.starts_with("1"), "{wrong}: {message}");
        assert_eq!(hints.first().map(String::as_str), Some(hint), "{wrong}");
    }
}

#[test]
fn a_block_ranks_below_files_and_its_promise_above_them() {
    let place = place();
    let skill =
        with_block(&place, "verify = [\"make x\"]\nmax_iterations = 3\nmax_cost_usd = 2\nkinds = [\"bug\"]")
            .unwrap();
    assert_eq!(skill.kinds(), ["bug"]);
    let values = skill.values(&place.work(), &place.env);
    let work = place.work();
    let load = || Sources::files(&work, None).skill(Some(&values)).load().unwrap();
    let (config, row) = (load(), |config: &crate::config::Config, name: &str| {
        let row = config.setting(name).unwrap();
        (row.value.unwrap().to_string(), row.from)
    });
    assert_eq!(config.settings.verify, ["make x"]);
    for (key, value) in [("run.max_iterations", "3"), ("run.max_cost_usd", "2"), ("gate.promise", "\"OK\"")] {
        assert_eq!(row(&config, key), (value.into(), "skill own".into()), "{key}");
    }
    place.write("work/ralph.toml", "[run]\nmax_iterations = 4\n[gate]\npromise = \"FILE\"\n");
    let config = load();
    assert_eq!(row(&config, "run.max_iterations"), ("4".into(), "ralph.toml:2".into()), "a file wins");
    assert_eq!(
        row(&config, "gate.promise"),
        ("\"OK\"".into(), "skill own".into()),
        "the promise is the skill's"
    );
}

#[test]
fn ceilings_hold_and_presets_give_way() {
    let place = place();
    let text = "---\nname: own\ndescription: b\n---\n## Ralph Integration\n<promise>OK</promise>\n```toml ralph\n\
        max_iterations = 900\nmax_cost_usd = 1000.0\n```\n";
    place.write("work/.ralph/skills/own/SKILL.md", text).write("work/ralph.toml", "preset = \"wrapper\"\n");
    let values = place.find("own").unwrap().values(&place.work(), &place.env);
    let config = Sources::files(&place.work(), None).skill(Some(&values)).load().unwrap();
    assert_eq!(config.settings.max_iterations, Some(50));
    assert_eq!(config.settings.max_cost.unwrap().to_string(), "$10.00");
    assert_eq!(config.warnings().len(), 2);
}

#[test]
fn built_in_skills_are_complete_and_verified_by_what_init_detects() {
    let place = place();
    place.write("work/package.json", r#"{"scripts": {"test": "node --test", "lint": "eslint ."}}"#);
    for (name, promise, verify) in [
        ("tdd", "COMPLETE", "npm test"),
        ("systematic-debugging", "BUG_FIXED", "npm test"),
        ("code-cleanup", "LINT_CLEAN", "npm run lint"),
    ] {
        let skill = place.find(name).unwrap();
        assert_eq!(skill.promise.as_deref(), Some(promise));
        let values = skill.values(&place.work(), &place.env);
        let config = Sources::files(&place.work(), None).skill(Some(&values)).load().unwrap();
        assert_eq!(config.settings.verify, [verify]);
        assert!(skill.missing(&config.settings.verify).is_empty());
        assert!(skill.is_loop_ready(&config.settings.verify) && !skill.kinds().is_empty());
        assert!(config.settings.max_iterations.is_some() && config.settings.max_cost.is_some());
        assert!(skill.text.len() < 4_000, "{name} travels with every prompt");
    }
    assert_eq!(BUILT_IN.map(|skill| skill.name).len(), 3);
}

#[test]
fn what_a_loop_lacks_is_told_with_its_line() {
    let place = place();
    place.write(
        "work/.agents/skills/bare/SKILL.md",
        "---\nname: bare\ndescription: b\n---\n\n# Bare\n\n## Completion Criteria\n\n- none\n",
    );
    let skill = place.find("bare").unwrap();
    let said: Vec<String> =
        skill.missing(&[]).iter().map(|p| p.message.rsplit("SKILL.md:").next().unwrap().to_owned()).collect();
    assert_eq!(
        said,
        [
            "10:7: the promise is missing",
            "8:1: the completion criteria are missing",
            "10:7: nothing verifies its work"
        ]
    );
    assert!(skill.without_promise().is_some());
    assert!(Path::new(&skill.given().from).is_absolute());
}
