//! Rust modules in files of their own that exist only for tests, found from the files that may declare them.

use super::{Classifier, paths};
use crate::files::Files;
use crate::parts::rust::test_modules;

/// Modules inside modules are followed this far.
const DEEPEST: usize = 6;
/// Files beside a module that are read for a `#[path]`.
const MOST_BESIDE: usize = 64;

impl Classifier<'_> {
    /// Whether a test module lies in this file, or the file below one, on either side.
    pub fn is_test_module(&self, path: &[u8]) -> bool {
        [self.inputs.before, self.inputs.now]
            .into_iter()
            .any(|side| declared(side, path) || by_path(side, path))
    }

    /// Worth reading the file that declares it.
    pub fn is_named_like_rust_test(&self, path: &[u8]) -> bool {
        let words = |part: &[u8]| {
            let low = part.to_ascii_lowercase();
            memchr::memmem::find(&low, b"test").is_some()
        };
        path.split(|&byte| byte == b'/').any(words)
    }
}

/// Follows the chain of modules up to the crate's root.
fn declared(side: &Files<'_>, path: &[u8]) -> bool {
    let mut path = path.to_vec();
    for _ in 0..DEEPEST {
        let (module, dir) = match paths::name(&path) {
            b"lib.rs" | b"main.rs" => return false,
            b"mod.rs" => {
                (paths::name(paths::parent(&path)).to_vec(), paths::parent(paths::parent(&path)).to_vec())
            }
            _ => (paths::stem(&path).to_vec(), paths::parent(&path).to_vec()),
        };
        let inside =
            |name: &[u8]| if dir.is_empty() { name.to_vec() } else { [&dir[..], b"/", name].concat() };
        let declaring =
            [inside(b"mod.rs"), [&dir[..], b".rs"].concat(), inside(b"lib.rs"), inside(b"main.rs")];
        for file in declaring.into_iter().filter(|file| *file != path) {
            let Some(text) = side.text(&file) else { continue };
            if test_modules(&text).iter().any(|(name, at)| at.is_none() && name.as_bytes() == module) {
                return true;
            }
            if matches!(paths::name(&file), b"lib.rs" | b"main.rs") {
                return false;
            }
        }
        if dir.is_empty() {
            return false;
        }
        path = inside(b"mod.rs");
    }
    false
}

/// Declared by a file beside or above it with a `#[path]`.
fn by_path(side: &Files<'_>, path: &[u8]) -> bool {
    let dir = paths::parent(path);
    let (name, above) = (paths::name(path), paths::parent(dir));
    let near = |other: &&[u8]| {
        let parent = paths::parent(other);
        other.ends_with(b".rs") && *other != path && (parent == dir || parent == above)
    };
    let mut files =
        side.below(dir).filter(near).take(MOST_BESIDE).chain(
            side.below(above).filter(near).filter(|other| paths::parent(other) != dir).take(MOST_BESIDE),
        );
    files.any(|file| {
        let Some(text) = side.text(file).filter(|text| memchr::memmem::find(text.as_bytes(), name).is_some())
        else {
            return false;
        };
        let at =
            |at: &Option<String>| at.as_ref().and_then(|at| paths::join(paths::parent(file), at.as_bytes()));
        test_modules(&text).iter().any(|(_, attribute)| at(attribute).as_deref() == Some(path))
    })
}
