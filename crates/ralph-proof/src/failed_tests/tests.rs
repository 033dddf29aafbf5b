use super::*;
use proptest::prelude::*;

/// Output of one runner, and the names in it.
const ROWS: &[(&str, &str, &[&str])] = &[
    (
        "cargo test",
        "running 2 tests\ntest a::works ... ok\ntest a::breaks ... FAILED\n\nfailures:\n\n---- a::breaks stdout ----\nthread 'a::breaks' panicked at src/lib.rs:3:5\n\nfailures:\n    a::breaks\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored;",
        &["a::breaks"],
    ),
    (
        "cargo test, doc",
        "test src/lib.rs - add (line 3) ... FAILED\n---- src/lib.rs - add (line 3) stdout ----\n",
        &["src/lib.rs - add"],
    ),
    ("cargo test, should_panic", "test a::p - should panic ... FAILED\n", &["a::p"]),
    (
        "nextest",
        "        PASS [   0.005s] crate a::works\n        FAIL [   0.006s] crate a::breaks\n        FAIL [   0.006s] (2/9) crate::it b::breaks\n",
        &["crate a::breaks", "crate::it b::breaks"],
    ),
    (
        "pytest",
        "=== short test summary info ===\nFAILED tests/test_a.py::test_x - assert 1 == 2\nFAILED tests/test_a.py::TestA::test_y[a-b c]\nERROR tests/test_b.py - ImportError: no\n=== 2 failed, 1 error in 0.1s ===",
        &["tests/test_a.py::test_x", "tests/test_a.py::TestA::test_y[a-b c]", "tests/test_b.py"],
    ),
    (
        "pytest -v",
        "tests/test_a.py::test_x FAILED      [ 50%]\ntests/test_a.py::test_z PASSED [100%]\n",
        &["tests/test_a.py::test_x"],
    ),
    (
        "unittest",
        "FAIL: test_x (tests.test_a.A.test_x)\nERROR: test_y (tests.test_a.A)\nERROR: tests.test_b (unittest.loader._FailedTest.tests.test_b)\nRan 3 tests in 0.1s\nFAILED (failures=1, errors=2)",
        &[
            "test_x (tests.test_a.A.test_x)",
            "test_y (tests.test_a.A)",
            "tests.test_b (unittest.loader._FailedTest.tests.test_b)",
        ],
    ),
    (
        "node, TAP",
        "TAP version 13\n# Subtest: adds\nnot ok 1 - adds\n  ---\n  duration_ms: 1.2\n    not ok 2 - deep # time=3ms\nok 3 - fine\nnot ok 4 - later # TODO\n",
        &["adds", "deep"],
    ),
    (
        "node, spec",
        "✔ fine (0.5ms)\n✖ adds (1.234ms)\n▶ group\n  ✖ inner (0.2ms)\n✖ failing tests:\n\ntest at a.js:1:1\n✖ adds (1.234ms)\n",
        &["adds", "inner"],
    ),
    (
        "jest",
        "FAIL ./sum.test.js\n  ✕ adds (3 ms)\n  ✓ fine (1 ms)\n\n  ● math › adds\n\n    expect(received).toBe(expected)\n\n  ● Test suite failed to run\n",
        &["adds", "math › adds"],
    ),
    (
        "vitest",
        " ❯ sum.test.js (2 tests | 1 failed) 5ms\n   × adds 4ms\n   → expected 1 to be 2\n FAIL  sum.test.js > math > adds\nAssertionError: x\n",
        &["adds", "sum.test.js > math > adds"],
    ),
    (
        "mocha",
        "  math\n    ✔ fine\n    1) adds\n\n  1 passing (5ms)\n  1 failing\n\n  1) math\n       adds:\n",
        &["adds", "math"],
    ),
    (
        "go test",
        "--- FAIL: TestAdd (0.00s)\n    --- FAIL: TestAdd/zero (0.00s)\n        a_test.go:5: no\nFAIL\nFAIL\texample.com/a\t0.002s\n",
        &["TestAdd", "TestAdd/zero"],
    ),
    ("bats", "1..2\nok 1 fine\nnot ok 2 breaks it\n# (in test file a.bats, line 3)\n", &["breaks it"]),
    ("bats, pretty", " ✓ fine\n ✗ breaks it\n   (in test file a.bats, line 3)\n", &["breaks it"]),
    ("prove -v", "ok 1 - fine\nnot ok 2 - adds\n#   Failed test 'adds'\n", &["adds"]),
    (
        "ctest",
        "The following tests FAILED:\n\t  2 - math_add (Failed)\n\t  3 - slow (Timeout)\n",
        &["math_add", "slow"],
    ),
    ("rspec", "Failed examples:\n\nrspec ./spec/a_spec.rb:3 # A adds\n", &["./spec/a_spec.rb:3"]),
    (
        "phpunit",
        "There was 1 failure:\n\n1) Tests\\SumTest::testAdds\nFailed asserting that 1 is 2.\n",
        &["Tests\\SumTest::testAdds"],
    ),
    ("maven", "[ERROR] com.x.SumTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n", &["com.x.SumTest.adds"]),
    ("gradle", "com.x.SumTest > adds() FAILED\n", &["com.x.SumTest > adds()"]),
    (
        "Google Test",
        "[ RUN      ] Sum.Adds\n[  FAILED  ] Sum.Adds (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Sum.Adds\n",
        &["Sum.Adds"],
    ),
    ("colours", "\u{1b}[31mtest a::breaks ... \u{1b}[1mFAILED\u{1b}[0m\r\n", &["a::breaks"]),
    ("nothing", "error: could not compile\nFAILED (failures=1)\nFAIL\nmake: *** [test] Error 1\n", &[]),
];

#[test]
fn every_runner_is_read() {
    for (runner, output, names) in ROWS {
        let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(failed_tests(output), expected, "{runner}");
    }
}

#[test]
fn a_passing_run_has_no_names() {
    let passing = "test a ... ok\nok 1 - b\n✔ c (1ms)\n--- PASS: TestD (0.00s)\nPASS\n5 passed in 0.1s\n  2 passing (4ms)\n";
    assert_eq!(failed_tests(passing), BTreeSet::new());
}

proptest! {
    #[test]
    fn any_output_can_be_read(output in "(FAIL: |not ok 1 |✖ |--- FAIL: |test |\u{1b}\\[|[a-z():. \n]){0,60}") {
        let names = failed_tests(&output);
        let coloured = output.contains(char::from(27));
        prop_assert!(coloured || names.iter().all(|name| output.contains(name.as_str())));
    }
}
