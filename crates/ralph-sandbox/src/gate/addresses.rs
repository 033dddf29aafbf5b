//! Which addresses a listed name may lead to. Whoever controls a name's DNS would otherwise reach this machine's services
//! and the cloud's credentials through it. Private networks stay allowed: private registries are there.

use super::refusals::Reason;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Where clouds give their machines credentials and settings: AWS, Google and others share the first; Azure, Alibaba, Oracle.
const METADATA_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// The same in IPv6: AWS, Google.
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// Whether an address may be dialled. `named` says that an entry names this very address; `is_own` that it belongs to this
/// machine. An IPv6 address that contains an IPv4 address is judged by both.
///
/// # Errors
/// The reason why not.
pub fn may_dial(address: IpAddr, named: bool, is_own: impl Fn(IpAddr) -> bool) -> Result<(), Reason> {
    if named {
        return Ok(());
    }
    let address = address.to_canonical();
    let inner = match address {
        IpAddr::V6(address) => embedded(address).map(IpAddr::V4),
        IpAddr::V4(_) => None,
    };
    for form in std::iter::once(address).chain(inner) {
        if let Some(reason) = objection(form) {
            return Err(reason);
        }
        if is_own(form) {
            return Err(Reason::ThisMachine);
        }
    }
    Ok(())
}

fn objection(address: IpAddr) -> Option<Reason> {
    let (metadata, link_local, this_network, no_host) = match address {
        IpAddr::V4(it) => {
            let [first, ..] = it.octets();
            (METADATA_V4.contains(&it), it.is_link_local(), first == 0, first >= 224)
        }
        // The range of translated addresses that networks choose for themselves hides its IPv4 part anywhere.
        IpAddr::V6(it) => {
            let local_translation = it.segments().starts_with(&[0x64, 0xff9b, 1]);
            (
                METADATA_V6.contains(&it),
                it.is_unicast_link_local(),
                false,
                it.is_multicast() || local_translation,
            )
        }
    };
    match () {
        () if metadata => Some(Reason::Metadata),
        () if link_local => Some(Reason::LinkLocal),
        () if address.is_loopback() || address.is_unspecified() || this_network => Some(Reason::ThisMachine),
        () if no_host => Some(Reason::NotOneHost),
        () => None,
    }
}

/// The IPv4 address inside: NAT64, 6to4, Teredo, and the old compatible form.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let join = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match [a, b, c, d, e, f] {
        [0x64, 0xff9b, 0, 0, 0, 0] => Some(join(high, low)),
        [0, 0, 0, 0, 0, 0] if !address.is_loopback() && !address.is_unspecified() => Some(join(high, low)),
        [0x2002, outer_high, outer_low, ..] => Some(join(outer_high, outer_low)),
        [0x2001, 0, ..] => Some(join(!high, !low)),
        _ => None,
    }
}

/// Whether the address belongs to this machine now: only such an address can be bound.
#[must_use]
pub fn is_own(address: IpAddr) -> bool {
    // Reserved for documentation, so no machine has it, unless the system lets programs bind any address.
    let nobodys: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    can_bind(address) && (!can_bind(nobodys) || reaches_itself(address))
}

fn can_bind(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Whether packets to the address would come from it. Sends nothing.
fn reaches_itself(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}
