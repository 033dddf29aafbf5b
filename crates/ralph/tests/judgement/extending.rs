//! The user's own phrases and checks, and agents that take turns: whole runs.

use crate::bed::{Bed, Done, until};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A repository with these settings, committed.
fn bed(settings: &str, script: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[("ralph.toml", settings)]);
    bed.scratch.git(&["add", "-A"]);
    bed.scratch.git(&["commit", "-qm", "Settings"]);
    bed
}

const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];

fn replays(bed: &Bed) {
    let replayed = Done::of(&mut bed.ralph(&["replay"]));
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
}

#[test]
fn a_phrase_that_objects_delays_the_end_and_is_told() {
    let settings = "[[pattern]]\nname = \"hacks\"\nphrases = [\"a workaround\"]\nmeans = \"object\"\n";
    let bed = bed(
        settings,
        "[1]\nwrite done.txt yes\nmessage I left a workaround in place.\nclaim complete\n[2]\nmessage No hacks.\nclaim complete",
    );
    assert_eq!(bed.done(&GREEN).ends(0, "gate_passed")["iterations"], 2);
    let told = "the agent says \"a workaround\" (pattern hacks)";
    assert!(bed.prompts()[1].contains(told), "{}", bed.prompts()[1]);
    replays(&bed);
}

#[test]
fn a_phrase_that_notes_is_explained_and_changes_nothing() {
    let settings = "[[pattern]]\nname = \"hacks\"\nphrases = [\"a workaround\"]\nmeans = \"note\"\n";
    let bed = bed(
        settings,
        "[1]\nmessage I left a workaround in place.\nclaim progress\n[2]\nwrite done.txt yes\nclaim complete",
    );
    assert_eq!(bed.done(&GREEN).ends(0, "gate_passed")["iterations"], 2);
    assert!(bed.says(&["explain"]).contains("(pattern hacks)"));
    assert!(!bed.prompts()[1].contains("hacks"), "{}", bed.prompts()[1]);
}

#[test]
fn a_phrase_that_means_done_is_evidence_and_never_proof() {
    let settings = "[[pattern]]\nname = \"rc\"\nphrases = [\"release candidate\"]\nmeans = \"done\"\n";
    let said = "append a.txt 1\nmessage This is a release candidate.\nclaim none";
    // Alone it is one indicator of two, however often it is said; beside a failing verification it is nothing.
    let without = bed(settings, said).done(&["--max-iterations", "4", "--preset", "classic"]);
    assert_eq!(without.code, 3, "{}", without.err);
    let failing = bed(settings, said).done(&["--max-iterations", "3", "--verify", "false"]);
    assert_ne!(failing.code, 0, "{}", failing.err);
    let bed = bed(settings, said);
    let scene = bed.scratch.root().join("answer.txt");
    fs::write(&scene, "This is a release candidate.\n").unwrap();
    let analysis: Value = serde_json::from_str(&bed.says(&["analyze", scene.to_str().unwrap()])).unwrap();
    assert_eq!(analysis["evidence"], serde_json::json!(["user_pattern"]));
}

/// A repository with an analyzer that is this shell script.
fn analyzed(script: &str, more: &str, agent: &str) -> Bed {
    let bed = Bed::git(agent);
    let tool = bed.scratch.root().join("tool");
    fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let command = tool.display();
    let settings = format!("[[analyzer]]\nname = \"mine\"\ncommand = \"{command}\"\n{more}");
    bed.scratch.files(&[("ralph.toml", &settings)]);
    bed.scratch.git(&["add", "-A"]);
    bed.scratch.git(&["commit", "-qm", "Settings"]);
    bed
}

const DONE: &str = "write done.txt yes\nclaim complete";
const NO_OBJECTION: &str = r#"echo '{"objections":[],"notes":["fine"]}'"#;

#[test]
fn an_objection_delays_the_end_and_enters_the_next_prompt() {
    let script = r#"cat > ../input.json
if [ -f fixed ]; then echo '{"objections":[]}'; else echo '{"objections":[{"code":"licence","text":"no licence"}]}'; fi"#;
    let agent = "[1]\nwrite done.txt yes\nclaim complete\n[2]\nwrite fixed yes\nclaim complete";
    let bed = analyzed(script, "", agent);
    let done = bed.done(&GREEN);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    assert!(bed.prompts()[1].contains("mine objects (licence): no licence"), "{}", bed.prompts()[1]);
    let input: Value =
        serde_json::from_str(&fs::read_to_string(bed.scratch.root().join("input.json")).unwrap()).unwrap();
    assert_eq!(input["iteration"], 2);
    assert_eq!(input["verification"]["passed"], true);
    assert_eq!(input["verification"]["commands"][0]["command"], "test -f done.txt");
    assert_eq!(input["changed"]["files"], serde_json::json!(["fixed"]));
    assert_eq!(input["analysis"]["ralph_status"]["exit_signal"], true);
    replays(&bed);
}

#[test]
fn without_a_verify_command_analyzers_are_asked_too() {
    let script =
        r#"if [ -f fixed ]; then echo '{}'; else echo '{"objections":[{"code":"c","text":"not yet"}]}'; fi"#;
    let agent = "message All tests pass. The project is complete.\n[1]\nclaim complete\n[2]\nwrite fixed yes\nclaim complete";
    let bed = analyzed(script, "", agent);
    let done = bed.done(&["--preset", "wrapper"]);
    assert_eq!(done.result()["iterations"], 2, "{}", done.err);
    let second = &bed.prompts()[1];
    assert!(second.contains("mine objects (c): not yet") && !second.contains("Verification:"), "{second}");
    replays(&bed);
}

/// An analyzer that fails, and the words that name its failure.
const FAILING: &[(&str, &str)] = &[
    ("exit 7", "it ended with exit code 7"),
    ("echo broken >&2; exit 1", "it ended with exit code 1: broken"),
    ("echo hello", "its answer is not the JSON that is expected"),
    ("echo '{\"objections\":\"none\"}'", "its answer is not the JSON that is expected"),
    ("true", "it printed nothing"),
    ("sleep 600", "it did not end within 1000 ms"),
    ("yes | head -c 100000000", "it printed more than 64 KiB"),
    ("kill -9 $$", "it ended with exit code 137"),
];

#[test]
fn a_failing_analyzer_is_named_and_changes_nothing_unless_it_is_required() {
    for (script, words) in FAILING {
        let bed = analyzed(
            script,
            "timeout = \"1s\"\n",
            "[1]\nclaim progress\n[2]\nwrite done.txt yes\nclaim complete",
        );
        let done = bed.done(&GREEN);
        assert_eq!(done.ends(0, "gate_passed")["iterations"], 2, "{script}");
        let explained = bed.says(&["explain"]);
        assert!(
            explained.contains(&format!("the analyzer mine has no answer: {words}")),
            "{script}: {explained}"
        );
        assert!(!bed.prompts()[1].contains("analyzer mine"), "{script}: {}", bed.prompts()[1]);

        let bed = analyzed(script, "timeout = \"1s\"\nrequired = true\n", DONE);
        let done = bed.done(&["--max-iterations", "2", GREEN[0], GREEN[1]]);
        assert_eq!(done.code, 3, "{script}: {}", done.err);
        let told = format!("the required analyzer mine has no answer: {words}");
        assert!(bed.prompts()[1].contains(&told), "{script}: {}", bed.prompts()[1]);
        bed.nobody_is_left();
    }
}

#[test]
fn an_analyzer_can_neither_write_nor_stay_nor_grant() {
    // Files by relative and absolute path, tests, ralph.toml; an orphan in its own session; claims of success.
    let script = r#"echo x > written.txt; echo x > "$PWD/absolute.txt"; rm -f ralph.toml; mkdir -p tests; echo x > tests/a
setsid sh -c 'sleep 600' >/dev/null 2>&1 &
echo '{"objections":[],"notes":[],"done":true,"verified":true,"exit_signal":true,"grant":"proven"}'"#;
    let bed = analyzed(script, "", "write a.txt 1\nclaim complete");
    let done = bed.done(&["--max-iterations", "2", GREEN[0], GREEN[1]]);
    assert_eq!(done.code, 3, "{}", done.err);
    for path in ["written.txt", "absolute.txt", "tests/a"] {
        assert!(!bed.scratch.workspace().join(path).exists(), "{path}");
    }
    assert!(bed.scratch.workspace().join("ralph.toml").exists());
    bed.nobody_is_left();
}

#[test]
fn an_analyzer_ends_with_the_run_that_is_stopped() {
    let bed = analyzed("echo x > ../begun; sleep 600", "timeout = \"10m\"\n", DONE);
    let run = bed.start(&GREEN);
    until("the analyzer", || bed.scratch.root().join("begun").exists().then_some(()));
    run.signal(rustix::process::Signal::INT);
    assert_eq!(run.end().code, 130);
    bed.nobody_is_left();
}

#[test]
fn a_run_without_analyzers_has_no_trace_of_them() {
    let bed = Bed::git(DONE);
    let done = bed.done(&GREEN);
    done.ends(0, "gate_passed");
    assert!(
        !done.out.contains("analyzers") && !done.out.contains("patterns") && !done.out.contains("rotate")
    );
    let quiet = analyzed(NO_OBJECTION, "", DONE);
    assert_eq!(quiet.done(&GREEN).ends(0, "gate_passed")["iterations"], 1);
}

/// Two agents that take turns: both are the scripted one, by two names.
fn rotating(more: &str, script: &str) -> Bed {
    let bed = Bed::git(script);
    let (sim, path) = (env!("CARGO_BIN_EXE_ralph"), bed.scratch.root().join("agent.sim"));
    for name in ["claude", "codex"] {
        let tool = bed.scratch.root().join(name);
        let text = format!(
            "#!/bin/sh\necho {name} >> \"{}\"\nexec {sim} agent-sim --script {} \"$@\"\n",
            bed.scratch.root().join("who").display(),
            path.display()
        );
        fs::write(&tool, text).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let root = bed.scratch.root().display();
    let settings = format!(
        "[agent]\nrotate = [\"claude\", \"qwen\"]\n[agents.claude]\ncommand = \"{root}/claude\"\n[agents.qwen]\ncommand = \"{root}/codex\"\n{more}"
    );
    bed.scratch.files(&[("ralph.toml", &settings)]);
    bed.scratch.git(&["add", "-A"]);
    bed.scratch.git(&["commit", "-qm", "Settings"]);
    bed
}

fn run(bed: &Bed, args: &[&str]) -> Done {
    let mut all = vec!["run", "Do it", "--json", "--max-cost", "5"];
    all.extend(args);
    Done::of(&mut bed.ralph(&all))
}

#[test]
fn agents_take_turns_and_a_resumed_run_continues_with_the_next() {
    let bed = rotating("", "append a.txt x\nclaim progress");
    let done = run(&bed, &["--max-iterations", "3", "--verify", "false"]);
    assert_eq!(done.code, 3, "{}", done.err);
    let who = || fs::read_to_string(bed.scratch.root().join("who")).unwrap();
    assert_eq!(who(), "claude\ncodex\nclaude\n");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--max-iterations", "4"]));
    assert_eq!(resumed.code, 3, "{}", resumed.err);
    assert_eq!(who(), "claude\ncodex\nclaude\ncodex\n");
    let status: Value = serde_json::from_str(&bed.says(&["status", "--json"])).unwrap();
    let agents: Vec<&str> =
        status["rungs"].as_array().unwrap().iter().map(|call| call["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["claude", "qwen", "claude", "qwen"]);
    assert!(bed.says(&["status"]).contains("then       qwen"), "{}", bed.says(&["status"]));
    let stats: Value = serde_json::from_str(&bed.says(&["stats", "--json"])).unwrap();
    let calls: Vec<(&str, u64)> = stats["byAgent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["agent"].as_str().unwrap(), agent["calls"].as_u64().unwrap()))
        .collect();
    assert_eq!(calls, [("claude", 2), ("qwen", 2)], "{stats}");
    replays(&bed);
}

#[test]
fn rotation_beside_a_ladder_is_refused_with_both_places() {
    let bed = rotating("[[ladder]]\nmodel = \"opus\"\n", "claim progress");
    for args in [&["run", "Do it", "--max-iterations", "2", "--max-cost", "1"][..], &["config", "check"]] {
        let done = Done::of(&mut bed.ralph(args));
        assert_eq!(done.code, 78, "{}", done.err);
        let both = "agent.rotate (ralph.toml:2) and [[ladder]] (ralph.toml:8) cannot be used together";
        assert!((done.err.clone() + &done.out).replace("\n", " ").contains(both), "{}{}", done.err, done.out);
    }
    let typed = run(&bed, &["--agent", "claude", "--max-iterations", "1", "--verify", "false"]);
    assert_eq!(typed.code, 3, "an agent that is typed works alone: {}", typed.err);
}
