//! `ralph config`: effective settings, where each comes from, and every mistake at its place.

use super::scene::Scene;
use serde_json::Value;
use std::fs;

fn own_config(scene: &Scene, text: &str) {
    let dir = scene.scratch.root().join("config/ralph");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.toml"), text).unwrap();
}

fn layered() -> Scene {
    let mut scene = Scene::new();
    own_config(
        &scene,
        "[ceilings]\nmax_iterations = 20\n\n[agent]\nname = \"codex\"\nmodel = \"mine\"\n[protect]\npaths = [\"own/\"]\n",
    );
    scene.scratch.files(&[
        ("ralph.toml", "preset = \"classic\"\n[run]\nmax_iterations = 40\nmax_cost_usd = 5\n[verify]\ncommands = [\"make test\"]\n[protect]\npaths = [\"infra/\"]\n[agents.claude]\nmodel = \"opus\"\n"),
        ("ralph.local.toml", "[run]\nmax_cost_usd = 2.5\n"),
    ]);
    scene.set("RALPH_MODEL", "variable");
    scene.set("RALPH_TIMOUT", "9m");
    scene
}

#[test]
fn everything_is_shown_with_where_it_comes_from() {
    let mut scene = layered();
    assert_eq!(scene.show(&["config", "show"]).code, 0);
    assert_eq!(scene.show(&["config", "show", "--set"]).code, 0);
    for key in [
        "run.max_iterations",
        "run.max_cost_usd",
        "agent.model",
        "agents.claude.model",
        "protect.paths",
        "breaker.decline",
        "ceilings.max_cost_usd",
    ] {
        assert_eq!(scene.show(&["config", "explain", key]).code, 0);
    }
    scene.compare("config_show");
}

#[test]
fn scripts_get_the_same() {
    let scene = layered();
    let shown: Value = serde_json::from_str(&scene.ralph(&["config", "show", "--json"]).out).unwrap();
    let of =
        |key: &str| shown["settings"].as_array().unwrap().iter().find(|s| s["key"] == key).unwrap().clone();
    assert_eq!(
        (of("run.max_iterations")["value"].clone(), of("run.max_iterations")["layer"].clone()),
        (20.into(), "project".into())
    );
    assert_eq!(
        (of("run.max_cost_usd")["value"].clone(), of("run.max_cost_usd")["from"].clone()),
        (2.5.into(), "ralph.local.toml:2".into())
    );
    assert_eq!(of("agent.model")["from"], "RALPH_MODEL");
    assert_eq!(of("breaker.decline")["from"], "preset classic");
    assert_eq!(of("run.max_wait")["layer"], "built-in");
    assert_eq!(of("protect.paths")["value"], serde_json::json!(["own/", "infra/"]));
    assert!(shown["warnings"].to_string().contains("did you mean RALPH_TIMEOUT?"), "{}", shown["warnings"]);
    let one: Value =
        serde_json::from_str(&scene.ralph(&["config", "explain", "run.timeout", "--json"]).out).unwrap();
    assert_eq!((one["variable"].clone(), one["flag"].clone()), ("RALPH_TIMEOUT".into(), "--timeout".into()));
    serde_json::from_str::<Value>(&scene.ralph(&["config", "schema"]).out).unwrap();
}

#[test]
fn sections_and_all_keys_are_listed() {
    let mut scene = Scene::new();
    assert_eq!(scene.show(&["config", "explain"]).code, 0);
    assert_eq!(scene.show(&["config", "explain", "agents"]).code, 0);
    scene.compare("config_explain");
}

#[test]
fn mistakes_are_shown_in_the_file() {
    let mut scene = Scene::new();
    let long = format!("[run]\n# {}\nmax_cost_usd = \"{}\"\n", "x".repeat(300), "y".repeat(3000));
    for text in [
        "[run]\nmax_iteration = 3\n",
        "\u{feff}[run]\r\n\ttimout = \"5m\"\r\n",
        "[run]\nmax_iterations = 1\nmax_iterations = 2\n",
        "[verify]\noracle = \"gaurd\"\n",
        "[gate]\nuntil = \"verifed\"\n",
        "[sandbox]\nmode = \"off\"\n",
        "[agents.cluade]\nmodel = \"x\"\n",
        "[run\n",
        &long,
    ] {
        scene.scratch.files(&[("ralph.toml", text)]);
        assert_eq!(scene.show(&["config", "show"]).code, 78, "{text}");
    }
    fs::write(scene.scratch.workspace().join("ralph.toml"), format!("#{}\n", "x".repeat(2 << 20))).unwrap();
    assert_eq!(scene.show(&["config", "show"]).code, 78);
    fs::remove_file(scene.scratch.workspace().join("ralph.toml")).unwrap();
    for args in [
        &["config", "explain", "max_iterations"][..],
        &["config", "explain", "run.max_iteration"],
        &["config", "explain", "zzz"],
        &["config", "shwo"],
        &["config"],
    ] {
        assert_eq!(scene.show(args).code, 64, "{args:?}");
    }
    scene.set("RALPH_PRESET", "clasic");
    assert_eq!(scene.show(&["config", "show"]).code, 64);
    scene.compare("config_wrong");
}

#[test]
fn check_lists_every_problem() {
    let mut scene = Scene::new();
    assert_eq!(scene.show(&["config", "check"]).code, 0);
    own_config(&scene, "[agent]\nname = \"cluade\"\n[agents.codxe]\nmodel = \"x\"\n");
    scene.scratch.files(&[
        (
            "ralph.toml",
            "preset = \"clasic\"\n[run]\nmax_iteration = 3\ntimeout = 5\n[ceilings]\nmax_iterations = 9\n",
        ),
        ("ralph.local.toml", "[gate]\nuntil = \"verifed\"\n[[ladder]]\nagent = \"gemni\"\n"),
    ]);
    scene.set("RALPH_TIMEOUT", "soon");
    assert_eq!(scene.show(&["config", "check"]).code, 78);
    let answer = scene.ralph(&["config", "check", "--json"]);
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((answer.code, found["valid"].clone()), (78, false.into()));
    assert_eq!(found["problems"].as_array().unwrap().len(), 9, "{found:#}");
    scene.compare("config_check");
}

/// The same mistake is found by `config check`, by `doctor` and by `run`, at the same place and with the same suggestion.
#[test]
fn check_doctor_and_run_find_the_same() {
    let scene = Scene::new();
    for (text, place, meant) in [
        ("[agent]\nname = \"cluade\"\n", "ralph.toml:2:8", "\"claude\""),
        ("[agents.cluade]\nmodel = \"x\"\n", "ralph.toml:1:9", "\"claude\""),
        ("[[ladder]]\nagent = \"cluade\"\n", "ralph.toml:2:9", "\"claude\""),
        ("preset = \"clasic\"\n", "ralph.toml:1:10", "\"classic\""),
        ("[verify]\noracle = \"gaurd\"\n", "ralph.toml:2:10", "\"guard\""),
        ("[run]\ntimout = \"5m\"\n", "ralph.toml:2:1", "`timeout`"),
    ] {
        scene.scratch.files(&[("ralph.toml", text)]);
        let meant = format!("did you mean {meant}?");
        for args in [
            &["config", "check"][..],
            &["doctor"],
            &["run", "x", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1"],
        ] {
            let answer = scene.ralph(args);
            let said = format!("{}{}", answer.out, answer.err);
            assert_eq!(answer.code, 78, "{args:?}: {said}");
            assert!(said.contains(place) && said.contains(&meant), "{args:?}: {place} {meant}: {said}");
        }
    }
}

#[test]
fn variables_for_an_agent_are_never_shown() {
    let scene = Scene::new();
    own_config(&scene, "[agents.claude.env]\nAPI_KEY = \"hunter2hunter2\"\n");
    for args in
        [&["config", "show"][..], &["config", "show", "--json"], &["config", "explain", "agents.claude.env"]]
    {
        let answer = scene.ralph(args);
        assert!(answer.code == 0 && answer.out.contains("API_KEY"), "{args:?}: {}", answer.out);
        assert!(!answer.out.contains("hunter2"), "{args:?}: {}", answer.out);
    }
    own_config(&scene, "[agents.claude.env]\nAPI_KEY = \"hunter2hunter2\"\nN = 1\n");
    let answer = scene.ralph(&["config", "check"]);
    assert!(answer.code == 78 && !answer.err.contains("hunter2"), "{}", answer.err);
}

/// A project's looser word is not shown as if it were in force.
#[test]
fn a_looser_word_of_a_project_is_shown_as_ignored() {
    let scene = Scene::new();
    scene.scratch.files(&[(
        "ralph.toml",
        "[run]\nmax_iterations = 1\nmax_cost_usd = 1\n[verify]\noracle = \"allow\"\n",
    )]);
    let shown: Value = serde_json::from_str(&scene.ralph(&["config", "show", "--json"]).out).unwrap();
    let rows = shown["settings"].as_array().unwrap();
    let row = rows.iter().find(|row| row["key"] == "verify.oracle").unwrap();
    assert_eq!((row["value"].as_str(), row["from"].as_str()), (Some("guard"), Some("built-in")));
    assert!(row["lowered"].as_str().unwrap().contains("ralph.toml:5"), "{row}");
    let run = scene.ralph(&["run", "x", "--agent", "sim", "--dry-run", "--json"]);
    let run: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(run["policy"]["oracle"], "guard");
    assert!(run["warnings"].to_string().contains("verify.oracle"), "{}", run["warnings"]);
}

#[test]
fn an_edited_file_is_checked() {
    let mut scene = Scene::new();
    assert_eq!(scene.show(&["config", "edit"]).code, 64);
    scene.set("EDITOR", "printf '[run]\\nmax_iterations = 3\\n' >");
    assert_eq!(scene.show(&["config", "edit"]).code, 0);
    assert_eq!(scene.scratch.read("ralph.toml"), "[run]\nmax_iterations = 3\n");
    assert_eq!(scene.show(&["config", "edit", "--user"]).code, 0);
    scene.set("VISUAL", "printf '[run]\\nmax_iteration = 3\\n' >");
    assert_eq!(scene.show(&["config", "edit", "--local"]).code, 78);
    scene.set("VISUAL", "false");
    assert_eq!(scene.show(&["config", "edit"]).code, 69);
    scene.compare("config_edit");
}

#[test]
fn variables_stand_between_flags_and_files() {
    let mut scene = Scene::new();
    scene.scratch.files(&[
        ("ralph.toml", "[run]\ntimeout = \"3m\"\n[verify]\ncommands = [\"file\"]\n"),
        ("TASK.md", "Do it.\n"),
    ]);
    for (name, value) in [
        ("RALPH_TIMEOUT", "4m"),
        ("RALPH_VERIFY", "make test\n  make lint\n"),
        ("RALPH_PROTECT", "a/\nb/"),
        ("RALPH_PROMPT", "TASK.md"),
        ("RALPH_PRESET", "classic"),
        ("RALPH_PROMISE", "DONE"),
        ("RALPH_CALLS_PER_HOUR", "7"),
        ("RALPH_MAX_TIME", "2h"),
        ("RALPH_IDLE_TIMEOUT", "30s"),
        ("RALPH_MAX_ITERATIONS", "3"),
        ("RALPH_MAX_COST", "1.5"),
        ("RALPH_AGENT", "sim"),
    ] {
        scene.set(name, value);
    }
    let plan = |more: &[&str]| -> Value {
        let args: Vec<&str> = ["run", "--dry-run", "--json"].iter().chain(more).copied().collect();
        let answer = scene.ralph(&args);
        assert_eq!(answer.code, 0, "{}", answer.err);
        serde_json::from_str(&answer.out).unwrap()
    };
    let seen = plan(&[]);
    let policy = &seen["policy"];
    assert_eq!(
        (policy["timeout"].as_i64(), policy["idle_timeout"].as_i64(), policy["max_time"].as_i64()),
        (Some(240_000), Some(30_000), Some(7_200_000))
    );
    assert_eq!(
        (policy["calls_per_hour"].as_i64(), policy["gate"]["promise"].as_str()),
        (Some(7), Some("DONE"))
    );
    assert_eq!(
        (seen["verify"].clone(), seen["preset"].clone()),
        (serde_json::json!(["make test", "make lint"]), "classic".into())
    );
    assert_eq!((seen["prompt"].as_str(), seen["agent"]["name"].as_str()), (Some("Do it.\n"), Some("sim")));
    assert!(seen["protect"].to_string().contains("\"b/\""));
    let flags = plan(&["--timeout", "5m", "--verify", "flag", "--preset", "wrapper"]);
    assert_eq!(
        (flags["policy"]["timeout"].as_i64(), flags["verify"].clone(), flags["preset"].clone()),
        (Some(300_000), serde_json::json!(["flag"]), "wrapper".into())
    );
}

/// Mistakes that show only in the files that settings name: `config check` finds them and exits as the run would.
#[test]
fn check_finds_what_a_run_would_refuse() {
    for (wrong, code) in [
        ("[prompt]\ntemplates = \"missing\"\n", 78),
        ("[redact]\nfiles = [\".\"]\n", 78),
        ("[views]\nstatus = \"migrations/status.json\"\n", 78),
        ("[plan]\nfile = \"missing.md\"\n", 64),
    ] {
        let scene = Scene::new();
        scene.scratch.files(&[("ralph.toml", wrong)]);
        let run = scene.sim("Task", &[], "claim complete");
        let check = scene.ralph(&["config", "check"]);
        let message = run.err.lines().find(|line| line.starts_with("error: ")).expect(wrong);
        assert_eq!((run.code, check.code), (code, code), "{wrong}: {}", check.err);
        assert!(check.err.contains(message), "{wrong}: {} {message}", check.err);
        assert!(scene.ralph(&["doctor"]).out.contains(&message["error: ".len()..]), "{wrong}");
    }
    let scene = Scene::new();
    scene.scratch.files(&[("ralph.toml", "[gate]\nuntil = \"verified\"\n")]);
    assert_eq!(scene.sim("Task", &[], "claim complete").code, 78);
    let check = scene.ralph(&["config", "check"]);
    assert_eq!(check.code, 0, "--verify can be typed: {}", check.err);
    assert!(check.err.contains("warning: gate.until = \"verified\" needs a verify command"), "{}", check.err);
}

#[test]
fn a_wrong_variable_and_a_link_that_leads_nowhere_have_one_exit_code() {
    let mut scene = Scene::new();
    std::os::unix::fs::symlink("missing.toml", scene.scratch.workspace().join("ralph.toml")).unwrap();
    let codes = |scene: &Scene| {
        [scene.sim("Task", &[], "claim complete").code, scene.ralph(&["config", "check"]).code]
    };
    assert_eq!(codes(&scene), [78, 78]);
    let error = scene.ralph(&["config", "check"]).err;
    assert!(error.contains("ralph.toml is a link to a file that does not exist"), "{error}");
    fs::remove_file(scene.scratch.workspace().join("ralph.toml")).unwrap();
    scene.set("RALPH_TIMEOUT", "soon");
    assert_eq!(codes(&scene), [64, 64]);
}

#[test]
fn a_variable_that_is_not_utf8_is_refused_instead_of_ignored() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    let mut command = scene.command(&["config", "check"]);
    let output = command.env("RALPH_PROTECT", OsStr::from_bytes(b"infra\xff/")).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.contains("RALPH_PROTECT is not valid UTF-8"), "{text}");
}
