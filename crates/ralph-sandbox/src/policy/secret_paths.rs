//! Which paths of this machine are secret: those of the table, histories, files with credentials, the state of other agents and
//! ralph's own; also where links lead from them.

use super::facts::{AgentNeeds, Facts};
use super::programs::is_inside;
use super::secrets::{SECRETS, has_secret_name, is_history};
use super::settings::Settings;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Variables that move a directory of secrets.
const MOVED: &[&str] = &[
    "GNUPGHOME",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "KUBECONFIG",
    "DOCKER_CONFIG",
    "CLOUDSDK_CONFIG",
    "AZURE_CONFIG_DIR",
    "PASSWORD_STORE_DIR",
    "NETRC",
    "HISTFILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "SOPS_AGE_KEY_FILE",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "RCLONE_CONFIG",
    "BOTO_CONFIG",
    "PSQL_HISTORY",
    "MYSQL_HISTFILE",
    "SQLITE_HISTORY",
    "NODE_REPL_HISTORY",
    "PYTHON_HISTORY",
    "LESSHISTFILE",
];

/// Variables that move a directory of which parts are secret: the parts of the table that lie there, without its usual name.
const MOVED_ABOVE: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
    ("CARGO_HOME", ".cargo"),
    ("HEX_HOME", ".hex"),
    ("HF_HOME", ".cache/huggingface"),
    ("COMPOSER_HOME", ".config/composer"),
    ("PULUMI_HOME", ".pulumi"),
];

/// What is secret for one program.
#[derive(Debug)]
pub(super) struct SecretPaths(BTreeSet<PathBuf>);

impl SecretPaths {
    /// `kept` must be seen, so a link does not make it secret.
    pub fn of(
        facts: &Facts,
        settings: &Settings,
        needs: Option<&AgentNeeds>,
        kept: &[PathBuf],
    ) -> SecretPaths {
        let mut paths: BTreeSet<PathBuf> = named(facts, needs).collect();
        paths.retain(|path| !is_opened(path, facts, settings));
        let is_linked = |to: &PathBuf| {
            is_inside(to, facts)
                && !is_opened(to, facts, settings)
                && !to.starts_with(&facts.workspace)
                && !kept.iter().any(|kept| kept.starts_with(to))
        };
        let from_secrets =
            facts.links.iter().filter(|link| paths.iter().any(|path| link.at.starts_with(path)));
        let linked: Vec<PathBuf> = from_secrets.map(|link| link.to.clone()).filter(is_linked).collect();
        paths.extend(linked);
        SecretPaths(paths)
    }

    pub fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter()
    }

    /// Whether a path is secret, also by its name alone, as in a copy of a home directory.
    pub fn hold(&self, path: &Path) -> bool {
        has_secret_name(path) || self.0.iter().any(|secret| path.starts_with(secret))
    }

    /// What is secret by its name in a directory that is shown because a link leads to it.
    pub fn in_shown(facts: &Facts, settings: &Settings, dir: &Path) -> Vec<PathBuf> {
        let names: BTreeSet<&str> =
            facts.listings.get(dir).into_iter().flatten().filter_map(|entry| entry.name.to_str()).collect();
        let is_there = |path: &str| names.contains(path.split('/').next().unwrap_or(path));
        let rows =
            SECRETS.iter().map(|row| row.path).filter(|path| path.starts_with(['.', '_']) && is_there(path));
        let histories = names.iter().copied().filter(|name| is_history(name));
        let found = rows.chain(histories).map(|name| dir.join(name));
        found.filter(|path| !is_opened(path, facts, settings)).collect()
    }
}

fn named(facts: &Facts, needs: Option<&AgentNeeds>) -> impl Iterator<Item = PathBuf> {
    let in_home = |home: &PathBuf| -> Vec<PathBuf> {
        let rows = SECRETS.iter().map(|row| row.path).filter(|path| facts.has(home, path));
        let entries = facts.listings.get(home).into_iter().flatten();
        let histories = entries.filter_map(|entry| entry.name.to_str()).filter(|name| is_history(name));
        rows.chain(histories).map(|path| home.join(path)).collect()
    };
    let in_homes = facts.own_homes().flat_map(in_home);
    let above = MOVED_ABOVE.iter().filter_map(|(name, usual)| Some((facts.path_variable(name)?, *usual)));
    let above = above.flat_map(|(dir, usual)| {
        let below = SECRETS.iter().filter_map(move |row| Path::new(row.path).strip_prefix(usual).ok());
        below.map(move |below| dir.join(below))
    });
    let moved = MOVED.iter().flat_map(|name| facts.path_variables(name)).chain(above).filter(|path| {
        // `HISTFILE=/dev/null` keeps none, and what is in the workspace is the project's.
        !path.starts_with("/dev") && !path.starts_with(&facts.workspace)
    });
    let own: Vec<&PathBuf> = needs
        .into_iter()
        .flat_map(|needs| needs.state_directories.iter().chain(&needs.state_files))
        .collect();
    let agents = facts.agent_states.iter().filter(move |state| !own.contains(state)).cloned();
    let all = in_homes.chain(moved).chain(agents);
    all.chain(facts.with_credentials.iter().cloned()).chain(facts.own_directories.iter().cloned())
}

/// Whether the user named this path, or the workspace is in it, and it belongs to no one else.
fn is_opened(path: &Path, facts: &Facts, settings: &Settings) -> bool {
    let mut named = settings.readable.iter().chain(&settings.writable).map(|named| facts.expand(named));
    let is_own = facts.own_directories.iter().any(|own| own == path);
    named.any(|named| named == path) || (!is_own && facts.workspace.starts_with(path))
}
