//! What the policy of the sandbox decides by, as it is on this machine.

use super::call_dirs::CallDirs;
use super::git_configs::git_configs;
use super::layers::KeptLayers;
use super::links::links;
use super::socket_files::socket_files;
use super::{CalledAgent, Program, SandboxDeps, Surroundings};
use crate::redact::Redactor;
use ralph_agents::{AgentInfo, registry};
use ralph_os::{Links, read_regular};
use ralph_sandbox::policy::{AgentNeeds, Entry, EntryKind, Facts, HomeView, MIXED, holds_credentials};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A larger file is not one of the settings that may hold credentials.
pub(super) const SETTINGS_FILE: u64 = 1 << 20;
/// Where home directories of others lie.
const HOMES: &str = "/home";
/// That of the administrator.
const ROOT_HOME: &str = "/root";

/// The facts for one program.
pub(super) fn facts(
    deps: &SandboxDeps,
    program: &Program<'_>,
    (dirs, layers): (&CallDirs, &KeptLayers),
) -> io::Result<Facts> {
    let surroundings = &deps.surroundings;
    let workspace = program.works_in.canonicalize()?;
    let (places, home) = (program.places, surroundings.home.clone());
    let account_home = surroundings.account_home.clone().filter(|dir| *dir != home);
    let inside = |paths: &[PathBuf]| paths.iter().map(|path| workspace.join(path)).collect::<Vec<_>>();
    let mut git_directories = inside(&places.git_directories);
    // A copy of the workspace is not the repository's own: nothing done in it may reach that.
    if program.works_in == program.workspace {
        git_directories.extend(places.git_elsewhere.iter().cloned());
    }
    let mut facts = Facts {
        backend: deps.backend.clone(),
        overlay: deps.layers,
        other_homes: other_homes(&home, account_home.as_deref()),
        listings: BTreeMap::default(),
        links: Vec::new(),
        git_configs: git_configs(surroundings),
        path: surroundings.path.clone(),
        variables_with_keys: variables_with_keys(&surroundings.env),
        env: surroundings.env.clone(),
        workspace_entries: places.entries.clone(),
        protected: inside(&places.protected),
        plan_file: places.plan_file.as_ref().filter(|_| program.agent.is_some()).map(|it| workspace.join(it)),
        git_directories,
        git_files: inside(&places.git_files),
        agent_states: agent_states(surroundings, account_home.as_deref(), &workspace),
        agent_variables: agent_variables(surroundings),
        with_credentials: [Some(&home), account_home.as_ref()]
            .into_iter()
            .flatten()
            .flat_map(|home| with_credentials(home))
            .collect(),
        sockets: socket_files(&home, deps.settings.effective_home() == HomeView::All),
        own_directories: own_directories(surroundings),
        // Compared with other paths by its parts, so it must have none that lead upwards.
        call_directory: program.writes.map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf())),
        needed: needed(surroundings, program.agent.as_ref()),
        root: rustix::process::geteuid().is_root(),
        owns_workspace: owns(&workspace)?,
        tmp: dirs.tmp(),
        home_layer: dirs.home_layer(),
        cache_layers: layers.caches.clone(),
        state_layers: layers.state.clone(),
        workspace,
        home,
        account_home,
    };
    facts.links = links(&facts);
    let to_list = facts.to_list(&deps.settings);
    facts.listings =
        to_list.into_iter().filter_map(|dir| Some((listing(&dir)?, dir))).map(|(l, d)| (d, l)).collect();
    Ok(facts)
}

/// Whether a directory belongs to the user that ralph runs as.
pub(super) fn owns(dir: &Path) -> io::Result<bool> {
    Ok(fs::metadata(dir)?.uid() == rustix::process::geteuid().as_raw())
}

/// What an agent needs in its sandbox.
pub(super) fn needs(agent: &CalledAgent<'_>, surroundings: &Surroundings, workspace: &Path) -> AgentNeeds {
    let (info, home) = (agent.info, &surroundings.home);
    let (files, directories): (Vec<_>, Vec<_>) =
        states(info, surroundings, workspace).into_iter().partition(|path| is_state_file(path));
    let back = info.contained.brought_back.iter();
    let back = back.map(|file| moved(info, file, surroundings).unwrap_or_else(|| home.join(file)));
    let passed = info.contained.passed.iter().filter(|passed| is_wanted(passed.with, surroundings));
    let env = info.credentials.env.iter().chain(passed.flat_map(|passed| passed.names)).copied();
    let named = surroundings.providers.get(info.name).cloned().unwrap_or_default();
    AgentNeeds {
        state_directories: directories,
        state_files: files,
        brought_back: back.collect(),
        env: owned(env.chain(named.variables.iter().map(String::as_str))),
        env_prefixes: info.contained.env_prefixes.iter().map(|prefix| (*prefix).to_owned()).collect(),
        base_url_env: owned(info.contained.base_url_env.iter().copied()),
        addresses: named.addresses,
        hosts: owned(info.hosts.iter().copied()),
    }
}

fn owned<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.map(str::to_owned).collect()
}

fn is_wanted(with: &str, surroundings: &Surroundings) -> bool {
    with.is_empty() || surroundings.env.get(with).is_some_and(|value| !value.is_empty())
}

fn agents() -> impl Iterator<Item = &'static AgentInfo> {
    registry::names().filter_map(|name| registry::find(name).ok())
}

/// The state of all agents, also what is left of it in the account's home directory where `HOME` names another one.
fn agent_states(surroundings: &Surroundings, account_home: Option<&Path>, workspace: &Path) -> Vec<PathBuf> {
    let here = agents().flat_map(|info| states(info, surroundings, workspace));
    let left = account_home
        .into_iter()
        .flat_map(|home| agents().flat_map(|info| info.state_dirs).map(move |path| home.join(path)))
        .filter(|path| !path.starts_with(workspace));
    here.chain(left).collect()
}

/// Where an agent keeps its state, usually and with the variables that move it. What lies in the workspace is part of the work.
fn states(info: &'static AgentInfo, surroundings: &Surroundings, workspace: &Path) -> Vec<PathBuf> {
    let usual = info.state_dirs.iter().map(|path| surroundings.home.join(path));
    let moved = info.state_dirs.iter().filter_map(|path| moved(info, path, surroundings));
    usual.chain(moved).filter(|path| !path.starts_with(workspace)).collect()
}

/// The directories of an agent's state that it writes here.
pub(super) fn own_state(info: &'static AgentInfo, surroundings: &Surroundings) -> Vec<PathBuf> {
    let usual = |path: &str| surroundings.home.join(path);
    let now =
        info.state_dirs.iter().map(|path| moved(info, path, surroundings).unwrap_or_else(|| usual(path)));
    now.filter(|path| !is_state_file(path)).collect()
}

/// Where a variable moves one of an agent's paths; not if it would stand for all of the home directory.
fn moved(info: &'static AgentInfo, path: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    let moved = info.moved_path(path, &|name| surroundings.env.get(name).cloned())?;
    (!surroundings.home.starts_with(&moved)).then_some(moved)
}

/// Whether an agent keeps a file there: `.claude.json`, also before it was first written.
fn is_state_file(path: &Path) -> bool {
    path.is_file() || (!path.is_dir() && path.extension().is_some())
}

/// Variables that belong to agents.
fn agent_variables(surroundings: &Surroundings) -> Vec<String> {
    let own = agents().flat_map(|info| {
        let passed = info.contained.passed.iter().flat_map(|passed| passed.names);
        info.credentials.env.iter().chain(passed).chain(info.contained.base_url_env).copied()
    });
    let named = surroundings.providers.values().flat_map(|named| &named.variables);
    owned(own.chain(named.map(String::as_str)))
}

/// The variables in whose values the redactor finds a key, whatever their names say.
fn variables_with_keys(env: &BTreeMap<String, String>) -> Vec<String> {
    static SHAPES: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(std::iter::empty::<(&str, &str)>()));
    // Variables often hold a private key in one line, without the line breaks by which the redactor knows its end.
    let holds_key =
        |value: &str| value.contains("PRIVATE KEY-----") || matches!(SHAPES.redact(value), Cow::Owned(_));
    let with_keys = env.iter().filter(|(_, value)| holds_key(value));
    with_keys.map(|(name, _)| name.clone()).collect()
}

/// Where programs that the call starts really are, beside the links in `PATH`.
fn needed(surroundings: &Surroundings, agent: Option<&CalledAgent<'_>>) -> Vec<PathBuf> {
    let mut found = surroundings.named.clone();
    found.push(surroundings.own_program.clone());
    if let Some(agent) = agent {
        let program = Path::new(agent.program);
        let real = program.canonicalize().ok();
        // Its libraries lie beside it.
        found.extend(real.as_deref().and_then(Path::parent).map(Path::to_path_buf));
        found.push(program.to_path_buf());
    }
    found
}

fn own_directories(surroundings: &Surroundings) -> Vec<PathBuf> {
    let real = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    std::iter::once(surroundings.state.dir()).chain(surroundings.config.as_deref()).map(real).collect()
}

/// Home directories of others, where this user can read them, and that of the account where `HOME` names another one.
fn other_homes(home: &Path, account_home: Option<&Path>) -> Vec<PathBuf> {
    let below = fs::read_dir(HOMES).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = below.chain([PathBuf::from(ROOT_HOME)]);
    let others = all.filter(|dir| dir != home && Some(&**dir) != account_home && !home.starts_with(dir));
    others.chain(account_home.map(Path::to_path_buf)).filter(|dir| fs::read_dir(dir).is_ok()).collect()
}

fn with_credentials(home: &Path) -> Vec<PathBuf> {
    let holds = |relative: &&(&'static str, &'static [&'static str])| {
        let bytes = read_regular(&home.join(relative.0), SETTINGS_FILE, Links::Follow);
        bytes.is_ok_and(|bytes| holds_credentials(relative.0, &String::from_utf8_lossy(&bytes)))
    };
    MIXED.iter().filter(holds).map(|(relative, _)| home.join(relative)).collect()
}

fn listing(dir: &Path) -> Option<Vec<Entry>> {
    let entries = fs::read_dir(dir).ok()?.flatten();
    let kind = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => EntryKind::Directory,
        Ok(kind) if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::File,
    };
    Some(entries.map(|entry| Entry { kind: kind(&entry), name: entry.file_name() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_values_whatever_the_variable_is_called() {
        let secret = [
            "ghp_0123456789abcdefghij0123456789abcdef",
            "github_pat_0123456789abcdefghijkl_0123456789",
            "glpat-0123456789abcdefghij",
            "sk-proj-0123456789abcdefghij0123",
            "xoxb-0123456789-abcdefghijkl0123",
            "AKIA0123456789ABCDEF",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEA7bq2\\n-----END RSA PRIVATE KEY-----\\n",
            "npm_0123456789abcdefghij0123456789abcdef",
            "AIza0123456789abcdefghij0123456789abcde",
            "{\"auth\": \"ghp_0123456789abcdefghij0123456789abcdef\"}",
            "https://ghp_0123456789abcdefghij0123456789abcdef@github.com/a/b",
        ];
        let plain = [
            "/home/u/.nvm/versions/node/v22.1.0/bin:/usr/bin",
            "sk-learn",
            "npm_config_registry",
            "en_US.UTF-8",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "https://registry.example.org/",
        ];
        let named = |(n, value): (usize, &&str)| (format!("V{n:02}"), (*value).to_owned());
        let all: Vec<String> = secret.iter().enumerate().map(|it| named(it).0).collect();
        assert_eq!(variables_with_keys(&secret.iter().enumerate().map(named).collect()), all);
        assert_eq!(variables_with_keys(&plain.iter().enumerate().map(named).collect()), [""; 0]);
    }
}
