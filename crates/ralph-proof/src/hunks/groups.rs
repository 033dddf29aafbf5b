//! Hunks that belong together: those of one function.

use super::Hunk;

/// Words that begin a block of functions rather than a function.
const CONTAINERS: [&str; 12] = [
    "class ",
    "impl ",
    "impl<",
    "trait ",
    "mod ",
    "interface ",
    "namespace ",
    "module ",
    "object ",
    "extension ",
    "describe(",
    "extern ",
];

/// The hunks of each function or other block at the top level of the file, by their numbers. Blocks are told by their
/// indentation, as people and formatters write it.
pub fn groups(now: &str, hunks: &[Hunk]) -> Vec<Vec<usize>> {
    let headers = headers(now);
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for (number, hunk) in hunks.iter().enumerate() {
        let header = headers.get(hunk.new.start).or(headers.last()).copied().unwrap_or(0);
        match groups.last_mut().filter(|(last, _)| *last == header) {
            Some((_, group)) => group.push(number),
            None => groups.push((header, vec![number])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// For each line, the line that begins its function.
fn headers(text: &str) -> Vec<usize> {
    let (mut top, mut container, mut inner) = (0, false, None::<(usize, usize)>);
    let mut headers = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let indentation = line.len() - trimmed.len();
        let begins =
            trimmed.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '@' | '$' | '/'));
        if begins && indentation == 0 {
            top = number;
            container = is_container(trimmed);
            inner = None;
        } else if begins && container && inner.is_none_or(|(depth, _)| indentation <= depth) {
            inner = Some((indentation, number));
        }
        headers.push(inner.map_or(top, |(_, number)| number));
    }
    headers
}

fn is_container(line: &str) -> bool {
    let skipped = [
        "pub(crate) ",
        "pub ",
        "export ",
        "default ",
        "public ",
        "abstract ",
        "final ",
        "unsafe ",
        "static ",
    ];
    let mut rest = line;
    while let Some(after) = skipped.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after;
    }
    CONTAINERS.iter().any(|word| rest.starts_with(word))
}
