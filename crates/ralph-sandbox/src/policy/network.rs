//! What of the network is reached.

use super::facts::{AgentNeeds, Facts};
use super::settings::{NetworkRule, Settings};
use crate::Network;
use crate::gate::{HostRule, loopback_ports};
use std::collections::BTreeSet;

/// The network of a plan, and the hosts that its gate allows.
pub(super) fn network(
    facts: &Facts,
    settings: &Settings,
    needs: Option<&AgentNeeds>,
) -> (Network, Vec<String>) {
    let rule = match needs {
        Some(_) => settings.agent_network(),
        None => settings.verification_network(),
    };
    match rule {
        NetworkRule::Open => (Network::Open, Vec::new()),
        NetworkRule::Off => (Network::Off, Vec::new()),
        NetworkRule::Hosts => {
            // Addresses from ralph's own environment only: a project's file can set variables of an agent.
            let variables = needs.into_iter().flat_map(|needs| &needs.base_url_env);
            let set = variables.filter_map(|name| facts.env.get(name));
            let written = needs.into_iter().flat_map(|needs| &needs.addresses);
            let addresses = set.chain(written).filter_map(|url| Address::of(url));
            let named = settings.hosts.iter().cloned();
            let own = needs.into_iter().flat_map(|needs| needs.hosts.iter().cloned());
            // One that the gate cannot read leads nowhere; the agent says so itself.
            let addresses =
                addresses.map(|address| address.text()).filter(|host| host.parse::<HostRule>().is_ok());
            let hosts: BTreeSet<String> = own.chain(named).chain(addresses).collect();
            let rules: Vec<HostRule> = hosts.iter().filter_map(|host| host.parse().ok()).collect();
            (Network::Gate { forward: loopback_ports(&rules) }, hosts.into_iter().collect())
        }
    }
}

/// The host and the port of an address.
struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// From `https://host:port/path`, or `host:port` alone.
    fn of(url: &str) -> Option<Address> {
        let (scheme, rest) = url.trim().split_once("://").unwrap_or(("http", url.trim()));
        let authority = rest.split(['/', '?', '#']).next()?;
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let default = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (authority, default),
        };
        (!host.is_empty()).then(|| Address { host: host.to_ascii_lowercase(), port })
    }

    fn text(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_a_port() {
        let rows = [
            ("https://api.example.org/v1", Some("api.example.org:443")),
            ("http://127.0.0.1:8080/ok", Some("127.0.0.1:8080")),
            ("http://Proxy.example.org", Some("proxy.example.org:80")),
            ("127.0.0.1:11434", Some("127.0.0.1:11434")),
            ("http://[::1]:9000/x", Some("[::1]:9000")),
            ("https://me:sesame@example.org/", Some("example.org:443")),
            ("", None),
            ("http://", None),
            ("http://a:b", None),
        ];
        for (url, expected) in rows {
            assert_eq!(Address::of(url).map(|address| address.text()).as_deref(), expected, "{url}");
        }
    }
}
