//! The only way out of a box whose network is `hosts`: an HTTP proxy that ralph answers.
//!
//! The box has a network namespace of its own. Before the program starts, [`hand_out`] listens on loopback in there and sends
//! the sockets out over a descriptor. A [`Gate`] in ralph's process accepts on them and dials outside, so nothing bridges the
//! two networks and no socket file exists. [`HostRule`]s say which hosts it dials, [`may_dial`] which addresses a listed name
//! may lead to. [`proxy_variables`] tell programs where the gate is.

mod addresses;
mod answer;
mod connection;
mod copy;
mod dial;
mod environment;
mod headers;
mod host;
mod listeners;
mod lookup;
mod refusals;
mod request;
mod rules;
mod server;
mod wait;

pub use addresses::{is_own, may_dial};
pub use environment::proxy_variables;
pub use host::Host;
pub use listeners::{HandOutError, gate_port, hand_out, send_listener};
pub use lookup::{Resolver, SystemResolver};
pub use refusals::{MAX_DISTINCT, Reason, Refusals, Refused};
pub use request::{BadRequest, MAX_HEAD, Request, head_end, parse};
pub use rules::{HostRule, RuleError, RuleProblem, allows, loopback_ports, names_address};
pub use server::{Gate, MAX_CONNECTIONS};
