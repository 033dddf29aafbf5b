//! Which package an installed file belongs to.

use ralph_os::{Links, read_regular};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A larger list of a distribution's files is not read.
const LARGEST_LIST: u64 = 16 << 20;

/// What a file of a dependency folder belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The package's path within the folder, or the file's own.
    pub(super) name: Vec<u8>,
    /// The version, where the path says it.
    pub(super) version: Option<String>,
    /// A file that Python runs at every start.
    pub(super) starts: bool,
}

impl Unit {
    fn named(name: Vec<u8>) -> Unit {
        Unit { name, version: None, starts: false }
    }
}

/// Which distribution each file of the Python environments in a folder belongs to.
#[derive(Debug, Default)]
pub(super) struct Distributions {
    /// By path within the folder.
    files: HashMap<Vec<u8>, Distribution>,
    /// By the top-level name in its `site-packages`; none if several share it.
    tops: HashMap<Vec<u8>, Option<Distribution>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Distribution {
    name: Vec<u8>,
    version: String,
}

/// The part of a path that holds packages side by side.
enum Container {
    Node(usize),
    Python(usize),
    /// Directories whose names carry a version, such as gems.
    Plain(usize),
}

/// The unit that a file belongs to. `folder` is the last part of the dependency folder's own path.
pub(super) fn unit_of(folder: &[u8], path: &[u8], distributions: &Distributions) -> Unit {
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let upto = |end: usize| parts.get(..end).unwrap_or(&parts).join(&b'/');
    match container(folder, &parts) {
        Some(Container::Node(at)) => {
            let scoped = parts.get(at).is_some_and(|part| part.starts_with(b"@"));
            let (end, hidden) =
                (at + 1 + usize::from(scoped), parts.get(at).is_some_and(|p| p.starts_with(b".")));
            Unit::named(if hidden || end >= parts.len() { path.to_vec() } else { upto(end) })
        }
        Some(Container::Python(at)) => in_site_packages(path, &parts, at, distributions),
        Some(Container::Plain(at)) => Unit::named(upto(at + 1)),
        None => Unit::named(path.to_vec()),
    }
}

/// The innermost container on a path, by where its contents begin.
fn container(folder: &[u8], parts: &[&[u8]]) -> Option<Container> {
    let is_node = |name: &[u8]| matches!(name, b"node_modules" | b"bower_components");
    let mut found = match folder {
        name if is_node(name) => Some(Container::Node(0)),
        b"vendor" | b"Pods" | b"bundle" | b".bundle" => Some(Container::Plain(0)),
        _ => None,
    };
    // The last part is the file itself.
    for (at, part) in parts.iter().enumerate().take(parts.len().saturating_sub(1)) {
        found = match *part {
            part if is_node(part) => Some(Container::Node(at + 1)),
            b"site-packages" | b"dist-packages" => Some(Container::Python(at + 1)),
            b"lib" if folder == b"__pypackages__" => Some(Container::Python(at + 1)),
            b"gems" | b"specifications" | b"extensions" if matches!(folder, b"bundle" | b"vendor") => {
                Some(Container::Plain(at + 1))
            }
            _ => found,
        };
    }
    found
}

fn in_site_packages(path: &[u8], parts: &[&[u8]], at: usize, distributions: &Distributions) -> Unit {
    let top = parts.get(at).copied().unwrap_or_default();
    let is_file = parts.len() == at + 1;
    let starts = (is_file && top.ends_with(b".pth")) || is_customize(top);
    if starts {
        return Unit { starts, ..Unit::named(path.to_vec()) };
    }
    let site = parts.get(..at).unwrap_or_default().join(&b'/');
    let key = [site.as_slice(), b"/", top].concat();
    let owner =
        distributions.files.get(path).or_else(|| distributions.tops.get(&key).and_then(Option::as_ref));
    match owner.cloned().or_else(|| of_metadata(&site, top)) {
        Some(Distribution { name, version }) => Unit { name, version: Some(version), starts: false },
        None => Unit::named(if is_file { path.to_vec() } else { key }),
    }
}

fn is_customize(top: &[u8]) -> bool {
    let stem = top.split(|byte| *byte == b'.').next().unwrap_or_default();
    matches!(stem, b"sitecustomize" | b"usercustomize")
}

/// The distribution whose metadata a directory such as `Name-1.2.dist-info` holds.
fn of_metadata(site: &[u8], directory: &[u8]) -> Option<Distribution> {
    let stem = directory.strip_suffix(b".dist-info").or_else(|| directory.strip_suffix(b".egg-info"))?;
    let mut parts = stem.split(|byte| *byte == b'-');
    let name = parts.next()?.to_ascii_lowercase();
    let version = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    Some(Distribution { name: [site, b"/", &name].concat(), version })
}

impl Distributions {
    /// Reads the file lists of all distributions among these paths of a dependency folder.
    pub(super) fn read<'a>(root: &Path, paths: impl Iterator<Item = &'a [u8]>) -> Distributions {
        let mut all = Distributions::default();
        let mut last: &[u8] = b"";
        for path in paths {
            let Some(end) = path.iter().rposition(|byte| *byte == b'/') else { continue };
            let dir = path.get(..end).unwrap_or_default();
            if dir != last && dir.ends_with(b".dist-info") {
                last = dir;
                all.add(root, dir);
            }
        }
        all
    }

    fn add(&mut self, root: &Path, info: &[u8]) {
        let Some(end) = info.iter().rposition(|byte| *byte == b'/') else { return };
        let (site, name) = (info.get(..end).unwrap_or_default(), info.get(end + 1..).unwrap_or_default());
        let Some(distribution) = of_metadata(site, name) else { return };
        let list = root.join(std::ffi::OsStr::from_bytes(info)).join("RECORD");
        let list = read_regular(&list, LARGEST_LIST, Links::Follow).unwrap_or_default();
        for line in list.split(|byte| *byte == b'\n') {
            let file = line.split(|byte| *byte == b',').next().unwrap_or_default();
            if file.is_empty() || file.starts_with(b"..") || file.starts_with(b"/") {
                continue;
            }
            self.files.insert([site, b"/", file].concat(), distribution.clone());
            let top = file.split(|byte| *byte == b'/').next().unwrap_or_default();
            let owner = self.tops.entry([site, b"/", top].concat());
            let owner = owner.or_insert_with(|| Some(distribution.clone()));
            if owner.as_ref().is_some_and(|owner| *owner != distribution) {
                *owner = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(folder: &str, path: &str) -> String {
        let unit = unit_of(folder.as_bytes(), path.as_bytes(), &Distributions::default());
        format!("{}{}", String::from_utf8(unit.name).unwrap(), if unit.starts { " starts" } else { "" })
    }

    #[test]
    fn files_belong_to_packages() {
        for (folder, path, unit) in [
            ("node_modules", "a/lib/x.js", "a"),
            ("node_modules", "@s/a/x.js", "@s/a"),
            ("node_modules", "a/node_modules/@s/b/x.js", "a/node_modules/@s/b"),
            ("node_modules", ".bin/jest", ".bin/jest"),
            ("node_modules", ".pnpm/a@1/node_modules/a/x.js", ".pnpm/a@1/node_modules/a"),
            ("node_modules", "loose.js", "loose.js"),
            (".venv", "lib/python3.12/site-packages/a/x.py", "lib/python3.12/site-packages/a"),
            (
                ".venv",
                "lib/python3.12/site-packages/A-1.2.dist-info/METADATA",
                "lib/python3.12/site-packages/a",
            ),
            (".venv", "lib/python3.12/site-packages/six.py", "lib/python3.12/site-packages/six.py"),
            (".venv", "lib/python3.12/site-packages/x.pth", "lib/python3.12/site-packages/x.pth starts"),
            (".venv", "lib/python3.12/site-packages/a/x.pth", "lib/python3.12/site-packages/a"),
            (
                ".venv",
                "lib/python3.12/site-packages/sitecustomize.py",
                "lib/python3.12/site-packages/sitecustomize.py starts",
            ),
            (".venv", "bin/pytest", "bin/pytest"),
            (".venv", "pyvenv.cfg", "pyvenv.cfg"),
            ("__pypackages__", "3.12/lib/a/x.py", "3.12/lib/a"),
            ("bundle", "ruby/3.2.0/gems/rack-3.0/lib/rack.rb", "ruby/3.2.0/gems/rack-3.0"),
            ("vendor", "org/lib/x.php", "org"),
            ("Pods", "Lib/x.m", "Lib"),
        ] {
            assert_eq!(name(folder, path), unit, "{folder}/{path}");
        }
    }
}
