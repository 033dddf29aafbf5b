//! Installed packages: which folders hold them, and what changed in them.

use ralph_engine::room::dependencies::{
    Dependencies, DependencyFolder, PythonPlaces, compare, find, has_module, site_directories,
};
use ralph_tree::{Index, Protect, Tree};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SITE: &str = ".venv/lib/python3.12/site-packages";

struct Installed(tempfile::TempDir);

impl Installed {
    /// A workspace with packages for Node and Python.
    fn new() -> Installed {
        let all = Installed(tempfile::tempdir().unwrap());
        all.write(".gitignore", "node_modules/\nenv/\nvendor/bundle/\n.venv\n");
        all.write("packages/app/index.js", "1");
        for (package, version) in [("a", "1.0.0"), ("@s/b", "2.0.0"), ("a/node_modules/c", "3.0.0")] {
            all.write(
                &format!("node_modules/{package}/package.json"),
                &format!(r#"{{"version":"{version}"}}"#),
            );
            all.write(&format!("node_modules/{package}/index.js"), "module.exports = 1");
        }
        all.write("node_modules/.bin/a", "#!/usr/bin/env node");
        all.write("node_modules/.package-lock.json", "{}");
        all.write("node_modules/.cache/x", "1");
        all.write(".venv/pyvenv.cfg", "home = /usr/bin");
        all.distribution("PyYAML", "6.0", "yaml/__init__.py");
        all.distribution("six", "1.16", "six.py");
        all
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.root().join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    fn distribution(&self, name: &str, version: &str, file: &str) {
        self.write(&format!("{SITE}/{file}"), &format!("version = '{version}'"));
        let info = format!("{name}-{version}.dist-info");
        self.write(&format!("{SITE}/{info}/METADATA"), version);
        self.write(
            &format!("{SITE}/{info}/RECORD"),
            &format!("{file},sha256=x,1\n{info}/METADATA,,\n../../../bin/x,,\n"),
        );
    }

    fn index(&self) -> Index {
        Tree::new(self.root(), Protect::new(Protect::DEFAULTS).unwrap()).walk(None).unwrap()
    }

    fn find(&self) -> Vec<DependencyFolder> {
        find(self.root(), &self.index())
    }

    fn record(&self) -> Dependencies {
        let cache = self.root().with_extension("cache");
        let recorded = Dependencies::record(self.root(), &self.find(), &cache).unwrap();
        let again = Dependencies::record(self.root(), &self.find(), &cache).unwrap();
        assert_eq!(again, recorded, "with what the cache knows");
        let _ = fs::remove_file(cache);
        recorded
    }

    /// What changed after `act`.
    fn after(act: impl Fn(&Installed)) -> Vec<String> {
        let installed = Installed::new();
        let before = installed.record();
        act(&installed);
        compare(&before, &installed.record()).iter().map(ToString::to_string).collect()
    }
}

#[test]
fn dependency_folders_are_found_where_they_are_installed_and_ignored() {
    let all = Installed::new();
    all.write("packages/app/node_modules/d/package.json", "{}");
    all.write("env/pyvenv.cfg", "");
    all.write("packages/env/settings", "not an environment");
    all.write("vendor/bundle/ruby/x", "");
    all.write("packages/vendor/kept.go", "tracked");
    symlink("../.venv", all.root().join("packages/.venv")).unwrap();
    let found: Vec<String> = all.find().iter().map(|folder| folder.path.to_string()).collect();
    let expected =
        [".venv", "env", "node_modules", "packages/.venv", "packages/app/node_modules", "vendor/bundle"];
    assert_eq!(found, expected);
}

#[test]
fn every_kind_of_change_is_named() {
    type Act = fn(&Installed);
    let table: [(Act, &[&str]); 13] = [
        (|_| (), &[]),
        (|all| all.write("node_modules/a/index.js", "hacked"), &["node_modules/a (edited, same version)"]),
        (|all| all.write("node_modules/a/more.js", ""), &["node_modules/a (edited, same version)"]),
        (
            |all| all.write("node_modules/@s/b/package.json", r#"{"version":"2.1.0"}"#),
            &["node_modules/@s/b (2.0.0 to 2.1.0)"],
        ),
        (|all| all.write("node_modules/new/index.js", ""), &["node_modules/new (added)"]),
        (
            |all| fs::remove_dir_all(all.root().join("node_modules/a/node_modules/c")).unwrap(),
            &["node_modules/a/node_modules/c (removed)"],
        ),
        (|all| all.write("node_modules/.bin/a", "exit 0"), &["node_modules/.bin/a (edited, same version)"]),
        (
            |all| {
                all.write("node_modules/.cache/x", "2");
                all.write("node_modules/.package-lock.json", "{ }");
                all.write(&format!("{SITE}/yaml/__pycache__/x.cpython-312.pyc"), "x");
            },
            &[],
        ),
        (
            |all| all.write(&format!("{SITE}/yaml/__init__.py"), "hacked"),
            &[".venv/lib/python3.12/site-packages/pyyaml (edited, same version)"],
        ),
        (
            |all| all.write(&format!("{SITE}/yaml/added.py"), ""),
            &[".venv/lib/python3.12/site-packages/pyyaml (edited, same version)"],
        ),
        (
            |all| {
                fs::remove_dir_all(all.root().join(SITE).join("six-1.16.dist-info")).unwrap();
                all.distribution("six", "1.17", "six.py");
            },
            &[".venv/lib/python3.12/site-packages/six (1.16 to 1.17)"],
        ),
        (
            |all| all.write(&format!("{SITE}/x.pth"), "import os"),
            &[".venv/lib/python3.12/site-packages/x.pth (runs at every start of Python)"],
        ),
        (|all| fs::remove_dir_all(all.root().join("node_modules")).unwrap(), &["node_modules (removed)"]),
    ];
    for (number, (act, expected)) in table.into_iter().enumerate() {
        assert_eq!(Installed::after(act), expected, "row {number}");
    }
}

#[test]
fn a_link_or_a_bit_is_a_change_too() {
    let relinked = Installed::after(|all| {
        fs::remove_file(all.root().join("node_modules/a/index.js")).unwrap();
        symlink("/etc/passwd", all.root().join("node_modules/a/index.js")).unwrap();
    });
    assert_eq!(relinked, ["node_modules/a (edited, same version)"]);
}

#[test]
fn a_record_survives_and_a_damaged_one_is_absent() {
    let all = Installed::new();
    let (recorded, at) = (all.record(), all.root().with_extension("json"));
    recorded.save(&at).unwrap();
    assert_eq!(Dependencies::load(&at), Some(recorded));
    fs::write(&at, "{\"v\":2,\"folders\":{}}").unwrap();
    assert_eq!(Dependencies::load(&at), None);
    fs::remove_file(at).unwrap();
}

#[test]
fn the_cache_is_used_for_files_that_are_not_fresh() {
    let all = Installed::new();
    let cache = all.root().with_extension("cache");
    std::thread::sleep(std::time::Duration::from_millis(3100));
    Dependencies::record(all.root(), &all.find(), &cache).unwrap();
    let size = fs::metadata(&cache).unwrap().len();
    assert!(size > 32 * 10, "{size} bytes");
    let before = Dependencies::record(all.root(), &all.find(), &cache).unwrap();
    all.write("node_modules/a/index.js", "module.exports = 2");
    let now = Dependencies::record(all.root(), &all.find(), &cache).unwrap();
    assert_eq!(compare(&before, &now).len(), 1, "another content of the same size");
    fs::remove_file(cache).unwrap();
}

#[test]
fn modules_are_found_by_name_in_every_environment() {
    let all = Installed::new();
    all.write("home/.local/lib/python3.11/site-packages/mine.py", "");
    all.write("active/lib/python3.12/site-packages/fast.cpython-312-x86_64-linux-gnu.so", "");
    all.write("conda/bin/python3", "");
    all.write("conda/lib/python3.12/site-packages/deep/__init__.py", "");
    let at = |name: &str| all.root().join(name);
    let (home, active, path) = (at("home"), at("active"), at("conda/bin"));
    let places = PythonPlaces { virtual_env: Some(&active), home: Some(&home), path: Some(path.as_os_str()) };
    let sites: Vec<PathBuf> = site_directories(all.root(), &all.find(), places);
    for (name, has) in [
        ("yaml", true),
        ("yaml.nodes", true),
        ("six", true),
        ("mine", true),
        ("fast", true),
        ("deep", true),
        ("cpython", false),
        ("no_such_module_anywhere", false),
        ("", false),
        ("../site-packages/yaml", false),
    ] {
        assert_eq!(has_module(name, &sites), has, "{name}");
    }
}
