//! Entries of `sandbox.hosts`: which are valid, and what each allows.

use ralph_sandbox::gate::{HostRule, RuleProblem, allows, loopback_ports, names_address};

fn rules(entries: &[&str]) -> Vec<HostRule> {
    entries.iter().map(|entry| entry.parse().unwrap()).collect()
}

const LISTED: [&str; 12] = [
    "registry.npmjs.org",
    "*.crates.io",
    "Mixed.Example.COM",
    "dotted.org.",
    "localhost:5432",
    "10.0.0.5:8080",
    "[::1]:80",
    "192.168.1.9",
    "*.corp",
    "under_score.example.org",
    "*.ports.org:8443",
    "xn--bcher-kva.example",
];

/// A host as a client writes it, a port, and whether [`LISTED`] allows it.
const ASKED: [(&str, u16, bool); 70] = [
    ("registry.npmjs.org", 443, true),
    ("registry.npmjs.org", 80, true),
    ("registry.npmjs.org", 8080, false),
    ("registry.npmjs.org", 22, false),
    ("REGISTRY.npmjs.ORG", 443, true),
    ("registry.npmjs.org.", 443, true),
    ("registry.npmjs.org..", 443, false),
    (".registry.npmjs.org", 443, false),
    ("npmjs.org", 443, false),
    ("evil.registry.npmjs.org", 443, false),
    ("registry.npmjs.org.evil.org", 443, false),
    ("registry.npmjs.org@evil.org", 443, false),
    ("evil.org@registry.npmjs.org", 443, false),
    ("registry%2enpmjs.org", 443, false),
    ("registry.npmjs.org%00.evil.org", 443, false),
    ("registry.npmjs.org\0.evil.org", 443, false),
    ("registry.npmjs.org/evil.org", 443, false),
    ("registry.npmjs.org#evil.org", 443, false),
    ("registry.npmjs.org\\.evil.org", 443, false),
    ("registry.npmjs.org evil.org", 443, false),
    (" registry.npmjs.org", 443, false),
    ("registry.npmjs.org\n", 443, false),
    ("registry\u{3002}npmjs\u{3002}org", 443, false),
    ("registry.npm\u{e4}js.org", 443, false),
    ("static.crates.io", 443, true),
    ("a.b.c.crates.io", 443, true),
    ("STATIC.CRATES.IO.", 80, true),
    ("crates.io", 443, false),
    (".crates.io", 443, false),
    ("evilcrates.io", 443, false),
    ("-evil.crates.io", 443, false),
    ("crates.io.evil.org", 443, false),
    ("static.crates.io.evil.org", 443, false),
    ("static..crates.io", 443, false),
    ("*.crates.io", 443, false),
    ("static.crates.io:443", 443, false),
    ("mixed.example.com", 443, true),
    ("dotted.org", 443, true),
    ("localhost", 5432, true),
    ("localhost", 443, false),
    ("LOCALHOST.", 5432, true),
    ("evil.localhost", 5432, false),
    ("127.0.0.1", 5432, false),
    ("10.0.0.5", 8080, true),
    ("10.0.0.5", 443, false),
    ("[::ffff:10.0.0.5]", 8080, true),
    ("010.0.0.5", 8080, false),
    ("10.5", 8080, false),
    ("0xa000005", 8080, false),
    ("167772165", 8080, false),
    ("10.0.0.5.", 8080, false),
    ("[::1]", 80, true),
    ("[0:0:0:0:0:0:0:1]", 80, true),
    ("[::1]", 443, false),
    ("::1", 80, false),
    ("[::1%lo]", 80, false),
    ("[::2]", 80, false),
    ("192.168.1.9", 443, true),
    ("192.168.1.9", 80, true),
    ("192.168.1.90", 443, false),
    ("deep.corp", 443, true),
    ("10.0.0.5.corp", 443, true),
    ("under_score.example.org", 443, true),
    ("a.ports.org", 8443, true),
    ("a.ports.org", 443, false),
    ("xn--bcher-kva.example", 443, true),
    ("b\u{fc}cher.example", 443, false),
    ("", 443, false),
    (".", 443, false),
    ("[]", 80, false),
];

#[test]
fn an_entry_allows_its_host_and_no_other() {
    let listed = rules(&LISTED);
    for (host, port, expected) in ASKED {
        assert_eq!(allows(&listed, host, port), expected, "{host:?} port {port}");
    }
    assert!(!allows(&[], "registry.npmjs.org", 443));
    assert!(allows(&listed, &format!("{}.crates.io", "a".repeat(63)), 443));
    assert!(!allows(&listed, &format!("{}.crates.io", "a".repeat(64)), 443), "a label that is too long");
    assert!(!allows(&listed, &format!("{}crates.io", "a.".repeat(130)), 443), "a name that is too long");
}

const WRONG: [(&str, RuleProblem); 56] = {
    use RuleProblem as P;
    [
        ("", P::Empty),
        ("https://crates.io", P::Scheme),
        ("http://localhost:80", P::Scheme),
        ("crates.io/api", P::Path),
        ("crates.io/", P::Path),
        ("10.0.0.0/8", P::Path),
        ("crates.io?x", P::Path),
        ("user@crates.io", P::User),
        ("user:word@crates.io", P::User),
        ("crates.io npmjs.org", P::Space),
        ("crates.io,npmjs.org", P::Space),
        (" crates.io", P::Space),
        ("crates.io\n", P::Space),
        ("b\u{fc}cher.example", P::NotAscii),
        ("*", P::Everything),
        ("*:443", P::Everything),
        ("**.crates.io", P::Star),
        ("*crates.io", P::Star),
        ("static.*.io", P::Star),
        ("*.*.io", P::Star),
        ("crates.*", P::Star),
        ("crates.*:80", P::Star),
        ("*.*.io:80", P::Star),
        ("crates.io:", P::Port),
        ("crates.io:0", P::Port),
        ("crates.io:65536", P::Port),
        ("crates.io:https", P::Port),
        ("crates.io:*", P::Port),
        ("crates.io:+80", P::Port),
        ("crates.io:80:80", P::Port),
        ("[::1]:x", P::Port),
        ("::1", P::Brackets),
        ("2001:db8::1", P::Brackets),
        ("[::1", P::Ipv6),
        ("[::1]80", P::Ipv6),
        ("[crates.io]", P::Ipv6),
        ("[10.0.0.5]", P::Ipv6),
        ("[fe80::1%eth0]", P::Ipv6),
        ("10.0.0", P::Ipv4),
        ("10.0.0.256", P::Ipv4),
        ("0x7f000001", P::Ipv4),
        ("2130706433", P::Ipv4),
        ("0.0.0.0:80", P::NotOneHost),
        ("[::]:80", P::NotOneHost),
        ("224.0.0.1", P::NotOneHost),
        ("255.255.255.255", P::NotOneHost),
        ("*.10.0.0.5", P::Name),
        ("*.", P::Name),
        (".crates.io", P::Name),
        ("crates..io", P::Name),
        ("crates.io..", P::Name),
        ("-crates.io", P::Name),
        ("crates-.io", P::Name),
        ("crates%2eio", P::Name),
        ("crates\\.io", P::Name),
        ("crates.io\0", P::Name),
    ]
};

#[test]
fn a_wrong_entry_says_what_to_write_instead() {
    for (entry, expected) in WRONG {
        let error = entry.parse::<HostRule>().expect_err(entry);
        assert_eq!((error.problem, error.entry.as_str()), (expected, entry), "{entry:?}");
        assert!(error.to_string().is_ascii() || !entry.is_ascii(), "{error}");
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
    }
    let label = "a".repeat(64);
    assert_eq!(label.parse::<HostRule>().unwrap_err().problem, RuleProblem::Name);
    let error = "https://crates.io".parse::<HostRule>().unwrap_err().to_string();
    assert_eq!(
        error,
        r#"the host "https://crates.io" has a scheme; write the host alone, such as "registry.npmjs.org" or "localhost:5432""#
    );
}

#[test]
fn addresses_are_named_by_themselves_and_loopback_by_localhost() {
    let listed =
        rules(&["localhost:5432", "10.0.0.5:8080", "169.254.169.254:80", "*.localhost:3000", "[::1]:81"]);
    let table = [
        ("127.0.0.1", 5432, true),
        ("::1", 5432, true),
        ("127.0.0.1", 5433, false),
        ("127.0.0.2", 5432, false),
        ("127.0.0.1", 3000, true),
        ("10.0.0.5", 8080, true),
        ("10.0.0.5", 5432, false),
        ("169.254.169.254", 80, true),
        ("169.254.169.254", 443, false),
        ("::1", 81, true),
        ("127.0.0.1", 81, false),
    ];
    for (address, port, expected) in table {
        assert_eq!(names_address(&listed, address.parse().unwrap(), port), expected, "{address} {port}");
    }
}

#[test]
fn ports_of_loopback_are_found_for_forwarding() {
    let listed = rules(&[
        "localhost:5432",
        "127.0.0.1:6379",
        "[::1]:5432",
        "localhost",
        "10.0.0.5:80",
        "a.org:9",
        "db.localhost:3306",
        "127.0.0.2:7000",
    ]);
    assert_eq!(loopback_ports(&listed), [3306, 5432, 6379]);
}
