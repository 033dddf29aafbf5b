//! What is a script, what is a dependency, and both mixtures.

use super::*;

fn both(keys: &Keys, before: &str, now: &str) -> (String, String) {
    match split(keys, before, now).unwrap().split {
        ManifestSplit::Both { without_oracle, oracle_only } => (without_oracle, oracle_only),
        other => panic!("{other:?}"),
    }
}

const OLD: &str =
    r#"{"name":"a","scripts":{"test":"node --test"},"exports":{"import":"./a.mjs","default":"./a.js"}}"#;

#[test]
fn a_dependency_is_not_a_script() {
    let dependency = OLD.replace("\"name\"", "\"dependencies\":{\"x\":\"1\"},\"name\"");
    assert_eq!(split(&PACKAGE, OLD, &dependency).unwrap().split, ManifestSplit::Rest);
    assert_eq!(split(&PACKAGE, OLD, &OLD.replace(":", " : ")).unwrap().split, ManifestSplit::Rest);
    let script = OLD.replace("node --test", "true");
    assert_eq!(split(&PACKAGE, OLD, &script).unwrap().split, ManifestSplit::Oracle);
    let (without, only) = both(&PACKAGE, OLD, &dependency.replace("node --test", "true"));
    assert!(
        without.contains("node --test") && without.contains("dependencies") && !without.contains("true"),
        "{without}"
    );
    assert!(only.contains("true") && !only.contains("dependencies"), "{only}");
    assert!(without.find("import") < without.find("default"), "order means something: {without}");
    assert!(split(&PACKAGE, OLD, "{broken").is_none());
    assert!(split(&PACKAGE, OLD, "[]").is_none());
}

#[test]
fn a_new_manifest_has_both() {
    let (without, only) = both(&PACKAGE, "{}", r#"{"name":"a","scripts":{"test":"x"}}"#);
    assert!(without.contains("name") && !without.contains("scripts"));
    assert!(only.contains("scripts") && !only.contains("name"));
}

#[test]
fn the_last_of_two_members_counts() {
    let twice = OLD.replace("\"name\"", "\"scripts\":{\"test\":\"node --test\"},\"name\"").replace(
        "\"scripts\":{\"test\":\"node --test\"},\"exports\"",
        "\"scripts\":{\"test\":\"true\"},\"exports\"",
    );
    assert_eq!(split(&PACKAGE, OLD, &twice).unwrap().split, ManifestSplit::Oracle);
}

#[test]
fn settings_of_a_compiler() {
    let old = "{ // strict\n \"compilerOptions\": {\"strict\": true, \"target\": \"es5\",}, /* x */ \"include\": [\"src\"]}";
    let target = old.replace("es5", "es6");
    assert_eq!(split(&COMPILER, old, &target).unwrap().split, ManifestSplit::Rest);
    assert_eq!(split(&COMPILER, old, &old.replace("true", "false")).unwrap().split, ManifestSplit::Oracle);
    assert_eq!(split(&COMPILER, old, &old.replace("\"src\"", "")).unwrap().split, ManifestSplit::Oracle);
    let (without, only) = both(&COMPILER, old, &target.replace("true", "false"));
    assert!(without.contains("es6") && without.contains("true"), "{without}");
    assert!(only.contains("es5") && only.contains("false"), "{only}");
}

#[test]
fn members_of_a_workspace_may_only_grow() {
    let old = r#"{"name":"a","workspaces":["a","b"]}"#;
    assert_eq!(
        split(&PACKAGE, old, &old.replace("\"b\"", "\"b\",\"c\"")).unwrap().split,
        ManifestSplit::Rest
    );
    let (without, _) = both(&PACKAGE, old, r#"{"name":"a","workspaces":["a","c"]}"#);
    assert!(without.contains(r#"["a","c","b"]"#), "{without}");
}

#[test]
fn comments_and_torn_text() {
    assert_eq!(
        without_comments("{\"a//b\": \"/*\", // x\n \"c\": [1,],}"),
        "{\"a//b\": \"/*\", \n \"c\": [1]}"
    );
    for torn in ["\"", "/", "/*", "\"\\", ",]", "]", "\u{feff}{}", "/**"] {
        let _ = without_comments(torn);
    }
}
