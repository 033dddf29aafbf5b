//! New files that stand in for something that is not the workspace's own: modules of Python's library or of a runner,
//! installed packages, vendored ones.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::{Classifier, is_named_test, paths};

const MODULES: &str = include_str!("python_modules.txt");

fn known_modules() -> &'static BTreeSet<&'static str> {
    static READ: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    READ.get_or_init(|| {
        MODULES.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
    })
}

impl Classifier<'_> {
    /// The module outside the workspace that a new file hides.
    pub fn shadowed_module(&self, path: &[u8]) -> Option<String> {
        if self.inputs.before.contains(path) || !self.inputs.now.contains(path) {
            return None;
        }
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.chain([path.len()]).find_map(|end| {
            let here = path.get(..end)?;
            let module = str::from_utf8(paths::stem(here)).ok()?;
            let fits = self.is_module(here, end == path.len())
                && self.is_searched(paths::parent(here))
                && is_identifier(module)
                && (known_modules().contains(module) || (self.inputs.installed)(module));
            fits.then(|| module.to_owned())
        })
    }

    /// A new module, or a new package with an `__init__`.
    fn is_module(&self, here: &[u8], is_file: bool) -> bool {
        let (before, now) = (self.inputs.before, self.inputs.now);
        if is_file {
            return matches!(paths::extension(here).as_slice(), b"py" | b"pyc" | b"pyo" | b"pyd" | b"so")
                && paths::stem(here) != b"__init__";
        }
        let begins = |side: &crate::files::Files<'_>| {
            let init = [here, b"/__init__."].concat();
            side.below(here).any(|path| path.starts_with(&init))
        };
        begins(now) && !before.contains_dir(here)
    }

    /// Whether Python looks for modules in this directory.
    fn is_searched(&self, dir: &[u8]) -> bool {
        let (before, now) = (self.inputs.before, self.inputs.now);
        let init = [dir, b"/__init__.py"].concat();
        let in_package = !dir.is_empty() && (before.contains(&init) || now.contains(&init));
        let usual = matches!(dir, b"" | b"src" | b"lib" | b"python");
        let said = self.reach.python_path.contains(dir)
            || self.reach.files.keys().any(|script| script.ends_with(b".py") && paths::parent(script) == dir);
        said || !in_package && (usual || is_named_test(&[dir, b"/_.py"].concat()))
    }

    /// A new package in `node_modules`, a new `vendor` beside a go.mod: found before what is installed.
    pub fn stands_in(&self, path: &[u8]) -> Option<String> {
        let (before, now) = (self.inputs.before, self.inputs.now);
        let parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let at = parts.iter().rposition(|part| *part == b"node_modules" || *part == b"vendor")?;
        let root = |count: usize| parts.get(..count).unwrap_or_default().join(&b'/');
        if parts.get(at).is_some_and(|part| *part == b"node_modules") {
            let scoped = parts.get(at + 1).is_some_and(|part| part.starts_with(b"@"));
            let package = root(at + if scoped { 3 } else { 2 });
            let is_new = !before.contains_dir(&package) && !before.contains(&package);
            return is_new.then(|| format!("stands in for the package {}", paths::shown(&package)));
        }
        let manifest = [&root(at)[..], if at == 0 { b"" } else { b"/" }, b"go.mod"].concat();
        let in_go = before.contains(&manifest) || now.contains(&manifest);
        (in_go && !before.contains_dir(&root(at + 1))).then(|| "stands in for modules of go.mod".to_owned())
    }
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
