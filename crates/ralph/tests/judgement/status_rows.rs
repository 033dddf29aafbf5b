//! `ralph block emit` in real workspaces: every row of `status_rows.txt` is done twice, once by a person in a repository and
//! once by an agent inside a call, and must come out the same.

use crate::bed::{Bed, Done};
use std::fmt::Write;
use std::fs;

const PLAN: &str = "IMPLEMENTATION_PLAN.md";

#[derive(Default)]
struct Row {
    name: String,
    plan: Option<(String, String)>,
    write: Vec<(String, String)>,
    delete: Vec<String>,
    verify: String,
    emit: String,
    block: Vec<(String, String)>,
    says: Option<String>,
    refused: Option<String>,
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in include_str!("status_rows.txt").lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim();
        let list = || value.split(',').map(str::to_owned);
        if line.is_empty() || line.starts_with('#') || key == "section" {
            continue;
        }
        if key == "row" {
            rows.push(Row { name: value.into(), ..Row::default() });
            continue;
        }
        let row = rows.last_mut().unwrap();
        match key {
            "plan" => row.plan = value.split_once(' ').map(|(a, b)| (items(a), items(b))),
            "write" => row.write = list().map(|word| pair(&word, "x = 1")).collect(),
            "delete" => row.delete = list().collect(),
            "verify" => row.verify = value.into(),
            "emit" => row.emit = value.into(),
            "block" => row.block = value.split(' ').map(|word| pair(word, "")).collect(),
            "says" => row.says = Some(value.into()),
            "refused" => row.refused = Some(value.into()),
            _ => panic!("`{key}` is not a key of the table"),
        }
    }
    rows
}

fn pair(word: &str, otherwise: &str) -> (String, String) {
    let (key, value) = word.split_once('=').unwrap_or((word, otherwise));
    (key.into(), value.into())
}

/// A plan with so many ticked and open items.
fn items(counts: &str) -> String {
    let (done, open) = counts.split_once('/').unwrap();
    let lines = |mark: &str, count: &str| format!("- [{mark}] item\n").repeat(count.parse().unwrap());
    lines("x", done) + &lines(" ", open)
}

/// A repository before the work.
fn before(row: &Row) -> Bed {
    let bed = Bed::git("");
    let mut settings = String::new();
    if let Some((plan, _)) = &row.plan {
        let _ = writeln!(settings, "[plan]\nfile = \"{PLAN}\"");
        bed.scratch.files(&[(PLAN, plan)]);
    }
    if !row.verify.is_empty() {
        let _ = writeln!(settings, "[verify]\ncommands = [\"sh check.sh\"]");
    }
    let check = if row.verify == "pass" { "exit 0\n" } else { "exit 3\n" };
    bed.scratch.files(&[
        ("ralph.toml", &settings),
        ("check.sh", check),
        ("old.py", "a\n"),
        ("kept.py", "b\n"),
    ]);
    bed.scratch.git(&["add", "-A"]);
    bed.scratch.git(&["commit", "-qm", "Begin"]);
    bed
}

/// The work and the report, as a script that a person or an agent runs in the workspace.
fn script(bed: &Bed, row: &Row) -> String {
    let root = bed.scratch.root().display().to_string();
    let mut script = String::from("set -e\n");
    if let Some((_, plan)) = &row.plan {
        let _ = write!(script, "cat > {PLAN} <<'END'\n{plan}END\n");
    }
    for (path, text) in &row.write {
        let _ = write!(script, "mkdir -p \"$(dirname {path})\"\ncat > {path} <<'END'\n{text}\nEND\n");
    }
    for path in &row.delete {
        let _ = writeln!(script, "rm {path}");
    }
    let (ralph, emit) = (env!("CARGO_BIN_EXE_ralph"), &row.emit);
    let _ =
        writeln!(script, "set +e\n{ralph} block emit {emit} >{root}/out 2>{root}/err\necho $? >{root}/code");
    let path = bed.scratch.root().join("work.sh");
    fs::write(&path, script).unwrap();
    format!("sh {}", path.display())
}

fn compare(bed: &Bed, row: &Row, how: &str) {
    let read = |name: &str| fs::read_to_string(bed.scratch.root().join(name)).unwrap();
    let (code, out, err) = (read("code"), read("out"), read("err"));
    let name = format!("{} ({how})\n{out}{err}", row.name);
    if let Some(words) = &row.refused {
        assert_ne!(code.trim(), "0", "{name}");
        assert!(err.replace('\n', " ").contains(words), "{name}");
        assert_eq!(out, "", "{name}");
        return;
    }
    assert_eq!(code.trim(), "0", "{name}");
    let has = |field: &str, value: &str| {
        assert!(out.lines().any(|line| line == format!("{field}: {value}")), "{field}: {value} in {name}");
    };
    for (field, value) in &row.block {
        let field = match field.as_str() {
            "tasks" => "TASKS_COMPLETED_THIS_LOOP",
            "files" => "FILES_MODIFIED",
            "tests" => "TESTS_STATUS",
            "type" => "WORK_TYPE",
            "exit" => "EXIT_SIGNAL",
            "status" => "STATUS",
            other => panic!("`{other}` is not a field"),
        };
        has(field, value);
    }
    if let Some(says) = &row.says {
        has("RECOMMENDATION", says);
    }
}

#[test]
fn every_row_comes_out_the_same_for_a_person_and_inside_a_call() {
    let rows = rows();
    std::thread::scope(|scope| {
        let size = rows.len().div_ceil(4);
        for part in rows.chunks(size) {
            scope.spawn(move || part.iter().for_each(done_twice));
        }
    });
}

fn done_twice(row: &Row) {
    let bed = before(row);
    let work = script(&bed, row);
    let mut person = bed.scratch.command("sh");
    assert_eq!(Done::of(person.args(["-c", &work])).code, 0, "{}", row.name);
    compare(&bed, row, "a person");

    let bed = before(row);
    let work = script(&bed, row);
    bed.script(&format!("run {work}\nclaim progress"));
    bed.done(&["--max-iterations", "1"]);
    compare(&bed, row, "inside a call");
}

#[test]
fn inside_a_call_only_this_calls_work_is_measured_and_no_state_is_read() {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let emit = |home: &str| {
        format!("run {home} {ralph} block emit --no-tests --recommendation 'Next: b' >block.txt 2>&1")
    };
    // Neither the state nor the settings can be reached, and files of the first iteration are not the second's.
    let blind = emit("env HOME=/nowhere XDG_STATE_HOME=/nowhere XDG_CONFIG_HOME=/nowhere");
    let bed =
        Bed::git(&format!("[1]\nwrite a.txt 1\nwrite b.txt 1\n[2]\nwrite a.txt 2\n{blind}\nclaim progress"));
    bed.done(&["--max-iterations", "2"]);
    // The shell has made block.txt before ralph looks.
    let block = bed.scratch.read("block.txt");
    assert!(block.contains("FILES_MODIFIED: 2\n"), "{block}");
    assert!(bed.state_files().iter().all(|file| !file.ends_with("call/facts.json")), "removed with the call");
}

#[test]
fn a_damaged_call_directory_is_named_and_nothing_is_guessed() {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    for damage in ["echo x > $RALPH_CALL/facts.json", "rm -r $RALPH_CALL", "echo x > $RALPH_CALL/index"] {
        let bed = Bed::git(&format!(
            "run {damage}; {ralph} block emit --recommendation 'Next: b' >out 2>err; echo $? >code\nclaim progress"
        ));
        bed.done(&["--max-iterations", "1"]);
        assert_eq!(
            (bed.scratch.read("code").as_str(), bed.scratch.read("out").as_str()),
            ("65\n", ""),
            "{damage}"
        );
        assert!(bed.scratch.read("err").contains("cannot read the call's directory"), "{damage}");
    }
}
