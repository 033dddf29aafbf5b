//! The variables that lead programs to the gate.

use super::listeners::gate_port;

/// Loopback is reached directly: the program's own servers are there, and the ports that ralph forwards.
const DIRECT: &str = "127.0.0.1,localhost,::1";

/// Node (22.21, 24 and newer) reads the other variables only with this one.
const NODE: &str = "NODE_USE_ENV_PROXY";

/// Names and values for a contained program's environment. Programs read the names in upper case, in lower case, or one of
/// them only (curl takes `http_proxy`, never `HTTP_PROXY`). `forward` are the ports that are forwarded.
#[must_use]
pub fn proxy_variables(forward: &[u16]) -> Vec<(&'static str, String)> {
    let gate = format!("http://127.0.0.1:{}", gate_port(forward));
    let names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let proxies = names.map(|name| (name, gate.clone()));
    let direct = ["NO_PROXY", "no_proxy"].map(|name| (name, DIRECT.to_owned()));
    proxies.into_iter().chain(direct).chain([(NODE, "1".to_owned())]).collect()
}
