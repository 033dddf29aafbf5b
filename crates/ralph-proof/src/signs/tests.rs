use super::*;
use proptest::prelude::*;

fn found(path: &str, text: &str) -> Vec<&'static str> {
    signs(path.as_bytes(), None, text).into_iter().map(|sign| sign.what).collect()
}

#[test]
fn every_line_of_the_table_is_read() {
    let lines = include_str!("../signs.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        assert!(row(line).is_some(), "{line}");
    }
}

#[test]
fn signs_are_found() {
    let rows = [
        ("a.py", "os._exit(0)", "ends the process"),
        ("a.py", "    raise SystemExit(0)", "ends the process"),
        ("a.py", "atexit.register(f)", "ends the process"),
        ("a.rs", "std::process::exit(0);", "ends the process"),
        ("a.rs", "#[ctor::ctor]", "ends the process"),
        ("a.js", "process.on('exit', () => { process.exitCode = 0 })", "ends the process"),
        ("a.go", "os.Exit(0)", "ends the process"),
        ("a.c", "__attribute__((constructor)) static void f(void) {", "ends the process"),
        ("a.pl", "exit 0;", "ends the process"),
        ("a.py", "import unittest", "handles the test runner"),
        ("a.py", "unittest.TestCase.assertEqual = lambda *a: None", "handles the test runner"),
        ("a.js", "const assert = require('assert')", "handles the test runner"),
        ("a.ts", "import { expect } from 'vitest'", "handles the test runner"),
        ("a.go", "import \"testing\"", "handles the test runner"),
        ("a.rs", "macro_rules! assert_eq {", "redefines assertions"),
        ("a.h", "#define assert(x) ((void)0)", "redefines assertions"),
        ("a.sh", "assert_equal() { :; }", "redefines assertions"),
        ("a.py", "if 'pytest' in sys.modules:", "asks whether it is tested"),
        ("a.py", "if os.environ.get('PYTEST_CURRENT_TEST'):", "asks whether it is tested"),
        ("a.rs", "if cfg!(test) {", "asks whether it is tested"),
        ("a.js", "if (process.env.NODE_ENV === 'test') {", "asks whether it is tested"),
        ("a.go", "if flag.Lookup(\"test.v\") != nil {", "asks whether it is tested"),
        ("a.py", "def __eq__(self, o): return True", "is equal to everything"),
        ("a.py", "def __eq__(self, o):\n    \"\"\"Why.\"\"\"\n    return True", "is equal to everything"),
        ("a.rs", "fn eq(&self, _: &Self) -> bool {\n    true\n}", "is equal to everything"),
        ("a.js", "[Symbol.toPrimitive]() { return n++ }", "is equal to everything"),
        ("A.java", "public boolean equals(Object o) {\n  return true;\n}", "is equal to everything"),
        ("a.cpp", "bool operator==(const A&) const { return true; }", "is equal to everything"),
        ("a.py", "open('tests/test_a.py').read()", "reads the tests"),
        ("a.js", "fs.readFileSync('./test/a.json')", "reads the tests"),
        ("a.rs", "include_str!(\"../tests/it.rs\")", "reads the tests"),
        ("a.py", "print('1..3')", "prints what a test runner prints"),
        ("a.py", "def assertEqual(self, a, b):", "redefines assertions"),
        ("a.py", "print('5 passed in 0.1s')", "prints what a test runner prints"),
        ("a.rs", "println!(\"test result: ok. 5 passed; 0 failed\");", "prints what a test runner prints"),
        ("a.js", "console.log('ok 1 - adds')", "prints what a test runner prints"),
        ("a.py", "inspect.stack()[1]", "looks at its caller"),
        ("a.py", "open('\x2fproc/self/cmdline')", "looks at its caller"),
        ("a.js", "if (process.argv.some(a => a.includes('test')))", "looks at its caller"),
        ("a.go", "runtime.Caller(1)", "looks at its caller"),
        ("a.py", "builtins.len = lambda x: 3", "replaces what others rely on"),
        ("a.js", "Array.prototype.includes = () => true", "replaces what others rely on"),
        ("a.py", "return float('nan')", "uses a value that differs from itself"),
        ("a.py", "x = y  # type: ignore", "silences a check"),
        ("a.rs", "#[allow(dead_code)]", "silences a check"),
        ("a.ts", "// @ts-ignore", "silences a check"),
        ("a.sh", "lint || true", "silences a check"),
        ("Makefile", "\t-pytest", "silences a check"),
    ];
    for (path, text, what) in rows {
        assert!(found(path, text).contains(&what), "{path}: {text}: {:?}", found(path, text));
    }
}

#[test]
fn ordinary_lines_have_none() {
    let rows = [
        ("a.py", "sys.exit(main())"),
        ("a.py", "sys.exit(1)"),
        ("a.py", "def __eq__(self, other):\n    return self.x == other.x"),
        ("a.py", "if not isinstance(o, A):\n    return False"),
        ("a.py", "with open(path) as f:\n    return json.load(f)"),
        ("a.py", "print(f'{n} files')"),
        ("a.py", "parser.parse_args(sys.argv[1:])"),
        ("a.py", "assert x > 0, 'positive'"),
        ("a.py", "logging.info('passed %s', x)"),
        ("a.rs", "std::process::exit(code);"),
        ("a.rs", "assert_eq!(a, b);"),
        (
            "a.rs",
            "impl PartialEq for A {\n    fn eq(&self, other: &A) -> bool {\n        self.x == other.x\n    }\n}",
        ),
        ("a.rs", "std::env::args().skip(1)"),
        ("a.rs", "macro_rules! square {"),
        ("a.rs", "// std::process::exit(0)"),
        ("a.rs", "span(\"a\", 1..2)"),
        ("a.rs", "#[cfg_attr(test, derive(Debug))]"),
        ("a.py", "def assert_valid(x):"),
        ("a.py", "# import unittest"),
        ("a.py", "def f():\n    \"\"\"\n    os._exit(0)\n    \"\"\""),
        ("a.js", "process.exit(1)"),
        ("a.js", "if (process.env.NODE_ENV === 'production') {"),
        ("a.js", "const expected = 1"),
        ("a.js", "valueOf() { return this.n }"),
        ("a.js", "module.exports = { add }"),
        ("a.go", "os.Exit(1)"),
        ("a.go", "func (a A) Equal(b A) bool {\n\treturn a.x == b.x\n}"),
        ("a.c", "exit(1);"),
        ("a.c", "assert(x > 0);"),
        ("a.c", "#define MAX(a, b) ((a) > (b) ? (a) : (b))"),
        ("a.sh", "exit 1"),
        ("a.sh", "if [ -f x ]; then"),
        ("Makefile", "all: build"),
        ("README.md", "import unittest"),
        ("a.json", "\"\x2fproc/self\""),
    ];
    for (path, text) in rows {
        assert_eq!(found(path, text), Vec::<&str>::new(), "{path}: {text}");
    }
}

#[test]
fn only_added_lines_count() {
    let before = "import unittest\nx = 1\n";
    let now = "import unittest\nx = 1\nos._exit(0)\n";
    let found = signs(b"a.py", Some(before), now);
    assert_eq!(found, [Sign { what: "ends the process", line: 3, text: "os._exit(0)".to_owned() }]);
    assert_eq!(signs(b"a.py", Some(now), before), []);
}

proptest! {
    #[test]
    fn any_text_can_be_looked_at(text in "(def __eq__|fn eq\\(|open\\('tests/|\n|[ -~é]){0,60}") {
        for path in [&b"a.py"[..], b"a.rs", b"a.js", b"a.sh", b"Makefile", b"x"] {
            let lines = text.lines().count();
            prop_assert!(signs(path, None, &text).iter().all(|sign| sign.line >= 1 && sign.line <= lines));
        }
    }
}
