//! What the gate refused, for the report. A host is kept as the program wrote it: in another case, or cut, a secret in it
//! would no longer be recognised and redacted. Only valid hosts come here, so there is nothing to escape.

use std::fmt;

/// So many different hosts, ports and reasons are kept.
pub const MAX_DISTINCT: usize = 100;

/// Why a host was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No entry covers the host and port.
    NotListed,
    /// It leads to an address of this machine.
    ThisMachine,
    /// It leads to an address that is valid only on one cable.
    LinkLocal,
    /// It leads to a cloud's metadata service.
    Metadata,
    /// It leads to an address of many hosts or of none.
    NotOneHost,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotListed => "it is not in sandbox.hosts",
            Self::ThisMachine => "it leads to an address of this machine",
            Self::LinkLocal => "it leads to a link-local address",
            Self::Metadata => "it leads to a cloud metadata service",
            Self::NotOneHost => "it leads to an address that is not one host's",
        })
    }
}

/// A refused host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// As the program wrote it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Why.
    pub reason: Reason,
    /// How often.
    pub count: u64,
}

/// Everything that a gate refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals {
    /// In the order of their first refusal, at most [`MAX_DISTINCT`].
    pub hosts: Vec<Refused>,
    /// Refused requests for hosts that had no room in the list.
    pub further: u64,
}

impl Refusals {
    /// Counts one refusal.
    pub(super) fn add(&mut self, host: &str, port: u16, reason: Reason) {
        let same = |it: &&mut Refused| it.port == port && it.reason == reason && it.host == host;
        if let Some(known) = self.hosts.iter_mut().find(same) {
            known.count += 1;
        } else if self.hosts.len() < MAX_DISTINCT {
            self.hosts.push(Refused { host: host.to_owned(), port, reason, count: 1 });
        } else {
            self.further += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_bounded_and_nothing_is_lost_in_the_count() {
        let mut refusals = Refusals::default();
        for round in 0..3 {
            for at in 0..MAX_DISTINCT + 5 {
                refusals.add(&format!("h{at}.org"), 443, Reason::NotListed);
            }
            assert_eq!(refusals.further, 5 * (round + 1));
        }
        assert_eq!(refusals.hosts.len(), MAX_DISTINCT);
        assert!(refusals.hosts.iter().all(|it| it.count == 3));
        let mut one = Refusals::default();
        for (port, reason) in [(443, Reason::NotListed), (80, Reason::NotListed), (443, Reason::Metadata)] {
            one.add("a.org", port, reason);
        }
        assert_eq!(one.hosts.len(), 3);
    }
}
