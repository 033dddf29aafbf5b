//! `[sandbox]` as a plain value.

use crate::plan::ContainerEngine;
use serde::{Deserialize, Serialize};

/// How much of a sandbox is wanted, and what may be seen and done in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What the sandbox must hold for a run to start.
    pub mode: Mode,
    /// How much of the home directory is seen.
    pub home: HomeView,
    /// Further paths that are seen read-only, absolute or beginning with `~/`.
    pub readable: Vec<String>,
    /// Further paths that are written for real.
    pub writable: Vec<String>,
    /// Further paths that are hidden.
    pub hide: Vec<String>,
    /// What of the network is reached.
    pub network: NetworkRule,
    /// Hosts reached besides the agent's own where the network is limited to hosts: `name`, `*.name`, `name:port`.
    pub hosts: Vec<String>,
    /// Variables that are passed on although they look secret.
    pub env: Vec<String>,
    /// Most processes at a time; 0 for no limit.
    pub processes: u64,
    /// Most bytes of memory; 0 for no limit.
    pub memory: u64,
    /// Whether somebody set that, be it to the default: they are told if nothing enforces it.
    pub memory_is_set: bool,
    /// What of the network a verification reaches.
    pub verify_network: VerifyNetwork,
    /// The engine and image of `mode = "container"`.
    pub container: Container,
}

/// `sandbox.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The strongest backend that proves itself here; none if none does.
    Auto,
    /// Files, protected paths and processes are held, or the run does not start.
    Require,
    /// The same with an empty home, the network limited to hosts and the environment by an allow list.
    Strict,
    /// The user's engine and image.
    Container,
    /// Nothing.
    Off,
}

/// `sandbox.home`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HomeView {
    /// Dot directories and what PATH names, without secrets.
    Tools,
    /// Everything but secrets.
    All,
    /// Only what PATH names.
    None,
}

/// `sandbox.network`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkRule {
    /// Everything is reached.
    Open,
    /// The agent's hosts and `sandbox.hosts` are reached.
    Hosts,
    /// Nothing is reached.
    Off,
}

/// `sandbox.verify.network`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerifyNetwork {
    /// What the agent reaches, without the hosts that only its own service needs.
    Same,
    /// This.
    Is(NetworkRule),
}

/// `[sandbox.container]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The program that runs containers.
    pub engine: ContainerEngine,
    /// The image; empty for none.
    pub image: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mode: Mode::Auto,
            home: HomeView::Tools,
            readable: Vec::new(),
            writable: Vec::new(),
            hide: Vec::new(),
            network: NetworkRule::Open,
            hosts: Vec::new(),
            env: Vec::new(),
            processes: 4096,
            memory: 8 << 30,
            memory_is_set: false,
            verify_network: VerifyNetwork::Same,
            container: Container { engine: ContainerEngine::Podman, image: String::new() },
        }
    }
}

impl Settings {
    /// How much of home is seen: none of it in the mode `strict`, nor in a container, whose tools are the image's.
    pub fn effective_home(&self) -> HomeView {
        if matches!(self.mode, Mode::Strict | Mode::Container) { HomeView::None } else { self.home }
    }

    /// What of the network the agent reaches: at most hosts in the mode `strict`.
    pub fn agent_network(&self) -> NetworkRule {
        match (self.mode, self.network) {
            (Mode::Strict, NetworkRule::Open) => NetworkRule::Hosts,
            (_, network) => network,
        }
    }

    /// What of the network a verification reaches: nothing in the mode `strict`.
    pub fn verification_network(&self) -> NetworkRule {
        match (self.mode, self.verify_network) {
            (Mode::Strict, _) => NetworkRule::Off,
            (_, VerifyNetwork::Same) => self.agent_network(),
            (_, VerifyNetwork::Is(network)) => network,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_narrows_what_the_other_keys_say() {
        use {Mode as M, NetworkRule as N, VerifyNetwork as V};
        let rows = [
            (M::Auto, N::Open, V::Same, N::Open, N::Open),
            (M::Require, N::Hosts, V::Same, N::Hosts, N::Hosts),
            (M::Auto, N::Hosts, V::Is(N::Open), N::Hosts, N::Open),
            (M::Auto, N::Open, V::Is(N::Off), N::Open, N::Off),
            (M::Strict, N::Open, V::Same, N::Hosts, N::Off),
            (M::Strict, N::Open, V::Is(N::Open), N::Hosts, N::Off),
            (M::Strict, N::Off, V::Same, N::Off, N::Off),
        ];
        for (mode, network, verify_network, agent, verification) in rows {
            let settings = Settings { mode, network, verify_network, ..Settings::default() };
            let found = (settings.agent_network(), settings.verification_network());
            assert_eq!(found, (agent, verification), "{settings:?}");
            let home = if mode == M::Strict { HomeView::None } else { HomeView::Tools };
            assert_eq!(settings.effective_home(), home);
        }
    }
}
