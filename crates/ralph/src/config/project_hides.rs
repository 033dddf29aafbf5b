//! What a project's file may hide: an agent could have written it, and without its system directories a program does not run in
//! any sandbox.

use super::mistake::CHECK;
use super::origin::{Entry, Layer};
use crate::problem::{Code, Problem};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::Value;

const KEY: &str = "sandbox.hide";

/// The paths of a project's file that it may not hide.
pub fn refused(layer: &Layer, workspace: &Path, home: Option<&Path>) -> Vec<Problem> {
    let hides = layer.entries.iter().filter(|entry| layer.origin.is_project() && entry.key.name == KEY);
    hides.flat_map(|entry| in_entry(layer, entry, workspace, home)).collect()
}

fn in_entry(layer: &Layer, entry: &Entry, workspace: &Path, home: Option<&Path>) -> Vec<Problem> {
    let file = layer.origin.path().unwrap_or(Path::new("")).display();
    let line = entry.line.map_or_else(String::new, |line| format!("{line}:"));
    let said = entry.value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let wrong = said.filter_map(|path| Some((path, why(path, workspace, home)?)));
    let problem = |(path, (what, hint)): (&str, (String, &str))| {
        let message = format!("{file}:{line} `{KEY}` contains {path:?}, which {what}");
        Problem::new(Code::Config, message).hint(hint)
    };
    wrong.map(problem).collect()
}

/// What is wrong with a path, and what to do.
fn why(path: &str, workspace: &Path, home: Option<&Path>) -> Option<(String, &'static str)> {
    let expanded = match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        (Some(_), None) => return None,
        (None, _) => PathBuf::from(path),
    };
    let is_in = |dir: &Path| {
        expanded.starts_with(dir) || dir.canonicalize().is_ok_and(|real| expanded.starts_with(real))
    };
    if !std::iter::once(workspace).chain(home).any(is_in) {
        let what = "lies outside the workspace and your home directory".to_owned();
        return Some((what, "set it in your own config.toml (`ralph config edit --user`)"));
    }
    match expanded.canonicalize() {
        // What is not there, or not this user's to see, needs no hiding.
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            Some((format!("cannot be resolved: {error}"), CHECK))
        }
        _ => None,
    }
}
