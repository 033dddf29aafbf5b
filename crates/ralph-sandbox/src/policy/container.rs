//! What is different for a container: it gets variables by name, and its own paths are the image's.

use super::environment::EnvChanges;
use super::facts::Facts;
use super::settings::Settings;
use crate::container::{ENGINE_VARIABLES, passed_variables};
use crate::{Container, Mount};
use std::path::Path;

/// A container that gets the variables of a program. The engine reads others from the same environment, so those are not
/// removed from it.
pub(super) fn with_variables(
    container: &Container,
    facts: &Facts,
    settings: &Settings,
    mounts: &[Mount],
    env: &mut EnvChanges,
) -> Container {
    let passed = env.apply(&facts.env);
    env.remove.retain(|name| !ENGINE_VARIABLES.contains(&name.as_str()));
    let is_right = |name: &str, value: &str| {
        let named = settings.env.iter().any(|asked| asked == name);
        named || name == "HOME" || !value.starts_with('/') || are_inside(value, facts, mounts)
    };
    let names = passed.iter().filter(|(name, value)| is_right(name, value)).map(|(name, _)| name.as_str());
    Container { env: passed_variables(names, &settings.env), ..container.clone() }
}

/// Whether all paths of a list are there inside. Others say where something is outside, such as `CARGO_HOME`, and would lead
/// programs of the image away from their own.
fn are_inside(paths: &str, facts: &Facts, mounts: &[Mount]) -> bool {
    let is_inside = |path: &Path| {
        path.starts_with("/tmp")
            || path.starts_with(&facts.workspace)
            || mounts.iter().filter_map(shown).any(|at| path.starts_with(at))
    };
    paths.split(':').all(|path| is_inside(Path::new(path)))
}

/// The path at which something of the user's is shown.
fn shown(mount: &Mount) -> Option<&Path> {
    match mount {
        Mount::Show(at) | Mount::Write(at) | Mount::Protect(at) => Some(at),
        Mount::Layer { at, .. } | Mount::Replace { at, .. } => Some(at),
        Mount::Hide(_) | Mount::Empty(_) => None,
    }
}
