//! Looks names up and lets only permitted addresses through. ureq connects to what it gets from here and to nothing else.

use crate::address::is_public;
use std::net::IpAddr;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Looks names up.
#[derive(Debug, Default)]
pub(crate) struct PermittedAddresses {
    pub allow_private: bool,
    lookup: DefaultResolver,
}

/// Why no address is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotPermitted {
    Private,
    PlainOutside,
}

impl std::error::Error for NotPermitted {}

impl std::fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotPermitted::Private => {
                "the address is on this machine or in a private network; set allow_private = true if it is yours"
            }
            NotPermitted::PlainOutside => "http:// is only for private addresses; use https://",
        })
    }
}

impl PermittedAddresses {
    pub(crate) fn new(allow_private: bool) -> PermittedAddresses {
        PermittedAddresses { allow_private, ..PermittedAddresses::default() }
    }
}

/// Why an address is not connected to, if so.
pub(crate) fn refusal(ip: IpAddr, is_plain: bool, allow_private: bool) -> Option<NotPermitted> {
    match (is_public(ip), is_plain) {
        (true, true) => Some(NotPermitted::PlainOutside),
        (false, _) if !allow_private => Some(NotPermitted::Private),
        _ => None,
    }
}

impl Resolver for PermittedAddresses {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.lookup.resolve(uri, config, timeout)?;
        let plain = uri.scheme_str() != Some("https");
        let mut permitted = self.empty();
        let mut refused = None;
        for address in &found {
            match refusal(address.ip(), plain, self.allow_private) {
                None => permitted.push(*address),
                why => refused = refused.or(why),
            }
        }
        match refused {
            Some(why) if permitted.is_empty() => Err(ureq::Error::Other(Box::new(why))),
            _ => Ok(permitted),
        }
    }
}
