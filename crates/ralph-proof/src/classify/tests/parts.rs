//! Manifests and sources that hold both parts.

use super::set;
use super::side::{Side, classified};
use crate::change::{Change, RoomContent, Sets, Split};

fn one(path: &str, before: Option<&str>, now: &str, commands: &[&str]) -> Change {
    let (mut old, mut new) = (Side::default(), Side::default());
    if let Some(before) = before {
        old.file(path, before);
    }
    new.file(path, now);
    classified(&old, &new, commands).pop().unwrap()
}

fn made(change: &Change, sets: Sets) -> Option<String> {
    match change.in_room(sets) {
        RoomContent::Made(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
        RoomContent::Absent => None,
        other => panic!("{other:?}"),
    }
}

const REST: Sets = Sets { work: true, ambiguous: true, oracle: false };
const ORACLE: Sets = Sets { work: false, ambiguous: false, oracle: true };

#[test]
fn manifests_by_part() {
    let package = r#"{"name":"a","scripts":{"test":"node --test"},"dependencies":{"x":"1"}}"#;
    let sets = |path: &str, before: &str, from: &str, to: &str| {
        let now = before.replace(from, to);
        assert_ne!(now, before, "{from} is not there");
        set(&one(path, Some(before), &now, &["make test"]))
    };
    let makefile = "SRCS = a.c\nCC = cc\ntest: app\n\tsh run.sh\napp:\n\tcc\nclean:\n\trm -f app\n";
    let cargo = "[package]\nname = \"a\"\n[dependencies]\nx = \"1\"\n";
    let python = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-x\"\n";
    let compiler = r#"{"compilerOptions":{"strict":true,"target":"es5"},"include":["src"]}"#;
    for (path, before, from, to, wanted) in [
        ("package.json", package, "\"1\"", "\"2\"", "ambiguous"),
        ("package.json", package, "node --test", "true", "oracle"),
        ("package.json", package, "\"x\":\"1\"", "\"x\":\"file:./x\"", "oracle"),
        (
            "package.json",
            package,
            "\"name\":\"a\",\"scripts\":{\"test\":\"node --test\"}",
            "\"name\":\"b\",\"scripts\":{}",
            "parts",
        ),
        ("package.json", package, "}}", "},\"overrides\":{\"y\":\"file:./y\"}}", "oracle"),
        ("web/package.json", package, "\"1\"", "\"2\"", "ambiguous"),
        ("tests/package.json", package, "\"1\"", "\"2\"", "oracle"),
        ("composer.json", package, "node --test", "true", "oracle"),
        ("tsconfig.json", compiler, "true", "false", "oracle"),
        ("tsconfig.build.json", compiler, "es5", "es6", "ambiguous"),
        ("tsconfig.json", compiler, "[\"src\"]", "[]", "oracle"),
        ("Cargo.toml", cargo, "x = \"1\"", "x = \"2\"\ny = \"1\"", "ambiguous"),
        ("Cargo.toml", cargo, "x = \"1\"\n", "x = \"1\"\n[lib]\ntest = false\n", "oracle"),
        (
            "Cargo.toml",
            cargo,
            "x = \"1\"\n",
            "x = \"1\"\n[[bench]]\nname = \"b\"\nharness = false\n",
            "oracle",
        ),
        ("Cargo.toml", cargo, "x = \"1\"", "x = { path = \"x\" }", "oracle"),
        ("Cargo.toml", cargo, "x = \"1\"\n", "y = \"1\"\n[profile.test]\nopt-level = 3\n", "parts"),
        ("pyproject.toml", python, "-x", "-k no", "oracle"),
        ("pyproject.toml", python, "\"a\"", "\"b\"", "ambiguous"),
        ("setup.cfg", "[metadata]\nname = a\n", "a\n", "a\n[tool:pytest]\naddopts = -k no\n", "oracle"),
        ("Makefile", makefile, "sh run.sh", "true", "oracle"),
        ("Makefile", makefile, "rm -f app", "rm -rf out", "ambiguous"),
        ("Makefile", makefile, "a.c", "a.c b.c", "ambiguous"),
        ("Makefile", makefile, "CC = cc", "CC = true", "oracle"),
        ("sub/rules.mk", makefile, "CC = cc", "SHELL = true", "oracle"),
        ("pom.xml", "<a/>\n", "<a/>", "<skipTests>true</skipTests>", "oracle"),
        ("go.mod", "module a\nrequire x v1\n", "v1", "v2", "ambiguous"),
        ("go.mod", "module a\nrequire x v1\n", "v1\n", "v1\nreplace x => ./x\n", "oracle"),
    ] {
        assert_eq!(sets(path, before, from, to), wanted, "{path}: {from} -> {to}");
    }
}

#[test]
fn a_new_manifest() {
    let package = one("package.json", None, r#"{"name":"a","scripts":{"test":"x"}}"#, &[]);
    assert!(
        made(&package, REST).unwrap().contains("name") && !made(&package, REST).unwrap().contains("scripts")
    );
    assert!(made(&package, ORACLE).unwrap().contains("scripts"));
    let cargo = one("Cargo.toml", None, "[package]\nname = \"a\"\n[[test]]\nname = \"t\"\n", &[]);
    assert!(made(&cargo, REST).unwrap().contains("package") && !made(&cargo, REST).unwrap().contains("test"));
    assert_eq!(made(&cargo, ORACLE), None);
    assert_eq!(set(&one("Cargo.toml", None, "[package]\nname = \"a\"\n", &[])), "ambiguous");
    assert_eq!(set(&one("pytest.ini", None, "[pytest]\n", &[])), "oracle");
}

#[test]
fn what_a_split_file_needs_to_be_read_is_oracle_otherwise() {
    let binary = String::from_utf8(vec![0; 64]).unwrap();
    for path in ["package.json", "Cargo.toml", "pyproject.toml", "deno.json"] {
        assert_eq!(set(&one(path, Some("{}"), &binary, &[])), "oracle", "{path}");
    }
    let huge = " ".repeat(crate::files::LARGEST_TEXT + 1);
    assert_eq!(set(&one("package.json", Some("{}"), &huge, &[])), "oracle");
    assert_eq!(set(&one("src/lib.rs", Some(""), &huge, &[])), "oracle");
    assert_eq!(set(&one("src/app.py", Some(""), &huge, &[])), "work");
}

#[test]
fn parts_keep_their_kind() {
    let change = one("package.json", Some("{}"), r#"{"name":"a","scripts":{"test":"x"}}"#, &[]);
    let Split::Parts(parts) = &change.split else { panic!("{change:?}") };
    assert!(!parts.work && change.has_ambiguous() && change.has_oracle() && !change.has_work());
}
