//! Rust crates of the workspace that only tests depend on: what they assert with may belong to the check.

use super::{Classifier, paths};
use toml::Table;

/// Manifests that are read.
const MOST_MANIFESTS: usize = 200;

impl Classifier<'_> {
    /// Whether every crate that depends on the one of this file does so for its tests only.
    pub fn is_in_test_only_crate(&self, path: &[u8]) -> bool {
        let before = self.inputs.before;
        let Some(crate_dir) = crate_of(path, |manifest| before.contains(manifest)) else { return false };
        let manifests = before.paths().filter(|path| paths::name(path) == b"Cargo.toml").take(MOST_MANIFESTS);
        let mut for_tests = false;
        for manifest in manifests {
            let table = before.text(manifest).and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
            let dir = paths::parent(manifest);
            let depends = |kind: &str| depends_on(&table, kind, dir, &crate_dir);
            if depends("dependencies") || depends("build-dependencies") {
                return false;
            }
            for_tests |= depends("dev-dependencies");
        }
        for_tests
    }
}

/// The directory of the crate a file belongs to; none for the one at the root.
fn crate_of(path: &[u8], exists: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let mut dir = paths::parent(path);
    while !dir.is_empty() {
        if exists(&[dir, b"/Cargo.toml"].concat()) {
            return Some(dir.to_vec());
        }
        dir = paths::parent(dir);
    }
    None
}

fn depends_on(manifest: &Table, kind: &str, dir: &[u8], crate_dir: &[u8]) -> bool {
    let dependencies = manifest.get(kind).and_then(|value| value.as_table());
    dependencies.into_iter().flat_map(|table| table.values()).any(|dependency| {
        let at = dependency.get("path").and_then(|path| path.as_str());
        at.and_then(|at| paths::join_dir(dir, at.as_bytes())).is_some_and(|at| at == crate_dir)
    })
}
