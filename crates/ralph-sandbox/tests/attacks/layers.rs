//! Adds layers to a plan.

use ralph_sandbox::{LayerFallback, Mount, Plan};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};

/// Puts these directories of home, or home itself by an empty name, behind layers whose files lie beside home.
pub fn add(plan: &mut Plan, names: &[&str]) {
    let home = plan.workspace.parent().unwrap().to_path_buf();
    let owner = fs::metadata(&home).unwrap();
    let layers = names.iter().map(|name| {
        let layer = home.parent().unwrap().join("layers").join(if name.is_empty() { "home" } else { name });
        for dir in [layer.clone(), layer.join("upper"), layer.join("work")] {
            fs::create_dir(&dir).unwrap();
            chown(&dir, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        Mount::Layer {
            at: if name.is_empty() { home.clone() } else { home.join(name) },
            upper: layer.join("upper"),
            work: layer.join("work"),
            fallback: LayerFallback::ReadOnly,
        }
    });
    // What lies outside the workspace comes first.
    let layers: Vec<Mount> = layers.collect();
    plan.mounts.splice(0..0, layers);
}
