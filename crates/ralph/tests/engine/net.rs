//! What snapshots rest on: contents that are what their names say, a size that does not grow with the number of runs, and
//! nothing half written left lying about.

use crate::bed::{Bed, Done};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Every file below a directory.
fn below(dir: &Path) -> Vec<PathBuf> {
    let (mut files, mut dirs) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files
}

/// The saved contents.
fn contents(bed: &Bed) -> Vec<PathBuf> {
    let is_content = |path: &PathBuf| path.parent().unwrap().parent().unwrap().ends_with("contents");
    below(&bed.kept()).into_iter().filter(is_content).collect()
}

fn doctor(bed: &Bed, args: &[&str]) -> Value {
    let done = Done::of(&mut bed.ralph(&[&["doctor", "--json"], args].concat()));
    let all: Value = serde_json::from_str(&done.out).unwrap();
    let row = all["rows"].as_array().unwrap().iter().find(|row| row["name"] == "snapshots");
    row.cloned().unwrap_or_default()
}

/// A process that existed and does not any more.
fn dead() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn damaged_contents_are_named_by_doctor_and_saved_again_by_the_next_run() {
    let bed = Bed::plain("write agent.txt by the agent\nclaim progress");
    bed.scratch.files(&[("empty.txt", "will be empty"), ("other.txt", "will be other")]);
    assert_eq!(doctor(&bed, &[]), Value::Null, "nothing is saved yet");
    bed.done(&["--max-iterations", "1"]);
    assert_eq!(doctor(&bed, &[])["state"], "ok");
    assert_eq!(doctor(&bed, &["--full"])["fact"], "all 3 saved contents are whole");
    let with = |text: &str| {
        contents(&bed).into_iter().find(|path| fs::read_to_string(path).unwrap() == text).unwrap()
    };
    let (empty, other) = (with("will be empty"), with("will be other"));
    fs::write(&empty, "").unwrap();
    fs::write(&other, "was changed!!").unwrap();
    let plain = doctor(&bed, &[]);
    assert_eq!(
        (&plain["state"], &plain["fact"]),
        (&"warn".into(), &"1 saved content is damaged: empty.txt".into())
    );
    let full = doctor(&bed, &["--full"]);
    let fact = full["fact"].as_str().unwrap();
    assert!(fact.starts_with("2 saved contents are damaged"), "{fact}");
    assert!(fact.contains(empty.to_str().unwrap()) && fact.contains(other.to_str().unwrap()), "{fact}");

    bed.script("run rm empty.txt other.txt\nclaim progress");
    bed.done(&["--fresh", "--max-iterations", "1"]);
    assert_eq!(doctor(&bed, &["--full"])["state"], "ok");
    let undone = Done::of(&mut bed.ralph(&["undo", "--yes"]));
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(bed.scratch.read("empty.txt"), "will be empty");
    assert_eq!(bed.scratch.read("other.txt"), "will be other");
}

#[test]
fn what_a_killed_process_left_half_written_is_removed_by_the_next_command() {
    let bed = Bed::git("write a.txt one\nclaim progress");
    bed.done(&["--max-iterations", "1", "--verify", "false"]);
    let (dead, living) = (dead(), std::process::id());
    let run = fs::read_dir(bed.scratch.state().join("ralph/runs")).unwrap().flatten().next().unwrap().path();
    let keep = fs::read_dir(bed.kept()).unwrap().flatten().next().unwrap().path();
    let workspace = bed.scratch.workspace();
    for command in [&["undo", "--to", "1", "--yes"][..], &["prune", "--yes"], &["run"]] {
        let drafts = |pid: u32| {
            [
                keep.join(format!("contents/drafts/{pid}.0")),
                keep.join(format!("bases/new.{pid}.tmp")),
                run.join(format!("known.refs.{pid}.tmp")),
                run.join(format!("trees/moments.{pid}.tmp")),
                run.join(format!("before.git/0.tree.{pid}.tmp")),
            ]
        };
        let left = [
            workspace.join(format!(".ralph-{:032x}.draft", 7)),
            workspace.join(format!(".ralph-{dead}.3.draft")),
            workspace.join(".git").join(format!(".ralph-{:032x}.draft", 8)),
            workspace.join(".git/hooks").join(format!(".ralph-{dead}.4.draft")),
        ];
        // `ralph prune` does not look into workspaces.
        let left: &[PathBuf] = if command[0] == "prune" { &[] } else { &left };
        let goes: Vec<PathBuf> = drafts(dead).iter().chain(left).cloned().collect();
        let mut stays = drafts(living).to_vec();
        stays.push(workspace.join(format!(".ralph-{living}.5.draft")));
        for path in goes.iter().chain(&stays) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "half").unwrap();
        }
        match command {
            ["run"] => drop(bed.done(&["--fresh", "--max-iterations", "1"])),
            other => assert_eq!(Done::of(&mut bed.ralph(other)).code, 0, "{other:?}"),
        }
        let there =
            |paths: &[PathBuf]| paths.iter().filter(|path| path.exists()).cloned().collect::<Vec<_>>();
        assert_eq!(there(&goes), Vec::<PathBuf>::new(), "{command:?}");
        assert_eq!(there(&stays), stays, "{command:?}");
    }
}

#[test]
fn the_state_does_not_grow_with_an_index_for_every_run() {
    let bed = Bed::plain("run echo $RANDOM$$ > changes.txt\nclaim progress");
    for n in 0..400 {
        let name = format!("some/directory/with/a/name/{}/source_file_number_{n}.rs", n / 20);
        bed.scratch.files(&[(&name, &format!("{n} ").repeat(300))]);
    }
    let mut first = 0;
    for run in 0..12 {
        bed.done(&["--fresh", "--max-iterations", "2", "--verify", "false"]);
        let mut indexes = BTreeMap::new();
        for path in below(&bed.scratch.state().join("ralph")) {
            let meta = path.symlink_metadata().unwrap();
            let is_index = path.ancestors().any(|dir| dir.ends_with("trees") || dir.ends_with("bases"))
                || path.extension().is_some_and(|extension| extension == "tree");
            if is_index {
                indexes.insert(meta.ino(), meta.len());
            }
        }
        let bytes: u64 = indexes.values().sum();
        first = if run == 0 { bytes } else { first };
        assert!(bytes < first * 2, "run {run}: {bytes} bytes of indexes, {first} after the first run");
    }
}

/// Nobody may read a pipe that nobody writes to: whoever opened it would wait forever.
#[test]
fn the_end_of_a_run_reads_nothing_that_other_runs_left() {
    let bed = Bed::plain("run echo $$ > changes.txt\nclaim progress");
    bed.done(&["--max-iterations", "1"]);
    for entry in fs::read_dir(bed.scratch.state().join("ralph/runs")).unwrap().flatten() {
        let moments = entry.path().join("trees/moments");
        fs::remove_file(&moments).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &moments, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
    }
    let done = bed.start(&["--fresh", "--max-iterations", "1"]).end();
    assert_eq!(done.result()["iterations"], 1, "{}", done.err);
}
