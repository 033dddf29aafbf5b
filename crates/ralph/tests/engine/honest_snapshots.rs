//! A snapshot that could not be taken is said wherever it matters, and one that is under way holds nobody up.

use crate::bed::{Bed, Done, Live, until};
use rustix::process::Signal;
use std::fs;

/// The second iteration makes every later snapshot impossible.
fn without_snapshots_from_the_third_on() -> Bed {
    let bed = Bed::git("");
    let keep = bed.kept();
    let keep = keep.display();
    bed.script(&format!(
        "[2]\nwrite two.txt 2\nrun rm -rf {keep}; echo no > {keep}\nclaim progress\n[3]\nwrite three.txt 3\n\
         claim progress\n[*]\nwrite $n.txt x\nclaim progress"
    ));
    bed
}

/// Makes snapshots impossible.
fn break_snapshots(bed: &Bed) {
    fs::create_dir_all(bed.kept().parent().unwrap()).unwrap();
    fs::write(bed.kept(), "not a directory").unwrap();
}

#[test]
fn a_snapshot_that_failed_is_said_on_the_screen_in_the_receipt_and_by_undo() {
    let bed = without_snapshots_from_the_third_on();
    let done = bed.done(&["--max-iterations", "3"]);
    done.ends(3, "MAX_ITERATIONS");
    let admitted = done.records("admitted");
    assert!(admitted[1].get("no_snapshot").is_none(), "{}", admitted[1]);
    let why = admitted[2]["no_snapshot"].as_str().expect("why").to_owned();
    for (args, words) in [
        (["explain"].as_slice(), format!("no snapshot before this call ({why})")),
        (&["undo", "--to", "2", "--yes"], "nothing was saved before iteration 3 of run ".into()),
        (&["logs", "--diff", "-i", "2"], "no snapshot was taken before iteration 3 of run ".into()),
    ] {
        let said = Done::of(&mut bed.ralph(args));
        assert!(format!("{}{}", said.out, said.err).contains(&words), "{args:?}: {}{}", said.out, said.err);
        assert_eq!(said.code != 0, args.len() > 1, "{args:?}: {}", said.err);
    }
    let receipt = bed.state_files().into_iter().find(|file| file.ends_with("receipt.md")).unwrap();
    let receipt = fs::read_to_string(receipt).unwrap();
    assert!(receipt.contains(&format!("no snapshot before iteration 3: {why}")), "{receipt}");
}

#[test]
fn a_run_says_at_its_end_which_states_cannot_be_restored() {
    let bed = Bed::git("write a.txt 1\nclaim progress");
    break_snapshots(&bed);
    let mut command =
        bed.ralph(&["run", "Work", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1"]);
    command.args(["--", "--script"]).arg(bed.scratch.root().join("agent.sim"));
    let done = Done::of(&mut command);
    assert_eq!(done.code, 3, "{}", done.err);
    let said = format!("{}{}", done.out, done.err);
    assert!(said.contains("no snapshot before this call ("), "{said}");
    assert!(said.contains("no snapshot before iteration 1: "), "{said}");
}

#[test]
fn with_undo_required_no_agent_is_called_without_a_snapshot() {
    let bed = Bed::git("write done.txt yes\nclaim complete");
    let config = bed.scratch.root().join("config/ralph");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[undo]\nrequired = true\n").unwrap();
    break_snapshots(&bed);
    let done = bed.done(&["--verify", "test -f done.txt"]);
    let result = done.ends(74, "STORE_UNSAFE");
    assert_eq!((&result["iterations"], &result["costUSD"]), (&0.into(), &0.0.into()), "{result}");
    assert!(result.to_string().contains("undo.required is set"), "{result}");
    assert!(!bed.scratch.root().join("calls").exists() && done.records("admitted").is_empty());
    fs::remove_file(bed.kept()).unwrap();
    Done::of(&mut bed.ralph(&["resume", "--json"])).ends(0, "gate_passed");
}

/// So many files that a snapshot of them takes a while.
const MANY: usize = 6_000;
/// More than git's own files, which are saved before the first verification.
const SOME: usize = 300;

/// Starts a run, and returns when its first snapshot is under way.
fn during_its_first_snapshot() -> (Bed, Live) {
    let bed = Bed::git("write done.py yes\nclaim complete");
    for n in 0..MANY {
        let dir = bed.scratch.workspace().join(format!("d{}", n / 500));
        if n % 500 == 0 {
            fs::create_dir(&dir).unwrap();
        }
        fs::write(dir.join(n.to_string()), n.to_string()).unwrap();
    }
    let live = bed.start(&["--verify", "test -f done.py"]);
    until("the first contents", || (contents(&bed) > SOME).then_some(()));
    (bed, live)
}

fn contents(bed: &Bed) -> usize {
    let Ok(stores) = fs::read_dir(bed.kept()) else { return 0 };
    let dirs = stores.flatten().filter_map(|store| fs::read_dir(store.path().join("contents")).ok());
    dirs.flatten().flatten().filter_map(|dir| fs::read_dir(dir.path()).ok()).flatten().count()
}

#[test]
fn a_stop_during_the_first_snapshot_is_obeyed_at_once_and_costs_nothing() {
    let (bed, live) = during_its_first_snapshot();
    live.signal(Signal::TERM);
    let done = live.end();
    let result = done.ends(143, "INTERRUPTED");
    assert_eq!((&result["iterations"], &result["costUSD"]), (&0.into(), &0.0.into()), "{result}");
    assert!(done.records("admitted").is_empty(), "nothing was reserved");
    assert_eq!(done.records("refused")[0]["by"], "person");
    assert!(contents(&bed) < MANY, "it was given up");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json"]));
    assert_eq!(resumed.ends(0, "gate_passed")["iterations"], 1);
    assert_eq!(Done::of(&mut bed.ralph(&["undo", "--yes"])).code, 0);
    assert!(!bed.scratch.workspace().join("done.py").exists());
}

#[test]
fn a_kill_during_the_first_snapshot_costs_nothing() {
    let (bed, live) = during_its_first_snapshot();
    live.signal(Signal::KILL);
    live.end();
    bed.nobody_is_left();
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json"]));
    let result = resumed.ends(0, "gate_passed");
    assert_eq!(result["iterations"], 1, "{result}");
    assert!(resumed.records("call_lost").is_empty());
    let charged = resumed.records("call_ended")[0]["charged"].as_f64().unwrap();
    let spent = result["costUSD"].as_f64().unwrap() * 1e6;
    assert!((spent - charged).abs() < 1.0, "{spent} spent, {charged} charged for the one call");
}
