//! Which stacks a repository holds: the workspace itself first, then two levels below it. A stack further down counts
//! where nothing above it checks it already: members of a workspace are not projects of their own.

use super::found::{Found, Stack, Use};
use super::look::Look;
use super::stacks;
use crate::env::Env;
use std::path::Path;

/// Directories that are looked into, at most.
const MOST_DIRS: usize = 400;
/// Stacks that are told of, at most.
const MOST_STACKS: usize = 8;
/// How far down.
const DEPTH: usize = 2;

/// Everything found, the workspace's own first.
pub fn detect(workspace: &Path, env: &Env) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut level = vec![String::new()];
    let mut seen = 0;
    for _ in 0..=DEPTH {
        let mut below = Vec::new();
        for dir in std::mem::take(&mut level) {
            seen += 1;
            if seen > MOST_DIRS {
                break;
            }
            let look = Look::at(&workspace.join(&dir));
            let new = here(&look, &dir, &found, env);
            found.extend(new);
            let inner = look.dirs().filter(|name| worth_a_look(name, &look));
            below
                .extend(inner.map(|name| if dir.is_empty() { name.into() } else { format!("{dir}/{name}") }));
        }
        level = below;
    }
    found.truncate(MOST_STACKS);
    found
}

/// The stacks of one directory that nothing above it checks already.
fn here(look: &Look, dir: &str, above: &[Found], env: &Env) -> Vec<Found> {
    let inherited = above.iter().find(|f| f.stack == Stack::Node && covers(f, dir)).map(|f| f.with.as_str());
    let all = stacks::all(look, env, inherited).into_iter().map(|found| Found { dir: dir.into(), ..found });
    let new: Vec<Found> = all
        .filter(|found| {
            let checked = |f: &&Found| f.stack == found.stack && covers(f, dir) && !f.checks.is_empty();
            above.iter().find(checked).is_none() && (dir.is_empty() || found.has(Use::Test))
        })
        .collect();
    // `make test` beside `cargo test` is the same thing said twice. On top of several projects it is the authors' own way
    // in, and stands for all of them.
    let entry = |f: &Found| f.stack.only_runs() && f.has(Use::Test) && covers(f, dir);
    if above.iter().any(entry) {
        return Vec::new();
    }
    let native = new.iter().any(|f| !f.stack.only_runs() && f.has(Use::Test));
    let just = new.iter().any(|f| f.stack == Stack::Just && f.has(Use::Test));
    let said_twice = |f: &Found| f.stack.only_runs() && (native || (just && f.stack == Stack::Make));
    new.into_iter().filter(|f| !said_twice(f) && (dir.is_empty() || !f.stack.only_runs())).collect()
}

fn covers(above: &Found, dir: &str) -> bool {
    let below = dir.strip_prefix(above.dir.as_str());
    above.dir.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Neither hidden, nor made by a tool, nor somebody else's code, nor material for tests.
fn worth_a_look(name: &str, look: &Look) -> bool {
    const NOT: [&str; 19] = [
        "node_modules",
        "target",
        "vendor",
        "third_party",
        "dist",
        "build",
        "out",
        "bin",
        "obj",
        "venv",
        "env",
        "__pycache__",
        "fixtures",
        "testdata",
        "test",
        "tests",
        "spec",
        "docs",
        "examples",
    ];
    let link = || look.path().join(name).symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    !name.starts_with('.') && !name.contains(char::is_control) && !NOT.contains(&name) && !link()
}
