//! Test counts read from what real runners printed (`suites/`), whole, in pieces, joined and in a flood.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::disallowed_methods)] // the outputs are files

use proptest::prelude::*;
use ralph_rules::suite::{Counter, Counts, counts};
use std::path::Path;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites")
}

/// Name, output, and what must be read from it.
fn cases() -> Vec<(String, Vec<u8>, Option<Counts>)> {
    let table = std::fs::read_to_string(folder().join("expected.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let n = |i: usize| cells[i].parse().unwrap();
        let expected = (cells[1] != "none").then(|| Counts::new(n(1), n(2), n(3)));
        let output = std::fs::read(folder().join(format!("{}.out", cells[0]))).unwrap();
        (cells[0].to_owned(), output, expected)
    };
    table.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn in_pieces(output: &[u8], size: usize) -> Option<Counts> {
    let mut counter = Counter::default();
    output.chunks(size).for_each(|piece| counter.feed(piece));
    counter.finish()
}

#[test]
fn every_runner_is_read() {
    for (name, output, expected) in cases() {
        assert_eq!(counts(&output), expected, "{name}");
    }
}

#[test]
fn pieces_do_not_matter() {
    for (name, output, expected) in cases() {
        for size in [1, 2, 3, 7, 64, 1000] {
            assert_eq!(in_pieces(&output, size), expected, "{name} in pieces of {size}");
        }
    }
}

#[test]
fn two_runners_in_one_output_are_added() {
    let all = cases();
    let get = |name: &str| all.iter().find(|(n, ..)| n == name).unwrap();
    let (cargo, pytest, junit) = (get("cargo"), get("pytest"), get("junit"));
    let joined = [cargo.1.clone(), b"\n".to_vec(), pytest.1.clone()].concat();
    assert_eq!(counts(&joined), Some(cargo.2.unwrap() + pytest.2.unwrap()));
    let twice = [junit.1.clone(), b"\n".to_vec(), pytest.1.clone()].concat();
    assert_eq!(counts(&twice), pytest.2, "XML tells the same tests again");
}

#[test]
fn what_only_looks_like_a_summary_is_none() {
    let none = [
        "",
        "3 passing thoughts\n",
        "the test result: ok. 1 passed\n",
        "    test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        "1 passed in review\n",
        "12 files in 3s\n",
        "Tests are fine\nTests: all\n",
        "Ran out of memory\nOK\n",
        "OK\nFAILED\n",
        "# pass 4\n",
        "2 pending\n",
        "<testsuites tests=\"4\">\n<testsuite name=\"x\">\n",
        "99999999999999999999 passed in 1s\n",
    ];
    for text in none {
        assert_eq!(counts(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn suites_within_suites_are_counted_once() {
    let xml = "<testsuites><testsuite name='a' tests='3' failures='1'><testsuite tests='3'/>\
               <testsuite tests=\"2\"></testsuite></testsuite><testsuite tests='1' skipped='1'/></testsuites>";
    assert_eq!(counts(xml.as_bytes()), Some(Counts::new(2, 1, 1)));
    let outer = "<testsuite name='all'><testsuite tests='2'/><testsuite tests='5' errors='1'/></testsuite>";
    assert_eq!(counts(outer.as_bytes()), Some(Counts::new(6, 1, 0)));
}

#[test]
fn floods_are_passed_over() {
    let floods: [&[u8]; 4] = [b"<testsuite", b"testsuite ", b"=", b"\x1b[31m"];
    for flood in floods {
        let mut output = flood.repeat(400_000);
        output.extend_from_slice(b"\n1 passed in 0.1s\n");
        assert_eq!(in_pieces(&output, 8192), Some(Counts::new(1, 0, 0)));
    }
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_give_the_same(
        parts in prop::collection::vec(prop::sample::select(vec![
            "test result: ok. 1 passed; 0 failed; 0 ignored\n", "<testsuite tests=\"3\">", "</testsuite>", "\x1b[3",
            "1m", "\n", "2 passed", " in 1s", "--- PASS: A\n", "=== RUN", "é", "<", "/", "Ran 2 tests in 1s\n", "OK\n",
        ]), 0..40),
        size in 1usize..20,
    ) {
        let output = parts.concat();
        prop_assert_eq!(in_pieces(output.as_bytes(), size), counts(output.as_bytes()));
    }
}
