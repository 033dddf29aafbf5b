//! Hosts that a sandbox refused, for people: those with the same reason together, and of very many only the first.

/// Hosts named in a line.
const NAMES: usize = 5;

/// `a.org:443, b.org:443 and 3 more (not in sandbox.hosts)`, a line for each reason.
pub fn refused_hosts(refused: &[String]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in refused {
        let (host, reason) = one.strip_suffix(')').and_then(|it| it.split_once(" (")).unwrap_or((one, ""));
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, hosts)) => hosts.push(host),
            None => reasons.push((reason, vec![host])),
        }
    }
    reasons.into_iter().map(|(reason, hosts)| line(reason, &hosts)).collect()
}

fn line(reason: &str, hosts: &[&str]) -> String {
    let named = hosts.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
    let more = match hosts.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let reason = reason.strip_prefix("it is ").or_else(|| reason.strip_prefix("it ")).unwrap_or(reason);
    let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    format!("{named}{more}{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_one_reason_share_a_line() {
        let refused =
            |hosts: &[&str]| refused_hosts(&hosts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(refused(&[]), Vec::<String>::new());
        assert_eq!(
            refused(&["a.org:443 (it is not in sandbox.hosts)"]),
            ["a.org:443 (not in sandbox.hosts)"]
        );
        assert_eq!(refused(&["3 further requests"]), ["3 further requests"]);
        let mut many: Vec<String> =
            (0..7).map(|n| format!("h{n}.org:80 (it is not in sandbox.hosts)")).collect();
        many.push("b.org:443 (it leads to an address of this machine)".into());
        let lines = [
            "h0.org:80, h1.org:80, h2.org:80, h3.org:80, h4.org:80 and 2 more (not in sandbox.hosts)",
            "b.org:443 (leads to an address of this machine)",
        ];
        assert_eq!(refused_hosts(&many), lines);
    }
}
