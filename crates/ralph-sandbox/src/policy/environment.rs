//! Which variables a contained program gets.

use super::facts::{AgentNeeds, Facts};
use super::git_settings::{GIT_FILE, git_variables};
use super::programs::TOOLCHAIN_VARIABLES;
use super::settings::{Mode, Settings};
use crate::Backend;
use ralph_rules::secret_env::{
    is_number, is_open_address, is_path, is_secret_name, is_secret_value, password_in_address,
    password_in_list,
};
use std::collections::BTreeMap;

/// How the environment of a contained program differs from ralph's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvChanges {
    /// Variables to remove.
    pub remove: Vec<String>,
    /// Variables to set.
    pub set: Vec<(String, String)>,
}

/// Variables that lead to a program outside: agents for keys, desktops, terminals, editors, engines of containers; and to
/// services that give the machine's own credentials to whoever knows the path.
const SOCKETS: &[&str] = &[
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "SUDO_ASKPASS",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "GNOME_KEYRING_PID",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "AT_SPI_BUS_ADDRESS",
    "SESSION_MANAGER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "XDG_RUNTIME_DIR",
    "PULSE_SERVER",
    "PIPEWIRE_RUNTIME_DIR",
    "HYPRLAND_INSTANCE_SIGNATURE",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "ZELLIJ",
    "KITTY_LISTEN_ON",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VIM_SERVERNAME",
    "EMACS_SERVER_FILE",
    "JOURNAL_STREAM",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "IDENTITY_ENDPOINT",
    "MSI_ENDPOINT",
];

/// Parts of names that say the same.
const SOCKET_PARTS: &[&str] =
    &["_SOCK", "_SOCKET", "SOCKET_PATH", "I3SOCK", "SWAYSOCK", "_IPC_HOOK", "VSCODE_GIT_"];

/// Passed on where only an allow list is; a name that ends in `*` stands for all that begin so.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "TZ",
    "TMPDIR",
    "CI",
    "HOSTNAME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    "CMAKE_*",
    "CARGO_*",
    "RUST*",
    "GOPATH",
    "GOBIN",
    "GOFLAGS",
    "GOCACHE",
    "GOMODCACHE",
    "GOTOOLCHAIN",
    "GOPROXY",
    "JAVA_*",
    "MAVEN_OPTS",
    "GRADLE_USER_HOME",
    "GRADLE_OPTS",
    "NVM_*",
    "NODE_*",
    "npm_config_*",
    "NPM_CONFIG_*",
    "PYTHON*",
    "PIP_*",
    "UV_*",
    "CONDA_*",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_*",
    "RBENV_*",
    "DENO_DIR",
    "DOTNET_*",
    "NUGET_PACKAGES",
    "CCACHE_*",
    "SCCACHE_*",
    "LD_LIBRARY_PATH",
    "RALPH_*",
];

/// Settings for git in numbered variables.
const GIT_SETTINGS: &str = "GIT_CONFIG_";

/// Words that are no secret whatever the variable's name.
const PLAIN_WORDS: &[&str] =
    &["", "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "enabled", "disabled"];

/// Names of this machine in addresses.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Who the environment is for.
struct Passed<'a> {
    facts: &'a Facts,
    settings: &'a Settings,
    needs: Option<&'a AgentNeeds>,
}

/// What changes, and the names of the variables that are not passed on. `reads_git_file`: git reads [`GIT_FILE`].
pub(super) fn environment(
    facts: &Facts,
    settings: &Settings,
    needs: Option<&AgentNeeds>,
    reads_git_file: bool,
) -> (EnvChanges, Vec<String>) {
    let passed = Passed { facts, settings, needs };
    let withheld: Vec<String> = facts
        .env
        .iter()
        .filter(|(name, value)| !passed.is_passed(name, value))
        .map(|(name, _)| name.clone())
        .collect();
    // One place for temporary files, whatever the variable's name.
    let temporary = ["TMP", "TEMP", "TEMPDIR"].into_iter().filter(|name| facts.env.contains_key(*name));
    let remove = withheld.iter().cloned().chain(temporary.map(Into::into)).collect();
    (EnvChanges { remove, set: set(facts, reads_git_file) }, withheld)
}

fn set(facts: &Facts, reads_git_file: bool) -> Vec<(String, String)> {
    let tmp = match facts.backend {
        // It shows no other directory as /tmp.
        Backend::Landlock => facts.tmp.to_string_lossy().into_owned(),
        _ => "/tmp".to_owned(),
    };
    // The workspace is mounted, so that a repository around it lies behind a border that git does not cross by itself.
    let across = ("GIT_DISCOVERY_ACROSS_FILESYSTEM".to_owned(), "1".to_owned());
    let git_file = reads_git_file.then(|| ("GIT_CONFIG_GLOBAL".to_owned(), format!("{tmp}/{GIT_FILE}")));
    let mut set = vec![("TMPDIR".to_owned(), tmp), across];
    set.extend(git_file);
    let count = facts.env.get("GIT_CONFIG_COUNT").filter(|_| !has_secret_git_settings(facts));
    let count = count.and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    set.extend(git_variables(count));
    set
}

impl Passed<'_> {
    fn is_passed(&self, name: &str, value: &str) -> bool {
        if self.settings.env.iter().any(|asked| asked == name) {
            return true;
        }
        if self.needs.is_none() && self.facts.agent_variables.iter().any(|own| own == name) {
            return false;
        }
        if self.is_needed(name) {
            return true;
        }
        if name.starts_with(GIT_SETTINGS) {
            // Git refuses a list with a gap, so they are passed on together.
            return !has_secret_git_settings(self.facts);
        }
        if (leads_outside(name, value) && !self.is_opened(value)) || self.is_secret(name, value) {
            return false;
        }
        self.settings.mode != Mode::Strict || self.is_allowed(name)
    }

    /// Whether its name says that it is secret, or its value does.
    fn is_secret(&self, name: &str, value: &str) -> bool {
        looks_secret(name, value) || self.facts.variables_with_keys.iter().any(|own| own == name)
    }

    /// Whether the agent cannot work without it.
    fn is_needed(&self, name: &str) -> bool {
        self.needs.is_some_and(|needs| needs.env.iter().chain(&needs.base_url_env).any(|own| own == name))
    }

    /// Whether the path in a value is one that the user opened.
    fn is_opened(&self, value: &str) -> bool {
        let opened = self.settings.readable.iter().chain(&self.settings.writable);
        let mut opened = opened.map(|path| self.facts.expand(path));
        let path =
            value.split_once(':').filter(|(scheme, _)| *scheme == "unix").map_or(value, |(_, path)| path);
        let path = path.strip_prefix("//").unwrap_or(path).trim_start_matches("path=");
        opened.any(|named| path == named.to_string_lossy())
    }

    fn is_allowed(&self, name: &str) -> bool {
        let begins = |prefix: &str| name.starts_with(prefix);
        ALLOWED.iter().any(|own| own.strip_suffix('*').map_or(*own == name, begins))
            || TOOLCHAIN_VARIABLES.contains(&name)
            || self.needs.is_some_and(|needs| needs.env_prefixes.iter().any(|prefix| begins(prefix)))
    }
}

/// Whether one of the settings for git in variables is a login: a header, or an address with a password.
fn has_secret_git_settings(facts: &Facts) -> bool {
    facts.env.iter().filter(|(name, _)| name.starts_with(GIT_SETTINGS)).any(|(_, value)| {
        value.to_ascii_lowercase().ends_with("extraheader") || password_in_address(value).is_some()
    }) || facts.variables_with_keys.iter().any(|name| name.starts_with(GIT_SETTINGS))
}

/// Whether a variable leads to a program outside, through a socket.
fn leads_outside(name: &str, value: &str) -> bool {
    SOCKETS.contains(&name)
        || SOCKET_PARTS.iter().any(|part| name.contains(part))
        || value.starts_with("unix:")
        || (["DOCKER_HOST", "CONTAINER_HOST"].contains(&name) && !value.starts_with("tcp:"))
}

/// Whether a variable looks secret. Stricter than the redactor, which must not hide ordinary words in what it writes: here a
/// short password is withheld, too.
fn looks_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    let plain = PLAIN_WORDS.contains(&value.to_ascii_lowercase().as_str())
        || is_number(value)
        || is_path(value)
        || is_open_address(value);
    (is_secret_name(name) && !plain) || is_webhook(name, value) || has_password(value)
}

/// Whoever knows the path of a webhook may write to it.
fn is_webhook(name: &str, value: &str) -> bool {
    let path =
        value.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    name.to_ascii_uppercase().contains("WEBHOOK") && !path.is_empty()
}

/// Whether an address or a list of settings holds a password. One that is hardly secret (`postgres:postgres`) is passed on for
/// services on this machine: tests are usually told about their database so.
fn has_password(value: &str) -> bool {
    let in_list = password_in_list(value).is_some_and(|password| {
        is_secret_value(password) || !LOOPBACK.iter().any(|host| value.contains(host))
    });
    in_list || has_password_in_address(value)
}

fn has_password_in_address(value: &str) -> bool {
    let Some(password) = password_in_address(value) else { return false };
    let host =
        value.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let here = LOOPBACK
        .iter()
        .any(|own| host.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')));
    is_secret_value(password) || !(password.is_empty() || here)
}

impl EnvChanges {
    /// An environment with these changes.
    pub fn apply(&self, env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let kept = env.iter().filter(|(name, _)| !self.remove.contains(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).chain(self.set.iter().cloned()).collect()
    }
}
