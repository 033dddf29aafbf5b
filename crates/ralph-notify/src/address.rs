//! Which addresses are on the public internet. A webhook must not become a way into this machine or its network: the
//! check is made on the addresses that are connected to, so a name that changes its mind between two lookups gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is on the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let special = v4.is_loopback()
        || v4.is_private()
        || v4.is_link_local() // also where clouds keep their metadata
        || v4.is_broadcast()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b)) // shared by carriers
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99) // 6to4 relays
        || (a == 198 && (18..20).contains(&b)); // benchmarks
    !special
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let s = v6.segments();
    // Addresses that hold another one: what counts is where packets end up.
    let embedded = match s {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some((high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some((high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some((high, low)),
        [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = embedded {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    let [first, second, third, ..] = s;
    let special = v6.is_multicast()
        || first & 0xfe00 == 0xfc00 // unique local
        || first & 0xffc0 == 0xfe80 // link local
        || first & 0xffc0 == 0xfec0 // site local, of old
        || (first == 0x64 && second == 0xff9b && third == 1) // NAT64 of a network's own
        || (first == 0x100 && second == 0) // discarded
        || (first == 0x2001 && second < 0x200) // Teredo, benchmarks and other protocols
        || (first == 0x2001 && second == 0xdb8) // documentation
        || (first == 0x3fff && second < 0x1000); // documentation
    !special && first & 0xe000 == 0x2000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        let public =
            ["1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1"];
        let public6 =
            ["2606:4700::1111", "2a00:1450:4001::1", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::"];
        for text in public.iter().chain(&public6) {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        let not = [
            "127.0.0.1",
            "127.8.9.1",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.9",
            "192.88.99.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::ffff:0:7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "4000::1",
        ];
        for text in not {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }
}
