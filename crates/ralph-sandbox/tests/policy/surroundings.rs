//! A user's machine and an agent, and what a plan makes of a path.

use Seen::{Dropped, Gone, Hidden, Kept, ReadOnly, Written};
use ralph_sandbox::policy::{AgentNeeds, Entry, EntryKind, Facts, Link, Planned};
use ralph_sandbox::{Backend, Mount};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a program sees of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// As it is.
    ReadOnly,
    /// Something empty instead.
    Hidden,
    /// Nothing: it lies in an empty directory that can be written.
    Gone,
    /// What is written is dropped.
    Dropped,
    /// What is written is kept for the workspace.
    Kept,
    /// Written for real.
    Written,
}

/// What the mounts of a plan make of a path, in their order: outside the workspace, the workspace, inside it.
pub fn seen(planned: &Planned, path: &str) -> Seen {
    let (path, plan) = (Path::new(path), &planned.plan);
    let in_workspace = path.starts_with(&plan.workspace);
    let mut seen = if in_workspace { Written } else { ReadOnly };
    for mount in &plan.mounts {
        let (at, becomes) = match mount {
            Mount::Hide(at) => (at, Hidden),
            Mount::Empty(at) => (at, Gone),
            Mount::Show(at) | Mount::Protect(at) => (at, ReadOnly),
            Mount::Write(at) => (at, Written),
            Mount::Layer { at, upper, .. } if upper.starts_with("/call") => (at, Dropped),
            Mount::Layer { at, .. } => (at, Kept),
            Mount::Replace { at, .. } => (at, ReadOnly),
        };
        if path.starts_with(at) && (!in_workspace || at.starts_with(&plan.workspace)) {
            seen = becomes;
        }
    }
    seen
}

/// A link of the home directory.
pub fn link(at: &str, to: &str) -> Link {
    let [at, to] = [at, to].map(|below| PathBuf::from("/home/u").join(below));
    Link { through: vec![at.clone()], at, to }
}

/// A plan as it is built: every path leads where its links do.
pub fn followed(planned: &Planned, links: &[Link]) -> Planned {
    let mut planned = planned.clone();
    for mount in &mut planned.plan.mounts {
        let (Mount::Hide(at) | Mount::Empty(at) | Mount::Show(at) | Mount::Write(at) | Mount::Protect(at)) =
            mount
        else {
            continue;
        };
        let above = links.iter().filter(|link| at.starts_with(&link.at));
        if let Some(link) = above.max_by_key(|link| link.at.components().count()) {
            let below = at.strip_prefix(&link.at).unwrap();
            *at = if below == Path::new("") { link.to.clone() } else { link.to.join(below) };
        }
    }
    planned
}

pub fn entry(name: &str) -> Entry {
    let kind = if name.ends_with('/') { EntryKind::Directory } else { EntryKind::File };
    Entry { name: name.trim_end_matches('/').into(), kind }
}

pub fn entries(names: &[&str]) -> Vec<Entry> {
    names.iter().map(|name| entry(name)).collect()
}

pub fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

pub fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What is in the home directory.
const HOME_ENTRIES: &[&str] = &[
    ".bash_history",
    ".bashrc",
    ".cache/",
    ".cargo/",
    ".claude/",
    ".claude.json",
    ".codex/",
    ".config/",
    ".docker/",
    ".gitconfig",
    ".gnupg/",
    ".local/",
    ".m2/",
    ".mozilla/",
    ".netrc",
    ".npm/",
    ".npmrc",
    ".python_history",
    ".rustup/",
    ".ssh/",
    ".aws/",
    "Documents/",
    "bin/",
    "go/",
    "miniconda3/",
    "notes.txt",
    "projects/",
    "tools/",
];

fn listings() -> BTreeMap<PathBuf, Vec<Entry>> {
    let mut home = entries(HOME_ENTRIES);
    home.push(Entry { name: "everything".into(), kind: EntryKind::Link });
    let listings = [
        ("/home/u", home),
        ("/home/u/projects", entries(&["shop/", "other/", "todo.txt"])),
        ("/home/u/tools", entries(&[".git/", "bin/", "private/"])),
        ("/home/u/pyenv", entries(&[".git/", "shims/", "libexec/"])),
        ("/home/u/miniconda3", entries(&["bin/", "lib/"])),
        ("/home/u/go", entries(&["bin/", "pkg/", "src/"])),
    ];
    listings.into_iter().map(|(dir, entries)| (dir.into(), entries)).collect()
}

const PATH: &[&str] = &[
    "/usr/bin",
    "/home/u/bin",
    "/home/u/.cargo/bin",
    "/home/u/.local/bin",
    "/home/u/go/bin",
    "/home/u/miniconda3/bin",
    "/home/u/tools/bin",
    "/home/u/pyenv/shims",
];

/// An ordinary user's machine.
pub fn facts() -> Facts {
    Facts {
        backend: Backend::Namespaces,
        overlay: true,
        home: "/home/u".into(),
        account_home: None,
        other_homes: paths(&["/home/v"]),
        listings: listings(),
        links: Vec::new(),
        git_configs: Vec::new(),
        path: paths(PATH),
        env: BTreeMap::new(),
        variables_with_keys: Vec::new(),
        workspace: "/home/u/projects/shop".into(),
        workspace_entries: strings(&["ralph.toml", ".claude", ".git", "src", ".envrc"]),
        protected: paths(&[
            "/home/u/projects/shop/src/auth",
            "/home/u/projects/shop/src/auth/deep",
            "/home/u/projects/shop/.env",
        ]),
        plan_file: None,
        git_directories: paths(&["/home/u/projects/shop/.git", "/home/u/projects/shop/.git/modules/a"]),
        git_files: paths(&["/home/u/projects/shop/a/.git"]),
        agent_states: paths(&["/home/u/.claude", "/home/u/.claude.json", "/home/u/.codex"]),
        agent_variables: strings(&["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY"]),
        with_credentials: paths(&["/home/u/.npmrc"]),
        sockets: Vec::new(),
        own_directories: paths(&["/home/u/.local/state/ralph", "/home/u/.config/ralph"]),
        call_directory: Some("/home/u/.local/state/ralph/runs/1/call".into()),
        needed: Vec::new(),
        root: false,
        owns_workspace: true,
        tmp: "/call/tmp".into(),
        home_layer: "/call/home".into(),
        cache_layers: "/kept/caches".into(),
        state_layers: "/kept/state".into(),
    }
}

pub fn claude() -> AgentNeeds {
    AgentNeeds {
        state_directories: paths(&["/home/u/.claude"]),
        state_files: paths(&["/home/u/.claude.json"]),
        brought_back: paths(&["/home/u/.claude/.credentials.json"]),
        env: strings(&["ANTHROPIC_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"]),
        env_prefixes: strings(&["CLAUDE_"]),
        base_url_env: strings(&["ANTHROPIC_BASE_URL"]),
        addresses: Vec::new(),
        hosts: strings(&["api.anthropic.com"]),
    }
}
