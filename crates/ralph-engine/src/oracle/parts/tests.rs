//! What is compared and what is put back, format by format.

use super::{put_back, same};

fn back(path: &str, baseline: &str, now: &str) -> String {
    String::from_utf8(put_back(path.as_bytes(), baseline.as_bytes(), now.as_bytes())).unwrap()
}

fn equal(path: &str, baseline: &str, now: &str) -> bool {
    same(path.as_bytes(), baseline.as_bytes(), now.as_bytes())
}

#[test]
fn a_dependency_is_work_and_a_script_is_not() {
    let old =
        r#"{"name":"a","scripts":{"test":"node --test"},"exports":{"import":"./a.mjs","default":"./a.js"}}"#;
    let dependency = old.replace("\"name\"", "\"dependencies\":{\"x\":\"1\"},\"name\"");
    assert!(equal("package.json", old, &dependency));
    assert!(equal("package.json", old, &old.replace(r#"{"test":"#, r#"{ "test" : "#)));
    let script = dependency.replace("node --test", "true");
    assert!(!equal("web/package.json", old, &script));
    let made = back("package.json", old, &script);
    assert!(
        made.contains("node --test") && made.contains("dependencies") && !made.contains("true"),
        "{made}"
    );
    assert!(made.find("import") < made.find("default"), "order means something: {made}");
    assert!(!equal("package.json", old, "{broken"));
    assert_eq!(back("package.json", old, "{broken"), old);
    let twice = old.replace("\"name\"", "\"scripts\":{\"test\":\"node --test\"},\"name\"").replacen(
        "\"scripts\":{\"test\":\"node --test\"},\"exports\"",
        "\"scripts\":{\"test\":\"true\"},\"exports\"",
        1,
    );
    assert!(!equal("package.json", old, &twice));
}

#[test]
fn cargo_and_python_manifests() {
    let old = "[package]\nname = \"a\"\n[dependencies]\n";
    assert!(equal("Cargo.toml", old, &format!("{old}x = \"1\"\n")));
    let off = format!(
        "{old}x = \"1\"\n[lib]\ntest = false\npath = \"l.rs\"\n[[test]]\nname = \"t\"\nharness = false\n"
    );
    assert!(!equal("Cargo.toml", old, &off));
    let made = back("Cargo.toml", old, &off);
    assert!(made.contains("x = ") && made.contains("l.rs") && !made.contains("harness"), "{made}");
    assert!(!made.contains("test = false"), "{made}");
    let old = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-x\"\n";
    assert!(equal("pyproject.toml", old, &format!("{old}\n[tool.black]\nline-length = 9\n")));
    let weak =
        old.replace("-x", "-k nothing").replace("name = \"a\"", "name = \"a\"\ndependencies = [\"b\"]");
    assert!(!equal("pyproject.toml", old, &weak));
    let made = back("pyproject.toml", old, &weak);
    assert!(made.contains("-x") && made.contains("dependencies"), "{made}");
    let old = "[metadata]\nname = a\n";
    let weak = "[metadata]\nname = b\n[tool:pytest]\naddopts = -k no\n";
    assert!(!equal("setup.cfg", old, weak));
    assert_eq!(back("setup.cfg", old, weak), "[metadata]\nname = b\n");
}

#[test]
fn tests_inside_rust_sources() {
    let old =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(1, \"}\".len()); }\n}\n";
    let work = old.replace("fn a() {}", "fn a() { b('{') }\nfn b(_: char) {} // }");
    assert!(equal("src/lib.rs", old, &work));
    let weak = work.replace("assert_eq!(1, \"}\".len());", "");
    assert!(!equal("src/lib.rs", old, &weak));
    assert_eq!(back("src/lib.rs", old, &weak), work);
    let gone = "fn a() { 'x: loop { break 'x } }\n";
    assert!(!equal("src/lib.rs", old, gone));
    assert!(back("src/lib.rs", old, gone).ends_with("assert_eq!(1, \"}\".len()); }\n}\n"));
    let more = format!(
        "{work}\n#[cfg(test)]\n#[allow(x)]\nmod more {{ const R: &str = r#\"}}\"#; }}\nfn c() {{}}\n"
    );
    assert!(!equal("src/lib.rs", old, &more));
    assert!(back("src/lib.rs", old, &more).ends_with("\n\n\nfn c() {}\n"));
    let named = format!("{old}#[cfg(test)]\nmod others;\n#[cfg(test)]\nuse x;\n");
    assert!(equal("src/lib.rs", old, &named));
    for torn in
        ["#[cfg(test)] mod t {", "#[cfg(test)] mod t { \"", "#[cfg(test)] mod t { /* ", "#[cfg(test)]", "é'"]
    {
        let _ = back("a.rs", torn, torn);
    }
}

#[test]
fn build_files_by_their_lines() {
    let old = "<project>\n  <dependencies/>\n</project>\n";
    assert!(equal("pom.xml", old, &old.replace("<dependencies/>", "<dependencies>x</dependencies>")));
    let skips = old.replace("<dependencies/>", "<skipTests>true</skipTests>");
    assert!(!equal("pom.xml", old, &skips));
    assert_eq!(back("pom.xml", old, &skips), old);
}
