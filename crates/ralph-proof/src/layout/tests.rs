use super::*;
use proptest::prelude::*;

#[test]
fn layout_means_nothing() {
    let rows = [
        ("a.py", "x = [1, 2]\n", "x = [\n    1,\n    2,\n]\n"),
        ("a.py", "x = 'a'\n", "x = \"a\"  # why\n"),
        ("a.py", "x = 'a\"b'\n", "x = \"a\\\"b\"\n"),
        ("a.py", "x = u'''a'''\n", "x = \"a\"\n"),
        ("a.py", "def f():\n  return 1\n", "def f():\n\n    return 1\n"),
        ("a.py", "from a import b, c\n", "from a import (\n    b,\n    c,\n)\n"),
        ("a.py", "x = a + b\n", "x = (\n    a\n    + b\n)\n"),
        ("a.py", "assert a == b\n", "assert (\n    a == b\n)\n"),
        ("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
        ("a.py", "f(a)\n", "f(\n    a,\n)\n"),
        ("a.py", "import os\nimport b\nb.c()\n", "import b\nb.c()\n"),
        ("a.py", "from typing import Any, List\nx: List = 1\n", "from typing import List\nx: List = 1\n"),
        ("a.py", "x = 1\r\n", "x = 1\n"),
        ("a.py", "x = r'\\s'\n", "x = r\"\\s\"\n"),
        ("a.py", "x = 1\n", "# Copyright\nx = 1\n# end"),
        ("a.rs", "fn f() { g(1, 2) }", "fn f() {\n    g(\n        1,\n        2,\n    )\n}\n"),
        ("a.rs", "let x = vec![1, 2]; // a", "let x = vec![\n1,\n2,\n];"),
        ("a.js", "f('a', [1, 2])", "f(\"a\", [\n  1,\n  2,\n])\n"),
        ("a.js", "x = {a: 1}; // why", "x = {\n  a: 1,\n};"),
        ("a.js", "x = 'it\\'s'", "x = \"it's\""),
        ("a.js", "if (a) { b(); }\nelse { c(); }", "if (a) {\n  b();\n} else {\n  c();\n}"),
        ("a.ts", "a\n  .b()\n  .c()", "a.b().c()"),
        ("a.js", "x = /a b\\/'/ ; y", "x = /a b\\/'/; y"),
        ("a.go", "f(a, b)\n", "f(\n\ta,\n\tb,\n)\n"),
        ("a.go", "var a = `x`\n", "var a  =  `x` // why\n"),
        ("a.c", "int f(void){return 1;}", "int f(void)\n{\n  /* why */ return 1;\n}\n"),
        ("A.java", "int[] a = {1, 2};", "int[] a = {\n  1,\n  2,\n};"),
        ("a.json", "{\"a\": 1}", "{\n  \"a\": 1\n}\n"),
        ("a.toml", "a = 1\n[b]\nc = 'x'", "a=1 # why\n\n[b]\nc = \"x\"\n"),
        ("a.yml", "a: 1\nb: 2\n", "# why\na: 1  \n\nb: 2\n"),
    ];
    for (path, before, now) in rows {
        assert!(same_meaning(path.as_bytes(), before, now), "{path}: {before:?} {now:?}");
        assert!(same_meaning(path.as_bytes(), now, before), "{path}: {now:?} {before:?}");
    }
}

#[test]
fn other_programs_are_not_the_same() {
    let rows = [
        ("a.py", "x = 'a b'\n", "x = 'ab'\n"),
        ("a.py", "x = (1,)\n", "x = (1)\n"),
        ("a.py", "x = 1,\n", "x = 1\n"),
        ("a.py", "x = a[1,]\n", "x = a[1]\n"),
        ("a.py", "return (1,)\n", "return (1)\n"),
        ("a.py", "assert (a, b)\n", "assert a, b\n"),
        ("a.py", "x = (a for a in b)\n", "x = a for a in b\n"),
        ("a.py", "x = (a)(b)\n", "x = a)(b\n"),
        ("a.py", "x = (a)(b)\n", "x = a(b)\n"),
        ("a.py", "if a:\n    b\n    c\n", "if a:\n    b\nc\n"),
        ("a.py", "x = r'a\\'b'\n", "x = r\"a'b\"\n"),
        ("a.py", "x = b'a'\n", "x = 'a'\n"),
        ("a.py", "x = 1  # noqa\n", "x = 1\n"),
        ("a.py", "import pytest\nx = 1\n", "x = 1\n"),
        ("a.py", "import os\nos.x()\n", "os.x()\n"),
        ("a.py", "import os\nf('os')\n", "f('os')\n"),
        ("a.py", "x = f'{a}'\n", "x = f'{a }'\n"),
        ("a.py", "x = 1\n", "x = (\n"),
        ("a.py", "x = '''a\n b'''\n", "x = '''a\nb'''\n"),
        ("a.rs", "let x = (1,);", "let x = (1);"),
        ("a.rs", "return (1,)", "return (1)"),
        ("a.rs", "f(\"a b\")", "f(\"ab\")"),
        ("a.rs", "let x = y;", "letx = y;"),
        ("a.rs", "/// ```\n/// a(1)\n/// ```\nfn f() {}", "/// ```\n/// a(2)\n/// ```\nfn f() {}"),
        ("a.js", "return a", "return\na"),
        ("a.js", "a\n++b", "a++\nb"),
        ("a.js", "f('a b')", "f('ab')"),
        ("a.js", "a = b\nc = d", "a = b c = d"),
        ("a.js", "a = f()\nconst b = c", "a = f() const b = c"),
        ("a.js", "a = f(b)\nc = d", "a = f(b) c = d"),
        ("a.js", "#!/usr/bin/env node\nf()", "#!/usr/bin/env\nnode\nf()"),
        ("a.js", "x = [1,,]", "x = [1,]"),
        ("a.js", "x = `a  b`", "x = `a b`"),
        ("a.js", "x = /a  b/", "x = /a b/"),
        ("a.js", "a = b - -c", "a = b --c"),
        ("a.ts", "// @ts-expect-error\nf()", "f()"),
        ("a.tsx", "x = <p>a  b</p>", "x = <p>a b</p>"),
        ("a.go", "return\na", "return a"),
        ("a.go", "f()\n// Output: 1\n", "f()\n// Output: 2\n"),
        ("a.go", "//go:build a\n\npackage a\n", "package a\n"),
        ("a.c", "#define A 1\nint b;", "#define A 1 int b;"),
        ("a.c", "F(a,)", "F(a)"),
        ("a.c", "// a \\\nint b;\n", "int b;\n"),
        ("a.json", "{\"a\": \"1 2\"}", "{\"a\": \"12\"}"),
        ("a.json", "{\"a\": 1}", "{\"a\": 2}"),
        ("a.toml", "a = 1", "a = 2"),
        ("a.yml", "a: |\n  x\n\n  y\n", "a: |\n  x\n  y\n"),
        ("a.yml", "a: 'x\n\n  y'\n", "a: 'x\n  y'\n"),
        ("a.yml", "a:\n  b: 1\n", "a:\nb: 1\n"),
        ("a.md", "a\n", "a\n\n"),
        ("a.snap", "a\n", "a \n"),
    ];
    for (path, before, now) in rows {
        assert!(!same_meaning(path.as_bytes(), before, now), "{path}: {before:?} {now:?}");
        assert!(!same_meaning(path.as_bytes(), now, before), "{path}: {now:?} {before:?}");
    }
}

proptest! {
    #[test]
    fn any_two_texts_can_be_compared(before in "([(){}\\[\\],;:'\"`/*#\\\\\n=>.-]|return |from a import |[a-z0-9 é]){0,40}", now in "([(),'\"`/#\n=]|[a-z ]){0,20}") {
        for path in [&b"a.py"[..], b"a.rs", b"a.js", b"a.go", b"a.c", b"a.java", b"a.json", b"a.toml", b"a.yml", b"a.md"] {
            let _ = same_meaning(path, &before, &now);
        }
    }
}
