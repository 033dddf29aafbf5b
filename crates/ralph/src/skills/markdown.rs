//! The parts of a Markdown text that a skill needs: headings, fenced blocks and checkboxes. Headings and checkboxes in a
//! fence are examples and do not count.

use super::fault::{Line, lines};

/// A heading and what is below it, up to the next heading of its level or above.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Without its marks.
    pub title: &'a str,
    /// The byte it begins at.
    pub at: usize,
    /// The byte it ends at.
    pub end: usize,
}

/// A fenced block.
#[derive(Clone, Debug)]
pub struct Fence<'a> {
    /// What stands behind the opening fence: the language and further words.
    pub info: &'a str,
    /// The byte of the opening fence.
    pub at: usize,
    /// The first and the last byte of its content.
    pub content: (usize, usize),
    /// The byte after the closing fence.
    pub end: usize,
    /// Whether there is a closing fence.
    pub closed: bool,
}

/// The headings and fences of a text from a byte on.
pub fn outline(text: &str, from: usize) -> (Vec<Part<'_>>, Vec<Fence<'_>>) {
    let (mut headings, mut fences): (Vec<(usize, Part<'_>)>, Vec<Fence<'_>>) = (Vec::new(), Vec::new());
    let mut open: Option<(char, usize)> = None;
    for line in lines(text).filter(|line| line.at >= from) {
        let mark = fence_mark(&line);
        match (open, mark) {
            (Some((sign, least)), Some((c, count, ""))) if c == sign && count >= least => {
                if let Some(fence) = fences.last_mut() {
                    (fence.content.1, fence.end, fence.closed) = (line.at, line.end(), true);
                }
                open = None;
            }
            (Some(_), _) => {}
            (None, Some((sign, count, info))) => {
                let start = (line.end() + 1).min(text.len());
                let content = (start, text.len());
                fences.push(Fence { info, at: line.at, content, end: text.len(), closed: false });
                open = Some((sign, count));
            }
            (None, None) => headings.extend(heading(&line, text.len())),
        }
    }
    (parts(headings), fences)
}

/// Ends each part where the next of its level or above begins.
fn parts(headings: Vec<(usize, Part<'_>)>) -> Vec<Part<'_>> {
    let ends: Vec<(usize, usize)> = headings.iter().map(|(level, part)| (*level, part.at)).collect();
    let end = |n: usize, level: usize, last: usize| {
        ends.iter().skip(n + 1).find(|(other, _)| *other <= level).map_or(last, |(_, at)| *at)
    };
    let ended = headings.into_iter().enumerate();
    ended.map(|(n, (level, part))| Part { end: end(n, level, part.end), ..part }).collect()
}

/// The sign of a fence, how often it stands there, and what follows.
fn fence_mark<'a>(line: &Line<'a>) -> Option<(char, usize, &'a str)> {
    let text = line.text.trim();
    let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(sign);
    let count = text.len() - rest.len();
    // `a` in a sentence may begin with several backticks, but a fence's words have none.
    (count >= 3 && !rest.contains('`')).then(|| (sign, count, rest.trim()))
}

fn heading<'a>(line: &Line<'a>, end: usize) -> Option<(usize, Part<'a>)> {
    let rest = line.text.trim_start_matches('#');
    let level = line.text.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    let title = rest.trim().trim_end_matches('#').trim_end();
    is_heading.then_some((level, Part { title, at: line.at, end }))
}

/// The text of every checkbox between two bytes, outside fences. Indented lines below one belong to it.
pub fn checkboxes(text: &str, (from, to): (usize, usize), fences: &[Fence<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut in_item = false;
    for line in lines(text).filter(|line| (from..to).contains(&line.at)) {
        let fenced = fences.iter().any(|fence| (fence.at..fence.end).contains(&line.at));
        let item = item(line.text).filter(|_| !fenced);
        match (item, item.and_then(checkbox), found.last_mut()) {
            (_, Some(criterion), _) => {
                found.push(criterion.to_owned());
                in_item = true;
            }
            (None, None, Some(last)) if in_item && !fenced && line.text.starts_with([' ', '\t']) => {
                let more = line.text.trim();
                if !more.is_empty() {
                    last.push(' ');
                    last.push_str(more);
                }
            }
            _ => in_item = false,
        }
    }
    found
}

/// What stands behind the bullet or the number of a list item.
fn item(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let bullet = text.strip_prefix(['-', '*', '+']);
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.strip_prefix(['.', ')']).filter(|_| number.len() < text.len());
    bullet.or(numbered).filter(|rest| rest.starts_with([' ', '\t'])).map(str::trim)
}

fn checkbox(item: &str) -> Option<&str> {
    let rest = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| item.strip_prefix(mark))?;
    let text = rest.trim();
    (rest.starts_with([' ', '\t']) && !text.is_empty()).then_some(text)
}
