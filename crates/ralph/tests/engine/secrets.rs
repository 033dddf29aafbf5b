//! Secrets, end to end: whatever an agent does with them, they are in nothing that ralph keeps or prints.

use crate::bed::{Bed, Done};
use std::fs;
use std::process::Command;

/// Known by the variable's name.
const TOKEN: &str = "q7Zp2LmX9vRt4KwB8nYc";
/// Known from a file that `ralph.toml` names.
const FILED: &str = "tango\"Foxtrot/77+quebec";
/// Known from `.env`, by its name.
const DOTENV: &str = "zulu-88-november-77";
/// Known from `.env.production`, and from a `.env` further down.
const PRODUCTION: &str = "lima-66-kilo-44";
const NESTED: &str = "echo-99-foxtrot-55";
/// Known from nothing but its shape.
const SHAPED: &str = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2";
const ALL: [&str; 6] = [TOKEN, FILED, DOTENV, PRODUCTION, NESTED, SHAPED];

/// Uses them in every way it can: prints, pieces, errors, JSON, file names, commits, its final message.
const AGENT: &str = r#"
cat > "prompt-$RALPH_ITERATION"
echo "the key is $MY_API_TOKEN"
cat .env .env.production services/api/.env keys.txt
printf q7Zp2; printf LmX9vRt; printf '4KwB8nYc\n'
printf '{"tool":"curl","args":"tango\\"Foxtrot\\/77+quebec"}\n'
echo "on stderr: $MY_API_TOKEN" >&2
echo x >> "file-$MY_API_TOKEN.txt"
git add "file-$MY_API_TOKEN.txt" && git -c user.name=a -c user.email=a@b commit -qm "Use $MY_API_TOKEN and $SHAPED"
cat <<END
I used $MY_API_TOKEN and $SHAPED, see tango"Foxtrot/77+quebec.
---RALPH_STATUS---
STATUS: IN_PROGRESS
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 1
TESTS_STATUS: FAILING
WORK_TYPE: IMPLEMENTATION
EXIT_SIGNAL: false
RECOMMENDATION: rotate $MY_API_TOKEN
---END_RALPH_STATUS---
END
"#;

fn scene() -> Bed {
    let bed = Bed::git("");
    let workspace = bed.scratch.workspace();
    fs::write(workspace.join("agent.sh"), AGENT).unwrap();
    fs::write(workspace.join("keys.txt"), format!("SERVICE='{FILED}'\nMODE=production\n")).unwrap();
    fs::write(workspace.join(".env"), format!("DB_PASSWORD={DOTENV}\nAPP=my-cool-app1\n")).unwrap();
    fs::write(workspace.join(".env.production"), format!("API_KEY={PRODUCTION}\n")).unwrap();
    fs::create_dir_all(workspace.join("services/api")).unwrap();
    fs::write(workspace.join("services/api/.env"), format!("API_KEY={NESTED}\n")).unwrap();
    fs::write(workspace.join("ralph.toml"), "[redact]\nfiles = [\"keys.txt\", \"none.json\"]\n").unwrap();
    bed
}

fn ralph(bed: &Bed, args: &[&str]) -> Command {
    let mut command = bed.ralph(args);
    command.env("MY_API_TOKEN", TOKEN).env("SHAPED", SHAPED);
    command
}

fn run(bed: &Bed, task: &str, iterations: &str) -> Done {
    let verify = "cat .env .env.production services/api/.env keys.txt; ls; echo $SHAPED >&2; false";
    let limits = ["--max-iterations", iterations, "--max-cost", "5", "--json", "-v"];
    let mut command = ralph(bed, &["run", task, "--agent", "command", "--verify", verify]);
    Done::of(command.args(limits).args(["--", "sh", "agent.sh"]))
}

/// No secret is in it.
#[track_caller]
fn clean(text: &str, what: &str) {
    for secret in ALL {
        let json = serde_json::to_string(secret).unwrap();
        for form in [secret, json.trim_matches('"'), json.trim_matches('"').replace('/', "\\/").as_str()] {
            assert!(!text.contains(form), "{form} is in {what}:\n{text}");
        }
    }
}

/// Nothing that ralph keeps holds one, apart from the workspace's own files as they were.
#[track_caller]
fn nothing_is_kept(bed: &Bed) {
    let state = bed.scratch.state().join("ralph");
    let views = bed.scratch.workspace().join(".ralph");
    let views = fs::read_dir(views).into_iter().flatten().flatten().map(|entry| entry.path());
    for file in bed.state_files().into_iter().chain(views.filter(|path| path.is_file())) {
        let own = file.starts_with(state.join("keep"))
            || file.parent().is_some_and(|dir| dir.ends_with("trees"))
            || file.extension().is_some_and(|end| end == "tree");
        if !own {
            clean(&String::from_utf8_lossy(&fs::read(&file).unwrap()), &file.display().to_string());
        }
    }
}

#[test]
fn whatever_an_agent_does_with_secrets_they_are_kept_and_printed_nowhere() {
    let bed = scene();
    let task = format!("Deploy with {TOKEN}, then stop");
    let done = run(&bed, &task, "2");
    done.ends(3, "MAX_ITERATIONS");
    clean(&done.out, "stdout");
    clean(&done.err, "stderr");
    for label in ["MY_API_TOKEN", "SERVICE", "DB_PASSWORD", "github-token"] {
        assert!(done.out.contains(&format!("[redacted:{label}]")), "{label}: {}", done.out);
    }
    assert!(done.out.contains("my-cool-app1"), "what is no secret is shown");
    nothing_is_kept(&bed);
    for args in [
        ["status", "--json"],
        ["explain", "--json"],
        ["explain", "--prompt=2"],
        ["list", "--json"],
        ["logs", "--raw"],
    ] {
        let said = Done::of(&mut ralph(&bed, &args));
        assert_eq!(said.code, 0, "{args:?}: {}", said.err);
        clean(&(said.out + &said.err), &format!("{args:?}"));
    }
    assert_eq!(Done::of(&mut ralph(&bed, &["replay"])).code, 0);

    let prompt = |n: u32| fs::read_to_string(bed.scratch.workspace().join(format!("prompt-{n}"))).unwrap();
    assert!(prompt(1).starts_with(&task), "the agent is given the task unchanged: {}", prompt(1));
    let second = prompt(2);
    assert!(second.starts_with(&task), "{second}");
    assert!(
        second.contains("[redacted:DB_PASSWORD]") && second.contains("[redacted:MY_API_TOKEN]"),
        "{second}"
    );
    clean(&second[task.len()..], "what ralph adds to the prompt");
}

#[test]
fn a_run_that_goes_on_is_told_its_task_unchanged() {
    let bed = scene();
    let task = format!("Deploy with {TOKEN}");
    run(&bed, &task, "1").ends(3, "MAX_ITERATIONS");
    let hinted = Done::of(&mut ralph(&bed, &["hint", &format!("the password is {DOTENV}")]));
    assert_eq!(hinted.code, 0, "{}", hinted.err);
    nothing_is_kept(&bed);
    Done::of(&mut ralph(&bed, &["resume", "--json", "--max-iterations", "2"])).ends(3, "MAX_ITERATIONS");
    let prompt = fs::read_to_string(bed.scratch.workspace().join("prompt-2")).unwrap();
    assert!(prompt.starts_with(&task), "{prompt}");
    assert!(prompt.contains("attempt #2 of 2"), "{prompt}");
    nothing_is_kept(&bed);
}

#[test]
fn a_key_in_the_task_that_nobody_knows_any_more_is_said_to_be_gone() {
    let bed = scene();
    run(&bed, &format!("Push with {SHAPED}"), "1").ends(3, "MAX_ITERATIONS");
    nothing_is_kept(&bed);
    let resumed = Done::of(&mut ralph(&bed, &["resume", "--max-iterations", "2"]));
    assert!(resumed.err.contains("which ralph did not store"), "{}", resumed.err);
}

#[test]
fn a_named_file_that_cannot_be_read_is_a_mistake() {
    let bed = scene();
    fs::create_dir(bed.scratch.workspace().join("dir")).unwrap();
    fs::write(bed.scratch.workspace().join("ralph.toml"), "[redact]\nfiles = [\"dir\"]\n").unwrap();
    let refused = run(&bed, "Work", "1");
    assert_eq!(refused.code, 78, "{}", refused.err);
    assert!(refused.err.contains("which is listed in redact.files"), "{}", refused.err);
}

#[test]
fn old_transcripts_are_cleaned_with_what_is_known_today() {
    let bed = Bed::git("say it is q7Zp2LmX9vRt4KwB8nYc\nwrite done.txt yes\nclaim complete");
    bed.done(&["--verify", "echo q7Zp2LmX9vRt4KwB8nYc; test -f done.txt"]).ends(0, "gate_passed");
    let kept = |bed: &Bed| {
        let runs = bed.scratch.state().join("ralph/runs");
        let files = bed.state_files().into_iter().filter(|file| file.starts_with(&runs));
        files.filter(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).contains(TOKEN)).count()
    };
    let before = kept(&bed);
    assert!(before >= 2, "{before} files hold it");
    let nothing = Done::of(&mut bed.ralph(&["redact"]));
    assert!(nothing.err.contains("No secrets found in"), "{}", nothing.err);

    let would = Done::of(&mut ralph(&bed, &["redact", "--dry-run"]));
    assert!(would.err.contains("nothing was changed"), "{}", would.err);
    assert_eq!(kept(&bed), before);
    let done = Done::of(&mut ralph(&bed, &["redact", "--all", "--json"]));
    assert_eq!(done.code, 0, "{}", done.err);
    let told: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(told["runs"][0]["files"].as_array().unwrap().len(), before, "{}", done.out);
    assert!(told["runs"][0]["journalRecords"].as_u64() > Some(0), "{}", done.out);
    assert_eq!(kept(&bed), 0);
    let again = Done::of(&mut ralph(&bed, &["redact"]));
    assert!(again.err.contains("No secrets found in"), "{}", again.err);
    for args in [["replay", "--strict"], ["status", "--json"], ["explain", "--json"], ["logs", "--raw"]] {
        let said = Done::of(&mut ralph(&bed, &args));
        assert_eq!(said.code, 0, "{args:?}: {}", said.err);
        assert!(!said.out.contains(TOKEN), "{args:?}: {}", said.out);
    }
}

#[test]
fn a_run_that_is_under_way_is_left_alone() {
    let bed = Bed::git(
        "say q7Zp2LmX9vRt4KwB8nYc\nwrite started yes\nrun until [ -e go ]; do sleep 0.05; done\nclaim complete",
    );
    let live = bed.start(&["--max-iterations", "1"]);
    bed.awaits("started");
    let refused = Done::of(&mut ralph(&bed, &["redact"]));
    assert_eq!(refused.code, 73, "{}", refused.err);
    let skipped = Done::of(&mut ralph(&bed, &["redact", "--all"]));
    assert_eq!(skipped.code, 0, "{}", skipped.err);
    assert!(skipped.err.contains("skipped"), "{}", skipped.err);
    bed.touch("go");
    live.end();
    let done = Done::of(&mut ralph(&bed, &["redact"]));
    assert!(done.err.contains("Redacted "), "{}", done.err);
}
