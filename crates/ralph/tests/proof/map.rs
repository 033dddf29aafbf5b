//! The map of a change: which of its hunks a check notices, in `ralph verify --map` and at the end of a run.

use crate::bed::{Bed, Done, until};
use crate::case::with_tools;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const BEFORE: &str = "\
def add(a, b):
    return a - b


def double(a):
    return a + a


# Divides.
def half(a):
    return a / 2
";
const TESTS: &str = "\
import unittest
from calc import add, double


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
        self.assertEqual(open('calc/lines.txt', newline='').read().count('\\r\\n'), 3)
        self.assertEqual(len(open('calc/table.bin', 'rb').read()), 3)

    def test_double(self):
        self.assertEqual(double(2), 4)
";
const VERIFY: &str = "python3 -m unittest -q tests.test_calc";

/// What the work makes of it: one hunk that a test notices, one that none does, a comment.
fn after() -> String {
    BEFORE.replace("a - b", "a + b").replace("a + a", "2 * a").replace("# Divides.", "# Half of it.")
}

/// A repository on a branch, with a failing test.
fn repository(script: &str, settings: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[
        ("calc/__init__.py", BEFORE),
        ("calc/lines.txt", "one\r\ntwo\r\nthree\r\n"),
        ("calc/table.bin", "\0\x01"),
        ("tests/__init__.py", ""),
        ("tests/test_calc.py", TESTS),
        ("ralph.toml", settings),
    ]);
    for args in [
        &["add", "-A"][..],
        &["commit", "-qm", "before"],
        &["branch", "-M", "main"],
        &["switch", "-qc", "work"],
    ] {
        assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    }
    bed
}

/// The work, written into this directory.
fn work(dir: &Path) {
    fs::create_dir_all(dir.join("calc")).unwrap();
    fs::write(dir.join("calc/__init__.py"), after()).unwrap();
    fs::write(dir.join("calc/lines.txt"), "one\r\n2\r\nthree\r\n").unwrap();
    fs::write(dir.join("calc/table.bin"), "\0\x01\x02").unwrap();
    fs::write(dir.join("calc/unused.py"), "UNUSED = 1\n").unwrap();
}

fn verify(bed: &Bed, args: &[&str]) -> Done {
    Done::of(&mut with_tools(bed.ralph(&[&["verify", "--map", "--verify", VERIFY], args].concat())))
}

fn map_of(done: &Done) -> Value {
    let receipt: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}", done.err));
    assert_eq!((done.code, receipt["verdict"].as_str()), (0, Some("proven")), "{receipt}");
    receipt["map"].clone()
}

/// The states by path and first line.
fn states(map: &Value) -> BTreeMap<String, String> {
    let hunks = map["hunks"].as_array().unwrap();
    let place = |hunk: &Value| format!("{}:{}", hunk["path"].as_str().unwrap(), hunk["newStart"]);
    hunks.iter().map(|hunk| (place(hunk), hunk["state"].as_str().unwrap().to_owned())).collect()
}

const STATES: [(&str, &str); 6] = [
    ("calc/__init__.py:2", "held"),
    ("calc/__init__.py:6", "not_held"),
    ("calc/__init__.py:9", "not_tried"),
    // Changed as a whole; a test counts its bytes.
    ("calc/table.bin:0", "held"),
    ("calc/lines.txt:2", "not_held"),
    ("calc/unused.py:1", "not_held"),
];

fn expected() -> BTreeMap<String, String> {
    STATES.iter().map(|(place, state)| ((*place).into(), (*state).into())).collect()
}

#[test]
fn verify_maps_each_hunk() {
    let bed = repository("", "");
    work(&bed.scratch.workspace());
    let map = map_of(&verify(&bed, &["--json"]));
    assert_eq!(states(&map), expected(), "{map}");
    let totals = ["held", "notHeld", "notTried"].map(|key| map[key].as_u64().unwrap());
    assert_eq!(totals, [2, 3, 1]);
    assert!(map["runs"].as_u64().unwrap() <= 6, "{map}");
    assert_eq!(map["hunks"][0]["state"], "not_held", "what nobody notices comes first");
    let edit =
        map["hunks"].as_array().unwrap().iter().find(|h| h["newStart"] == 2 && h["state"] == "held").unwrap();
    assert_eq!((&edit["oldStart"], &edit["oldLines"], &edit["newLines"]), (&2.into(), &1.into(), &1.into()));
    assert_eq!(edit["lines"], serde_json::json!(["-    return a - b", "+    return a + b"]));

    let shown = verify(&bed, &[]);
    assert!(shown.out.contains("✗ calc/__init__.py:6: not held"), "{}", shown.out);
    assert!(shown.out.contains("✓ calc/__init__.py:2: held"), "{}", shown.out);
    assert!(shown.err.contains("the checks fail without calc/__init__.py:2 ("), "{}", shown.err);
    let kept = fs::read_to_string(bed.scratch.workspace().join("calc/__init__.py")).unwrap();
    assert_eq!(kept, after(), "the workspace is not touched");
}

#[test]
fn the_map_of_verify_ends_when_its_time_is_over() {
    let bed = repository("", "[verify]\nmap_time = \"1ms\"\n");
    work(&bed.scratch.workspace());
    let map = map_of(&verify(&bed, &["--json"]));
    assert_eq!(
        (&map["outOfTime"], &map["notTried"], &map["held"]),
        (&true.into(), &6.into(), &0.into()),
        "{map}"
    );
}

#[test]
fn a_map_needs_something_to_compare_with() {
    let bed = Bed::plain("");
    let done = Done::of(&mut bed.ralph(&["verify", "--map", "--verify", "true"]));
    assert!(done.code == 64 && done.err.contains("--base"), "{}", done.err);
}

/// An agent that does the work at once.
fn script(bed: &Bed) -> String {
    let ready = bed.scratch.root().join("after");
    work(&ready);
    format!("run cp -r {}/. .\nclaim complete\n", ready.display())
}

fn receipt_path(bed: &Bed, result: &Value) -> PathBuf {
    bed.scratch.state().join("ralph/runs").join(result["runId"].as_str().unwrap()).join("receipt.json")
}

#[test]
fn a_run_maps_its_change_before_it_exits() {
    let bed = repository("", "[verify]\nmap_time = \"10m\"\n");
    bed.script(&script(&bed));
    let done = Done::of(&mut with_tools(bed.run(&["--verify", VERIFY])));
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["proof"], "proven");
    assert_eq!(done.records("mapped").len(), 1);
    let path = receipt_path(&bed, &result);
    let receipt: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(states(&receipt["map"]), expected(), "{receipt}");
    let markdown = fs::read_to_string(path.with_extension("md")).unwrap();
    assert!(markdown.contains("✗ calc/__init__.py:6: not held"), "{markdown}");

    let diff = Done::of(&mut bed.ralph(&["logs", "--diff"])).out;
    let marked = |mark: &str, line: &str| {
        let at = diff.find(mark).unwrap_or_else(|| panic!("{mark} is not in {diff}"));
        assert!(diff[at..].lines().nth(1).unwrap().starts_with(line), "{diff}");
    };
    marked("✓ held: a check fails without it\n", "-    return a - b");
    marked("✗ not held: every check passes without it\n", "-    return a + a");
    marked("? not tried (only comments", "-# Divides.");
    assert!(!Done::of(&mut bed.ralph(&["logs", "--diff", "--raw"])).out.contains('✗'), "fit for git apply");
    assert_eq!(Done::of(&mut bed.ralph(&["replay"])).code, 0);
    let explained = Done::of(&mut bed.ralph(&["explain"])).out;
    assert!(explained.contains("map of the change: 2 of 6 parts held"), "{explained}");
}

#[test]
fn an_interrupted_map_changes_nothing_but_itself() {
    let bed = repository("", "[verify]\nmap_time = \"10m\"\n");
    let hanging = bed.scratch.root().join("hanging");
    let check = format!(
        "if grep -q 'a + b' calc/__init__.py && ! grep -q '2 \\* a' calc/__init__.py; then touch {}; sleep 600; fi\n{VERIFY}\n",
        hanging.display()
    );
    bed.scratch.files(&[("check.sh", &check)]);
    for args in [&["add", "-A"][..], &["commit", "-qm", "check"]] {
        assert!(bed.scratch.command("git").args(args).status().unwrap().success());
    }
    bed.script(&script(&bed));
    let live = bed.start(&["--verify", "sh check.sh"]);
    until("the map begins", || hanging.exists().then_some(()));
    live.signal(Signal::INT);
    let result = live.end().ends(0, "gate_passed");
    assert_eq!(result["proof"], "proven");
    let receipt: Value = serde_json::from_slice(&fs::read(receipt_path(&bed, &result)).unwrap()).unwrap();
    let map = &receipt["map"];
    assert_eq!(map["interrupted"], true, "{map}");
    assert_eq!(states(map)["calc/__init__.py:6"], "not_tried", "{map}");
    bed.nobody_is_left();
}
