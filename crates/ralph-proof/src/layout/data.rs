//! Data: JSON, TOML and YAML.

/// Equal but for the space around values. The order of keys stays: some readers of JSON look at it.
pub fn same_json(before: &str, now: &str) -> bool {
    let valid = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    valid(before) && valid(now) && squeezed(before) == squeezed(now)
}

fn squeezed(text: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    text.chars()
        .filter(|c| {
            let kept = inside || !c.is_ascii_whitespace();
            match c {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                _ => {}
            }
            kept
        })
        .collect()
}

pub fn same_toml(before: &str, now: &str) -> bool {
    match (before.parse::<toml::Table>(), now.parse::<toml::Table>()) {
        (Ok(before), Ok(now)) => before == now,
        _ => false,
    }
}

/// Equal but for blank lines, comments and spaces at the ends of lines, where every line stands for itself.
pub fn same_yaml(before: &str, now: &str) -> bool {
    let (Some(before), Some(now)) = (yaml_lines(before), yaml_lines(now)) else { return false };
    before == now
}

/// The lines that mean something; none if a value may go over several lines, where blank ones and `#` count.
fn yaml_lines(text: &str) -> Option<Vec<&str>> {
    let is_meant = |line: &&str| match line.trim_start() {
        "" => false,
        line => !line.starts_with('#') || super::tells_a_tool(line),
    };
    let lines = text.lines().map(str::trim_end).filter(is_meant);
    lines
        .map(|line| {
            let inside = line.trim_start();
            let quotes = |quote: char| inside.matches(quote).count() % 2 == 0;
            let block = inside.ends_with(['|', '>', '+', '-']) && inside.len() > 1 && inside != "---";
            let whole = inside.starts_with(['-', '#', ']', '}', '%'])
                || inside == "..."
                || inside.contains(": ")
                || inside.ends_with(':');
            (whole && !block && quotes('"') && quotes('\'')).then_some(line)
        })
        .collect()
}
