//! Which addresses a listed name may lead to.

use ralph_sandbox::gate::{Reason, is_own, may_dial};
use std::net::{IpAddr, UdpSocket};

#[test]
fn a_name_leads_neither_here_nor_to_metadata_in_any_notation() {
    use Reason as R;
    let table = [
        ("93.184.216.34", None),
        ("2606:2800:220:1::1", None),
        ("10.0.0.5", None),
        ("172.20.1.1", None),
        ("192.168.1.9", None),
        ("100.64.0.1", None),
        ("fd12::1", None),
        ("127.0.0.1", Some(R::ThisMachine)),
        ("127.8.8.8", Some(R::ThisMachine)),
        ("::1", Some(R::ThisMachine)),
        ("0.0.0.0", Some(R::ThisMachine)),
        ("0.1.2.3", Some(R::ThisMachine)),
        ("::", Some(R::ThisMachine)),
        ("10.9.9.9", Some(R::ThisMachine)),
        ("fd12::9", Some(R::ThisMachine)),
        ("169.254.1.1", Some(R::LinkLocal)),
        ("fe80::1", Some(R::LinkLocal)),
        ("febf::1", Some(R::LinkLocal)),
        ("169.254.169.254", Some(R::Metadata)),
        ("100.100.100.200", Some(R::Metadata)),
        ("168.63.129.16", Some(R::Metadata)),
        ("192.0.0.192", Some(R::Metadata)),
        ("fd00:ec2::254", Some(R::Metadata)),
        ("fd20:ce::254", Some(R::Metadata)),
        ("224.0.0.1", Some(R::NotOneHost)),
        ("255.255.255.255", Some(R::NotOneHost)),
        ("240.0.0.1", Some(R::NotOneHost)),
        ("ff02::1", Some(R::NotOneHost)),
        ("::ffff:127.0.0.1", Some(R::ThisMachine)),
        ("::ffff:169.254.169.254", Some(R::Metadata)),
        ("::ffff:93.184.216.34", None),
        ("::127.0.0.1", Some(R::ThisMachine)),
        ("64:ff9b::127.0.0.1", Some(R::ThisMachine)),
        ("64:ff9b::169.254.169.254", Some(R::Metadata)),
        ("64:ff9b::10.9.9.9", Some(R::ThisMachine)),
        ("64:ff9b::93.184.216.34", None),
        ("64:ff9b:1::7f00:1", Some(R::NotOneHost)),
        ("2002:7f00:1::1", Some(R::ThisMachine)),
        ("2002:a9fe:a9fe::1", Some(R::Metadata)),
        ("2002:5db8:d822::1", None),
        ("2001:0:1::80ff:fffe", Some(R::ThisMachine)),
    ];
    let own: [IpAddr; 2] = ["10.9.9.9".parse().unwrap(), "fd12::9".parse().unwrap()];
    for (address, expected) in table {
        let address = address.parse().unwrap();
        let is_own = |it| own.contains(&it);
        assert_eq!(may_dial(address, false, is_own).err(), expected, "{address}");
        assert_eq!(may_dial(address, true, is_own), Ok(()), "{address} was named");
    }
}

#[test]
fn this_machine_knows_its_own_addresses() {
    for (address, expected) in
        [("127.0.0.1", true), ("192.0.2.77", false), ("8.8.8.8", false), ("2001:db8::77", false)]
    {
        assert_eq!(is_own(address.parse().unwrap()), expected, "{address}");
    }
    // The address from which packets would leave; none is sent, and none may exist.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    if socket.connect("192.0.2.1:9").is_ok() {
        let address = socket.local_addr().unwrap().ip();
        assert!(is_own(address), "{address}");
        assert_eq!(may_dial(address, false, is_own), Err(Reason::ThisMachine));
    }
}
